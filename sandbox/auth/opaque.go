package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// sealer makes opaque tokens: the claims, encrypted and authenticated with a key that only this node has. Nothing is
// stored, so that any number of tokens is outstanding in no memory.
type sealer struct {
	aead   cipher.AEAD
	random io.Reader
}

func newSealer(random io.Reader) (*sealer, error) {
	key := make([]byte, 32)
	if _, err := io.ReadFull(random, key); err != nil {
		return nil, fmt.Errorf("make the key of opaque tokens: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make the key of opaque tokens: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("make the key of opaque tokens: %w", err)
	}
	return &sealer{aead: aead, random: random}, nil
}

func (s *sealer) seal(claims Claims) (string, error) {
	plain, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode an opaque token: %w", err)
	}
	nonce := make([]byte, s.aead.NonceSize())
	if _, err := io.ReadFull(s.random, nonce); err != nil {
		return "", fmt.Errorf("draw the nonce of an opaque token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, plain, nil)), nil
}

func (s *sealer) open(token string) (Claims, error) {
	var claims Claims
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < s.aead.NonceSize() {
		return claims, errors.New("not a token of this node")
	}
	nonce, sealed := raw[:s.aead.NonceSize()], raw[s.aead.NonceSize():]
	plain, err := s.aead.Open(nil, nonce, sealed, nil)
	if err != nil {
		return claims, errors.New("not a token of this node")
	}
	if err := json.Unmarshal(plain, &claims); err != nil {
		return claims, fmt.Errorf("decode an opaque token: %w", err)
	}
	return claims, nil
}
