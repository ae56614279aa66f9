package forge

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// Key is a key pair of the suite, which no authorization server has published.
type Key struct {
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
	// ID names the key.
	ID string
	// Public is the public key as a JWK, to stand in a header.
	Public map[string]any
}

const rsaBits = 2048

// NewKey makes a key for the algorithm that good tokens are signed with, so that a forged one is refused for its key and not for its
// algorithm; RS256 stands for algorithms without a key of their own.
func NewKey(algorithm string) (Key, error) {
	k := Key{algorithm: jose.SignatureAlgorithm(algorithm)}
	var err error
	switch curve, isEC := curves()[k.algorithm]; {
	case isEC:
		k.private, err = ecdsa.GenerateKey(curve, rand.Reader)
	case k.algorithm == jose.EdDSA:
		_, k.private, err = ed25519.GenerateKey(rand.Reader)
	default:
		if !strings.HasPrefix(algorithm, "RS") && !strings.HasPrefix(algorithm, "PS") {
			k.algorithm = jose.RS256
		}
		k.private, err = rsa.GenerateKey(rand.Reader, rsaBits)
	}
	if err != nil {
		return k, fmt.Errorf("make a key for %s: %w", k.algorithm, err)
	}
	return k, k.name()
}

func curves() map[jose.SignatureAlgorithm]elliptic.Curve {
	return map[jose.SignatureAlgorithm]elliptic.Curve{jose.ES256: elliptic.P256(), jose.ES384: elliptic.P384(), jose.ES512: elliptic.P521()}
}

// name fills in the id, a thumbprint of the key (RFC 7638), and the public JWK.
func (k *Key) name() error {
	public := jose.JSONWebKey{Key: k.private.Public(), Algorithm: string(k.algorithm), Use: "sig"}
	print, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		return fmt.Errorf("name a key: %w", err)
	}
	k.ID = "conformance-" + fmt.Sprintf("%x", print[:8])
	public.KeyID = k.ID
	raw, err := json.Marshal(public)
	if err != nil {
		return fmt.Errorf("publish a key: %w", err)
	}
	return json.Unmarshal(raw, &k.Public)
}

func (k Key) sign(header, claims map[string]any) (string, error) {
	options := &jose.SignerOptions{}
	for name, value := range header {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	options.WithHeader("alg", string(k.algorithm))
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.algorithm, Key: k.private}, options)
	if err != nil {
		return "", fmt.Errorf("prepare to sign with %s: %w", k.algorithm, err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode the claims of a forged token: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign a forged token: %w", err)
	}
	return signed.CompactSerialize()
}
