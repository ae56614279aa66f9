package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
	"github.com/rin-network/rin/conformance/forge"
)

// isForged reports the cases with a token that the suite makes itself.
func isForged(c exchange.Case) bool {
	switch c {
	case exchange.AlgNone, exchange.AlgNoneTitle, exchange.AlgNoneUpper, exchange.SignatureCut, exchange.SignatureZero, exchange.HMACPEM, exchange.HMACPEMTrim, exchange.HMACJWK,
		exchange.EmbeddedKey, exchange.NamedKeySet, exchange.BorrowedKID, exchange.ForeignKey, exchange.ForeignIssuer:
		return true
	}
	return false
}

// forgedProbe asks a protected resource with a forged copy of the good token.
func (r *run) forgedProbe(name exchange.Resource, c exchange.Case) probe {
	return probe{prepare: func(ctx context.Context) (record.Ask, *unsent) {
		res, reason := r.controlled(name)
		if reason != nil {
			return record.Ask{}, reason
		}
		good, reason := r.token(ctx)
		if reason != nil {
			return record.Ask{}, reason
		}
		token, reason := r.forge(c, good)
		if reason != nil {
			return record.Ask{}, reason
		}
		return presenting(res, c, strings.ReplaceAll(string(c), "-", "_")+"_token", token), nil
	}}
}

// forge makes the token of a case.
func (r *run) forge(c exchange.Case, good string) (string, *unsent) {
	t, ok := forge.Read(good)
	foreign := c == exchange.ForeignKey || c == exchange.ForeignIssuer
	switch {
	case !ok && foreign:
		t = r.plausible()
	case !ok:
		return "", notApplicable("the access token is no JWT")
	}
	switch c {
	case exchange.SignatureCut:
		return forge.Resealed(good, nil), nil
	case exchange.SignatureZero: // of the same length, or a check of lengths would refuse it
		return forge.Resealed(good, make([]byte, forge.SignatureSize(good))), nil
	}
	token, reason, err := r.forgeOf(c, t)
	if err != nil {
		return "", cutShort("the token could not be forged: %v", err)
	}
	return token, reason
}

func (r *run) forgeOf(c exchange.Case, t forge.Token) (string, *unsent, error) {
	switch c {
	case exchange.AlgNone, exchange.AlgNoneTitle, exchange.AlgNoneUpper:
		token, err := t.Unsigned(map[exchange.Case]string{exchange.AlgNone: "none", exchange.AlgNoneTitle: "None", exchange.AlgNoneUpper: "NONE"}[c])
		return token, nil, err
	case exchange.HMACPEM, exchange.HMACPEMTrim, exchange.HMACJWK:
		key, reason, err := r.publicKey(c, t)
		if reason != nil || err != nil {
			return "", reason, err
		}
		token, err := t.HMAC(key)
		return token, nil, err
	}
	key, err := r.ownKey(t.Algorithm())
	if err != nil {
		return "", nil, err
	}
	header, issuer := map[string]any{"kid": key.ID}, ""
	switch c {
	case exchange.EmbeddedKey:
		header["jwk"] = key.Public
	case exchange.NamedKeySet:
		header["jku"] = forge.Invalid + "/jwks"
	case exchange.BorrowedKID:
		if t.KeyID() == "" {
			return "", notApplicable("the access token names no kid that could be borrowed"), nil
		}
		header["kid"] = t.KeyID()
	case exchange.ForeignIssuer:
		issuer = forge.Invalid
	}
	token, err := t.Signed(key, header, issuer)
	return token, nil, err
}

// publicKey is the published key in the form that a confused library takes for an HMAC secret.
func (r *run) publicKey(c exchange.Case, t forge.Token) ([]byte, *unsent, error) {
	if !forge.Asymmetric(t.Algorithm()) {
		return nil, notApplicable("the access token is signed with %.20q, which has no public key", t.Algorithm()), nil
	}
	r.facts.mu.Lock()
	keys := r.facts.issuer.keys
	r.facts.mu.Unlock()
	if len(keys) == 0 {
		return nil, notApplicable("no public key of the authorization server is known"), nil
	}
	key := keys[0]
	for _, k := range keys {
		if k.ID == t.KeyID() {
			key = k
		}
	}
	if c == exchange.HMACJWK {
		return key.JWK(), nil, nil
	}
	pem, err := key.PEM()
	if c == exchange.HMACPEMTrim {
		pem = bytes.TrimRight(pem, "\n")
	}
	return pem, nil, err
}

// ownKey is the run's own key for an algorithm, made once: keys of RSA take their time.
func (r *run) ownKey(algorithm string) (forge.Key, error) {
	r.forging.Lock()
	defer r.forging.Unlock()
	if k, made := r.ownKeys[algorithm]; made {
		return k, nil
	}
	k, err := forge.NewKey(algorithm)
	if err != nil {
		return k, err
	}
	if r.ownKeys == nil {
		r.ownKeys = map[string]forge.Key{}
	}
	r.ownKeys[algorithm] = k
	return k, nil
}

// plausibleLife is how long a token lives that no good one was copied for, in seconds.
const plausibleLife = 300

// plausible is a token as the node might issue it, where real ones are opaque.
func (r *run) plausible() forge.Token {
	now := r.Clock().Unix()
	number := func(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
	id := r.Target.Credentials.ClientID
	return forge.Token{
		Header: map[string]any{"alg": "ES256", "typ": "at+jwt"},
		Claims: map[string]any{
			"iss": originOf(r.Target.TokenURL), "sub": id, "client_id": id, "azp": id, "aud": originOf(r.Target.InfoURL),
			"iat": number(now), "exp": number(now + plausibleLife), "jti": r.drawn.id,
		},
	}
}
