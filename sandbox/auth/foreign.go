package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// Foreign is an authorization server, other than the node's own, whose tokens are accepted.
type Foreign struct {
	issuer   string
	keys     []jose.JSONWebKey
	audience string
}

// NewForeign reads the JWK Set of an issuer. issuer is compared with "iss" character by character (RFC 9068 §4);
// audience must be among "aud", and is the base URL of the node's API when empty. Symmetric keys are refused, since
// whoever can verify with one can sign with it.
func NewForeign(issuer string, jwks []byte, audience string) (Foreign, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return Foreign{}, fmt.Errorf("issuer %q: want an absolute http or https URL, as in the claim iss", issuer)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(jwks, &set); err != nil {
		return Foreign{}, fmt.Errorf("the JWK Set of issuer %s cannot be read: %w", issuer, err)
	}
	f := Foreign{issuer: issuer, audience: audience}
	for _, key := range set.Keys {
		if public := key.Public(); public.Valid() && key.Use != "enc" {
			f.keys = append(f.keys, public)
		}
	}
	if len(f.keys) == 0 {
		return Foreign{}, fmt.Errorf("the JWK Set of issuer %s holds no public key for signatures: give what its jwks_uri serves", issuer)
	}
	return f, nil
}

// key picks the one key that the header may mean; keys carried in the header itself are never used (RFC 8725 §3.10).
func (f Foreign) key(header jose.Header) (jose.JSONWebKey, error) {
	fits := func(k jose.JSONWebKey) bool {
		return (k.Algorithm == "" || k.Algorithm == header.Algorithm) && (header.KeyID == "" || k.KeyID == header.KeyID)
	}
	first := slices.IndexFunc(f.keys, fits)
	if first < 0 {
		return jose.JSONWebKey{}, errors.New("the key of the token is not among the keys of its issuer")
	}
	if header.KeyID == "" && slices.ContainsFunc(f.keys[first+1:], fits) {
		return jose.JSONWebKey{}, errors.New("the token does not say with which key of its issuer it is signed")
	}
	return f.keys[first], nil
}
