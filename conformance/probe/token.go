package probe

import (
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

// This file writes token requests and reads tokens, for a run and for the other users of a target.

// These are the names of credentials in the redactor and in evidence.
const (
	ClientSecret      = "client_secret"
	SecondSecret      = "client_secret2"
	AccessToken       = "access_token"
	SecondAccessToken = "access_token2"

	SpareSecret        = "spare_secret"
	SpareAccessToken   = "spare_access_token"
	OtherSecret        = "other_secret"
	OtherAccessToken   = "other_access_token"
	StagingSecret      = "staging_secret"
	StagingAccessToken = "staging_access_token"
	ExpiredToken       = "expired_token"

	// WrongSecret is a wrong secret of a real client; UnknownSecret is the made-up secret of clients that do not exist.
	WrongSecret   = "wrong_secret"
	UnknownSecret = "unknown_secret"
)

const formType = "application/x-www-form-urlencoded"

// unknownLife is the assumed lifetime of a token if the node does not state one.
const unknownLife = 2 * time.Minute

// maxLife bounds the stated lifetimes.
const maxLife = 24 * time.Hour

// shortLife is the remaining lifetime below which a token is renewed, unless its whole lifetime is not longer.
const shortLife = 30 * time.Second

// NamedSecret is a secret and its name in evidence.
type NamedSecret struct {
	Name  string
	Value target.Secret
}

// Secrets lists every secret of a target. The redactor must know them before anything is sent.
func Secrets(t target.Target) []NamedSecret {
	out := []NamedSecret{{ClientSecret, t.Credentials.ClientSecret}}
	if t.Second != nil {
		out = append(out, NamedSecret{SecondSecret, t.Second.ClientSecret})
	}
	if t.Other != nil {
		out = append(out, NamedSecret{OtherSecret, t.Other.ClientSecret})
	}
	if t.Spare != nil {
		out = append(out, NamedSecret{SpareSecret, t.Spare.ClientSecret})
	}
	if t.Staging != nil {
		out = append(out, NamedSecret{StagingSecret, t.Staging.Credentials.ClientSecret})
	}
	if !t.ExpiredToken.IsZero() {
		out = append(out, NamedSecret{ExpiredToken, t.ExpiredToken})
	}
	return out
}

// Field is one parameter of a form. If Encoded is true, the value is sent unchanged; otherwise it is form-encoded.
type Field struct {
	Name, Value string
	Encoded     bool
}

// Form returns the content of a token request, with the fields in this order (RFC 6749 §4.4.2).
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

// Credentialed returns the three fields of the network's token request (NET-R9).
func Credentialed(c target.Credentials) []Field {
	return []Field{
		{Name: "grant_type", Value: "client_credentials"},
		{Name: "client_id", Value: c.ClientID},
		{Name: "client_secret", Value: c.ClientSecret.Reveal()},
	}
}

// TokenRequest returns a request to the token endpoint with a form; credential is the name of the secret in the form, or empty. The recorder follows a redirect
// within the origin that keeps method and content (307, 308), as clients do; TOK-17 warns about it.
func TokenRequest(t target.Target, credential string, fields ...Field) recorder.Request {
	return recorder.Request{
		Method: http.MethodPost, URL: t.TokenURL,
		Header: []evidence.Field{
			{Name: "Content-Type", Value: formType},
			{Name: "Accept", Value: "application/json"},
		},
		Body: Form(fields...), Credential: credential, Issues: AccessToken, FollowSameOrigin: true,
	}
}

// Token is an access token in use.
type Token struct {
	Value    string
	Obtained time.Time
	Life     time.Duration
	// Until is the end of the stated lifetime; zero if no lifetime is stated.
	Until time.Time
}

// ReadToken returns the token in an answer; ok is false without one.
func ReadToken(a recorder.Answer, now time.Time) (Token, bool) {
	if a.Token == "" || a.Status/100 != 2 {
		return Token{}, false
	}
	t := Token{Value: a.Token, Obtained: now, Life: assumedLife(a.Body)}
	if life, known := Life(a); known {
		t.Until = now.Add(life)
	}
	return t, true
}

// Life returns the lifetime of the token of an answer: expires_in or, if that is longer, the time from iat to exp of the token. known is
// false if neither is stated.
func Life(a recorder.Answer) (life time.Duration, known bool) {
	life, known = statedLife(a.Body)
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
		return 0, errors.New("not a number")
	}
	return n.Float64()
}

func assumedLife(body []byte) time.Duration {
	if d, known := statedLife(body); known {
		return d
	}
	return unknownLife
}

// statedLife reads expires_in, which may be a number or a text.
func statedLife(body []byte) (life time.Duration, known bool) {
	answer, _ := evidence.ParseObject(body)
	seconds, err := strconv.ParseFloat(strings.Trim(string(answer["expires_in"]), `"`), 64)
	switch {
	case err != nil || !(seconds > 0):
		return 0, false
	case seconds > maxLife.Seconds():
		return maxLife, true
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// Stale reports whether the token should be renewed: less than half of its lifetime is left, or less than 30 seconds.
func (t Token) Stale(now time.Time) bool {
	left := t.Life - now.Sub(t.Obtained)
	return left < t.Life/2 || left < shortLife && t.Life > shortLife
}
