package target

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// maxConcurrency keeps a run from being mistaken for an attack.
const maxConcurrency = 64

// Validate checks the whole target before anything is sent. It returns all mistakes joined in one error; each is a [*Problem].
func (t Target) Validate() error {
	var faults []error
	add := func(flag, message, hint string) {
		faults = append(faults, &Problem{Flag: flag, Message: message, Hint: hint})
	}
	faults = append(faults, t.validateNode()...)
	for _, u := range t.urls() {
		if err := t.validateURL(u.flag, u.text); err != nil {
			faults = append(faults, err)
		}
	}
	for _, o := range t.AllowOrigins {
		if u, err := url.Parse(o); err != nil || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
			add("--allow-origin", fmt.Sprintf("%q is not an origin", o), "write scheme and host, such as https://api.example")
		}
	}
	faults = append(faults, t.validateCredentials()...)
	if !slices.Contains([]string{"auth", "funding", "full"}, t.Profile) {
		add("--profile", fmt.Sprintf("%q is not a profile", t.Profile), "choose auth, funding or full")
	}
	faults = append(faults, t.validateStaging()...)
	faults = append(faults, t.validatePoliteness()...)
	if p := t.Patience(); p > 0 && t.Politeness.Deadline > 0 && t.Politeness.Deadline <= p {
		add("--wait", fmt.Sprintf("%s does not fit into --deadline %s", p, t.Politeness.Deadline), "give a longer --deadline, or a shorter --wait")
	}
	if t.Quick && t.Thorough {
		add("--quick", "contradicts --thorough", "choose one of them")
	}
	if len(t.CACert) > 0 && !x509.NewCertPool().AppendCertsFromPEM(t.CACert) {
		add("--cacert", "holds no certificate in PEM", "give a file with -----BEGIN CERTIFICATE-----")
	}
	return errors.Join(faults...)
}

func (t Target) validateNode() []error {
	var faults []error
	add := func(flag, message, hint string) {
		faults = append(faults, &Problem{Flag: flag, Message: message, Hint: hint})
	}
	registry := t.Registry != "" || len(t.RegistryDocument) > 0
	switch {
	case registry && t.NodeID == "":
		add("--node", "is missing", "name the id of the node's entry in the registry")
	case !registry && t.NodeID != "":
		add("--registry", "is missing", "--node needs the URL or file of the registry document")
	case !registry:
		if t.TokenURL == "" {
			add("--token-url", "is missing", "give the node's token endpoint, or --registry and --node")
		}
		if t.InfoURL == "" {
			add("--info-url", "is missing", "give the node's info endpoint, or --registry and --node")
		}
		if t.SpecURL == "" && t.Profile != "auth" && t.Profile != "" {
			add("--spec-url", fmt.Sprintf("is missing, the profile %s needs it", t.Profile),
				"give the URL of the API specification, or certify for --profile auth")
		}
	}
	return faults
}

type flagged struct{ flag, text string }

// urls lists the URLs that were given, with their flags.
func (t Target) urls() []flagged {
	all := []flagged{
		{"--registry", t.Registry}, {"--token-url", t.TokenURL}, {"--info-url", t.InfoURL},
		{"--spec-url", t.SpecURL}, {"--base-url", t.BaseURL},
	}
	return slices.DeleteFunc(all, func(f flagged) bool { return f.text == "" })
}

func (t Target) validateURL(flag, text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return &Problem{Flag: flag, Message: "is not a URL", Hint: "write an absolute URL such as https://api.example/path"}
	case u.User != nil: // the message must not repeat the URL, which holds a password
		return &Problem{Flag: flag, Message: "holds a user name or password", Hint: "leave out what comes before the @"}
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return &Problem{Flag: flag, Message: fmt.Sprintf("expected an absolute http or https URL, got %q", text),
			Hint: "write an absolute URL such as https://api.example/path"}
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return &Problem{Flag: flag, Message: fmt.Sprintf("%q has a fragment (RFC 6749 §3.2 forbids it)", text), Hint: "leave out the # and what follows"}
	case u.Scheme == "http" && !LoopbackHost(u.Hostname()) && !t.allowed(u):
		return &Problem{Flag: flag, Message: fmt.Sprintf("%q is not encrypted: a secret or token would be readable on the way", text),
			Hint: fmt.Sprintf("use https, or name the origin with --allow-origin %s", evidence.Origin(u))}
	}
	return nil
}

// allowed reports whether the operator named the URL's origin with --allow-origin.
func (t Target) allowed(u *url.URL) bool {
	for _, text := range t.AllowOrigins {
		if o, err := url.Parse(text); err == nil && evidence.Origin(o) == evidence.Origin(u) {
			return true
		}
	}
	return false
}

func (t Target) validateCredentials() []error {
	var faults []error
	faults = append(faults, t.Credentials.missing("--client-id", "--client-secret")...)
	further := []struct {
		client          *Credentials
		id, secret, who string
	}{
		{t.Second, "--client-id2", "--client-secret2", "a client without the role EXTERNAL_API_CLIENT"},
		{t.Other, "--other-client-id", "--other-client-secret", "a client whose tokens are meant for another audience"},
	}
	for _, f := range further {
		if f.client == nil {
			continue
		}
		faults = append(faults, f.client.missing(f.id, f.secret)...)
		if f.client.ClientID != "" && f.client.ClientID == t.Credentials.ClientID {
			faults = append(faults, &Problem{Flag: f.id, Message: "is the same client as --client-id", Hint: "give " + f.who + ", or leave it out"})
		}
	}
	return faults
}

// missing returns a problem for each missing part of the credentials.
func (c Credentials) missing(idFlag, secretFlag string) []error {
	var faults []error
	if c.ClientID == "" {
		faults = append(faults, &Problem{Flag: idFlag, Message: "is missing", Hint: "give the client id that the node's operator issued"})
	}
	if c.ClientSecret.IsZero() {
		faults = append(faults, &Problem{Flag: secretFlag, Message: "is missing", Hint: sourceHint})
	}
	return faults
}

// validateStaging keeps the secrets of production away from the staging server.
func (t Target) validateStaging() []error {
	if t.Staging == nil {
		return nil
	}
	faults := t.Staging.Credentials.missing("--staging-client-id", "--staging-client-secret")
	if t.Staging.TokenURL == "" {
		faults = append(faults, &Problem{Flag: "--staging-token-url", Message: "is missing", Hint: "the staging client needs the staging token endpoint"})
	} else if err := t.validateURL("--staging-token-url", t.Staging.TokenURL); err != nil {
		faults = append(faults, err)
	}
	production := []Secret{t.Credentials.ClientSecret}
	for _, c := range []*Credentials{t.Second, t.Other} {
		if c != nil {
			production = append(production, c.ClientSecret)
		}
	}
	staging := t.Staging.Credentials.ClientSecret
	if !staging.IsZero() && slices.ContainsFunc(production, func(s Secret) bool { return s.Reveal() == staging.Reveal() }) {
		faults = append(faults, &Problem{Flag: "--staging-client-secret", Message: "is a secret of the node in production, which must never reach the staging server",
			Hint: "give a client of the staging server with a secret of its own"})
	}
	return faults
}

func (t Target) validatePoliteness() []error {
	var faults []error
	add := func(flag, message, hint string) {
		faults = append(faults, &Problem{Flag: flag, Message: message, Hint: hint})
	}
	p := t.Politeness
	if p.Rate < 0 {
		add("--rate", fmt.Sprintf("%g is below 0", p.Rate), "give requests a second, such as 4")
	}
	if p.Concurrency < 0 || p.Concurrency > maxConcurrency {
		add("--concurrency", fmt.Sprintf("%d is not between 1 and %d", p.Concurrency, maxConcurrency), "2 is gentle, 8 is quick")
	}
	if p.Timeout < 0 {
		add("--timeout", fmt.Sprintf("%s is below 0", p.Timeout), "give a duration such as 35s")
	}
	if t.Wait != nil && *t.Wait < 0 {
		add("--wait", fmt.Sprintf("%s is below 0", *t.Wait), "give a duration such as 10m, or 0 for no wait at all")
	}
	if p.Deadline < 0 {
		add("--deadline", fmt.Sprintf("%s is below 0", p.Deadline), "give a duration such as 10m")
	}
	return faults
}

// Problem is one mistake in a target, with its flag and what to do.
type Problem struct {
	// Flag is the flag to correct, with its dashes.
	Flag string
	// Message names what was expected and what came, without any secret.
	Message string
	// Hint says what to do.
	Hint string
	// Cause is the underlying error; may be nil.
	Cause error
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
