package probe

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// tokenCases are the requests to the token endpoint. The good one is first. Then come, concurrently, the wrong secret with a good request that shows that the
// client is not locked out, the repeated requests, and requests whose order does not matter. The last one is sent alone; the run continues with its token.
func tokenCases() []row {
	beside := in(stageTokens, stageToken)
	grants := beside.onlyIf(notQuick)
	second := in(stageSecond, stageTokens).inLane("second client").onlyIf(withSecond)
	drawnForSecond := second.onlyIf(notQuick)
	gets := grants.inLane("basic") // after the plain GET and HTTP Basic, which show whether these prove anything
	secrets, repeats := beside.inLane("wrong secrets"), beside.inLane("repeats").onlyIf(notQuick)
	head := []row{
		{Label: "token.ok", Plan: in(stageToken), Send: firstToken, Learn: func(r *run, at evidence.Resource, a recorder.Answer) {
			keepTokenAs(AccessToken)(r, at, a)
			learnScopes(r, a)
		}},
		// The first client gets one wrong secret per run, which is drawn.
		{Label: "token.wrong-secret", Words: "with the wrong secret", Plan: secrets, Send: wrongSecretOfFirst},
		{Label: "token.ok-after-wrong-secret", Words: "after the wrong secret", Plan: secrets, Send: tokenRequest(nil), Learn: keepTokenAs(AccessToken)},
		{Label: "token.id-only", Words: "with the client id alone", Plan: secrets, Send: tokenRequest(func(_ *run, f *form) {
			f.fields, f.credential, f.once, f.neverRepeat = f.fields[:2:2], "", true, true
		})},
		// This row is also sent if the form was refused, because HTTP Basic that works explains the refusal.
		{Label: "token.basic", Words: "with HTTP Basic", Plan: beside.inLane("basic"), Send: tokenRequestWithoutToken(func(r *run, f *form) {
			c := r.Target.Credentials
			f.fields, f.once = f.fields[:1], true
			f.authorization = basic(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientSecret.Reveal()))
		}), Learn: keepOtherWay},
		{Label: "token.basic-unencoded", Words: "with HTTP Basic", Plan: beside.inLane("basic"), Send: basicUnencoded, Learn: keepOtherWay},
		{Label: "token.basic-percent-encoded", Words: "with HTTP Basic and percent-encoded letters", Plan: grants.inLane("basic"), Send: basicPercentEncoded, Learn: keepOtherWay},
		{Label: "token.basic-empty-secret", Words: "with HTTP Basic and an empty client_secret in the form", Plan: grants.inLane("basic").onDemand(), Send: basicEmptySecret},
		{Label: "token.repeat-1", Words: "with good credentials for the second time", Plan: repeats, Send: tokenRequest(nil), Learn: keepTokenAs(AccessToken)},
		{Label: "token.repeat-2", Words: "with good credentials for the third time", Plan: repeats, Send: tokenRequestLater, Learn: keepTokenAs(AccessToken)},
		{Label: "token.repeat-3", Words: "with good credentials for the fourth time", Plan: repeats, Send: tokenRequestLater, Learn: keepTokenAs(AccessToken)},
		{Label: "token.unknown-parameter", Words: "with the unknown parameter", Plan: beside, Send: tokenRequest(func(r *run, f *form) {
			f.fields = append(f.fields, Field{Name: r.drawn.word, Value: "1"})
		}), Learn: keepOtherWay},
		{Label: "token.empty-scope", Words: "with the empty scope", Plan: beside, Send: tokenRequest(func(_ *run, f *form) {
			f.fields = append(f.fields, Field{Name: "scope"})
		}), Learn: keepOtherWay},
		{Label: "token.percent-encoded", Words: "with percent-encoded values", Plan: beside, Send: tokenRequest(func(r *run, f *form) {
			f.fields[0] = Field{Name: "grant_type", Value: encodeSome(r.source(evidence.TokenEndpoint, "encoded grant"), "client_credentials"), Encoded: true}
			f.fields[1] = Field{Name: "client_id", Value: encodeSome(r.source(evidence.TokenEndpoint, "encoded id"), r.Target.Credentials.ClientID), Encoded: true}
			f.media = formType + "; charset=UTF-8" // as fetch clients send it
		}), Learn: keepOtherWay},
		{Label: "token.no-client", Words: "without credentials", Plan: beside, Send: tokenRequestWithoutToken(func(_ *run, f *form) {
			f.fields, f.credential = f.fields[:1], ""
		})},
		{Label: "token.no-grant-type", Words: "without grant_type", Plan: beside, Send: tokenRequest(func(_ *run, f *form) {
			f.fields = f.fields[1:]
		})},
		{Label: "token.unknown-grant-type", Words: "with the unknown grant type", Plan: beside, Send: tokenRequest(func(r *run, f *form) {
			f.fields[0].Value = unknownGrant(r.source(evidence.TokenEndpoint, "grant"))
		})},
		{Label: "token.grant-password", Words: "for the grant password without a user name", Plan: grants, Send: bareGrant("password")},
		{Label: "token.grant-refresh-token", Words: "for the grant refresh_token without a token", Plan: grants, Send: bareGrant("refresh_token")},
		{Label: "token.grant-authorization-code", Words: "for the grant authorization_code without a code", Plan: grants, Send: bareGrant("authorization_code")},
		{Label: "token.grant-preceded", Words: "for a grant whose name ends in client_credentials", Plan: grants, Send: tokenRequest(func(r *run, f *form) {
			f.fields[0].Value = draw.One(r.source(evidence.TokenEndpoint, "preceded grant"), "x", "no_", "urn:", "-", r.drawn.word+"_") + f.fields[0].Value
		})},
		{Label: "token.grant-followed", Words: "for a grant whose name begins with client_credentials", Plan: grants, Send: tokenRequest(func(r *run, f *form) {
			f.fields[0].Value += draw.One(r.source(evidence.TokenEndpoint, "followed grant"), "2", "s", "_v2", "-"+r.drawn.word, ":"+r.drawn.word)
		})},
		{Label: "token.unknown-scope", Words: "with the unknown scope", Plan: beside, Send: tokenRequest(func(r *run, f *form) {
			f.fields = append(f.fields, Field{Name: "scope", Value: r.source(evidence.TokenEndpoint, "scope").Name()})
		})},
		{Label: "token.basic-unknown-client", Words: "with HTTP Basic of an unknown client", Plan: beside, Send: tokenRequestWithoutToken(func(r *run, f *form) {
			f.fields, f.credential, f.once = f.fields[:1], "", true
			f.authorization = basic(url.QueryEscape(r.drawn.clientID), url.QueryEscape(r.drawn.unknownSecret)) // a server may refuse credentials for the lack of encoding alone
		})},
		{Label: "token.get", Words: "the GET of the token endpoint", Plan: beside.inLane("basic"), Send: tokenRequestWithoutToken(func(_ *run, f *form) {
			f.credential, f.get = "", true
		})},
		// These requests show whether a token endpoint reads parameters from the URL, without a real secret there: the good client is in the Authorization
		// header or in the content, and the query has a grant type, or a client that does not exist.
		{Label: "token.get-basic", Words: "the GET of the token endpoint with HTTP Basic", Plan: gets, Send: getWithBasic},
		{Label: "token.get-unknown-client", Words: "the GET of the token endpoint with an unknown client in the query", Plan: gets, Send: getTokenRequest(func(r *run, f *form) {
			f.credential, f.query = "", append(f.fields[:1:1], r.unknownClient()...)
		})},
		{Label: "token.query-unknown-client", Words: "with an unknown client in the query", Plan: grants, Send: tokenRequest(func(r *run, f *form) {
			f.once, f.query = true, r.unknownClient()
		})},
		{Label: "token.query-parameters", Words: "with grant_type and client_id in the query", Plan: grants, Send: tokenRequest(func(_ *run, f *form) {
			f.fields, f.query, f.once = f.fields[2:], f.fields[:2], true // the secret stays in the content
		})},
		{Label: "token.repeated-grant-type", Words: "with grant_type twice", Plan: beside, Send: repeatedField(0)},
		{Label: "token.repeated-client-id", Words: "with client_id twice", Plan: grants, Send: repeatedField(1)},
		{Label: "token.repeated-client-secret", Words: "with client_secret twice", Plan: grants, Send: repeatedField(2)},
		{Label: "token.ok-after-id-only", Words: "after the client id alone", Plan: in(stageSession, stageTokens), Send: tokenRequest(nil), Learn: keepTokenAs(AccessToken)},
		// A good request follows each wrong one of the second client, too.
		{Label: "token2.crossed", Words: "the token request with the id of the second client and the secret of the first", Plan: second, Send: crossedRequest},
		{Label: "token2.ok", Words: "the token request of the second client", Plan: second, Send: secondTokenRequest, Learn: keepTokenAs(SecondAccessToken)},
	}
	tail := []row{
		{Label: "token2.wrong-secret", Words: "the token request of the second client with the wrong secret", Plan: drawnForSecond, Send: wrongSecretOnce(secondClient())},
		{Label: "token2.secret-blanks", Words: "the token request of the second client by HTTP Basic with blanks around the secret", Plan: drawnForSecond, Send: blanksByBasic},
		{Label: "token2.ok-after-wrong-secret", Words: "the token request of the second client after its wrong secret", Plan: drawnForSecond, Send: secondTokenRequest, Learn: keepTokenAs(SecondAccessToken)},
	}
	return slices.Concat(head, secondClient().scopeCases(drawnForSecond), tail, selfGrantedCases(drawnForSecond.onDemand()), secondClient().byBasic(drawnForSecond), twoClientCases(drawnForSecond))
}

// stageSecond is the stage of the client without the role.
const stageSecond Stage = "second client"

// form says how a request to the token endpoint differs from the good one.
type form struct {
	// fields begin as those of [Credentialed]: grant_type, client_id and client_secret.
	fields     []Field
	credential string
	// media is the media type.
	media string
	// authorization is the value of the Authorization header, or empty.
	authorization string
	// once forbids repeats, except after a 500, because the node counts the request as a failed authentication.
	once bool
	// neverRepeat forbids the repeat after a 500, too: the request has a wrong secret, or none, of a client that must not be locked out.
	neverRepeat bool
	// conceal are secrets that only this request contains.
	conceal map[string]string
	// get is true for a GET without content.
	get bool
	// query is added to the URL. It never holds a real secret.
	query []Field
}

func (r *run) goodForm() form {
	return form{fields: Credentialed(r.Target.Credentials), credential: ClientSecret, media: formType}
}

// request returns the token request with the form.
func (r *run) request(f form) recorder.Request {
	q := TokenRequest(r.Target, f.credential, f.fields...)
	q.NoRetry, q.Conceal, q.Header[0].Value = f.once, f.conceal, f.media
	q.RepeatCrash = f.once && !f.neverRepeat
	if f.authorization != "" {
		q.Header = append([]evidence.Field{{Name: "Authorization", Value: f.authorization}}, q.Header...)
	}
	if f.get {
		q.Method, q.Body = http.MethodGet, nil
		q.Header = slices.DeleteFunc(q.Header, func(h evidence.Field) bool { return h.Name == "Content-Type" })
	}
	if len(f.query) > 0 {
		pairs := make([]pair, len(f.query))
		for i, parameter := range f.query {
			pairs[i] = pair{parameter.Name, parameter.Value}
		}
		q.URL = withQuery(q.URL, pairs...)
	}
	return q
}

// unknownClient returns the credentials of a client that does not exist.
func (r *run) unknownClient() []Field {
	return []Field{{Name: "client_id", Value: r.drawn.clientID}, {Name: "client_secret", Value: r.drawn.unknownSecret}}
}

// tokenRequest sends the good token request with changes, which may be nil. It requires that the good request yielded a token: otherwise it would prove
// nothing.
func tokenRequest(change func(r *run, f *form)) sender { return tokenSender(change, true) }

// tokenRequestWithoutToken is [tokenRequest] for requests that are also sent if the good one yielded no token.
func tokenRequestWithoutToken(change func(r *run, f *form)) sender { return tokenSender(change, false) }

// tokenSender implements [tokenRequest] and [tokenRequestWithoutToken]. Like [in], it is not inlined.
//
//go:noinline
func tokenSender(change func(r *run, f *form), needsToken bool) sender {
	return func(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
		switch status := r.facts.status("token.ok"); {
		case status == 0:
			return recorder.Request{}, unmet("the token endpoint did not answer the good request")
		case needsToken && r.current().Value == "":
			return recorder.Request{}, unmet("the good token request yielded no token (status %d)", status)
		}
		f := r.goodForm()
		if change != nil {
			change(r, &f)
		}
		return r.request(f), nil
	}
}

// unknownGrant returns a grant type that no server knows.
func unknownGrant(s draw.Source) string {
	return draw.One(s, s.Word()+"_"+s.Word(), "urn:"+s.Word()+":params:oauth:grant-type:"+s.Word(), "https://"+s.Host()+"/grants/"+s.Word())
}

// bareGrant sends good credentials with a registered grant, and leaves out the parameters of that grant (RFC 6749 §4 and §6).
func bareGrant(name string) sender {
	return tokenRequest(func(_ *run, f *form) { f.fields[0].Value = name })
}

// repeatedField sends a field of the good form twice.
func repeatedField(i int) sender {
	return tokenRequest(func(_ *run, f *form) { f.fields, f.once = append(f.fields, f.fields[i]), true })
}

// getWithBasic requests a token by GET, with good credentials in the Authorization header, which logs omit.
func getWithBasic(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	if !r.facts.good("token.basic") {
		return recorder.Request{}, notApplicable("HTTP Basic yields no token by POST")
	}
	return getTokenRequest(func(r *run, f *form) {
		c := r.Target.Credentials
		f.query, f.authorization = f.fields[:1], basic(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientSecret.Reveal()))
	})(ctx, r, at)
}

// getTokenRequest sends a GET with changes, unless the plain GET showed that the token endpoint does not support GET.
func getTokenRequest(change func(r *run, f *form)) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		if s := r.facts.status("token.get"); s == http.StatusMethodNotAllowed || s == http.StatusNotFound {
			return recorder.Request{}, notApplicable("a GET of the token endpoint is answered %d", s)
		}
		return tokenRequest(func(r *run, f *form) {
			f.get, f.once = true, true
			change(r, f)
		})(ctx, r, at)
	}
}

// tokenRequestLater repeats the good request after a while, see [repeatPause].
func tokenRequestLater(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	q, reason := tokenRequest(nil)(ctx, r, at)
	if reason == nil && !r.Target.Loopback() {
		if err := r.Pause(ctx, repeatPause); err != nil {
			return q, cutShort("the run ended first: %v", err)
		}
	}
	return q, reason
}

func firstToken(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	return r.request(r.goodForm()), nil
}

// keepTokenAs stores the token of a good answer under its name. Tokens that should not have been issued are not used.
func keepTokenAs(name string) learner {
	return func(r *run, _ evidence.Resource, a recorder.Answer) {
		if t, ok := ReadToken(a, r.Clock()); ok {
			r.facts.keep(name, t)
		}
	}
}

// basicUnencoded sends id and secret without form encoding, if encoding changes them and the node refused the encoded ones.
func basicUnencoded(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	id, secret := r.Target.Credentials.ClientID, r.Target.Credentials.ClientSecret.Reveal()
	switch {
	case r.facts.good("token.basic"):
		return recorder.Request{}, notApplicable("HTTP Basic works with form-encoded credentials")
	case url.QueryEscape(id) == id && url.QueryEscape(secret) == secret:
		return recorder.Request{}, notApplicable("form encoding does not change these credentials")
	}
	return tokenRequest(func(_ *run, f *form) {
		f.fields, f.once = f.fields[:1], true
		f.authorization = basic(id, secret)
	})(ctx, r, at)
}

// encodeSome percent-encodes some bytes of a text, at least one, and form-encodes the rest.
func encodeSome(s draw.Source, text string) string {
	var out strings.Builder
	certain := s.Below(max(1, len(text)))
	for i := range len(text) {
		if i == certain || s.Below(4) == 0 {
			out.WriteString(percent(text[i]))
		} else {
			out.WriteString(url.QueryEscape(text[i : i+1]))
		}
	}
	return out.String()
}

func percent(b byte) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{'%', digits[b>>4], digits[b&15]})
}

// repeatPause is the time between repeated token requests to a node on another machine.
const repeatPause = time.Second
