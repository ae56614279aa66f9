package evidence

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence/redact"
)

// TokenFacts are what checks know of an access token that was replaced by its marker.
type TokenFacts struct {
	// Name is the marker's name: "access_token" for the first client, "access_token2" for the second, with the label of
	// the request that issued it.
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"`
	Length      int    `json:"length"` // bytes
	// Alphabet reports that the token is a b64token (RFC 6750 §2.1).
	Alphabet bool `json:"alphabet"`
	// Offending is the first byte outside the alphabet as a Go-quoted rune, such as " " or "\n".
	Offending string `json:"offending,omitempty"`
	// Chance is the largest number of bits of an opaque token that can be random: those of the characters that it does not share, at its start and
	// end, with the first token of the same client. It is 0 for a JWT, and if it is not known.
	Chance int `json:"chance,omitempty"`
	// JWT is nil when the token is not a JSON Web Token: an opaque token is fully conformant (RFC 6749 §1.4).
	JWT *JWTFacts `json:"jwt,omitempty"`
}

// JWTFacts are the readable parts of a signed token, redacted and bounded. Numbers are [json.Number].
type JWTFacts struct {
	Header    map[string]any `json:"header"`
	Claims    map[string]any `json:"claims"`
	Signature bool           `json:"signature"` // the signature segment is not empty
	// KnownKey names the secret that verifies the signature as an HMAC key, such as "client_secret", or is "a common word". Anyone who
	// has that key can forge tokens.
	KnownKey string `json:"knownKey,omitempty"`
}

// Verification is the result of verifying a token with published keys. Keys counts the published keys that can verify signatures.
type Verification struct {
	Fingerprint string `json:"fingerprint"` // the token's
	Keys        int    `json:"keys"`
	// Verified reports that one of the keys verifies the signature; KeyID is its kid, which may be empty.
	Verified bool   `json:"verified"`
	KeyID    string `json:"keyId,omitempty"`
	// Why says why no key verifies the signature; empty if one does.
	Why string `json:"why,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler; numbers stay [json.Number], as [FactsOf] gives them.
func (f *JWTFacts) UnmarshalJSON(data []byte) error {
	type plain JWTFacts
	if err := DecodeJSON(data, (*plain)(f)); err != nil {
		return fmt.Errorf("read token facts: %w", err)
	}
	return nil
}

// Bounds of what is read of a token.
const (
	maxSegment = 32 << 10 // bytes of one encoded segment
	maxDepth   = 16       // nested objects and arrays
)

// FactsOf collects the facts about an access token, with unredacted claims (see [RedactToken]). Numbers stay [json.Number].
func FactsOf(name, token, fingerprint string) TokenFacts {
	f := TokenFacts{Name: name, Fingerprint: fingerprint, Length: len(token), JWT: jwtFacts(token)}
	if at := firstInvalid(token); at < 0 {
		f.Alphabet = true
	} else if at < len(token) {
		r, _ := utf8.DecodeRuneInString(token[at:])
		f.Offending = strconv.Quote(string(r))
	}
	return f
}

// Chance returns an upper bound of the random bits of a token. other is another token of the same client; "" without one.
func Chance(token, other string) int {
	from, to := 0, len(token)
	if other != "" && other != token {
		for from < to && from < len(other) && token[from] == other[from] {
			from++
		}
		for to > from && len(token)-to < len(other)-from && token[to-1] == other[len(other)-1-(len(token)-to)] {
			to--
		}
	}
	count := 0
	for i := from; i < to; i++ {
		if redact.IsAlphanumeric(token[i]) {
			count++
		}
	}
	return int(float64(count) * bitsOf(token))
}

// bitsOf returns the bits of one character of the smallest common alphabet that a token is written in.
func bitsOf(token string) float64 {
	only := func(alphabet string) bool { return strings.Trim(token, alphabet+"-._~+/=") == "" }
	const digits, lower, upper = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	switch {
	case only(digits):
		return math.Log2(10)
	case only(digits + "abcdef"), only(digits + "ABCDEF"):
		return 4
	case only(digits + lower), only(digits + upper):
		return math.Log2(36)
	}
	return 6
}

// firstInvalid returns the index of the first byte that breaks the syntax of a b64token, 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" )
// *"=". It returns -1 for a b64token and 0 for an empty token.
func firstInvalid(token string) int {
	padding := false
	for i := range len(token) {
		c := token[i]
		switch {
		case c == '=' && i > 0:
			padding = true
		case padding || !(redact.IsAlphanumeric(c) || strings.IndexByte("-._~+/", c) >= 0):
			return i
		}
	}
	if token == "" {
		return 0
	}
	return -1
}

// jwtFacts reads a compact JWS (RFC 7515 §3.1) whose payload is a JSON object; it returns nil for other tokens.
func jwtFacts(token string) *JWTFacts {
	if strings.Count(token, ".") != 2 {
		return nil
	}
	parts := strings.Split(token, ".")
	header, claims := decodeSegment(parts[0]), decodeSegment(parts[1])
	if header == nil || claims == nil {
		return nil
	}
	return &JWTFacts{Header: header, Claims: claims, Signature: parts[2] != ""}
}

// decodeSegment decodes a segment that holds a JSON object; it returns nil for other segments and for too long or too deep ones.
func decodeSegment(s string) map[string]any {
	if len(s) > maxSegment {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil
	}
	var m map[string]any
	if DecodeJSON(raw, &m) != nil || isDeeper(m, maxDepth) {
		return nil
	}
	return m
}

// isDeeper reports whether a decoded value has more than the given levels of objects and arrays.
func isDeeper(value any, levels int) bool {
	var inner []any
	switch v := value.(type) {
	case map[string]any:
		inner = slices.Collect(maps.Values(v))
	case []any:
		inner = v
	default:
		return false
	}
	return levels == 0 || slices.ContainsFunc(inner, func(v any) bool { return isDeeper(v, levels-1) })
}
