package auth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Scope is the one scope that tokens of this node have. It names the API and grants nothing by itself: permission
// is the role in the funding service (NET-R17).
const Scope = "api"

// Issuer makes access tokens and knows the keys behind them.
type Issuer struct {
	format   Format
	lifetime time.Duration
	now      func() time.Time
	random   io.Reader
	ring     ring
	dialect  Dialect
}

// NewIssuer makes an issuer of tokens in the format that live for lifetime, of which whole seconds count.
func NewIssuer(format Format, lifetime time.Duration, now func() time.Time, random io.Reader) (*Issuer, error) {
	i := &Issuer{format: format, lifetime: lifetime.Truncate(time.Second), now: now, random: random}
	if i.lifetime <= 0 {
		return nil, fmt.Errorf("token lifetime of %s: want one second or more", lifetime)
	}
	first, err := newMinting(format, random)
	if err != nil {
		return nil, err
	}
	i.ring.begin(first)
	return i, nil
}

// Lifetime is how long the tokens live.
func (i *Issuer) Lifetime() time.Duration { return i.lifetime }

// Issue makes a token of the issuer URL for one client, meant for the resource at audience.
func (i *Issuer) Issue(issuer, audience, clientID, subject, scope string) (string, error) {
	return i.IssueAt(i.now(), issuer, audience, clientID, subject, scope)
}

// IssueAt makes a token as [Issuer.Issue] would have at another time: one that has expired, for instance.
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
	present := i.ring.present.Load()
	if present.sealer != nil {
		return present.sealer.seal(claims)
	}
	key, err := present.keys()
	if err != nil {
		return "", err
	}
	token, err := i.sign(key, claims)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return token, nil
}

// Sign makes a token of any header and claims with the issuer's key; alg, kid and typ are those of a good token unless the header
// has them. It is for misbehaving, and fails for opaque tokens.
func (i *Issuer) Sign(header, claims map[string]any) (string, error) {
	present := i.ring.present.Load()
	if present.keys == nil {
		return "", errors.New("sign a token: opaque tokens have no signature")
	}
	key, err := present.keys()
	if err != nil {
		return "", err
	}
	return key.signAny(header, claims)
}

// Published is the JWK Set that verifies the tokens (RFC 7517 §5), the present key first; it is empty for opaque ones.
func (i *Issuer) Published() (jose.JSONWebKeySet, error) {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, m := range i.ring.present.Load().good(i.now()) {
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
