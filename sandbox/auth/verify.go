package auth

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/rin-network/rin/sandbox/address"
)

// maxTokenBytes limits the tokens that are parsed; longer ones are refused.
const maxTokenBytes = 8 << 10

// clockSkew is how far the clock of a foreign issuer may be off.
const clockSkew = 30 * time.Second

// acceptedAlgorithms lists the algorithms that are accepted; "none" and HMAC are absent (RFC 8725 §3.1).
func acceptedAlgorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.EdDSA, jose.PS256, jose.ES384, jose.ES512, jose.RS384, jose.RS512}
}

// Verifier verifies access tokens of the node itself and of trusted foreign issuers.
type Verifier struct {
	own     *Issuer
	clients Clients
	foreign []ForeignIssuer
	places  address.Map
	now     func() time.Time
	allowed []jose.SignatureAlgorithm
	cache   *verifiedCache
	calls   atomic.Uint64
}

// NewVerifier makes a verifier of the tokens that own issued to clients, and of those of the foreign issuers. cacheSize is the number of verified tokens
// that it caches; 0 disables the cache.
func NewVerifier(own *Issuer, clients Clients, foreign []ForeignIssuer, places address.Map, now func() time.Time, cacheSize int) *Verifier {
	return &Verifier{own: own, clients: clients, foreign: foreign, places: places, now: now, allowed: acceptedAlgorithms(), cache: newVerifiedCache(cacheSize)}
}

// Verify returns the principal of a token. base is the API's base URL as the caller sees it. The text of an error may be used as
// error_description; it never quotes the token.
func (v *Verifier) Verify(token, base string) (Principal, error) {
	v.calls.Add(1)
	if len(token) > maxTokenBytes {
		return Principal{}, errors.New("the token is longer than 8192 characters")
	}
	now, current := v.now(), v.own.keyring.current.Load()
	key := verifiedKey{sha256.Sum256([]byte(token)), base, current.number}
	if p, ok := v.cache.get(key, now); ok {
		return p, v.checkRegistered(p)
	}
	accepted, err := v.read(token, base, current.keysAt(now))
	if err != nil {
		return Principal{}, err
	}
	if err := accepted.window.check(now); err != nil {
		return Principal{}, err
	}
	if err := v.checkRegistered(accepted.principal); err != nil {
		return Principal{}, err
	}
	v.cache.put(key, accepted)
	return accepted.principal, nil
}

// Calls returns the number of calls of Verify so far.
func (v *Verifier) Calls() uint64 { return v.calls.Load() }

// checkRegistered checks at each use of a token, cached or not, that its client was not revoked. The node does not know
// the clients of foreign issuers, so it does not check them.
func (v *Verifier) checkRegistered(p Principal) error {
	if p.ForeignIssuer == "" && !v.clients.Registered(p.ClientID, p.Subject) {
		return errors.New("the client of the token is not registered any more")
	}
	return nil
}

// verifiedToken is the principal of a token, and the time in which the token is valid.
type verifiedToken struct {
	principal Principal
	window    window
}

// read verifies a token. keys verify the tokens of the node itself. read does not compare the validity with the clock.
func (v *Verifier) read(token, base string, keys []validKeys) (verifiedToken, error) {
	if v.own.format == Opaque && !strings.Contains(token, ".") {
		return v.open(token, keys)
	}
	parsed, err := jwt.ParseSigned(token, v.allowed)
	if err != nil {
		return verifiedToken{}, errors.New("the token is not a JWT signed with an algorithm that is accepted here")
	}
	var claimed struct {
		Issuer string `json:"iss"`
	}
	if err := parsed.UnsafeClaimsWithoutVerification(&claimed); err != nil {
		return verifiedToken{}, errors.New("the claims of the token are not a JSON object")
	}
	for _, f := range v.foreign {
		if f.issuer == claimed.Issuer {
			return acceptForeign(parsed, f, base)
		}
	}
	if v.own.format == Opaque {
		return verifiedToken{}, errors.New("the issuer of the token is not trusted here")
	}
	return v.verify(parsed, keys)
}

// acceptForeign verifies a JWT of a trusted foreign issuer.
func acceptForeign(parsed *jwt.JSONWebToken, trusted ForeignIssuer, base string) (verifiedToken, error) {
	header := parsed.Headers[0]
	if !isType(header, tokenType) && !isType(header, "jwt") {
		return verifiedToken{}, errors.New("the typ of the token is neither at+jwt nor JWT")
	}
	key, err := trusted.key(header)
	if err != nil {
		return verifiedToken{}, err
	}
	var claims Claims
	if err := parsed.Claims(key.Key, &claims); err != nil {
		return verifiedToken{}, errors.New("the signature of the token does not verify")
	}
	if !claims.Audience.Contains(cmp.Or(trusted.audience, base)) {
		return verifiedToken{}, errors.New("the token is meant for another audience")
	}
	if claims.Expires == nil {
		return verifiedToken{}, errors.New("the token has no exp")
	}
	w := window{until: claims.Expires.Time().Add(clockSkew)}
	if claims.NotBefore != nil {
		w.from = claims.NotBefore.Time().Add(-clockSkew)
	}
	client := cmp.Or(claims.ClientID, claims.AuthorizedParty)
	return verifiedToken{Principal{ClientID: client, Subject: claims.Subject, ForeignIssuer: trusted.issuer}, w}, nil
}

// isType reports whether the "typ" of a header is want, apart from case and the prefix "application/" (RFC 9068 §4, RFC 7515 §4.1.9).
func isType(header jose.Header, want string) bool {
	typ, _ := header.ExtraHeaders[jose.HeaderType].(string)
	return strings.TrimPrefix(strings.ToLower(typ), "application/") == want
}

// window is the time in which a token is valid: from ≤ t < until. A zero from is unbounded.
type window struct{ from, until time.Time }

func (w window) check(now time.Time) error {
	if !now.Before(w.until) {
		return fmt.Errorf("the token expired at %s", w.until.UTC().Format(time.RFC3339))
	}
	if now.Before(w.from) {
		return fmt.Errorf("the token is not valid before %s", w.from.UTC().Format(time.RFC3339))
	}
	return nil
}

// open reads an opaque token of the node itself.
func (v *Verifier) open(token string, keys []validKeys) (verifiedToken, error) {
	err := errors.New("not a token of this node")
	for _, m := range keys {
		var claims Claims
		if claims, err = m.sealer.open(token); err == nil {
			accepted, err := v.acceptOwn(claims)
			return accepted.endWith(m), err
		}
	}
	return verifiedToken{}, err
}

// verify verifies a JWT of the node itself.
func (v *Verifier) verify(parsed *jwt.JSONWebToken, keys []validKeys) (verifiedToken, error) {
	header := parsed.Headers[0]
	for _, m := range keys {
		key, err := m.keys()
		if err != nil {
			return verifiedToken{}, errors.New("the key of this node is not available")
		}
		if header.KeyID != key.id || header.Algorithm != string(key.algorithm) {
			continue
		}
		if own := v.own.headerType(); !isType(header, strings.ToLower(own)) {
			return verifiedToken{}, errors.New("the typ of the token is not " + own)
		}
		var claims Claims
		if err := parsed.Claims(key.public, &claims); err != nil {
			return verifiedToken{}, errors.New("the signature of the token does not verify")
		}
		accepted, err := v.acceptOwn(claims)
		return accepted.endWith(m), err
	}
	return verifiedToken{}, errors.New("the token is not signed with a key of this node")
}

// endWith returns the token with a validity that does not last longer than that of the keys.
func (a verifiedToken) endWith(m validKeys) verifiedToken {
	if !m.until.IsZero() && m.until.Before(a.window.until) {
		a.window.until = m.until
	}
	return a
}

// acceptOwn checks issuer and audience of a token that this node made. Without a public URL the issuer is the host where the client requested the
// token; the client may spell that host differently here (localhost, 127.0.0.1), so it is not compared. The signature has already shown that this node
// made the token.
func (v *Verifier) acceptOwn(claims Claims) (verifiedToken, error) {
	origin := strings.TrimSuffix(strings.TrimSuffix(claims.Issuer, v.places.RealmIssuer()), v.places.Root)
	if v.places.PublicURL != "" && origin != v.places.PublicURL {
		return verifiedToken{}, errors.New("the issuer of the token is not this node")
	}
	if !claims.Audience.Contains(origin + v.places.API()) {
		return verifiedToken{}, errors.New("the token is meant for another audience")
	}
	if claims.Expires == nil || claims.IssuedAt == nil {
		return verifiedToken{}, errors.New("the token has no exp or no iat")
	}
	return verifiedToken{
		principal: Principal{ClientID: claims.ClientID, Subject: claims.Subject},
		window:    window{from: claims.IssuedAt.Time(), until: claims.Expires.Time()},
	}, nil
}

// ForeignIssuer is an authorization server, other than the node's own, whose tokens are accepted.
type ForeignIssuer struct {
	issuer   string
	keys     []jose.JSONWebKey
	audience string
}

// NewForeignIssuer reads the JWK Set of an issuer. issuer is compared with "iss" character by character (RFC 9068 §4); audience must be among "aud", and
// is the base URL of the node's API when empty. Symmetric keys are refused, since everybody who can verify with one can sign with it.
func NewForeignIssuer(issuer string, jwks []byte, audience string) (ForeignIssuer, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ForeignIssuer{}, fmt.Errorf("issuer %q: want an absolute http or https URL, as in the claim iss", issuer)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(jwks, &set); err != nil {
		return ForeignIssuer{}, fmt.Errorf("the JWK Set of issuer %s cannot be read: %w", issuer, err)
	}
	f := ForeignIssuer{issuer: issuer, audience: audience}
	for _, key := range set.Keys {
		if public := key.Public(); public.Valid() && key.Use != "enc" {
			f.keys = append(f.keys, public)
		}
	}
	if len(f.keys) == 0 {
		return ForeignIssuer{}, fmt.Errorf("the JWK Set of issuer %s holds no public key for signatures: give what its jwks_uri serves", issuer)
	}
	return f, nil
}

// key returns the key that the header of a token refers to. Keys in the header itself are never used (RFC 8725 §3.10).
func (f ForeignIssuer) key(header jose.Header) (jose.JSONWebKey, error) {
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

// verifiedCache remembers tokens whose signatures were verified, so that a token that is used again costs one hash. Each use checks the token's
// time against the clock. An entry is found only in the generation of keys in which it was made.
type verifiedCache struct {
	mu      sync.RWMutex
	limit   int
	entries map[verifiedKey]verifiedToken
}

// verifiedKey identifies a verification. It has a hash of the token, so that the cache keeps no credential. The base is part of it, because the
// audience of a foreign token depends on it.
type verifiedKey struct {
	token      [sha256.Size]byte
	base       string
	generation uint64
}

func newVerifiedCache(limit int) *verifiedCache {
	return &verifiedCache{limit: limit, entries: map[verifiedKey]verifiedToken{}}
}

func (c *verifiedCache) get(key verifiedKey, now time.Time) (Principal, bool) {
	if c.limit == 0 {
		return Principal{}, false
	}
	c.mu.RLock()
	found, ok := c.entries[key]
	c.mu.RUnlock()
	if !ok || found.window.check(now) != nil {
		return Principal{}, false
	}
	return found.principal, true
}

// put adds a token. At the limit it first drops half of the entries, chosen arbitrarily: that is cheap on average, and needs no order of use.
func (c *verifiedCache) put(key verifiedKey, accepted verifiedToken) {
	if c.limit == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= c.limit {
		surplus := c.limit / 2
		for old := range c.entries {
			if surplus < 0 {
				break
			}
			delete(c.entries, old)
			surplus--
		}
	}
	c.entries[key] = accepted
}
