package probe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// form says how a request to the token endpoint differs from the good one.
type form struct {
	fields     []Field
	credential string
	// authorization is the header's value; empty for none.
	authorization string
	// stranger says that the request needs no good credentials and makes sense when those were refused.
	stranger bool
	// once forbids repeats: the request counts as a failed authentication.
	once bool
	// conceal are secrets that only this request knows.
	conceal map[string]string
	// charset appends "; charset=UTF-8" to the media type, as fetch clients do.
	charset bool
	// get asks with GET, without content.
	get bool
}

func (r *run) tokenProbe(c evidence.Case) probe {
	return probe{
		prepare: func(ctx context.Context) (recorder.Request, *unsent) {
			f, reason := r.form(c)
			if reason == nil {
				reason = r.tokenReason(c, f)
			}
			if reason == nil && (c == "repeat-2" || c == "repeat-3") {
				reason = r.betweenRepeats(ctx)
			}
			return r.tokenAsk(c, f), reason
		},
		learn: func(a recorder.Answer) { r.learnToken(c, a) },
	}
}

// tokenReason keeps requests back that prove nothing after what came of the first one.
func (r *run) tokenReason(c evidence.Case, f form) *unsent {
	if c == evidence.OK {
		return nil
	}
	first := evidence.TokenEndpoint.With(evidence.OK)
	status := r.facts.status(first)
	switch {
	case status == 0:
		return unmet("the token endpoint did not answer the good request")
	case r.current().Value == "" && !f.stranger:
		return unmet("the good token request yielded no token (status %d)", status)
	}
	return nil
}

func (r *run) tokenAsk(c evidence.Case, f form) recorder.Request {
	ask := TokenRequest(r.Target, c, f.credential, f.fields...)
	ask.NoRetry, ask.Conceal = f.once, f.conceal
	if f.charset {
		ask.Header[0].Value += "; charset=UTF-8"
	}
	if f.authorization != "" {
		ask.Header = append([]evidence.Field{{Name: "Authorization", Value: f.authorization}}, ask.Header...)
	}
	if f.get {
		ask.Method, ask.Body, ask.Header = http.MethodGet, nil, ask.Header[1:]
	}
	return ask
}

// form is the table of everything that is asked of the token endpoint.
func (r *run) form(c evidence.Case) (form, *unsent) {
	client := r.Target.Credentials
	secret := client.ClientSecret.Reveal()
	good := Credentialed(client)
	grant := good[:1:1]
	f := form{fields: good, credential: ClientSecret}
	switch c {
	case evidence.OK, "ok-after-wrong-secret", "ok-after-id-only", "repeat-1", "repeat-2", "repeat-3":
	case "wrong-secret":
		f.fields = []Field{good[0], good[1], {Name: "client_secret", Value: r.drawn.wrongSecret}}
		f.once, f.conceal = true, map[string]string{"wrong_secret": r.drawn.wrongSecret}
	case "id-only":
		f.fields, f.credential, f.once = good[:2:2], "", true
	case "basic":
		// Sent even when the form was refused: that it works explains TOK-01.
		f.fields, f.once, f.stranger = grant, true, true
		f.authorization = basic(url.QueryEscape(client.ClientID), url.QueryEscape(secret))
	case "basic-unencoded":
		if r.facts.good(evidence.TokenEndpoint.With("basic")) {
			return f, notApplicable("HTTP Basic works with form-encoded credentials")
		}
		if url.QueryEscape(client.ClientID) == client.ClientID && url.QueryEscape(secret) == secret {
			return f, notApplicable("form encoding does not change these credentials")
		}
		f.fields, f.once = grant, true
		f.authorization = basic(client.ClientID, secret)
	case "unknown-parameter":
		f.fields = append(good, Field{Name: "x_conformance_probe", Value: "1"})
	case "empty-scope":
		f.fields = append(good, Field{Name: "scope"})
	case "unknown-scope":
		f.fields = append(good, Field{Name: "scope", Value: "conformance.unknown"})
	case "percent-encoded":
		f.fields = []Field{
			{Name: "grant_type", Value: "%63lient_credentials", Encoded: true},
			{Name: "client_id", Value: encodeEnds(client.ClientID), Encoded: true}, good[2],
		}
		f.charset = true
	case "no-grant-type":
		f.fields = good[1:]
	case "unknown-grant-type":
		f.fields = []Field{{Name: "grant_type", Value: "urn:example:conformance:none"}, good[1], good[2]}
	case "repeated-grant-type":
		f.fields = append(good, good[0])
	case "no-client":
		f.fields, f.credential, f.stranger = grant, "", true
	case "get":
		f.fields, f.credential, f.stranger, f.get = nil, "", true, true
	case "basic-unknown-client":
		f.fields, f.credential, f.stranger, f.once = grant, "", true, true
		f.authorization = basic("conformance-"+r.drawn.id, r.drawn.id)
	default:
		return f, cutShort("this version of rin does not know how to ask it")
	}
	return f, nil
}

// encodeEnds percent-encodes the first and the last byte and form-encodes the rest.
func encodeEnds(s string) string {
	if s == "" {
		return ""
	}
	last := len(s) - 1
	out := percent(s[0])
	if last > 0 {
		out += url.QueryEscape(s[1:last]) + percent(s[last])
	}
	return out
}

func percent(b byte) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{'%', digits[b>>4], digits[b&15]})
}

// repeatPause is the time between repeated token requests to a node on another machine.
const repeatPause = time.Second

func (r *run) betweenRepeats(ctx context.Context) *unsent {
	if r.Target.Loopback() {
		return nil
	}
	if err := r.Pause(ctx, repeatPause); err != nil {
		return cutShort("the run ended first: %v", err)
	}
	return nil
}

func (r *run) learnToken(c evidence.Case, a recorder.Answer) {
	switch c {
	case evidence.OK, "ok-after-wrong-secret", "ok-after-id-only", "repeat-1", "repeat-2", "repeat-3":
	default:
		return // a token that should not be there, or by a request that is no model
	}
	if t, ok := ReadToken(a, r.Clock()); ok {
		r.facts.keep(t)
	}
}

// The names under which credentials are known to the redactor and in evidence.
const (
	ClientSecret      = "client_secret"
	SecondSecret      = "client_secret2"
	AccessToken       = "access_token"
	SecondAccessToken = "access_token2"

	OtherSecret        = "other_secret"
	OtherAccessToken   = "other_access_token"
	StagingSecret      = "staging_secret"
	StagingAccessToken = "staging_access_token"
	ExpiredToken       = "expired_token"
)

// NamedSecret is a secret with the name that stands for it in evidence.
type NamedSecret struct {
	Name  string
	Value target.Secret
}

// Secrets lists every secret that a target holds, for a redactor to know before anything is sent.
func Secrets(t target.Target) []NamedSecret {
	out := []NamedSecret{{ClientSecret, t.Credentials.ClientSecret}}
	if t.Second != nil {
		out = append(out, NamedSecret{SecondSecret, t.Second.ClientSecret})
	}
	if t.Other != nil {
		out = append(out, NamedSecret{OtherSecret, t.Other.ClientSecret})
	}
	if t.Staging != nil {
		out = append(out, NamedSecret{StagingSecret, t.Staging.Credentials.ClientSecret})
	}
	if !t.ExpiredToken.IsZero() {
		out = append(out, NamedSecret{ExpiredToken, t.ExpiredToken})
	}
	return out
}

// Field is one parameter of a form. The value is sent as it is when Encoded, and form-encoded otherwise.
type Field struct {
	Name, Value string
	Encoded     bool
}

// Form is the request content of a token request in the order given (RFC 6749 §4.4.2).
func Form(fields ...Field) []byte {
	parts := make([]string, len(fields))
	for i, f := range fields {
		value := f.Value
		if !f.Encoded {
			value = url.QueryEscape(value)
		}
		parts[i] = f.Name + "=" + value
	}
	return []byte(strings.Join(parts, "&"))
}

// Credentialed are the three fields of the network's token request (NET-R9).
func Credentialed(c target.Credentials) []Field {
	return []Field{
		{Name: "grant_type", Value: "client_credentials"},
		{Name: "client_id", Value: c.ClientID},
		{Name: "client_secret", Value: c.ClientSecret.Reveal()},
	}
}

// TokenRequest is a request to the token endpoint with a form; credential names what the form holds, empty for nothing. A redirect
// within the origin that keeps method and content (307, 308) is followed, as clients do; TOK-17 warns of it.
func TokenRequest(t target.Target, c evidence.Case, credential string, fields ...Field) recorder.Request {
	return recorder.Request{
		Label: evidence.TokenEndpoint.With(c), Method: http.MethodPost, URL: t.TokenURL,
		Header: []evidence.Field{
			{Name: "Content-Type", Value: "application/x-www-form-urlencoded"},
			{Name: "Accept", Value: "application/json"},
		},
		Body: Form(fields...), Credential: credential, Issues: AccessToken, FollowSameOrigin: true,
	}
}

// unknownLife is what a token is taken to live when the node does not say.
const unknownLife = 2 * time.Minute

// maxLife bounds what is believed.
const maxLife = 24 * time.Hour

// Token is an access token in use.
type Token struct {
	Value    string
	Obtained time.Time
	Life     time.Duration
}

// ReadToken takes the token out of an answer; ok is false when it holds none.
func ReadToken(a recorder.Answer, now time.Time) (Token, bool) {
	if a.Token == "" || a.Status/100 != 2 {
		return Token{}, false
	}
	return Token{Value: a.Token, Obtained: now, Life: life(a.Body)}, true
}

// Life is how long the token of an answer may be good for: what expires_in says or, if that is more, what the token itself says
// from iat to exp. known is false when neither says it.
func Life(a recorder.Answer) (life time.Duration, known bool) {
	life, known = stated(a.Body)
	for _, t := range a.Exchange.Tokens {
		if t.JWT == nil {
			continue
		}
		iat, errIat := numeric(t.JWT.Claims["iat"])
		exp, errExp := numeric(t.JWT.Claims["exp"])
		if inside := exp - iat; errIat == nil && errExp == nil && inside > life.Seconds() {
			life, known = time.Duration(min(inside, maxLife.Seconds())*float64(time.Second)), true
		}
	}
	return life, known
}

func numeric(claim any) (float64, error) {
	n, ok := claim.(json.Number)
	if !ok {
		return 0, errors.New("no number")
	}
	return n.Float64()
}

func life(body []byte) time.Duration {
	if d, known := stated(body); known {
		return d
	}
	return unknownLife
}

// stated is what expires_in says, as a number or as text.
func stated(body []byte) (life time.Duration, known bool) {
	var answer struct {
		ExpiresIn json.RawMessage `json:"expires_in"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(strings.Trim(string(answer.ExpiresIn), `"`), 64)
	switch {
	case err != nil || !(seconds > 0):
		return 0, false
	case seconds > maxLife.Seconds():
		return maxLife, true
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// shortLife is the rest of a life that is too short to start with, unless the whole life is no longer.
const shortLife = 30 * time.Second

// Stale reports that the token is to be fetched anew: under half of its life is left, or under 30 seconds.
func (t Token) Stale(now time.Time) bool {
	left := t.Life - now.Sub(t.Obtained)
	return left < t.Life/2 || left < shortLife && t.Life > shortLife
}
