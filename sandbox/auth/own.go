package auth

import (
	"errors"
	"strings"

	"github.com/go-jose/go-jose/v4/jwt"
)

// open reads an opaque token.
func (v *Verifier) open(token string, good []former) (acceptance, error) {
	err := errors.New("not a token of this node")
	for _, m := range good {
		var claims Claims
		if claims, err = m.sealer.open(token); err == nil {
			accepted, err := v.acceptOwn(claims)
			return accepted.during(m), err
		}
	}
	return acceptance{}, err
}

// verify reads a JWT of the node itself.
func (v *Verifier) verify(parsed *jwt.JSONWebToken, good []former) (acceptance, error) {
	header := parsed.Headers[0]
	for _, m := range good {
		key, err := m.keys()
		if err != nil {
			return acceptance{}, errors.New("the key of this node is not available")
		}
		if header.KeyID != key.id || header.Algorithm != string(key.algorithm) {
			continue
		}
		if own := v.own.tokenType(); !isType(header, strings.ToLower(own)) {
			return acceptance{}, errors.New("the typ of the token is not " + own)
		}
		var claims Claims
		if err := parsed.Claims(key.public, &claims); err != nil {
			return acceptance{}, errors.New("the signature of the token does not verify")
		}
		accepted, err := v.acceptOwn(claims)
		return accepted.during(m), err
	}
	return acceptance{}, errors.New("the token is not signed with a key of this node")
}

// during is an acceptance that ends with what it was verified with.
func (a acceptance) during(m former) acceptance {
	if !m.until.IsZero() && m.until.Before(a.window.until) {
		a.window.until = m.until
	}
	return a
}

// acceptOwn checks issuer and audience of a token that this node made. Without a public URL the issuer is where the
// client asked for the token; that host may be spelled differently here (localhost, 127.0.0.1), and the signature
// has already shown that this node wrote it.
func (v *Verifier) acceptOwn(claims Claims) (acceptance, error) {
	origin := strings.TrimSuffix(strings.TrimSuffix(claims.Issuer, v.places.RealmIssuer()), v.places.Root)
	if v.places.PublicURL != "" && origin != v.places.PublicURL {
		return acceptance{}, errors.New("the issuer of the token is not this node")
	}
	if !claims.Audience.Contains(origin + v.places.API()) {
		return acceptance{}, errors.New("the token is meant for another audience")
	}
	if claims.Expires == nil || claims.IssuedAt == nil {
		return acceptance{}, errors.New("the token has no exp or no iat")
	}
	return acceptance{
		principal: Principal{ClientID: claims.ClientID, Subject: claims.Subject},
		window:    window{from: claims.IssuedAt.Time(), until: claims.Expires.Time()},
	}, nil
}
