package exchange

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"strings"
)

// commonKeys are HMAC keys that stand in the examples of libraries and frameworks, and so in the field.
func commonKeys() []string {
	return []string{
		"secret", "secretkey", "secret-key", "mysecret", "my-secret", "jwt-secret", "jwtsecret", "changeit", "changeme", "password", "key", "test",
		"your-256-bit-secret", "your-secret-key", "shhhhh", "supersecret",
	}
}

// commonKey is what [JWTFacts.KnownKey] calls one of them.
const commonKey = "a common word"

// signer names the known secret that signs a token by HMAC; empty for none.
func (r *Redactor) signer(token string) string {
	r.mu.RLock()
	secrets := r.secrets
	r.mu.RUnlock()
	for _, s := range secrets {
		if s.value != token && signedBy(token, s.value) {
			return s.name
		}
	}
	for _, word := range commonKeys() {
		if signedBy(token, word) {
			return commonKey
		}
	}
	return ""
}

// signedBy verifies a JWS with the algorithms HS256, HS384 and HS512 (RFC 7518 §3.2); which one it is shows in the signature's length.
func signedBy(token, key string) bool {
	cut := strings.LastIndexByte(token, '.')
	given, err := base64.RawURLEncoding.DecodeString(token[cut+1:])
	if cut < 0 || err != nil {
		return false
	}
	of := map[int]func() hash.Hash{sha256.Size: sha256.New, sha512.Size384: sha512.New384, sha512.Size: sha512.New}[len(given)]
	if of == nil {
		return false
	}
	mac := hmac.New(of, []byte(key))
	mac.Write([]byte(token[:cut]))
	return hmac.Equal(given, mac.Sum(nil))
}
