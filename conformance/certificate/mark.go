package certificate

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// MarkType is the media type of a trust mark in the header "typ" of its JWT (OpenID Federation 1.0 §7).
const MarkType = "trust-mark+jwt"

// Mark is a trust mark: the operator of a registry says that the certificate of a node is valid until a time. A certificate has no expiry of its own, because
// the operator's policy decides how long it is valid. Without a fresh mark it only says what was true when it was made.
type Mark struct {
	Issuer  string // the operator, a URI
	Subject string // the node, by the URL of its info endpoint
	Type    string // what the mark means, a URI
	// Issued and Expires bound the validity, to the second.
	Issued, Expires time.Time
	// Ref is the URL of the certificate.
	Ref string
}

// markClaims are the claims of a mark in its JWT.
type markClaims struct {
	Issuer  string `json:"iss"`
	Subject string `json:"sub"`
	Type    string `json:"trust_mark_type"`
	Issued  int64  `json:"iat"`
	Expires int64  `json:"exp"`
	Ref     string `json:"ref,omitempty"`
}

// SignMark returns the mark as a JWT.
func SignMark(m Mark, key ed25519.PrivateKey) (string, error) {
	switch {
	case m.Issuer == "" || m.Subject == "" || m.Type == "":
		return "", fmt.Errorf("expected issuer, subject and type of the trust mark, got %q, %q and %q", m.Issuer, m.Subject, m.Type)
	case !m.Expires.After(m.Issued):
		return "", fmt.Errorf("expected the trust mark to expire after %s, got %s", m.Issued, m.Expires)
	}
	return SignToken(MarkType, markClaims{m.Issuer, m.Subject, m.Type, m.Issued.Unix(), m.Expires.Unix(), m.Ref}, key)
}

// SignToken signs claims as a JWT of a type.
func SignToken(typ string, claims any, key ed25519.PrivateKey) (string, error) {
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, (&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	signed, err := s.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return signed.CompactSerialize()
}

// ReadToken reads the claims of a JWT of a type that the key signed.
func ReadToken(text, typ string, claims any, key ed25519.PublicKey) error {
	signed, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return fmt.Errorf("expected a signed token: %w", err)
	}
	if got := signed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType]; got != typ {
		return fmt.Errorf("expected the typ %s, got %.60q", typ, fmt.Sprint(got))
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return fmt.Errorf("the token was not signed by the key %s", Fingerprint(key))
	}
	if err := json.Unmarshal(payload, claims); err != nil {
		return fmt.Errorf("read the claims of the token: %w", err)
	}
	return nil
}

// TokenType returns the typ in the header of a JWT, without verifying it; "" if the text is not a JWT.
func TokenType(text string) string {
	header, _, isToken := strings.Cut(strings.TrimSpace(text), ".")
	decoded, err := base64.RawURLEncoding.DecodeString(header)
	var members map[string]json.RawMessage
	var typ string
	if !isToken || err != nil || json.Unmarshal(decoded, &members) != nil || json.Unmarshal(members["typ"], &typ) != nil {
		return ""
	}
	return typ
}

// clockLeeway is how far the clock of the issuer may be ahead.
const clockLeeway = time.Minute

// ReadMark reads a JWT that the key signed and that is valid at a time.
func ReadMark(text string, key ed25519.PublicKey, at time.Time) (Mark, error) {
	var c markClaims
	if err := ReadToken(text, MarkType, &c, key); err != nil {
		return Mark{}, fmt.Errorf("read the trust mark: %w", err)
	}
	m := Mark{c.Issuer, c.Subject, c.Type, time.Unix(c.Issued, 0).UTC(), time.Unix(c.Expires, 0).UTC(), c.Ref}
	switch {
	case at.Add(clockLeeway).Before(m.Issued):
		return m, fmt.Errorf("the trust mark is valid from %s", m.Issued.Format(time.RFC3339))
	case !at.Before(m.Expires):
		return m, fmt.Errorf("the trust mark expired at %s", m.Expires.Format(time.RFC3339))
	}
	return m, nil
}
