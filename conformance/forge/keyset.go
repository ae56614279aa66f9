package forge

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/rin-network/rin/conformance/exchange"
)

// Published is one public key of a key set, as it was read and as it was written.
type Published struct {
	// ID is its kid, which may be empty.
	ID string

	key jose.JSONWebKey
	raw json.RawMessage
}

// Bounds of what is read of a key set.
const (
	maxKeySet = 256 << 10 // bytes
	maxKeys   = 32
)

// Keys reads the public keys for signatures out of a JWK Set (RFC 7517 §5). Members that are no such key are left out, as the
// standard asks; symmetric keys are, too: whoever reads them can sign.
func Keys(set []byte) ([]Published, error) {
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if len(set) > maxKeySet {
		return nil, fmt.Errorf("the key set is larger than %d bytes", maxKeySet)
	}
	if json.Unmarshal(set, &document) != nil || document.Keys == nil {
		return nil, errors.New("the answer is no JWK Set")
	}
	var out []Published
	for _, raw := range document.Keys[:min(len(document.Keys), maxKeys)] {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(raw) == nil && k.IsPublic() && k.Valid() && k.Use != "enc" {
			out = append(out, Published{ID: k.KeyID, key: k, raw: raw})
		}
	}
	return out, nil
}

// algorithms lists what a published key can have signed with.
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}
}

// Verify says what a key set makes of a token (RFC 7515 §5.2): which key verifies it, or what is missing.
func Verify(token, fingerprint string, set []byte) *exchange.Verification {
	v := &exchange.Verification{Fingerprint: fingerprint}
	keys, err := Keys(set)
	if err != nil {
		v.Why = err.Error()
		return v
	}
	v.Keys = len(keys)
	found, err := Signer(token, keys)
	if err != nil {
		v.Why = err.Error()
		return v
	}
	v.Verified, v.KeyID = true, found.ID
	return v
}

// Signer finds the key that a token is signed with. A token that names a kid is verified with that key alone, one that names none
// with each.
func Signer(token string, keys []Published) (Published, error) {
	signed, err := jose.ParseSignedCompact(token, algorithms())
	if err != nil {
		return Published{}, errors.New("the token is not signed with an algorithm that has a public key")
	}
	id := signed.Signatures[0].Header.KeyID
	named := false
	for _, k := range keys {
		if id != "" && k.ID != id {
			continue
		}
		named = true
		if _, err := signed.Verify(k.key); err == nil {
			return k, nil
		}
	}
	switch {
	case len(keys) == 0:
		return Published{}, errors.New("the key set holds no public key for signatures")
	case id == "":
		return Published{}, fmt.Errorf("the token names no kid, and none of the %d published keys verifies its signature", len(keys))
	case !named:
		return Published{}, fmt.Errorf("no published key has the kid %.80q of the token", id)
	}
	return Published{}, fmt.Errorf("the published key with the kid %.80q does not verify the signature of the token", id)
}

// PEM is the key as SubjectPublicKeyInfo in PEM, with its last newline: what libraries load a public key from, and what a confused one
// takes for an HMAC secret.
func (p Published) PEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(p.key.Key)
	if err != nil {
		return nil, fmt.Errorf("encode the published key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// JWK is the key as it was published, without blanks around it.
func (p Published) JWK() []byte { return bytes.TrimSpace(p.raw) }

// Asymmetric reports an algorithm whose public key may be published.
func Asymmetric(algorithm string) bool {
	for _, a := range algorithms() {
		if strings.EqualFold(string(a), algorithm) {
			return true
		}
	}
	return false
}
