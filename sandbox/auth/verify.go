package auth

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/rin-network/rin/sandbox/address"
)

// maxTokenBytes bounds what is parsed; longer values are refused unread.
const maxTokenBytes = 8 << 10

// clockSkew is how far the clock of a foreign issuer may be off.
const clockSkew = 30 * time.Second

// asymmetric lists the algorithms that any token may be signed with; "none" and HMAC are absent (RFC 8725 §3.1).
func asymmetric() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.EdDSA, jose.PS256, jose.ES384, jose.ES512, jose.RS384, jose.RS512}
}

// Verifier verifies access tokens of the node itself and of trusted foreign issuers.
type Verifier struct {
	own     *Issuer
	clients Clients
	foreign []Foreign
	places  address.Map
	now     func() time.Time
	allowed []jose.SignatureAlgorithm
	cache   *verified
}

// NewVerifier makes a verifier of the tokens that own issued to clients, and of foreign ones. cached is the number of verified tokens to remember; 0 verifies each time.
func NewVerifier(own *Issuer, clients Clients, foreign []Foreign, places address.Map, now func() time.Time, cached int) *Verifier {
	return &Verifier{own: own, clients: clients, foreign: foreign, places: places, now: now, allowed: asymmetric(), cache: newVerified(cached)}
}

// Verify returns whom the token speaks for. base is the API's base URL as the caller sees it. The text of an error
// says what is wrong in the alphabet of an error_description, and holds nothing of the token.
func (v *Verifier) Verify(token, base string) (Principal, error) {
	if len(token) > maxTokenBytes {
		return Principal{}, errors.New("the token is longer than 8192 characters")
	}
	now, present := v.now(), v.own.ring.present.Load()
	key := verifiedKey{sha256.Sum256([]byte(token)), base, present.number}
	if p, ok := v.cache.get(key, now); ok {
		return p, v.inUse(p)
	}
	accepted, err := v.read(token, base, present.good(now))
	if err != nil {
		return Principal{}, err
	}
	if err := accepted.window.check(now); err != nil {
		return Principal{}, err
	}
	if err := v.inUse(accepted.principal); err != nil {
		return Principal{}, err
	}
	v.cache.put(key, accepted)
	return accepted.principal, nil
}

// inUse looks at the book with each use of a token, remembered or not: a client that was revoked opens nothing from then on. The clients of
// foreign issuers are in no book here.
func (v *Verifier) inUse(p Principal) error {
	if p.ForeignIssuer == "" && !v.clients.Registered(p.ClientID, p.Subject) {
		return errors.New("the client of the token is not registered any more")
	}
	return nil
}

// acceptance is a verified token: whom it speaks for, and when.
type acceptance struct {
	principal Principal
	window    window
}

// read verifies a token with one of the keys that are good.
func (v *Verifier) read(token, base string, good []former) (acceptance, error) {
	if v.own.format == Opaque && !strings.Contains(token, ".") {
		return v.open(token, good)
	}
	parsed, err := jwt.ParseSigned(token, v.allowed)
	if err != nil {
		return acceptance{}, errors.New("the token is no JWT signed with an algorithm that is accepted here")
	}
	var claimed struct {
		Issuer string `json:"iss"`
	}
	if err := parsed.UnsafeClaimsWithoutVerification(&claimed); err != nil {
		return acceptance{}, errors.New("the claims of the token are no JSON object")
	}
	for _, f := range v.foreign {
		if f.issuer == claimed.Issuer {
			return acceptForeign(parsed, f, base)
		}
	}
	if v.own.format == Opaque {
		return acceptance{}, errors.New("the issuer of the token is not trusted here")
	}
	return v.verify(parsed, good)
}

func acceptForeign(parsed *jwt.JSONWebToken, trusted Foreign, base string) (acceptance, error) {
	header := parsed.Headers[0]
	if !isType(header, tokenType) && !isType(header, "jwt") {
		return acceptance{}, errors.New("the typ of the token is neither at+jwt nor JWT")
	}
	key, err := trusted.key(header)
	if err != nil {
		return acceptance{}, err
	}
	var claims Claims
	if err := parsed.Claims(key.Key, &claims); err != nil {
		return acceptance{}, errors.New("the signature of the token does not verify")
	}
	audience := trusted.audience
	if audience == "" {
		audience = base
	}
	if !claims.Audience.Contains(audience) {
		return acceptance{}, errors.New("the token is meant for another audience")
	}
	if claims.Expires == nil {
		return acceptance{}, errors.New("the token has no exp")
	}
	client := claims.ClientID
	if client == "" {
		client = claims.AuthorizedParty
	}
	w := window{until: claims.Expires.Time().Add(clockSkew)}
	if claims.NotBefore != nil {
		w.from = claims.NotBefore.Time().Add(-clockSkew)
	}
	return acceptance{Principal{ClientID: client, Subject: claims.Subject, ForeignIssuer: trusted.issuer}, w}, nil
}

// isType compares "typ" without case and without the prefix "application/" (RFC 9068 §4, RFC 7515 §4.1.9).
func isType(header jose.Header, want string) bool {
	typ, _ := header.ExtraHeaders[jose.HeaderType].(string)
	return strings.TrimPrefix(strings.ToLower(typ), "application/") == want
}

// window is the time in which a token is good: from ≤ t < until. A zero from is no bound.
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
