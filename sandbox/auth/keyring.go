package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// maxRetiredKeys is the number of retired keys that stay valid beside the current one.
const maxRetiredKeys = 8

// keyMaterial makes tokens: a key pair for JWTs, or the key of opaque tokens.
type keyMaterial struct {
	keys   keySource
	sealer *sealer
}

func newKeyMaterial(format Format, keys, random io.Reader) (m keyMaterial, err error) {
	if format == Opaque {
		m.sealer, err = newSealer(keys, random)
	} else {
		m.keys, err = newKeySource(format, keys)
	}
	return m, err
}

// validKeys verify tokens until a time. The current keys have a zero time, which means no end.
type validKeys struct {
	keyMaterial
	until time.Time
}

// generation is the keys of an issuer between two rotations: the current ones, and the retired ones that are still valid. It is immutable.
type generation struct {
	keyMaterial
	retired []validKeys // the latest first
	// number identifies the generation. A token that was verified in another generation is verified again.
	number uint64
}

// keysAt lists the keys that verify tokens at a time, the current ones first.
func (g *generation) keysAt(now time.Time) []validKeys {
	all := []validKeys{{keyMaterial: g.keyMaterial}}
	for _, keys := range g.retired {
		if now.Before(keys.until) {
			all = append(all, keys)
		}
	}
	return all
}

// keyring is all keys of an issuer.
type keyring struct {
	mu      sync.Mutex // held by writers of current
	first   keyMaterial
	current atomic.Pointer[generation]
}

func (r *keyring) begin(m keyMaterial) {
	r.first = m
	r.current.Store(&generation{keyMaterial: m})
}

// Rotate makes new keys for all further tokens. Tokens of the earlier keys stay valid, and their public keys published, until the overlap has
// passed; without an overlap they are refused at once.
func (i *Issuer) Rotate(overlap time.Duration) error {
	i.keyring.mu.Lock()
	defer i.keyring.mu.Unlock()
	fresh, err := newKeyMaterial(i.format, i.keys, i.random)
	if err != nil {
		return fmt.Errorf("rotate the keys: %w", err)
	}
	before, now := i.keyring.current.Load(), i.now()
	next := &generation{keyMaterial: fresh, number: before.number + 1}
	if overlap > 0 {
		next.retired = append(next.retired, validKeys{before.keyMaterial, now.Add(overlap)})
	}
	next.retired = append(next.retired, slices.Clone(before.retired)...)
	next.retired = next.retired[:min(len(next.retired), maxRetiredKeys)]
	i.keyring.current.Store(next)
	return nil
}

// Restore brings back the initial keys and drops all others.
func (i *Issuer) Restore() {
	i.keyring.mu.Lock()
	defer i.keyring.mu.Unlock()
	if before := i.keyring.current.Load(); before.number > 0 {
		i.keyring.current.Store(&generation{keyMaterial: i.keyring.first, number: before.number + 1})
	}
}

// Format is the form of access tokens.
type Format string

// The token formats: JWTs (RFC 9068) by signature algorithm (RFC 7518 §3, RFC 8037), or opaque to the client.
const (
	ES256  Format = "jwt-es256"
	RS256  Format = "jwt-rs256"
	EdDSA  Format = "jwt-eddsa"
	Opaque Format = "opaque"
)

// Formats lists all token formats, the default first.
func Formats() []Format { return []Format{ES256, RS256, EdDSA, Opaque} }

const rsaBits = 2048

// signingKey is a key pair of an issuer, with the signer for it and the public key as it is published.
type signingKey struct {
	algorithm jose.SignatureAlgorithm
	id        string
	private   crypto.Signer
	public    crypto.PublicKey
	signer    jose.Signer
	published jose.JSONWebKey
}

// keySource returns the signing key. Slow keys are made at the first call.
type keySource func() (*signingKey, error)

// Derived marks a source of keys that is a function of a seed. Without the mark, RSA keys are made by package rsa, which always uses the random source of
// the system.
type Derived struct{ io.Reader }

// newKeySource returns the source of keys for a JWT format. The key for ES256 is made at once; RSA and Ed25519 keys are made when first needed.
func newKeySource(format Format, random io.Reader) (keySource, error) {
	switch format {
	case ES256:
		private, err := newP256(random)
		if err != nil {
			return nil, err
		}
		key, err := newSigningKey(jose.ES256, private)
		return func() (*signingKey, error) { return key, err }, err
	case RS256:
		return sync.OnceValues(func() (*signingKey, error) {
			private, err := newRSA(random)
			if err != nil {
				return nil, fmt.Errorf("make the RS256 key: %w", err)
			}
			return newSigningKey(jose.RS256, private)
		}), nil
	case EdDSA:
		return sync.OnceValues(func() (*signingKey, error) {
			var seed [ed25519.SeedSize]byte
			if _, err := io.ReadFull(random, seed[:]); err != nil {
				return nil, fmt.Errorf("make the EdDSA key: %w", err)
			}
			return newSigningKey(jose.EdDSA, ed25519.NewKeyFromSeed(seed[:]))
		}), nil
	}
	return nil, fmt.Errorf("token format %q has no keys", format)
}

// newP256 draws scalars from random until one is a valid key. It does not use ecdsa.GenerateKey, whose key is not a function of random.
func newP256(random io.Reader) (*ecdsa.PrivateKey, error) {
	var scalar [32]byte
	for range 8 {
		if _, err := io.ReadFull(random, scalar[:]); err != nil {
			return nil, fmt.Errorf("make the ES256 key: %w", err)
		}
		if private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar[:]); err == nil {
			return private, nil
		}
	}
	return nil, fmt.Errorf("make the ES256 key: the source of randomness gave no valid scalar in 8 draws")
}

// newRSA makes an RSA key. With a derived source it draws the primes itself, because the key that package rsa makes is not a function of the source.
func newRSA(random io.Reader) (*rsa.PrivateKey, error) {
	if _, derived := random.(Derived); !derived {
		return rsa.GenerateKey(random, rsaBits)
	}
	exponent := big.NewInt(65537)
	for {
		p, err := drawPrime(random)
		if err != nil {
			return nil, err
		}
		q, err := drawPrime(random)
		if err != nil {
			return nil, err
		}
		one := big.NewInt(1)
		totient := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
		private := new(big.Int).ModInverse(exponent, totient)
		modulus := new(big.Int).Mul(p, q)
		if private == nil || p.Cmp(q) == 0 || modulus.BitLen() != rsaBits {
			continue
		}
		key := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: modulus, E: int(exponent.Int64())}, D: private, Primes: []*big.Int{p, q}}
		key.Precompute()
		return key, key.Validate()
	}
}

// drawPrime draws numbers with half the bits of an RSA key until one is prime. It sets their two highest bits, so that the product of two primes has
// exactly rsaBits bits.
func drawPrime(random io.Reader) (*big.Int, error) {
	bytes := make([]byte, rsaBits/16)
	for {
		if _, err := io.ReadFull(random, bytes); err != nil {
			return nil, err
		}
		bytes[0] |= 0xc0
		bytes[len(bytes)-1] |= 1
		if p := new(big.Int).SetBytes(bytes); p.ProbablyPrime(20) {
			return p, nil
		}
	}
}

// newSigningKey makes the signer and the published key of a private key. The key id is its thumbprint (RFC 7638).
func newSigningKey(algorithm jose.SignatureAlgorithm, private crypto.Signer) (*signingKey, error) {
	public := jose.JSONWebKey{Key: private.Public(), Algorithm: string(algorithm), Use: "sig"}
	thumbprint, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("name the %s key: %w", algorithm, err)
	}
	public.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	options := (&jose.SignerOptions{}).WithType(tokenType)
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: algorithm,
		Key:       jose.JSONWebKey{Key: private, KeyID: public.KeyID, Algorithm: string(algorithm)},
	}, options)
	if err != nil {
		return nil, fmt.Errorf("make the %s signer: %w", algorithm, err)
	}
	return &signingKey{
		algorithm: algorithm, id: public.KeyID, private: private, public: public.Key, signer: signer,
		published: public,
	}, nil
}

// signAny makes a JWT of any claims. The members of header are added to those that describe the key, or replace them.
func (k *signingKey) signAny(header, claims map[string]any) (string, error) {
	options := (&jose.SignerOptions{}).WithType(tokenType).WithHeader("kid", k.id)
	for name, value := range header {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.algorithm, Key: k.private}, options)
	if err != nil {
		return "", fmt.Errorf("make the %s signer: %w", k.algorithm, err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode the claims: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return signed.CompactSerialize()
}

// sign makes a JWT of the claims, in the compact serialization (RFC 7515 §7.1).
func (k *signingKey) sign(claims Claims) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode the claims: %w", err)
	}
	signed, err := k.signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
