// Package tokenforge makes tokens that a resource server must refuse, and verifies real ones with published keys.
//
// Everything in it is a pure function of a good token, keys and a clock; nothing is sent from here. Forged tokens name hosts of the
// reserved domain .invalid only (RFC 2606 §2), so that no server can be led to fetch anything.
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

// Invalid is the issuer that no node trusts: a host that does not exist (RFC 2606 §2).
const Invalid = "https://conformance.invalid"

// Token is a JWT taken apart; nothing in it was verified. Numbers are [json.Number], so that none is rounded.
type Token struct {
	Header, Claims map[string]any

	payload string // as it is in the token
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

// Algorithm is the "alg" of the header; empty when there is none.
func (t Token) Algorithm() string { return t.text("alg") }

// KeyID is the "kid" of the header; empty when there is none.
func (t Token) KeyID() string { return t.text("kid") }

func (t Token) text(name string) string {
	s, _ := t.Header[name].(string)
	return s
}

// Issuer is the claim "iss"; empty when there is none.
func (t Token) Issuer() string {
	s, _ := t.Claims["iss"].(string)
	return s
}

// Unsigned is the token with another algorithm in its header and no signature (RFC 8725 §3.1): the payload stays byte by byte.
func (t Token) Unsigned(alg string) (string, error) {
	header, err := segment(t.header(map[string]any{"alg": alg}))
	if err != nil {
		return "", err
	}
	return header + "." + t.payload + ".", nil
}

// SignatureSize is the length of a token's signature in bytes.
func SignatureSize(token string) int {
	signature, err := base64.RawURLEncoding.DecodeString(token[strings.LastIndexByte(token, '.')+1:])
	if err != nil {
		return 0
	}
	return len(signature)
}

// ReplaceSignature is a token with another signature in the place of its own; header and payload stay byte by byte.
func ReplaceSignature(token string, signature []byte) string {
	return token[:strings.LastIndexByte(token, '.')+1] + base64.RawURLEncoding.EncodeToString(signature)
}

// HMAC is the token signed with HS256 and a key that is not secret (RFC 8725 §2.1).
func (t Token) HMAC(key []byte) (string, error) {
	header, err := segment(t.header(map[string]any{"alg": "HS256"}))
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header + "." + t.payload))
	return header + "." + t.payload + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}

// Signed is the token signed with a key of the suite. The members given replace those of the header; nil takes one away. A new issuer
// replaces "iss" unless it is empty.
func (t Token) Signed(key Key, header map[string]any, issuer string) (string, error) {
	claims := t.Claims
	if issuer != "" {
		claims = maps.Clone(claims)
		claims["iss"] = issuer
	}
	return key.sign(t.header(header), claims)
}

// header is the token's header with other members; nil takes one away.
func (t Token) header(members map[string]any) map[string]any {
	out := maps.Clone(t.Header)
	for name, value := range members {
		if out[name] = value; value == nil {
			delete(out, name)
		}
	}
	return out
}

func segment(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode a forged token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// letters are what random secrets are made of.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Misspell is the secret with one thing changed: the case of the letter nearest to its middle, or a random letter in the middle of
// one that has none. One attempt thus finds a secret that is ignored, compared by its beginning, by its end, or without case.
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

// Tamper is a token with one character in the middle of its last segment that is not empty changed: the case of the letter that
// is nearest there, so that one request finds a signature that is not verified, one compared by its beginning and one compared
// without case. The last character is left alone: its low bits may be padding (RFC 4648 §3.5), and the token would stay what it was.
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
