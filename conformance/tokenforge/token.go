// Package tokenforge makes tokens that a resource server must refuse, and verifies real ones with published keys.
//
// The package works on tokens and keys that it is given and sends nothing. Forged tokens must name only hosts that do not exist, so that no server
// can be led to fetch anything.
package tokenforge

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// Token is a JWT taken apart; nothing in it was verified. Numbers are [json.Number], so that they are not rounded.
type Token struct {
	Header, Claims map[string]any

	payload string // encoded, as in the token
}

// maxToken bounds what is read as a token, in bytes.
const maxToken = 64 << 10

// Read takes a compact JWS with an object as payload apart (RFC 7515 §3.1); ok is false for everything else, such as opaque tokens.
func Read(token string) (t Token, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || len(token) > maxToken {
		return t, false
	}
	t.payload = parts[1]
	t.Header, ok = object(parts[0])
	if !ok {
		return t, false
	}
	t.Claims, ok = object(parts[1])
	return t, ok
}

// object decodes a segment that holds a JSON object.
func object(segment string) (map[string]any, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(segment)
	if err != nil {
		return nil, false
	}
	var m map[string]any
	return m, evidence.DecodeJSON(raw, &m) == nil && m != nil
}

// Algorithm returns the "alg" of the header, or "".
func (t Token) Algorithm() string { return t.text("alg") }

// KeyID returns the "kid" of the header, or "".
func (t Token) KeyID() string { return t.text("kid") }

func (t Token) text(name string) string {
	s, _ := t.Header[name].(string)
	return s
}

// Issuer returns the claim "iss", or "".
func (t Token) Issuer() string {
	s, _ := t.Claims["iss"].(string)
	return s
}

// Audience returns the first value of the claim "aud" (RFC 7519 §4.1.3) other than account, which Keycloak puts into each token; or "".
func (t Token) Audience() string {
	values, isList := t.Claims["aud"].([]any)
	if !isList {
		values = []any{t.Claims["aud"]}
	}
	for _, value := range values {
		if name, ok := value.(string); ok && name != "account" {
			return name
		}
	}
	return ""
}

// Unsigned returns the token with another algorithm in its header and no signature (RFC 8725 §3.1): the payload stays byte by byte.
func (t Token) Unsigned(alg string) (string, error) {
	return t.With(map[string]any{"alg": alg}, nil).Compact("")
}

// With returns the token with the given members of header and claims replaced; a nil value removes a member. The payload stays byte by byte if
// no claim is given.
func (t Token) With(header, claims map[string]any) Token {
	out := Token{Header: withMembers(t.Header, header), Claims: t.Claims, payload: t.payload}
	if len(claims) > 0 {
		out.Claims, out.payload = withMembers(t.Claims, claims), ""
	}
	return out
}

// Compact returns the token with a signature that is encoded already, whether it fits or not.
func (t Token) Compact(signature string) (string, error) {
	input, err := t.input()
	return input + "." + signature, err
}

// input returns what a signature covers: header and payload (RFC 7515 §5.1).
func (t Token) input() (string, error) {
	header, err := segment(t.Header)
	if err != nil || t.payload != "" {
		return header + "." + t.payload, err
	}
	payload, err := segment(t.Claims)
	return header + "." + payload, err
}

// SameInput reports whether header and payload of two tokens are the same, so that a signature of one fits the other as well.
func (t Token) SameInput(other Token) bool {
	a, errA := t.input()
	b, errB := other.input()
	return errA == nil && errB == nil && a == b
}

// Signature returns the last segment of a compact token.
func Signature(token string) string { return token[strings.LastIndexByte(token, '.')+1:] }

// SignatureSize returns the length of a token's signature in bytes.
func SignatureSize(token string) int {
	signature, err := base64.RawURLEncoding.DecodeString(token[strings.LastIndexByte(token, '.')+1:])
	if err != nil {
		return 0
	}
	return len(signature)
}

// ReplaceSignature returns a token with another signature; header and payload stay byte by byte.
func ReplaceSignature(token string, signature []byte) string {
	return token[:strings.LastIndexByte(token, '.')+1] + base64.RawURLEncoding.EncodeToString(signature)
}

// HMAC returns the token signed with HS256, HS384 or HS512 and a key that is not secret (RFC 8725 §2.1).
func (t Token) HMAC(algorithm string, key []byte) (string, error) {
	algorithms := map[string]func() hash.Hash{"HS256": sha256.New, "HS384": sha512.New384, "HS512": sha512.New}
	newHash, known := algorithms[algorithm]
	if !known {
		return "", fmt.Errorf("sign a forged token: expected HS256, HS384 or HS512, got %q", algorithm)
	}
	input, err := t.With(map[string]any{"alg": algorithm}, nil).input()
	if err != nil {
		return "", err
	}
	mac := hmac.New(newHash, key)
	mac.Write([]byte(input))
	return input + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}

// Signed returns the token signed with a key of the suite. The given members replace those of the header; a nil value removes a member. The issuer
// replaces "iss" unless it is empty.
func (t Token) Signed(key Key, header map[string]any, issuer string) (string, error) {
	claims := t.Claims
	if issuer != "" {
		claims = withMembers(claims, map[string]any{"iss": issuer})
	}
	return key.signClaims(withMembers(t.Header, header), claims)
}

// withMembers returns an object with the given members replaced; a nil value removes a member.
func withMembers(object, members map[string]any) map[string]any {
	out := maps.Clone(object)
	for name, value := range members {
		if out[name] = value; value == nil {
			delete(out, name)
		}
	}
	return out
}

// segment encodes a value as a segment of a token.
func segment(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode a forged token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// letters are what [Misspell] chooses from when the secret has no letter.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Misspell returns the secret with one character changed: it swaps the case of the letter nearest to the middle, or puts a random letter
// into the middle if the secret has no letter. One attempt thus finds a server that ignores the secret, compares only its beginning or its
// end, or ignores case.
func Misspell(secret string, random io.Reader) (string, error) {
	if i, found := letterNear(secret, len(secret)/2); found {
		wrong := []byte(secret)
		wrong[i] ^= 0x20
		return string(wrong), nil
	}
	wrong := []rune(secret)
	if len(wrong) == 0 {
		return "", nil
	}
	var b [1]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	wrong[len(wrong)/2] = rune(letters[int(b[0])%len(letters)]) // a letter differs from what was there, because the secret has none
	return string(wrong), nil
}

// Tamper returns a token with one character changed in the middle of its last segment that is not empty: it swaps the case of the letter
// nearest to the middle, so that one request finds a server that does not verify signatures, compares only their beginning, or ignores
// case. It keeps the last character, whose low bits may be padding (RFC 4648 §3.5): changing them would not change the signature.
func Tamper(token string) string {
	end := len(strings.TrimRight(token, "."))
	start := strings.LastIndexByte(token[:end], '.') + 1
	if end == 0 {
		return token + "A"
	}
	middle := start + (end-start)/2
	if i, found := letterNear(token[start:end-1], middle-start); found {
		middle = start + i
		return token[:middle] + string(rune(token[middle]^0x20)) + token[middle+1:]
	}
	other := byte('A')
	if token[middle] == other {
		other = 'B'
	}
	return token[:middle] + string(other) + token[middle+1:]
}

// letterNear finds the letter of a text that is nearest to a position.
func letterNear(text string, at int) (i int, found bool) {
	isLetter := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z')
	}
	for d := range len(text) + 1 {
		for _, i := range []int{at - d, at + d} {
			if isLetter(i) {
				return i, true
			}
		}
	}
	return 0, false
}
