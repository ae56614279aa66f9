package target

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
)

// maxConcurrency keeps a run from being mistaken for an attack.
const maxConcurrency = 64

// Validate checks the whole target before anything is sent. It returns all mistakes joined in one error; each is a [*Problem].
func (t Target) Validate() error {
	var p problems
	t.validateNode(&p)
	for _, u := range t.urls() {
		t.validateURL(&p, u.flag, u.text)
	}
	for _, o := range t.AllowOrigins {
		if u, err := url.Parse(o); err != nil || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
			if at := strings.LastIndex(o, "@"); at >= 0 { // what comes before may be a password
				o = "…" + o[at:]
			}
			p.add("--allow-origin", fmt.Sprintf("%q is not an origin", o), "write scheme and host, such as https://api.example")
		}
	}
	t.validateCredentials(&p)
	if !slices.Contains([]string{"auth", "api", "funding", "full"}, t.Profile) {
		p.add("--profile", fmt.Sprintf("%q is not a profile", t.Profile), "choose auth, api, funding or full")
	}
	t.validateStaging(&p)
	t.validatePoliteness(&p)
	if located := t.TokenURL != "" && t.InfoURL != ""; t.Blind && located && !t.Consent && !t.Loopback() {
		p.add("--blind", "is only for nodes on loopback, and this one is elsewhere", "leave it out; a run that does not name itself needs the consent of the node's operator")
	}
	if wait := t.Patience(); wait > 0 && t.Politeness.Deadline > 0 && t.Politeness.Deadline <= wait {
		p.add("--wait", fmt.Sprintf("%s does not fit into --deadline %s", wait, t.Politeness.Deadline), "give a longer --deadline, or a shorter --wait")
	}
	if len(t.Operator) > maxOperator || strings.ContainsFunc(t.Operator, unicode.IsControl) {
		p.add("--operator", fmt.Sprintf("expected at most %d bytes in one line", maxOperator), "write who runs the test, such as a name or a URL")
	}
	if t.Effort != "" && !slices.Contains(draw.Efforts(), t.Effort) {
		p.add("--effort", fmt.Sprintf("%q is not an effort", t.Effort), "choose quick, standard or deep")
	}
	switch {
	case t.Budget < 0 || t.Budget > maxBudget:
		p.add("--budget", fmt.Sprintf("%d is not between 1 and %d", t.Budget, maxBudget), "give the largest number of requests of a deep run")
	case t.Budget > 0 && t.Effort != draw.Deep:
		p.add("--budget", "belongs to --effort deep", "leave it out, or choose --effort deep")
	}
	if len(t.CACert) > 0 && !x509.NewCertPool().AppendCertsFromPEM(t.CACert) {
		p.add("--cacert", "holds no certificate in PEM", "give a file with -----BEGIN CERTIFICATE-----")
	}
	return errors.Join(p...)
}

// maxOperator bounds the name of who runs the test, in bytes.
const maxOperator = 200

// maxBudget bounds the requests of a deep run.
const maxBudget = 100_000

// problems collects mistakes.
type problems []error

func (p *problems) add(flag, message, hint string) {
	*p = append(*p, &Problem{Flag: flag, Message: message, Hint: hint})
}

func (t Target) validateNode(p *problems) {
	registry := t.Registry != "" || len(t.RegistryDocument) > 0
	switch {
	case registry && t.NodeID == "":
		p.add("--node", "is missing", "name the id of the node's entry in the registry")
	case !registry && t.NodeID != "":
		p.add("--registry", "is missing", "--node needs the URL or file of the registry document")
	case !registry:
		if t.TokenURL == "" {
			p.add("--token-url", "is missing", "give the node's token endpoint, or --registry and --node")
		}
		if t.InfoURL == "" {
			p.add("--info-url", "is missing", "give the node's info endpoint, or --registry and --node")
		}
		if t.SpecURL == "" && t.Profile != "auth" && t.Profile != "" {
			p.add("--spec-url", fmt.Sprintf("is missing, the profile %s needs it", t.Profile),
				"give the URL of the API specification, or certify for --profile auth")
		}
	}
}

type flagURL struct{ flag, text string }

// urls lists the URLs that were given, with their flags.
func (t Target) urls() []flagURL {
	all := []flagURL{
		{"--registry", t.Registry}, {"--token-url", t.TokenURL}, {"--info-url", t.InfoURL},
		{"--spec-url", t.SpecURL}, {"--base-url", t.BaseURL},
	}
	return slices.DeleteFunc(all, func(f flagURL) bool { return f.text == "" })
}

func (t Target) validateURL(p *problems, flag, text string) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		p.add(flag, "is not a URL", "write an absolute URL such as https://api.example/path")
	case u.User != nil || u.Host == "" && strings.Contains(text, "@"): // the message must not repeat the URL, which holds a password
		p.add(flag, "holds a user name or password", "leave out what comes before the @")
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		p.add(flag, fmt.Sprintf("expected an absolute http or https URL, got %q", text), "write an absolute URL such as https://api.example/path")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		p.add(flag, fmt.Sprintf("%q has a fragment (RFC 6749 §3.2 forbids it)", text), "leave out the # and what follows")
	case u.Scheme == "http" && !evidence.LoopbackHost(u.Hostname()) && !t.isAllowed(u):
		p.add(flag, fmt.Sprintf("%q is not encrypted: a secret or token would be readable on the way", text),
			fmt.Sprintf("use https, or name the origin with --allow-origin %s", evidence.Origin(u)))
	}
}

// isAllowed reports whether the operator named the URL's origin with --allow-origin.
func (t Target) isAllowed(u *url.URL) bool {
	return slices.ContainsFunc(t.AllowOrigins, func(text string) bool { return evidence.OriginOf(text) == evidence.Origin(u) })
}

func (t Target) validateCredentials(p *problems) {
	t.Credentials.validate(p, "--client-id", "--client-secret")
	for _, f := range []struct {
		client          *Credentials
		id, secret, who string
	}{
		{t.Second, "--client-id2", "--client-secret2", "a client without the role EXTERNAL_API_CLIENT"},
		{t.Other, "--other-client-id", "--other-client-secret", "a client whose tokens are meant for another audience"},
		{t.Spare, "--spare-client-id", "--spare-client-secret", "a client that nothing else uses, because it may be locked out"},
	} {
		if f.client == nil {
			continue
		}
		f.client.validate(p, f.id, f.secret)
		if f.client.ClientID != "" && f.client.ClientID == t.Credentials.ClientID {
			p.add(f.id, "is the same client as --client-id", "give "+f.who+", or leave it out")
		}
	}
	for flag, c := range map[string]*Credentials{"--client-id2": t.Second, "--other-client-id": t.Other} {
		if c != nil && t.Spare != nil && c.ClientID != "" && c.ClientID == t.Spare.ClientID {
			p.add("--spare-client-id", "is the same client as "+flag, "give a client that nothing else uses, because it may be locked out, or leave it out")
		}
	}
}

// validate adds a problem for each missing part of the credentials.
func (c Credentials) validate(p *problems, idFlag, secretFlag string) {
	if c.ClientID == "" {
		p.add(idFlag, "is missing", "give the client id that the node's operator issued")
	}
	if c.ClientSecret.IsZero() {
		p.add(secretFlag, "is missing", sourceHint)
	}
}

// validateStaging keeps the secrets of production away from the staging server.
func (t Target) validateStaging(p *problems) {
	if t.Staging == nil {
		return
	}
	t.Staging.Credentials.validate(p, "--staging-client-id", "--staging-client-secret")
	if t.Staging.TokenURL == "" {
		p.add("--staging-token-url", "is missing", "the staging client needs the staging token endpoint")
	} else {
		t.validateURL(p, "--staging-token-url", t.Staging.TokenURL)
	}
	production := []Secret{t.Credentials.ClientSecret}
	for _, c := range []*Credentials{t.Second, t.Other, t.Spare} {
		if c != nil {
			production = append(production, c.ClientSecret)
		}
	}
	staging := t.Staging.Credentials.ClientSecret
	if !staging.IsZero() && slices.ContainsFunc(production, func(s Secret) bool { return s.Reveal() == staging.Reveal() }) {
		p.add("--staging-client-secret", "is a secret of the node in production, which must never reach the staging server",
			"give a client of the staging server with a secret of its own")
	}
}

func (t Target) validatePoliteness(p *problems) {
	limits := t.Politeness
	if limits.Rate < 0 {
		p.add("--rate", fmt.Sprintf("%g is below 0", limits.Rate), "give requests a second, such as 4")
	}
	if limits.Concurrency < 0 || limits.Concurrency > maxConcurrency {
		p.add("--concurrency", fmt.Sprintf("%d is not between 1 and %d", limits.Concurrency, maxConcurrency), "2 is gentle, 8 is quick")
	}
	if limits.Timeout < 0 {
		p.add("--timeout", fmt.Sprintf("%s is below 0", limits.Timeout), "give a duration such as 35s")
	}
	if t.Wait != nil && *t.Wait < 0 {
		p.add("--wait", fmt.Sprintf("%s is below 0", *t.Wait), "give a duration such as 10m, or 0 for no wait at all")
	}
	if limits.Deadline < 0 {
		p.add("--deadline", fmt.Sprintf("%s is below 0", limits.Deadline), "give a duration such as 10m")
	}
}

// Problem is one mistake in a target, with its flag and what to do.
type Problem struct {
	// Flag is the flag to correct, with its dashes.
	Flag string
	// Message names what was expected and what came, without any secret.
	Message string
	// Hint says what to do.
	Hint string
	// Cause is the underlying error, or nil. JSON leaves it out, because an error cannot be decoded on the other side.
	Cause error `json:"-"`
}

// Error implements error.
func (p *Problem) Error() string {
	text := fmt.Sprintf("%s: %s", p.Flag, p.Message)
	if p.Cause != nil {
		text += ": " + p.Cause.Error()
	}
	if p.Hint != "" {
		text += " (hint: " + p.Hint + ")"
	}
	return text
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }
