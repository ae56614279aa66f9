package tokenforge

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rin-network/rin/conformance/evidence"
)

// Key is a key pair that the suite made; no authorization server has published it.
type Key struct {
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
	// ID names the key.
	ID string
	// Public is the public key as a JWK, for the header of a token.
	Public map[string]any
}

const rsaBits = 2048

// NewKey makes a key for the algorithm that good tokens are signed with, so that a node refuses a forged token for its key and not for its
// algorithm. It uses RS256 in place of algorithms without a key pair, such as HS256.
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
	k.ID = base64.RawURLEncoding.EncodeToString(print)
	public.KeyID = k.ID
	raw, err := json.Marshal(public)
	if err != nil {
		return fmt.Errorf("publish a key: %w", err)
	}
	return json.Unmarshal(raw, &k.Public)
}

// signClaims returns a compact JWS of the claims.
func (k Key) signClaims(header, claims map[string]any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode the claims of a forged token: %w", err)
	}
	return k.Sign(header, payload)
}

// Sign returns a compact JWS of any payload.
func (k Key) Sign(header map[string]any, payload []byte) (string, error) {
	options := &jose.SignerOptions{}
	for name, value := range header {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	options.WithHeader("alg", string(k.algorithm))
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.algorithm, Key: k.private}, options)
	if err != nil {
		return "", fmt.Errorf("prepare to sign with %s: %w", k.algorithm, err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign a forged token: %w", err)
	}
	return signed.CompactSerialize()
}

// Certificate returns a certificate of the key for a host, signed by itself, in DER.
func (k Key) Certificate(host string, now time.Time, serial int64) ([]byte, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.private.Public(), k.private)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return der, nil
}

// Algorithm returns the algorithm that the key signs with.
func (k Key) Algorithm() string { return string(k.algorithm) }

// Published is one public key of a key set, decoded and in its original text.
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

// Keys reads the public keys for signatures out of a JWK Set (RFC 7517 §5). Of a key that was published with its private part it reads the public
// part. It leaves out members that are not such keys, as the standard asks, and symmetric keys, since everybody who reads them can sign.
func Keys(set []byte) ([]Published, error) {
	if len(set) > maxKeySet {
		return nil, fmt.Errorf("the key set is larger than %d bytes", maxKeySet)
	}
	document, _ := evidence.ParseObject(set)
	var keys []json.RawMessage
	if json.Unmarshal(document["keys"], &keys) != nil || keys == nil {
		return nil, errors.New("the answer is not a JWK Set")
	}
	var out []Published
	for _, raw := range keys[:min(len(keys), maxKeys)] {
		raw = publicPart(raw)
		var k jose.JSONWebKey
		if k.UnmarshalJSON(raw) == nil && k.IsPublic() && k.Valid() && k.Use != "enc" {
			out = append(out, Published{ID: k.KeyID, key: k, raw: raw})
		}
	}
	return out, nil
}

// publicPart returns a key without the members of its private part (RFC 7518 §6.2.2 and §6.3.2).
func publicPart(key json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(key, &members) != nil || members["d"] == nil {
		return key
	}
	for _, private := range []string{"d", "p", "q", "dp", "dq", "qi", "oth"} {
		delete(members, private)
	}
	public, err := json.Marshal(members)
	if err != nil {
		return key
	}
	return public
}

// algorithms returns the algorithms whose signatures a public key verifies.
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}
}

// Verify verifies a token with a key set (RFC 7515 §5.2). The result says which key verifies it, or why none does.
func Verify(token, fingerprint string, set []byte) *evidence.Verification {
	keys, err := Keys(set)
	if err != nil {
		return &evidence.Verification{Fingerprint: fingerprint, Why: err.Error()}
	}
	return VerifyWith(token, fingerprint, keys)
}

// VerifyWith is [Verify] with keys that were read before.
func VerifyWith(token, fingerprint string, keys []Published) *evidence.Verification {
	v := &evidence.Verification{Fingerprint: fingerprint, Keys: len(keys)}
	found, err := Signer(token, keys)
	if err != nil {
		v.Why = err.Error()
		return v
	}
	v.Verified, v.KeyID = true, found.ID
	return v
}

// Signer finds the key that a token is signed with. If the token names a kid, only that key is tried, else every
// key.
func Signer(token string, keys []Published) (Published, error) {
	signed, err := jose.ParseSignedCompact(token, algorithms())
	if err != nil {
		return Published{}, errors.New("the token is not signed with an algorithm that has a public key")
	}
	id := signed.Signatures[0].Header.KeyID
	tried := false
	for _, k := range keys {
		if id != "" && k.ID != id {
			continue
		}
		tried = true
		if _, err := signed.Verify(k.key); err == nil {
			return k, nil
		}
	}
	switch {
	case len(keys) == 0:
		return Published{}, errors.New("the key set holds no public key for signatures")
	case id == "":
		return Published{}, fmt.Errorf("the token names no kid, and no published key verifies its signature (the key set has %s)", evidence.Count(len(keys), "key"))
	case !tried:
		return Published{}, fmt.Errorf("no published key has the kid %.80q of the token", id)
	}
	return Published{}, fmt.Errorf("the published key with the kid %.80q does not verify the signature of the token", id)
}

// PEM returns the key as SubjectPublicKeyInfo in PEM, with its last newline. Libraries load public keys in this form, and a confused library
// uses it as an HMAC secret.
func (p Published) PEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(p.key.Key)
	if err != nil {
		return nil, fmt.Errorf("encode the published key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// DER returns the key as SubjectPublicKeyInfo.
func (p Published) DER() ([]byte, error) { return x509.MarshalPKIXPublicKey(p.key.Key) }

// PKCS1 returns an RSA key in the PEM of PKCS #1 ("RSA PUBLIC KEY"); ok is false for other keys.
func (p Published) PKCS1() (encoded []byte, ok bool) {
	key, ok := p.key.Key.(*rsa.PublicKey)
	if !ok {
		return nil, false
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(key)}), true
}

// Certificate returns the first certificate that was published with the key (x5c), in DER; nil without one.
func (p Published) Certificate() []byte {
	if len(p.key.Certificates) == 0 {
		return nil
	}
	return p.key.Certificates[0].Raw
}

// Number returns the number of the key as it was published: the modulus of RSA, the coordinate x of a curve (RFC 7518 §6). Like
// the forms above, it may be the HMAC secret of a confused library.
func (p Published) Number() string {
	members, _ := evidence.ParseObject(p.raw)
	return cmp.Or(members.Text("n"), members.Text("x"))
}

// JWK returns the key as it was published, without blanks around it.
func (p Published) JWK() []byte { return bytes.TrimSpace(p.raw) }

// Asymmetric reports whether an algorithm uses a key pair, whose public key may be published.
func Asymmetric(algorithm string) bool {
	return slices.ContainsFunc(algorithms(), func(a jose.SignatureAlgorithm) bool { return strings.EqualFold(string(a), algorithm) })
}
