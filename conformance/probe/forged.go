package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// forged plans forged and foreign tokens (JWT, ISO).
func forged() theme {
	return theme{
		forTarget:      foreignClients,
		forProbeTarget: forgedTokens,
		forDocument:    foreignTokens,
		forDocumentMost: func(t target.Target) int {
			if t.Other == nil {
				return 0
			}
			return 2 // list and detail
		},
		probe: func(r *run, l evidence.Label) (probe, bool) {
			switch name, c := l.Resource(), l.Case(); {
			case name == evidence.OtherClient:
				return r.otherClientProbe(), true
			case name == evidence.StagingEndpoint:
				return r.stagingProbe(), true
			case isForged(c):
				return r.forgedProbe(name, c), true
			case c == "other-audience" || c == "staging-token":
				return r.foreignProbe(name, c), true
			}
			return probe{}, false
		},
	}
}

// The stages of tokens that were issued for something else.
const (
	stageOther   Stage = "client of another audience"
	stageStaging Stage = "staging environment"
)

// foreignClients plans the token requests of other clients and environments.
func foreignClients(t target.Target) Plan {
	var p Plan
	if t.Other != nil {
		p.lane(stageOther, []Stage{stageToken}, evidence.OtherClient, evidence.OK)
	}
	if t.Staging != nil {
		p.lane(stageStaging, nil, evidence.StagingEndpoint, evidence.OK)
	}
	return p
}

// forgedTokens plans what is tried on the probe target. The two that every protected operation sees are in its lattice.
func forgedTokens(t target.Target, r evidence.Resource) Plan {
	var p Plan
	after := []Stage{opened(r)}
	p.each(tried(r), after, r, "alg-none-title", "alg-none-upper", "signature-cut", "signature-zero", "foreign-key")
	if wantsKeys(t) {
		p.each(stageRest, []Stage{opened(r), stageKeys}, r, "hmac-pem", "hmac-pem-trim", "hmac-jwk")
		p.each(tried(r), after, r, "embedded-jwk", "jku", "borrowed-kid")
	}
	if t.Other != nil {
		p.lane(stageRest, []Stage{opened(r), stageOther}, r, "other-audience")
	}
	if t.Staging != nil {
		p.lane(stageRest, []Stage{opened(r), stageStaging}, r, "staging-token")
	}
	return p
}

// foreignTokens plans the token of the other client on the funding operations: an audience may be checked on one route only.
func foreignTokens(n Node) Plan {
	var p Plan
	if n.Target.Other == nil || n.Target.Quick {
		return p
	}
	for _, key := range []string{n.List, n.Detail} {
		if key != "" {
			r := evidence.OperationResource(key)
			p.lane(stageRest, []Stage{opened(r), stageOther}, r, "other-audience")
		}
	}
	return p
}

// otherClientProbe fetches a token for the client of another audience.
func (r *run) otherClientProbe() probe {
	return probe{
		prepare: func(context.Context) (recorder.Request, *unsent) {
			if r.Target.Other == nil {
				return recorder.Request{}, notApplicable("no client of another audience was given")
			}
			ask := TokenRequest(r.Target, evidence.OK, OtherSecret, Credentialed(*r.Target.Other)...)
			ask.Issues = OtherAccessToken
			return ask, nil
		},
		learn: func(a recorder.Answer) {
			if t, ok := ReadToken(a, r.Clock()); ok {
				r.facts.with(func(f *facts) { f.other = t })
			}
		},
	}
}

// stagingProbe fetches a token of the staging environment. Its server gets the staging secret and nothing else.
func (r *run) stagingProbe() probe {
	return probe{
		prepare: func(context.Context) (recorder.Request, *unsent) {
			staging := r.Target.Staging
			if staging == nil {
				return recorder.Request{}, notApplicable("no staging environment was given")
			}
			t := r.Target
			t.TokenURL = staging.TokenURL
			ask := TokenRequest(t, evidence.OK, StagingSecret, Credentialed(staging.Credentials)...)
			ask.Issues, ask.Recipient = StagingAccessToken, originOf(staging.TokenURL)
			return ask, nil
		},
		learn: func(a recorder.Answer) {
			if t, ok := ReadToken(a, r.Clock()); ok {
				r.facts.with(func(f *facts) { f.staging = t })
			}
		},
	}
}

// foreignProbe asks a protected resource with a token that was issued for something else.
func (r *run) foreignProbe(name evidence.Resource, c evidence.Case) probe {
	return probe{prepare: func(context.Context) (recorder.Request, *unsent) {
		res, reason := r.controlled(name)
		if reason != nil {
			return recorder.Request{}, reason
		}
		r.facts.mu.Lock()
		t, credential, whose := r.facts.other, OtherAccessToken, "the client of another audience"
		if c == "staging-token" {
			t, credential, whose = r.facts.staging, StagingAccessToken, "the staging client"
		}
		r.facts.mu.Unlock()
		if t.Value == "" {
			return recorder.Request{}, unmet("%s got no token", whose)
		}
		return presenting(res, c, credential, t.Value), nil
	}}
}

// presenting asks with a token that is no good one; the facts about it are kept.
func presenting(res Resource, c evidence.Case, credential, token string) recorder.Request {
	ask := res.GetWith(c, credential, "Bearer "+token)
	ask.Presents = token
	return ask
}

// controlled is a resource whose good call was answered: without that a refusal would prove nothing.
func (r *run) controlled(name evidence.Resource) (Resource, *unsent) {
	res, ok := r.facts.resource(name)
	if !ok {
		return res, r.unlocated(name)
	}
	if good := name.With(evidence.OK); !r.facts.good(good) {
		return res, unmet("the good call %s was not answered with 2xx", good)
	}
	return res, nil
}

// isForged reports the cases with a token that the suite makes itself.
func isForged(c evidence.Case) bool {
	switch c {
	case "alg-none", "alg-none-title", "alg-none-upper", "signature-cut", "signature-zero", "hmac-pem", "hmac-pem-trim", "hmac-jwk",
		"embedded-jwk", "jku", "borrowed-kid", "foreign-key", "foreign-issuer":
		return true
	}
	return false
}

// forgedProbe asks a protected resource with a forged copy of the good token.
func (r *run) forgedProbe(name evidence.Resource, c evidence.Case) probe {
	return probe{prepare: func(ctx context.Context) (recorder.Request, *unsent) {
		res, reason := r.controlled(name)
		if reason != nil {
			return recorder.Request{}, reason
		}
		good, reason := r.token(ctx)
		if reason != nil {
			return recorder.Request{}, reason
		}
		token, reason := r.forge(c, good)
		if reason != nil {
			return recorder.Request{}, reason
		}
		return presenting(res, c, strings.ReplaceAll(string(c), "-", "_")+"_token", token), nil
	}}
}

// forge makes the token of a case.
func (r *run) forge(c evidence.Case, good string) (string, *unsent) {
	t, ok := tokenforge.Read(good)
	foreign := c == "foreign-key" || c == "foreign-issuer"
	switch {
	case !ok && foreign:
		t = r.plausible()
	case !ok:
		return "", notApplicable("the access token is no JWT")
	}
	switch c {
	case "signature-cut":
		return tokenforge.ReplaceSignature(good, nil), nil
	case "signature-zero": // of the same length, or a check of lengths would refuse it
		return tokenforge.ReplaceSignature(good, make([]byte, tokenforge.SignatureSize(good))), nil
	}
	token, reason, err := r.forgeOf(c, t)
	if err != nil {
		return "", cutShort("the token could not be forged: %v", err)
	}
	return token, reason
}

func (r *run) forgeOf(c evidence.Case, t tokenforge.Token) (string, *unsent, error) {
	switch c {
	case "alg-none", "alg-none-title", "alg-none-upper":
		token, err := t.Unsigned(map[evidence.Case]string{"alg-none": "none", "alg-none-title": "None", "alg-none-upper": "NONE"}[c])
		return token, nil, err
	case "hmac-pem", "hmac-pem-trim", "hmac-jwk":
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
	case "embedded-jwk":
		header["jwk"] = key.Public
	case "jku":
		header["jku"] = tokenforge.Invalid + "/jwks"
	case "borrowed-kid":
		if t.KeyID() == "" {
			return "", notApplicable("the access token names no kid that could be borrowed"), nil
		}
		header["kid"] = t.KeyID()
	case "foreign-issuer":
		issuer = tokenforge.Invalid
	}
	token, err := t.Signed(key, header, issuer)
	return token, nil, err
}

// publicKey is the published key in the form that a confused library takes for an HMAC secret.
func (r *run) publicKey(c evidence.Case, t tokenforge.Token) ([]byte, *unsent, error) {
	if !tokenforge.Asymmetric(t.Algorithm()) {
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
	if c == "hmac-jwk" {
		return key.JWK(), nil, nil
	}
	pem, err := key.PEM()
	if c == "hmac-pem-trim" {
		pem = bytes.TrimRight(pem, "\n")
	}
	return pem, nil, err
}

// ownKey is the run's own key for an algorithm, made once: keys of RSA take their time.
func (r *run) ownKey(algorithm string) (tokenforge.Key, error) {
	r.forging.Lock()
	defer r.forging.Unlock()
	if k, made := r.ownKeys[algorithm]; made {
		return k, nil
	}
	k, err := tokenforge.NewKey(algorithm)
	if err != nil {
		return k, err
	}
	if r.ownKeys == nil {
		r.ownKeys = map[string]tokenforge.Key{}
	}
	r.ownKeys[algorithm] = k
	return k, nil
}

// plausibleLife is how long a token lives that no good one was copied for, in seconds.
const plausibleLife = 300

// plausible is a token as the node might issue it, where real ones are opaque.
func (r *run) plausible() tokenforge.Token {
	now := r.Clock().Unix()
	number := func(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
	id := r.Target.Credentials.ClientID
	return tokenforge.Token{
		Header: map[string]any{"alg": "ES256", "typ": "at+jwt"},
		Claims: map[string]any{
			"iss": originOf(r.Target.TokenURL), "sub": id, "client_id": id, "azp": id, "aud": originOf(r.Target.InfoURL),
			"iat": number(now), "exp": number(now + plausibleLife), "jti": r.drawn.id,
		},
	}
}
