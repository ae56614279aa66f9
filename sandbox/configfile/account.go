package configfile

import (
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/funding"
)

// clients reads the clients of a node; an empty list is a node without any.
func (r *reader) clients(n *node, v value) {
	clients, lines := []sandbox.ClientConfig{}, map[string]int{}
	r.list(v, "clients", maxList, func(item value, _ int) {
		var c sandbox.ClientConfig
		r.mapping(item, []key{
			r.required("id", "a client id", &c.ID),
			{name: "secret", read: func(v value) { r.secret(v, &c.Secret) }},
			r.into("subject", "the Service Account User ID", &c.Subject),
			r.role(&c.Role),
			r.into("affiliation", "an affiliation ID", &c.Affiliation),
			r.into("audience", "an audience, such as https://projects.example/api", &c.Audience),
		}, r.belongsAbove)
		r.once(lines, item, "a client id", c.ID)
		clients = append(clients, c)
	})
	n.set = append(n.set, func(c *sandbox.Config) { c.Clients = clients })
}

// issuers reads the foreign authorization servers that a node trusts.
func (r *reader) issuers(n *node, v value) {
	var issuers []sandbox.IssuerConfig
	lines := map[string]int{}
	r.list(v, "issuers", maxList, func(item value, _ int) {
		c := sandbox.IssuerConfig{Accounts: map[string]funding.Account{}}
		jwks, faults := value{}, len(r.faults)
		r.mapping(item, []key{
			r.required("issuer", "the iss of its tokens", &c.Issuer),
			{name: "jwks", required: true, expected: expectedKeys, read: func(v value) { jwks = v }},
			r.into("audience", "an audience", &c.Audience),
			{name: "clients", read: func(v value) { r.foreignClients(c.Accounts, v) }},
		}, r.belongsAbove)
		r.once(lines, item, "an issuer", c.Issuer)
		if len(r.faults) == faults {
			c.JWKS = r.keys(jwks, c)
		}
		issuers = append(issuers, c)
	})
	n.set = append(n.set, func(c *sandbox.Config) { c.Issuers = issuers })
}

const expectedKeys = "a JWK Set: a file or a URL"

// keys fetches the keys of an issuer, and lets the sandbox read them.
func (r *reader) keys(v value, c sandbox.IssuerConfig) []byte {
	place, ok := r.text(v, expectedKeys)
	if !ok {
		return nil
	}
	set, err := r.source.Keys(place)
	if err == nil {
		_, err = auth.NewForeign(c.Issuer, set, c.Audience)
	}
	if err != nil {
		r.fault(v, expectedKeys, quoted(place), err.Error())
	}
	return set
}

// foreignClients reads the clients of a foreign issuer that have an account here.
func (r *reader) foreignClients(into map[string]funding.Account, v value) {
	lines := map[string]int{}
	r.list(v, "clients", maxList, func(item value, _ int) {
		var id string
		var account funding.Account
		r.mapping(item, []key{
			r.required("id", "a client id", &id), r.role(&account.Role), r.into("affiliation", "an affiliation ID", &account.Affiliation),
		}, r.belongsAbove)
		r.once(lines, item, "a client id", id)
		into[id] = account
	})
}

// role reads a role. Any may be granted; one that is nearly the one that matters is not meant.
func (r *reader) role(to *string) key {
	const expected = "a role, such as " + model.RoleExternalAPIClient
	return key{name: "role", read: func(v value) {
		text, ok := r.text(v, expected)
		if !ok {
			return
		}
		if hint := suggestion(text, []string{model.RoleExternalAPIClient}); hint != "" && text != model.RoleExternalAPIClient {
			r.fault(v, expected, quoted(text), hint)
			return
		}
		*to = text
	}}
}

// secret reads a client secret, which is never shown: where it is kept, or the secret itself.
func (r *reader) secret(v value, to *string) {
	const expected = "env:NAME, file:PATH, or the secret itself"
	text, ok := r.text(v, expected)
	switch {
	case !ok:
		return
	case text == "":
		r.fault(v, expected, "an empty text", "leave secret away to have one made")
		return
	case strings.HasPrefix(text, "env:"), strings.HasPrefix(text, "file:"):
		secret, err := r.source.Secret(text)
		if err == nil && secret != "" {
			*to = secret
			return
		}
		hint := "there is nothing in it"
		if err != nil {
			hint = err.Error()
		}
		r.fault(v, "a secret at "+shortened(text), "none", hint)
		return
	}
	*to = text
}

// once refuses a name that stands in another entry of its list already.
func (r *reader) once(lines map[string]int, v value, what, name string) {
	if name == "" {
		return
	}
	if line, taken := lines[name]; taken {
		r.fault(v, what+" that no other entry has", quoted(name), "line "+strconv.Itoa(line)+" has it already")
		return
	}
	lines[name] = v.at.Line
}

// distinct refuses nodes that cannot be told apart.
func (r *reader) distinct(nodes []node) {
	ids, roots := map[string]int{}, map[string]int{}
	for _, n := range nodes {
		r.once(ids, n.at, "an id", n.member.ID)
		r.once(roots, n.at, "a root", "/"+strings.TrimPrefix(n.root, "/"))
	}
}
