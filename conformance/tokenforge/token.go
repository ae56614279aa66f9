// Package tokenforge makes tokens that a resource server must refuse, and verifies real ones with published keys.
//
// The package works on tokens and keys that it is given and sends nothing. Forged tokens name only hosts of the reserved domain
// .invalid (RFC 2606 §2), so that no server can be led to fetch anything.
package tokenforge

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
)

// Invalid is an issuer that no node trusts: a host that does not exist (RFC 2606 §2).
const Invalid = "https://conformance.invalid"

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
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var m map[string]any
	return m, dec.Decode(&m) == nil && m != nil
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

// Unsigned returns the token with another algorithm in its header and no signature (RFC 8725 §3.1): the payload stays byte by byte.
func (t Token) Unsigned(alg string) (string, error) {
	header, err := segment(t.header(map[string]any{"alg": alg}))
	if err != nil {
		return "", err
	}
	return header + "." + t.payload + ".", nil
}

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

// HMAC returns the token signed with HS256 and a key that is not secret (RFC 8725 §2.1).
func (t Token) HMAC(key []byte) (string, error) {
	header, err := segment(t.header(map[string]any{"alg": "HS256"}))
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header + "." + t.payload))
	return header + "." + t.payload + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}

// Signed returns the token signed with a key of the suite. The given members replace those of the header; a nil value removes a member. The issuer
// replaces "iss" unless it is empty.
func (t Token) Signed(key Key, header map[string]any, issuer string) (string, error) {
	claims := t.Claims
	if issuer != "" {
		claims = maps.Clone(claims)
		claims["iss"] = issuer
	}
	return key.sign(t.header(header), claims)
}

// header returns the token's header with the given members replaced; a nil value removes a member.
func (t Token) header(members map[string]any) map[string]any {
	out := maps.Clone(t.Header)
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

// letters are the characters that replace one in a secret without letters.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Misspell returns the secret with one character changed: it swaps the case of the letter nearest to the middle, or puts a random letter
// into the middle if the secret has no letter. One attempt thus finds a server that ignores the secret, compares only its beginning or its
// end, or ignores case.
func Misspell(secret string, random io.Reader) (string, error) {
	wrong := []byte(secret)
	middle := len(wrong) / 2
	if i, found := letterNear(secret, middle); found {
		wrong[i] ^= 0x20
		return string(wrong), nil
	}
	if len(wrong) == 0 {
		return "", nil
	}
	var b [1]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	wrong[middle] = letters[int(b[0])%len(letters)] // there was no letter before
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
