package probe

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// tokenFamilies are token requests that must not yield a token.
func tokenFamilies() []row {
	// They come last, because a node may ban a client that guesses secrets.
	spare := in(stageLast).inLane("spare client").onlyIf(withSpare)
	out := slices.Concat(unknownClients(), bareGrants(), []row{
		{Label: "token-spare.ok", Words: "the token request of the client that may be locked out", Plan: in(stageSpare, stageTokens).onlyIf(withSpare), Send: spareTokenRequest, Learn: keepTokenAs(SpareAccessToken)},
	}, spareClient().byBasic(spare))
	for _, k := range wrongSecrets() {
		out = append(out, row{Label: evidence.SpareClient.With(k.kind), Words: k.words, Family: evidence.WrongSecrets, Plan: spare, Send: wrongSecretRequest(k), Learn: keepTokenAtLimit})
	}
	return append(out, row{Label: evidence.BesideLock, Words: "while another client is locked out", Plan: spare.onDemand(), Send: sentAtLimit})
}

// stageSpare is the stage of the token of the client that may be locked out.
const stageSpare Stage = "spare client"

func withSpare(n Node) bool { return n.Target.Spare != nil }

// unknownClients authenticate as clients that do not exist, in the ways of existing clients (RFC 6749 §2.3.1, RFC 7523 §2.2).
func unknownClients() []row {
	unknown := func(kind evidence.Case, words string, change func(r *run, s draw.Source, id, secret string, f *form) error) row {
		return row{Label: evidence.TokenEndpoint.With(kind), Words: words, Family: evidence.UnknownClients, Plan: in(stageTokens, stageToken).onlyIf(notQuick),
			Send: func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
				var err error
				q, reason := tokenRequest(func(r *run, f *form) {
					s := r.source(at, string(kind))
					f.fields, f.credential, f.once = f.fields[:1:1], "", true
					err = change(r, s, r.unknownClientID(s), s.Like(r.drawn.unknownSecret), f)
				})(ctx, r, at)
				if err != nil {
					return q, cutShort("the assertion could not be made: %v", err)
				}
				return q, reason
			}}
	}
	add := func(f *form, pairs ...string) {
		for i := 0; i+1 < len(pairs); i += 2 {
			f.fields = append(f.fields, Field{Name: pairs[i], Value: pairs[i+1]})
		}
	}
	assertion := func(kind evidence.Case, words string, sign func(r *run, t tokenforge.Token) (string, error)) row {
		return unknown(kind, words, func(r *run, s draw.Source, id, _ string, f *form) error {
			value, err := sign(r, r.assertion(s, id))
			add(f, "client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion", value)
			if s.Below(2) == 0 {
				add(f, "client_id", id)
			}
			return err
		})
	}
	return []row{
		unknown("unknown-form", "with an unknown client", func(_ *run, _ draw.Source, id, secret string, f *form) error {
			add(f, "client_id", id, "client_secret", secret)
			return nil
		}),
		unknown("unknown-basic-secret", "with an unknown client id in the form and its secret by HTTP Basic", func(_ *run, _ draw.Source, id, secret string, f *form) error {
			add(f, "client_id", id)
			f.authorization = basic("", secret)
			return nil
		}),
		unknown("unknown-basic-id", "with an unknown client id by HTTP Basic and its secret in the form", func(_ *run, _ draw.Source, id, secret string, f *form) error {
			add(f, "client_secret", secret)
			f.authorization = basic(id, "")
			return nil
		}),
		unknown("unknown-both", "with two unknown clients, one in the form and one by HTTP Basic", func(r *run, s draw.Source, id, secret string, f *form) error {
			add(f, "client_id", id, "client_secret", secret)
			f.authorization = basic(r.unknownClientID(s), s.Like(secret))
			return nil
		}),
		unknown("unknown-empty-secret", "with an unknown client and an empty secret", func(_ *run, s draw.Source, id, _ string, f *form) error {
			if s.Below(2) == 0 {
				f.authorization = basic(id, "")
				return nil
			}
			add(f, "client_id", id, "client_secret", "")
			return nil
		}),
		unknown("unknown-empty-id", "with an empty client id and a secret", func(_ *run, s draw.Source, _, secret string, f *form) error {
			if s.Below(2) == 0 {
				f.authorization = basic("", secret)
				return nil
			}
			add(f, "client_id", "", "client_secret", secret)
			return nil
		}),
		unknown("unknown-empty", "with an empty client id and an empty secret", func(_ *run, s draw.Source, _, _ string, f *form) error {
			if s.Below(2) == 0 {
				f.authorization = basic("", "")
				return nil
			}
			add(f, "client_id", "", "client_secret", "")
			return nil
		}),
		unknown("unknown-repeated", "with two unknown client ids and two secrets", func(r *run, s draw.Source, id, secret string, f *form) error {
			add(f, "client_id", id, "client_secret", secret, "client_id", r.unknownClientID(s), "client_secret", s.Like(secret))
			return nil
		}),
		unknown("unknown-id", "with an unknown client id alone", func(_ *run, _ draw.Source, id, _ string, f *form) error {
			add(f, "client_id", id)
			return nil
		}),
		unknown("unknown-bearer", "with a random bearer value", func(_ *run, s draw.Source, _, secret string, f *form) error {
			f.authorization = "Bearer " + s.Like(secret)
			return nil
		}),
		assertion("assertion-unsigned", "with an unsigned assertion of an unknown client", func(_ *run, t tokenforge.Token) (string, error) {
			return t.Unsigned("none")
		}),
		assertion("assertion-own", "with an assertion of an unknown client that nobody knows the key of", func(r *run, t tokenforge.Token) (string, error) {
			token, _, err := r.signWithOwnKey(t, "", nil)
			return token, err
		}),
	}
}

// unknownClientID draws the id of a client that does not exist.
func (r *run) unknownClientID(s draw.Source) string {
	id := r.Target.Credentials.ClientID
	if len(id) < 8 { // a short id may be that of another client
		return s.Word() + "-" + s.Word()
	}
	return s.Like(id)
}

// assertion returns a client assertion (RFC 7523 §3).
func (r *run) assertion(s draw.Source, id string) tokenforge.Token {
	t := r.plausible()
	return t.With(map[string]any{"typ": "JWT"}, map[string]any{
		"iss": id, "sub": id, "client_id": nil, "azp": nil, "aud": r.Target.TokenURL, "jti": s.UUID(),
	})
}

// bareGrants send good credentials with other grants: registered grants without their parameters, and grants that are not registered. They do not vary blanks
// and the case of grant_type, which a server may ignore.
func bareGrants() []row {
	grant := func(kind evidence.Case, words string, values ...string) row {
		return row{Label: evidence.TokenEndpoint.With(kind), Words: words, Family: evidence.BareGrants, Plan: in(stageTokens, stageToken).onlyIf(notQuick),
			Send: tokenRequest(func(r *run, f *form) {
				f.fields[0].Value = draw.One(r.source(evidence.TokenEndpoint, string(kind)), values...)
			})}
	}
	return []row{
		grant("grant-token-exchange", "for a token exchange without a token", "urn:ietf:params:oauth:grant-type:token-exchange"),
		grant("grant-jwt-bearer", "for the grant jwt-bearer without an assertion", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
		grant("grant-device", "for the grant device_code without a code", "urn:ietf:params:oauth:grant-type:device_code"),
		grant("grant-saml", "for the grant saml2-bearer without an assertion", "urn:ietf:params:oauth:grant-type:saml2-bearer"),
		grant("grant-backchannel", "for the grant ciba without a request", "urn:openid:params:grant-type:ciba"),
		grant("grant-implicit", "for the grant implicit", "implicit", "token", "id_token"),
		grant("grant-cut", "for a grant whose name is cut", "client", "credentials", "client_credential", "client_"),
		grant("grant-joined", "for two grants at once", "client_credentials,password", "client_credentials refresh_token", "password client_credentials"),
		grant("grant-wildcard", "for every grant", "*", "%", "any", "all"),
	}
}

// secretKind is one kind of wrong secrets.
type secretKind struct {
	kind  evidence.Case
	words string
	// wrong makes a wrong secret; "" if the secret has no such variant.
	wrong func(s draw.Source, id, secret string) string
	// member replaces the name of the parameter; such a secret is sent by form.
	member string
	// basic is true for a secret that is sent by HTTP Basic only, form for one that is sent in a form only.
	basic, form bool
	// empty is true for the empty secret.
	empty bool
}

// bcryptLimit is the number of bytes of a secret that bcrypt reads.
const bcryptLimit = 72

// wrongSecrets are secrets that differ from the right one in a way that some comparison, hash or database ignores. They are cut between characters, because half
// a character would make the form invalid, which is another fault. Blanks around a secret are sent by HTTP Basic only, because forms are often trimmed.
func wrongSecrets() []secretKind {
	drawn := func(values ...string) func(draw.Source, string, string) string {
		return func(s draw.Source, _, _ string) string { return draw.One(s, values...) }
	}
	return []secretKind{
		// A prefix is sent in both ways, because the form and the header are often read by different code.
		{kind: "secret-prefix", words: "with the secret cut at its end", form: true, wrong: secretPrefix},
		{kind: "secret-prefix-basic", words: "with the secret cut at its end, by HTTP Basic", basic: true, wrong: secretPrefix},
		{kind: "secret-suffix", words: "with the secret cut at its start", wrong: func(s draw.Source, _, secret string) string {
			c := []rune(secret)
			return string(c[min(len(c), s.Between(1, max(1, len(c)/2))):])
		}},
		{kind: "secret-extended", words: "with text after the secret", wrong: func(s draw.Source, _, secret string) string {
			return secret + s.Text(draw.Letters+draw.Digits, s.Between(1, 12))
		}},
		{kind: "secret-empty", words: "with an empty secret", empty: true, wrong: func(draw.Source, string, string) string { return "" }},
		{kind: "secret-preceded", words: "with text before the secret", wrong: func(s draw.Source, _, secret string) string {
			return s.Text(draw.Letters+draw.Digits, s.Between(1, 12)) + secret
		}},
		{kind: "secret-upper", words: "with the secret in capitals", wrong: func(_ draw.Source, _, secret string) string { return strings.ToUpper(secret) }},
		{kind: "secret-lower", words: "with the secret in small letters", wrong: func(_ draw.Source, _, secret string) string { return strings.ToLower(secret) }},
		{kind: "secret-wide", words: "with the secret in wide letters", wrong: func(_ draw.Source, _, secret string) string {
			return strings.Map(func(c rune) rune {
				if c > ' ' && c <= '~' {
					return c - '!' + '！'
				}
				return c
			}, secret)
		}},
		{kind: "secret-invisible", words: "with an invisible character in the secret", wrong: func(s draw.Source, _, secret string) string {
			c := []rune(secret)
			at := s.Below(len(c) + 1)
			return string(c[:at]) + draw.One(s, "\u200b", "\u200d", "\u00ad", "\u2060") + string(c[at:])
		}},
		{kind: "secret-blanks", words: "with blanks after the secret", basic: true, wrong: func(s draw.Source, _, secret string) string {
			return secret + strings.Repeat(" ", s.Between(1, 3)) // a column of type CHAR ignores them; the second client shows other blanks
		}},
		{kind: "secret-null", words: "with a NUL and text after the secret", wrong: func(s draw.Source, _, secret string) string {
			return secret + "\x00" + s.Text(draw.Letters, s.Between(1, 6))
		}},
		// HMAC, and PBKDF2 with it, fills a short key up with NULs (RFC 2104 §2).
		{kind: "secret-padded", words: "with NULs after the secret", wrong: func(s draw.Source, _, secret string) string {
			return secret + strings.Repeat("\x00", s.Between(1, 3))
		}},
		{kind: "secret-beyond", words: "with another end of the secret after 72 bytes", wrong: func(s draw.Source, _, secret string) string {
			if len(secret) < bcryptLimit {
				return ""
			}
			kept := strings.ToValidUTF8(secret[:bcryptLimit], "")
			return kept + s.Text(draw.Letters+draw.Digits, max(1, len(secret)-len(kept)))
		}},
		{kind: "secret-changed", words: "with one character of the secret changed to a wildcard", wrong: func(s draw.Source, _, secret string) string {
			c := []rune(secret)
			at := s.Below(len(c))
			// A wildcard of LIKE is a changed character, too, and finds the right secret.
			other := strings.ReplaceAll("_%", string(c[at]), "")
			return string(c[:at]) + s.Text(other, 1) + string(c[at+1:])
		}},
		{kind: "secret-reversed", words: "with the secret in reverse", wrong: func(_ draw.Source, _, secret string) string {
			c := []rune(secret)
			slices.Reverse(c)
			return string(c)
		}},
		{kind: "secret-id", words: "with the client id as the secret", wrong: func(_ draw.Source, id, _ string) string { return id }},
		{kind: "secret-word", words: "with a word of example configurations", wrong: drawn("secret", "changeme", "password", "changeit", "client_secret", "your-client-secret", "test", "admin", "null", "undefined")},
		{kind: "secret-operator", words: "with an operator of a query language", wrong: drawn(`' OR '1'='1`, `" OR ""="`, `*`, `%`, `' || '1'=='1`, `.*`, `*)(objectClass=*`, `true`, `0`)},
		{kind: "secret-not", words: "with an operator for any other secret", member: "client_secret[$ne]", wrong: func(s draw.Source, _, _ string) string { return s.Word() }},
		{kind: "secret-list", words: "with a list of secrets", member: "client_secret[]", wrong: func(s draw.Source, _, _ string) string { return s.Word() }},
	}
}

// secretPrefix returns at least the first half of a secret.
func secretPrefix(s draw.Source, _, secret string) string {
	c := []rune(secret)
	return string(c[:max(0, len(c)-s.Between(1, max(1, len(c)/2)))])
}

// spareTokenRequest makes the good token request of the spare client.
func spareTokenRequest(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	q := TokenRequest(r.Target, SpareSecret, Credentialed(*r.Target.Spare)...)
	q.Issues = SpareAccessToken
	return q, nil
}

// wrongSecretRequest sends a wrong secret of the spare client, in a form or by HTTP Basic, unless the node has limited or banned the client.
func wrongSecretRequest(k secretKind) sender {
	return func(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		if r.facts.token(SpareAccessToken).Value == "" {
			return recorder.Request{}, unmet("the client that may be locked out got no token with its secret")
		}
		if label, banned := r.facts.spareBanned(); banned {
			return recorder.Request{}, notApplicable("the node limits or bans clients that try wrong secrets (%s)", label)
		}
		s, id, secret := r.source(at, string(k.kind)), r.Target.Spare.ClientID, r.Target.Spare.ClientSecret.Reveal()
		wrong := k.wrong(s, id, secret)
		if wrong == "" && !k.empty || wrong == secret {
			return recorder.Request{}, notApplicable("the secret has no such variant")
		}
		if k.basic && !r.facts.good("token.basic") {
			return recorder.Request{}, notApplicable("HTTP Basic with form-encoded credentials yields no token for the first client")
		}
		f := form{fields: Credentialed(*r.Target.Spare)[:2], credential: SpareSecret, media: formType, once: true}
		switch byBasic := k.basic || !k.form && s.Below(2) == 0; {
		case k.member != "":
			f.fields = append(f.fields, Field{Name: url.QueryEscape(k.member), Value: wrong})
		case byBasic:
			f.fields = f.fields[:1]
			f.authorization = basic(url.QueryEscape(id), url.QueryEscape(wrong))
		default:
			f.fields = append(f.fields, Field{Name: "client_secret", Value: wrong})
		}
		if len(wrong) >= concealedLength {
			f.conceal = map[string]string{WrongSecret: wrong}
		}
		q := r.request(f)
		if document := r.node.Document; document != nil && document.LocksOneClient() {
			beside := r.request(r.goodForm())
			beside.Label, beside.Words = evidence.BesideLock, "while another client is locked out"
			q.AtLimit = &beside
		}
		return q, nil
	}
}

// keepTokenAtLimit keeps the token that the first client got while the spare client was locked out.
func keepTokenAtLimit(r *run, _ evidence.Resource, a recorder.Answer) {
	if a.AtLimit == nil {
		return
	}
	x := a.AtLimit.Exchange // the answer came before the pause
	if t, ok := ReadToken(*a.AtLimit, x.Started.Add(x.Duration)); ok {
		r.facts.keep(AccessToken, t)
	}
}

// sentAtLimit says why [evidence.BesideLock] was not sent. If it was sent beside a wrong secret, its label has ended, and the reason is ignored.
func sentAtLimit(context.Context, *run, evidence.Resource) (recorder.Request, *unsent) {
	return recorder.Request{}, notApplicable("it is sent only if the document says that wrong secrets lock out one client, and the node did so")
}

// spareBanned returns the label of a request of the spare client that was limited or banned.
func (f *facts) spareBanned() (evidence.Label, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for label, status := range f.statuses {
		if label.Resource() == evidence.SpareClient && (status == http.StatusForbidden || status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) {
			return label, true
		}
	}
	for label := range f.unconnected {
		if label.Resource() == evidence.SpareClient {
			return label, true
		}
	}
	return "", false
}
