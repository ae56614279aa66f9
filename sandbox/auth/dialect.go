package auth

import (
	"encoding/json"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// Dialect is how an authorization server of some maker writes its tokens: what stands in them beside the claims that verify them. The
// zero value is RFC 9068.
type Dialect struct {
	// Type is the "typ" of the header; at+jwt when empty.
	Type string
	// Add changes the claims before they are signed. Issuer, audience, times and client stay as they are, or the node refuses its own token;
	// an audience may get others beside it.
	Add func(claims map[string]any)
}

// Speak makes the issuer write its tokens in a dialect. It is called before the first token is issued. Opaque tokens have none.
func (i *Issuer) Speak(d Dialect) { i.dialect = d }

// tokenType is the type that the issuer's tokens have.
func (i *Issuer) tokenType() string {
	if i.dialect.Type != "" {
		return i.dialect.Type
	}
	return tokenType
}

// sign makes a JWT of the claims in the issuer's dialect.
func (i *Issuer) sign(key *signingKey, claims Claims) (string, error) {
	if i.dialect.Add == nil && i.dialect.Type == "" {
		return key.sign(claims)
	}
	written, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode the claims: %w", err)
	}
	var all map[string]any
	if err := json.Unmarshal(written, &all); err != nil {
		return "", fmt.Errorf("read the claims: %w", err)
	}
	all["iat"], all["exp"] = int64(*claims.IssuedAt), int64(*claims.Expires) // whole numbers, not what JSON makes of them
	if i.dialect.Add != nil {
		i.dialect.Add(all)
	}
	return key.signAny(map[string]any{string(jose.HeaderType): i.tokenType()}, all)
}
