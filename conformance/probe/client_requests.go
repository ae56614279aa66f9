package probe

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// This file sends token requests as each client that the operator named. A fault may show with one client only: for example, if its secret has characters
// that must be encoded, or is longer than the part that bcrypt reads.

// client is a client of the run at its token endpoint.
type client struct {
	at            evidence.Resource // the resource of its requests
	words         string            // its name for people
	secret, token string            // the names of its secret and its token in evidence
	credentials   func(t target.Target) *target.Credentials
}

func secondClient() client {
	return client{evidence.SecondClient, "the second client", SecondSecret, SecondAccessToken, func(t target.Target) *target.Credentials { return t.Second }}
}

func otherClient() client {
	return client{evidence.OtherClient, "the client of another audience", OtherSecret, OtherAccessToken, func(t target.Target) *target.Credentials { return t.Other }}
}

func spareClient() client {
	return client{evidence.SpareClient, "the client that may be locked out", SpareSecret, SpareAccessToken, func(t target.Target) *target.Credentials { return t.Spare }}
}

// form returns the good form of the client, with the fields of [Credentialed]: grant_type, client_id and client_secret.
func (c client) form(r *run) form {
	return form{fields: Credentialed(*c.credentials(r.Target)), credential: c.secret, media: formType}
}

// request returns a token request of the client.
func (c client) request(r *run, f form) recorder.Request {
	q := r.request(f)
	q.Issues = c.token
	return q
}

// byBasic returns the good requests of the client by HTTP Basic: form-encoded as RFC 6749 §2.3.1 requires, and with the plain id and secret if that is
// refused. Later requests use this token, because a server may keep only the newest token of a client.
func (c client) byBasic(plan timing) []row {
	words := "the token request of " + c.words + " by HTTP Basic"
	return []row{
		{Label: c.at.With("basic"), Words: words, Plan: plan, Send: c.basic(false), Learn: keepTokenAs(c.token)},
		{Label: c.at.With("basic-unencoded"), Words: words + " with the plain id and secret", Plan: plan, Send: c.basic(true), Learn: keepTokenAs(c.token)},
	}
}

// basic requests a token of the client by HTTP Basic, if that works for the first client. Otherwise a refusal would show nothing new.
func (c client) basic(plain bool) sender {
	return func(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		credentials := c.credentials(r.Target)
		id, secret := credentials.ClientID, credentials.ClientSecret.Reveal()
		switch {
		case r.facts.token(c.token).Value == "":
			return recorder.Request{}, unmet("%s got no token with its secret in the form", c.words)
		case !r.facts.good("token.basic") && !r.facts.good("token.basic-unencoded"):
			return recorder.Request{}, notApplicable("HTTP Basic yields no token for the first client")
		case plain && r.facts.good(at.With("basic")):
			return recorder.Request{}, notApplicable("HTTP Basic works with form-encoded credentials")
		case plain && url.QueryEscape(id) == id && url.QueryEscape(secret) == secret:
			return recorder.Request{}, notApplicable("form encoding does not change these credentials")
		}
		f := c.form(r)
		f.fields, f.once = f.fields[:1], true
		f.authorization = basic(id, secret)
		if !plain {
			s := r.source(at, "encoding")
			f.authorization = basic(formEncoded(s, id), formEncoded(s, secret))
		}
		return c.request(r, f), nil
	}
}

// twoClientToken is the name of the token from [twoClientCases].
const twoClientToken = "token for two clients"

// twoClientCases name two clients in one token request, which RFC 6749 §2.3 forbids: the second client authenticates, and the form has the id of the
// first. A server may refuse that, or issue a token to the client that authenticated, which is the second. The token is tried where that client has no role.
func twoClientCases(plan timing) []row {
	return []row{
		{Label: evidence.SecondClient.With("two-clients"), Words: "the token request of the second client by HTTP Basic with the id of the first in the form", Plan: plan,
			Send: twoClientRequest, Learn: keepTokenAs(twoClientToken)},
		{Label: evidence.EveryOperation.With("roleless-two-clients"), Words: "by the client without the role, with the token for two clients", Send: presentRoleless(twoClientToken, "the request in the names of two clients yielded no token"),
			Plan: in(stageRest, stageAuthorized, stageSecond).alsoOn(onFunding).onlyIf(withSecond).onlyIf(notQuick)},
	}
}

func twoClientRequest(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	c := secondClient()
	switch {
	case r.facts.token(c.token).Value == "":
		return recorder.Request{}, unmet("%s got no token with its secret", c.words)
	case !r.facts.good(at.With("basic")) && !r.facts.good(at.With("basic-unencoded")):
		return recorder.Request{}, notApplicable("HTTP Basic yields no token for the second client")
	}
	second, encode := *c.credentials(r.Target), url.QueryEscape
	if !r.facts.good(at.With("basic")) {
		encode = func(text string) string { return text }
	}
	f := c.form(r)
	f.fields, f.once = []Field{f.fields[0], {Name: "client_id", Value: r.Target.Credentials.ClientID}}, true
	f.authorization = basic(encode(second.ClientID), encode(second.ClientSecret.Reveal()))
	return c.request(r, f), nil
}

// These are the names of tokens for which a client asked for more than it has.
const (
	selfGrantedToken   = "token with a role that its client asked for"
	otherResourceToken = "token for an audience that its client asked for"
)

// roleOfClients is the role that the interface document names (Authentication 3.3).
const roleOfClients = "EXTERNAL_API_CLIENT"

// selfGrantedCases ask for the role as the client that lacks it. A server must ignore parameters that it does not know (RFC 6749 §3.2). A server
// that copies them into the account or the claims gives the role to anybody. So does a server that treats an unknown scope as a role.
func selfGrantedCases(plan timing) []row {
	return []row{
		{Label: evidence.SecondClient.With("role-requested"), Words: "the token request of the second client with the role as a parameter", Plan: plan, Send: requestRole, Learn: keepTokenAs(selfGrantedToken)},
		{Label: evidence.ListOperation.With("roleless-role-requested"), Words: "by the client without the role, with a token that it requested with the role as a parameter",
			Send: presentRoleless(selfGrantedToken, "the request with the role as a parameter yielded no token"),
			Plan: in(stageRest, stageAuthorized, stageSecond).onlyIf(withSecond).onlyIf(notQuick).onDemand()},
	}
}

func requestRole(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	c := secondClient()
	if r.facts.token(c.token).Value == "" {
		return recorder.Request{}, unmet("%s got no token with its secret", c.words)
	}
	f := c.form(r)
	names, s := []string{"role", "roles", "authorities", "groups", "permissions", "user_role", "account_roles", "claims"}, r.source(at, "role")
	draw.Shuffle(s, names)
	for _, name := range names[:4] {
		f.fields = append(f.fields, Field{Name: name, Value: roleOfClients})
	}
	if r.facts.good("token.unknown-scope") { // a server that knows its scopes would refuse the request
		scopes := []string{roleOfClients, s.Name()}
		draw.Shuffle(s, scopes)
		f.fields = append(f.fields, Field{Name: "scope", Value: strings.Join(scopes, " ")})
	}
	return c.request(r, f), nil
}

// otherResourceCases ask for the audience of this node as the client of another audience, by the parameters of RFC 8707 §2 and of older servers.
func otherResourceCases(plan timing) []row {
	return []row{
		{Label: evidence.OtherClient.With("resource"), Words: "the token request of the client of another audience with this node as the resource", Plan: plan, Send: requestAudience, Learn: keepTokenAs(otherResourceToken)},
		{Label: evidence.ListOperation.With("audience-resource"), Words: "by the client of another audience, with a token that it requested for the audience of this node",
			Send: presentOtherResource, Plan: in(stageRest, stageAuthorized, stageOther).onlyIf(withOther).onlyIf(notQuick).onDemand()},
	}
}

func requestAudience(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	c := otherClient()
	if r.facts.token(c.token).Value == "" {
		return recorder.Request{}, unmet("%s got no token with its secret", c.words)
	}
	good, _ := tokenforge.Read(r.current().Value)
	audience := good.Audience()
	if audience == "" {
		return recorder.Request{}, notApplicable("the good token names no audience that could be asked for")
	}
	f := c.form(r)
	f.fields = append(f.fields, Field{Name: "audience", Value: audience})
	if u, err := url.Parse(audience); err == nil && u.IsAbs() {
		f.fields = append(f.fields, Field{Name: "resource", Value: audience})
	}
	return c.request(r, f), nil
}

func presentOtherResource(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	if r.facts.token(otherResourceToken).Value == "" {
		return recorder.Request{}, notApplicable("the client of another audience got no token for this one")
	}
	return presentIssued(otherResourceToken, "the client of another audience")(ctx, r, at)
}

// basicPercentEncoded sends id and secret with some characters percent-encoded, although they need no encoding. A server that does not decode them
// would also refuse clients whose secret has a special character, and the run may not have such a client.
func basicPercentEncoded(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	if !r.facts.good("token.basic") {
		return recorder.Request{}, notApplicable("HTTP Basic with form-encoded credentials yields no token")
	}
	return tokenRequest(func(r *run, f *form) {
		c := r.Target.Credentials
		f.fields, f.once = f.fields[:1], true
		s := r.source(at, "encoded credentials")
		f.authorization = basic(encodeSome(s, c.ClientID), encodeSome(s, c.ClientSecret.Reveal()))
	})(ctx, r, at)
}

// basicEmptySecret sends the form of a client that has the secret in the header, with the field for the secret left empty.
func basicEmptySecret(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	if !r.facts.good("token.basic") {
		return recorder.Request{}, notApplicable("HTTP Basic with form-encoded credentials yields no token")
	}
	return tokenRequest(func(r *run, f *form) {
		c := r.Target.Credentials
		f.fields, f.once = append(f.fields[:1:1], Field{Name: "client_secret"}), true
		f.authorization = basic(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientSecret.Reveal()))
	})(ctx, r, at)
}

// formEncoded form-encodes a text, in one of the spellings that clients use.
func formEncoded(s draw.Source, text string) string {
	out := url.QueryEscape(text)
	if s.Below(2) == 0 { // hexadecimal digits have no case (RFC 3986 §2.1)
		out = regexp.MustCompile("%..").ReplaceAllStringFunc(out, strings.ToLower)
	}
	if s.Below(2) == 0 {
		out = strings.ReplaceAll(out, "+", "%20")
	}
	return out
}

// wrongSecretOfFirst sends a wrong secret for the first client, once, because that client must not be locked out.
func wrongSecretOfFirst(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	wrong, words := wrongFor(r.source(at, "secret"), r.Target.Credentials)
	q, reason := tokenRequest(func(_ *run, f *form) {
		f.fields[2].Value, f.once, f.neverRepeat = wrong, true, true
		f.conceal = map[string]string{WrongSecret: wrong}
	})(ctx, r, at)
	q.Words = words
	return q, reason
}

// wrongSecretOnce sends one wrong secret for a client that must not be locked out.
func wrongSecretOnce(c client) sender {
	return func(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		if r.facts.token(c.token).Value == "" {
			return recorder.Request{}, unmet("%s got no token with its secret", c.words)
		}
		wrong, words := wrongFor(r.source(at, "secret"), *c.credentials(r.Target))
		f := c.form(r)
		f.fields[2].Value, f.once, f.neverRepeat = wrong, true, true
		f.conceal = map[string]string{WrongSecret: wrong}
		q := c.request(r, f)
		q.Words = "the token request of " + c.words + " " + words
		return q, nil
	}
}

// blanksByBasic sends the secret of the second client with blanks around it. It uses HTTP Basic, because frameworks such as Laravel trim the values of forms
// only.
func blanksByBasic(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	c := secondClient()
	switch {
	case r.facts.token(c.token).Value == "":
		return recorder.Request{}, unmet("%s got no token with its secret", c.words)
	case !r.facts.good("token.basic"):
		return recorder.Request{}, notApplicable("HTTP Basic with form-encoded credentials yields no token for the first client")
	}
	s, credentials := r.source(at, "blanks"), c.credentials(r.Target)
	wrong := addBlanks(s, credentials.ClientSecret.Reveal())
	f := c.form(r)
	f.fields, f.once, f.neverRepeat = f.fields[:1], true, true
	f.authorization = basic(formEncoded(s, credentials.ClientID), formEncoded(s, wrong))
	f.conceal = map[string]string{WrongSecret: wrong}
	return c.request(r, f), nil
}

// addBlanks adds blanks to a text: before it, after it or both.
func addBlanks(s draw.Source, text string) string {
	blanks := func() string { return draw.One(s, " ", "  ", "\t", "\n", "\r\n") }
	return draw.One(s, blanks()+text, text+blanks(), text+blanks(), blanks()+text+blanks())
}

// wrongFor draws a wrong secret, and its words for reports. The client gets only one wrong secret, because it must not be locked out. If the secret reaches
// the limit of bcrypt, the wrong one differs after that limit only. For a shorter secret, it draws one of the kinds of [oneWrongSecret].
func wrongFor(s draw.Source, c target.Credentials) (wrong, words string) {
	id, secret := c.ClientID, c.ClientSecret.Reveal()
	for _, k := range wrongSecrets() {
		if k.kind == "secret-beyond" {
			if wrong := k.wrong(s, id, secret); wrong != "" && wrong != secret {
				return wrong, k.words
			}
		}
	}
	k := draw.One(s, oneWrongSecret()...)
	if wrong = k.wrong(s, id, secret); wrong != "" && wrong != secret {
		return wrong, k.words
	}
	return misspelt(s, secret), "with the wrong secret"
}

// oneWrongSecret lists the kinds to draw from if only one wrong secret is sent: secrets that are not empty, and that no framework refuses for their form.
func oneWrongSecret() []secretKind {
	out := []secretKind{
		{kind: "secret-misspelt", words: "with the wrong secret", wrong: func(s draw.Source, _, secret string) string { return misspelt(s, secret) }},
	}
	for _, k := range wrongSecrets() {
		switch k.kind {
		case "secret-prefix", "secret-extended", "secret-changed":
			out = append(out, k)
		}
	}
	return out
}

// misspelt changes the case of the letter nearest to the middle of a secret, or puts a letter into the middle if the secret has no letters.
func misspelt(s draw.Source, secret string) string {
	wrong, err := tokenforge.Misspell(secret, s)
	if err != nil || wrong == secret { // only for an empty secret: s cannot fail
		return secret + s.Text(draw.Letters, 1)
	}
	return wrong
}
