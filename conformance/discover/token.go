package discover

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
	"github.com/rin-network/rin/conformance/target"
)

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
func TokenRequest(t target.Target, c exchange.Case, credential string, fields ...Field) record.Ask {
	return record.Ask{
		Label: exchange.TokenEndpoint.With(c), Method: http.MethodPost, URL: t.TokenURL,
		Header: []exchange.Field{
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
func ReadToken(a record.Answer, now time.Time) (Token, bool) {
	if a.Token == "" || a.Status/100 != 2 {
		return Token{}, false
	}
	return Token{Value: a.Token, Obtained: now, Life: life(a.Body)}, true
}

// Life is how long the token of an answer may be good for: what expires_in says or, if that is more, what the token itself says
// from iat to exp. known is false when neither says it.
func Life(a record.Answer) (life time.Duration, known bool) {
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
