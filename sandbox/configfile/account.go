package configfile

import (
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/funding"
)

// clientEntry is a client of a node as the file has it.
type clientEntry struct {
	ID          value `yaml:"id"`
	Secret      value `yaml:"secret"`
	Subject     value `yaml:"subject"`
	Role        value `yaml:"role"`
	Affiliation value `yaml:"affiliation"`
	Audience    value `yaml:"audience"`
}

// issuerEntry is a foreign authorization server as the file has it.
type issuerEntry struct {
	Issuer   value `yaml:"issuer"`
	JWKS     value `yaml:"jwks"`
	Audience value `yaml:"audience"`
	Clients  value `yaml:"clients"`
}

// foreignClientEntry is a client of a foreign authorization server as the file has it.
type foreignClientEntry struct {
	ID          value `yaml:"id"`
	Role        value `yaml:"role"`
	Affiliation value `yaml:"affiliation"`
}

const (
	expectedClient      = "a client id"
	expectedAffiliation = "an affiliation ID"
	expectedKeys        = "a JWK Set: a file or a URL"
)

// clients reads the clients of a node. An empty list makes a node without clients; without a list the node has the demo clients.
func (r *reader) clients(v value, n *node) {
	if !v.isPresent() {
		return
	}
	clients, lines := []sandbox.ClientConfig{}, map[string]int{}
	for _, item := range r.list(v, "clients", maxList) {
		var e clientEntry
		r.decode(item, &e, r.topKeyHint)
		c := sandbox.ClientConfig{
			ID:          r.nonEmpty(e.ID, expectedClient),
			Secret:      r.secret(e.Secret),
			Subject:     r.nonEmpty(e.Subject, "the Service Account User ID"),
			Role:        r.role(e.Role),
			Affiliation: r.nonEmpty(e.Affiliation, expectedAffiliation),
			Audience:    r.nonEmpty(e.Audience, "an audience, such as https://projects.example/api"),
		}
		r.require(item, e.ID, "id", expectedClient)
		r.requireUnique(lines, item, expectedClient, c.ID)
		clients = append(clients, c)
	}
	n.changes = append(n.changes, func(c *sandbox.Config) { c.Clients = clients })
}

// issuers reads the foreign authorization servers that a node trusts.
func (r *reader) issuers(v value, n *node) {
	if !v.isPresent() {
		return
	}
	const expected = "the iss of its tokens"
	var issuers []sandbox.IssuerConfig
	lines := map[string]int{}
	for _, item := range r.list(v, "issuers", maxList) {
		faults := len(r.faults)
		var e issuerEntry
		r.decode(item, &e, r.topKeyHint)
		c := sandbox.IssuerConfig{
			Issuer:   r.nonEmpty(e.Issuer, expected),
			Audience: r.nonEmpty(e.Audience, "an audience"),
			Accounts: r.foreignClients(e.Clients),
		}
		r.require(item, e.Issuer, "issuer", expected)
		r.require(item, e.JWKS, "jwks", expectedKeys)
		r.requireUnique(lines, item, "an issuer", c.Issuer)
		if len(r.faults) == faults { // the keys of an incomplete entry are not fetched: the check of them needs all of it
			c.JWKS = r.keys(e.JWKS, c)
		}
		issuers = append(issuers, c)
	}
	n.changes = append(n.changes, func(c *sandbox.Config) { c.Issuers = issuers })
}

// keys reads the JWK Set of an issuer, and checks that it is usable.
func (r *reader) keys(v value, c sandbox.IssuerConfig) []byte {
	place, ok := r.text(v, expectedKeys)
	if !ok {
		return nil
	}
	set, err := r.source.Keys(place)
	if err == nil {
		_, err = auth.NewForeignIssuer(c.Issuer, set, c.Audience)
	}
	if err != nil {
		r.addFault(v, expectedKeys, quote(place), err.Error())
	}
	return set
}

// foreignClients reads the clients of a foreign issuer that have an account here.
func (r *reader) foreignClients(v value) map[string]funding.Account {
	accounts, lines := map[string]funding.Account{}, map[string]int{}
	if !v.isPresent() {
		return accounts
	}
	for _, item := range r.list(v, "clients", maxList) {
		var e foreignClientEntry
		r.decode(item, &e, r.topKeyHint)
		id := r.nonEmpty(e.ID, expectedClient)
		accounts[id] = funding.Account{Role: r.role(e.Role), Affiliation: r.nonEmpty(e.Affiliation, expectedAffiliation)}
		r.require(item, e.ID, "id", expectedClient)
		r.requireUnique(lines, item, expectedClient, id)
	}
	return accounts
}

// role reads a role. Any role is allowed, except one that looks like a misspelled [model.RoleExternalAPIClient].
func (r *reader) role(v value) string {
	const expected = "a role, such as " + model.RoleExternalAPIClient
	text, ok := r.text(v, expected)
	if hint := suggestion(text, []string{model.RoleExternalAPIClient}); ok && hint != "" && text != model.RoleExternalAPIClient {
		r.addFault(v, expected, quote(text), hint)
		return ""
	}
	return text
}

// secret reads a client secret, or a reference to one, which it follows. A fault never contains a secret.
func (r *reader) secret(v value) string {
	const expected = "env:NAME, file:PATH, or the secret itself"
	text, ok := r.text(v, expected)
	switch {
	case !ok:
		return ""
	case text == "":
		r.addFault(v, expected, "an empty text", "leave secret out to have one generated")
	case strings.HasPrefix(text, "env:"), strings.HasPrefix(text, "file:"):
		secret, err := r.source.Secret(text)
		if err != nil {
			r.addFault(v, "a secret at "+shorten(text), "none", err.Error())
			return ""
		}
		if secret == "" {
			r.addFault(v, "a secret at "+shorten(text), "none", "it is empty")
		}
		return secret
	}
	return text
}

// requireUnique reports a name that an earlier entry of its list already has. lines maps the earlier names to their lines.
func (r *reader) requireUnique(lines map[string]int, v value, what, name string) {
	if name == "" {
		return
	}
	if line, taken := lines[name]; taken {
		r.addFault(v, what+" that no other entry has", quote(name), "line "+strconv.Itoa(line)+" has it already")
		return
	}
	lines[name] = v.at.Line
}

// requireDistinct reports nodes with the same id or root.
func (r *reader) requireDistinct(nodes []node) {
	ids, roots := map[string]int{}, map[string]int{}
	for _, n := range nodes {
		r.requireUnique(ids, n.at, "an id", n.member.ID)
		r.requireUnique(roots, n.at, "a root", "/"+strings.TrimPrefix(n.root, "/"))
	}
}
