package auth

import (
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Scope is the only scope of this node's tokens. It names the API and grants nothing by itself: permission is the role in the funding service
// (NET-R17).
const Scope = "api"

// Issuer makes access tokens and holds the keys for them.
type Issuer struct {
	format   Format
	lifetime time.Duration
	now      func() time.Time
	keys     io.Reader // the source of keys
	random   io.Reader // the source of token ids and nonces
	keyring  keyring
	dialect  Dialect
}

// NewIssuer makes an issuer of tokens in a format and with a lifetime in whole seconds.
func NewIssuer(format Format, lifetime time.Duration, now func() time.Time, keys, random io.Reader) (*Issuer, error) {
	i := &Issuer{format: format, lifetime: lifetime.Truncate(time.Second), now: now, keys: keys, random: random}
	if i.lifetime <= 0 {
		return nil, fmt.Errorf("token lifetime of %s: want one second or more", lifetime)
	}
	first, err := newKeyMaterial(format, keys, random)
	if err != nil {
		return nil, err
	}
	i.keyring.begin(first)
	return i, nil
}

// Lifetime returns the lifetime of the tokens.
func (i *Issuer) Lifetime() time.Duration { return i.lifetime }

// Issue makes a token for a client. issuer is the URL of the issuer, audience the URL of the resource.
func (i *Issuer) Issue(issuer, audience, clientID, subject, scope string) (string, error) {
	return i.IssueAt(i.now(), issuer, audience, clientID, subject, scope)
}

// IssueAt makes a token as [Issuer.Issue] would have made it at another time, for instance an expired one.
func (i *Issuer) IssueAt(now time.Time, issuer, audience, clientID, subject, scope string) (string, error) {
	var id [16]byte
	if _, err := io.ReadFull(i.random, id[:]); err != nil {
		return "", fmt.Errorf("draw a token id: %w", err)
	}
	claims := Claims{
		Issuer: issuer, Subject: subject, Audience: jwt.Audience{audience}, ClientID: clientID, Scope: scope,
		IssuedAt: jwt.NewNumericDate(now), Expires: jwt.NewNumericDate(now.Add(i.lifetime)),
		ID: base64.RawURLEncoding.EncodeToString(id[:]),
	}
	current := i.keyring.current.Load()
	if current.sealer != nil {
		return current.sealer.seal(claims)
	}
	key, err := current.keys()
	if err != nil {
		return "", err
	}
	token, err := i.sign(key, claims)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return token, nil
}

// Sign signs any header and claims with the issuer's key, for deviations that forge tokens. alg, kid and typ are those of a valid token unless the
// header sets them. Sign fails if the issuer's tokens are opaque.
func (i *Issuer) Sign(header, claims map[string]any) (string, error) {
	current := i.keyring.current.Load()
	if current.keys == nil {
		return "", errors.New("sign a token: opaque tokens have no signature")
	}
	key, err := current.keys()
	if err != nil {
		return "", err
	}
	return key.signAny(header, claims)
}

// PublicKeys returns the JWK Set that verifies the tokens (RFC 7517 §5), the current key first; it is empty for opaque tokens.
func (i *Issuer) PublicKeys() (jose.JSONWebKeySet, error) {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, m := range i.keyring.current.Load().keysAt(i.now()) {
		if m.keys == nil {
			continue
		}
		key, err := m.keys()
		if err != nil {
			return set, err
		}
		set.Keys = append(set.Keys, key.published)
	}
	return set, nil
}

// tokenType is the "typ" of an access token that is a JWT (RFC 9068 §2.1).
const tokenType = "at+jwt"

// Claims is the content of an access token (RFC 9068 §2.2). Times are seconds since 1970.
type Claims struct {
	Issuer   string           `json:"iss"`
	Subject  string           `json:"sub"`
	Audience jwt.Audience     `json:"aud,omitempty"`
	ClientID string           `json:"client_id,omitempty"`
	IssuedAt *jwt.NumericDate `json:"iat,omitempty"`
	Expires  *jwt.NumericDate `json:"exp,omitempty"`
	ID       string           `json:"jti,omitempty"`
	Scope    string           `json:"scope,omitempty"`
	// NotBefore and AuthorizedParty occur in tokens of foreign issuers only; the node reads them, but never writes them.
	NotBefore       *jwt.NumericDate `json:"nbf,omitempty"`
	AuthorizedParty string           `json:"azp,omitempty"`
}

// Principal is the client and the account that a verified token belongs to.
type Principal struct {
	// ClientID is the client to which the token was issued.
	ClientID string
	// Subject is the service account (NET-R16).
	Subject string
	// ForeignIssuer is the issuer of the token; empty if it is the node's own authorization server.
	ForeignIssuer string
}

// Dialect describes how a vendor's authorization server writes its tokens, apart from the claims that the node verifies. The zero value follows RFC 9068.
type Dialect struct {
	// Type is the "typ" of the header; at+jwt when empty.
	Type string
	// EditClaims changes the claims before they are signed. It must keep issuer, times and client, and the audience must stay among the audiences, or the
	// node refuses its own token.
	EditClaims func(claims map[string]any)
}

// SetDialect makes the issuer write its JWTs in a dialect. It must be called before the first token is issued.
func (i *Issuer) SetDialect(d Dialect) { i.dialect = d }

// headerType returns the "typ" of the issuer's tokens.
func (i *Issuer) headerType() string { return cmp.Or(i.dialect.Type, tokenType) }

// sign makes a JWT of the claims in the issuer's dialect.
func (i *Issuer) sign(key *signingKey, claims Claims) (string, error) {
	if i.dialect.EditClaims == nil && i.dialect.Type == "" {
		return key.sign(claims)
	}
	written, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode the claims: %w", err)
	}
	var all map[string]any
	if err := json.Unmarshal(written, &all); err != nil {
		return "", fmt.Errorf("read the claims: %w", err)
	}
	all["iat"], all["exp"] = int64(*claims.IssuedAt), int64(*claims.Expires) // as integers: json.Unmarshal made floats of them
	if i.dialect.EditClaims != nil {
		i.dialect.EditClaims(all)
	}
	return key.signAny(map[string]any{string(jose.HeaderType): i.headerType()}, all)
}

// sealer makes opaque tokens. A token contains its claims, encrypted and authenticated with a key that only this node has, so that the node stores no
// tokens.
type sealer struct {
	aead   cipher.AEAD
	random io.Reader
}

func newSealer(keys, random io.Reader) (*sealer, error) {
	key := make([]byte, 32)
	if _, err := io.ReadFull(keys, key); err != nil {
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

// open returns the claims of an opaque token, or an error unless this node made it.
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
