package deviation

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// credential splits the Authorization header of r at the first blank.
func credential(r *http.Request) (scheme, rest string) {
	scheme, rest, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	return scheme, strings.TrimSpace(rest)
}

// bearer is the token after the word Bearer, empty for other credentials.
func bearer(r *http.Request) string {
	if scheme, token := credential(r); strings.EqualFold(scheme, "Bearer") {
		return token
	}
	return ""
}

// authorized returns r with another Authorization header.
func authorized(r *http.Request, value string) *http.Request {
	other := r.Clone(r.Context())
	other.Header.Set("Authorization", value)
	return other
}

// jwt is a token taken apart; nothing in it was verified.
type jwt struct {
	// payload is header and payload as they stand in the token, signature what follows.
	payload, signature string
	claims             struct {
		ClientID string  `json:"client_id"`
		Expires  float64 `json:"exp"`
	}
}

// unverified takes the bearer token of r apart.
func unverified(r *http.Request) (token jwt, ok bool) {
	parts := strings.Split(bearer(r), ".")
	if len(parts) != 3 {
		return token, false
	}
	token.payload, token.signature = parts[0]+"."+parts[1], parts[2]
	decoded, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return token, false
	}
	return token, json.Unmarshal(decoded, &token.claims) == nil
}

// believe admits the client that the payload of a token names, unless the token has expired.
func (e Env) believe(r *http.Request, token jwt) *http.Request {
	if float64(e.Now().Unix()) >= token.claims.Expires {
		return r
	}
	return e.admitAs(r, token.claims.ClientID)
}
