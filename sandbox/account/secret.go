package account

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
)

// secretBytes is the size of a generated secret: 256 bits.
const secretBytes = 32

// MinimalSecretBits is the strength that a configured secret needs if the sandbox listens on other addresses than loopback.
const MinimalSecretBits = 128

// NewSecret generates a secret of 256 bits in the base64url alphabet, which needs no form encoding.
func NewSecret(random io.Reader) (string, error) {
	raw := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("generate a client secret: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// SecretBits returns an upper bound of the strength of a secret: its length times the bits of its alphabet. In a secret of fewer than eight different
// characters, each character counts as one bit.
func SecretBits(secret string) float64 {
	var digits, hex, letters, others bool
	distinct := map[rune]bool{}
	for _, c := range secret {
		distinct[c] = true
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case c >= 'a' && c <= 'f':
			hex = true
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters = true
		default:
			others = true
		}
	}
	alphabet := 64.0
	switch {
	case others:
		alphabet = 94
	case letters:
	case hex:
		alphabet = 16
	case digits:
		alphabet = 10
	}
	if len(distinct) < 8 {
		alphabet = 2
	}
	return float64(len(secret)) * math.Log2(alphabet)
}

// Digest is a salted SHA-256 of a secret. Secrets are random and long, so that a slow hash is not needed.
type Digest struct {
	salt [16]byte
	sum  [sha256.Size]byte
}

// NewDigest generates a salt and hashes secret with it.
func NewDigest(random io.Reader, secret string) (Digest, error) {
	var d Digest
	if _, err := io.ReadFull(random, d.salt[:]); err != nil {
		return d, fmt.Errorf("generate a salt: %w", err)
	}
	d.sum = d.hash(secret)
	return d, nil
}

// hash returns the SHA-256 of salt and secret.
func (d Digest) hash(secret string) [sha256.Size]byte {
	salted := make([]byte, 0, 128)
	salted = append(salted, d.salt[:]...)
	return sha256.Sum256(append(salted, secret...))
}

// Matches reports whether d was made from secret. It compares in constant time.
func (d Digest) Matches(secret string) bool {
	sum := d.hash(secret)
	return subtle.ConstantTimeCompare(d.sum[:], sum[:]) == 1
}

// MarshalText returns salt and sum in base64, for a store.
func (d Digest) MarshalText() ([]byte, error) {
	return []byte(base64.RawStdEncoding.EncodeToString(append(d.salt[:], d.sum[:]...))), nil
}

// UnmarshalText reads the result of MarshalText.
func (d *Digest) UnmarshalText(text []byte) error {
	raw, err := base64.RawStdEncoding.Strict().DecodeString(string(text))
	if err != nil || len(raw) != len(d.salt)+len(d.sum) {
		return errors.New("the hash of a secret is damaged: want a salt and a SHA-256 in base64")
	}
	copy(d.sum[:], raw[copy(d.salt[:], raw):])
	return nil
}
