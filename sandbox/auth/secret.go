package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"math"
)

// secretBytes is the size of a generated secret: 256 bits.
const secretBytes = 32

// MinimalSecretBits is the strength that a configured secret needs outside loopback.
const MinimalSecretBits = 128

// NewSecret draws a secret of 256 bits from random, in the base64url alphabet, which form encoding leaves alone.
func NewSecret(random io.Reader) (string, error) {
	raw := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("draw a client secret: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// SecretBits estimates the strength of a secret from above: its length times the bits that a character of its
// alphabet can carry. A secret of fewer than eight different characters counts as one bit for each character.
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

// digest is a salted SHA-256 of a secret. Secrets are random and long, so that no slow hash is needed.
type digest struct {
	salt [16]byte
	sum  [sha256.Size]byte
}

func newDigest(random io.Reader, secret string) (digest, error) {
	var d digest
	if _, err := io.ReadFull(random, d.salt[:]); err != nil {
		return d, fmt.Errorf("draw a salt: %w", err)
	}
	d.sum = d.of(secret)
	return d, nil
}

func (d digest) of(secret string) [sha256.Size]byte {
	salted := make([]byte, 0, 128)
	salted = append(salted, d.salt[:]...)
	return sha256.Sum256(append(salted, secret...))
}

// matches compares in constant time.
func (d digest) matches(secret string) bool {
	sum := d.of(secret)
	return subtle.ConstantTimeCompare(d.sum[:], sum[:]) == 1
}
