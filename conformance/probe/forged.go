package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// These are the stages of tokens that were issued for another audience or environment.
const (
	stageOther   Stage = "client of another audience"
	stageStaging Stage = "staging environment"
)

func withOther(n Node) bool   { return n.Target.Other != nil }
func withStaging(n Node) bool { return n.Target.Staging != nil }

// forgedCases are forged and foreign tokens (JWT, ISO). Forged tokens have the claims of a good token, including its lifetime.
func forgedCases() []row {
	oddCredentials := in(stageOddCredentials, stageAuthorized)
	guarded := oddCredentials.alsoOn(onGuarded)
	afterKeys := in(stageRest, stageAuthorized, stageKeys).onlyIf(withKeys)
	foreign, presentOther := in(stageRest, stageAuthorized, stageOther).onlyIf(withOther), presentIssued(OtherAccessToken, "the client of another audience")
	asOther := in(stageOther, stageTokens).inLane("client of another audience").onlyIf(withOther)
	return slices.Concat([]row{
		{Label: "token-other.ok", Words: "the token request of the client of another audience", Plan: asOther,
			Send: otherTokenRequest, Learn: keepTokenAs(OtherAccessToken)},
		{Label: "token-staging.ok", Words: "the token request to the staging environment", Plan: in(stageStaging).onlyIf(withStaging),
			Send: stagingTokenRequest, Learn: keepTokenAs(StagingAccessToken)},
		{Label: evidence.StagingClient, Words: "the token request of the staging client to production", Plan: in(stageRest, stageStaging, stageTokens).onlyIf(withStaging).onlyIf(notQuick),
			Send: stagingClientRequest},

		{Label: "P.alg-none", Words: "with a token rewritten to alg none", Plan: guarded, Send: presentForged("alg_none_token", unsigned("none"))},
		{Label: "P.alg-none-title", Words: "with a token rewritten to alg None", Plan: oddCredentials, Send: presentForged("alg_none_title_token", unsigned("None"))},
		{Label: "P.alg-none-upper", Words: "with a token rewritten to alg NONE", Plan: oddCredentials, Send: presentForged("alg_none_upper_token", unsigned("NONE"))},
		{Label: "P.signature-cut", Words: "with the token without its signature", Plan: oddCredentials, Send: presentForged("signature_cut_token", cutSignature)},
		{Label: "P.signature-zero", Words: "with the token under a signature of zero bytes", Plan: oddCredentials, Send: presentForged("signature_zero_token", zeroSignature)},

		{Label: "P.hmac-pem", Words: "with a token under HS256 and the public key in PEM", Plan: afterKeys,
			Send: presentForged("hmac_pem_token", signedWithPublicKey(tokenforge.Published.PEM))},
		{Label: "P.hmac-pem-trim", Words: "with a token under HS256 and the public key in PEM without its last newline", Plan: afterKeys,
			Send: presentForged("hmac_pem_trim_token", signedWithPublicKey(trimmedPEM))},
		{Label: "P.hmac-jwk", Words: "with a token under HS256 and the public key as JWK", Plan: afterKeys,
			Send: presentForged("hmac_jwk_token", signedWithPublicKey(publishedJWK))},

		{Label: "P.embedded-jwk", Words: "with a forged token and its key in the header (jwk)", Plan: oddCredentials.onlyIf(withKeys),
			Send: presentForged("embedded_jwk_token", signedWithOwnKey(func(_ *run, _ tokenforge.Token, key tokenforge.Key, header map[string]any) *unsent {
				header["jwk"] = key.Public
				return nil
			}))},
		{Label: "P.jku", Words: "with a forged token and a key set named in the header (jku)", Plan: oddCredentials.onlyIf(withKeys),
			Send: presentForged("jku_token", signedWithOwnKey(func(r *run, _ tokenforge.Token, _ tokenforge.Key, header map[string]any) *unsent {
				header["jku"] = "https://" + r.drawn.host + "/jwks"
				return nil
			}))},
		{Label: "P.borrowed-kid", Words: "with a forged token under the kid of the node's key", Plan: oddCredentials.onlyIf(withKeys),
			Send: presentForged("borrowed_kid_token", signedWithOwnKey(func(_ *run, good tokenforge.Token, _ tokenforge.Key, header map[string]any) *unsent {
				if good.KeyID() == "" {
					return notApplicable("the access token names no kid that could be borrowed")
				}
				header["kid"] = good.KeyID()
				return nil
			}))},

		{Label: "P.foreign-key", Words: "with a forged token that copies all claims", Plan: oddCredentials, Send: presentForeign("foreign_key_token", false)},
		{Label: "P.foreign-issuer", Words: "with a forged token of another issuer", Plan: guarded, Send: presentForeign("foreign_issuer_token", true)},
		{Label: "P.staging-token", Words: "with a staging token", Plan: in(stageRest, stageAuthorized, stageStaging).onlyIf(withStaging), Send: presentIssued(StagingAccessToken, "the staging client")},
		// A node may check issuer or audience on some routes only.
		{Label: "op/*.staging-token", Words: "with a staging token", Send: presentIssued(StagingAccessToken, "the staging client"),
			Plan: in(stageRest, stageAuthorized, stageStaging).onlyIf(withStaging).alsoOn(onGuarded).onlyIf(notQuick)},
		{Label: "P.other-audience", Words: "with a token meant for another audience", Plan: foreign, Send: presentOther},
		{Label: "op/*.other-audience", Words: "with a token meant for another audience", Plan: foreign.alsoOn(onGuarded).onlyIf(notQuick), Send: presentOther},
	}, otherResourceCases(asOther.onlyIf(notQuick).onDemand()), otherClient().byBasic(asOther.onlyIf(notQuick)))
}

// otherTokenRequest fetches a token for the client of another audience.
func otherTokenRequest(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	q := TokenRequest(r.Target, OtherSecret, Credentialed(*r.Target.Other)...)
	q.Issues = OtherAccessToken
	return q, nil
}

// stagingTokenRequest fetches a token of the staging environment. Its server gets no secret except the staging secret.
func stagingTokenRequest(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	staging, t := r.Target.Staging, r.Target
	t.TokenURL = staging.TokenURL
	q := TokenRequest(t, StagingSecret, Credentialed(staging.Credentials)...)
	q.Issues, q.Recipient = StagingAccessToken, evidence.OriginOf(staging.TokenURL)
	return q, nil
}

// stagingClientRequest sends the credentials of the staging client, which exists only in staging, to the token endpoint of production. Credentials of
// production are never sent to staging.
func stagingClientRequest(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	staging := r.Target.Staging
	for _, known := range []*target.Credentials{&r.Target.Credentials, r.Target.Second, r.Target.Other, r.Target.Spare} {
		if known != nil && known.ClientID == staging.Credentials.ClientID {
			return recorder.Request{}, notApplicable("the staging client has the id of a client of production, whose failed authentications would count")
		}
	}
	if staging.TokenURL == r.Target.TokenURL {
		return recorder.Request{}, notApplicable("staging and production have one token endpoint")
	}
	if r.facts.token(StagingAccessToken).Value == "" {
		return recorder.Request{}, unmet("the staging client got no token from staging")
	}
	q := TokenRequest(r.Target, StagingSecret, Credentialed(staging.Credentials)...)
	q.Issues, q.NoRetry = StagingAccessToken, true
	return q, nil
}

// badTokenRequest returns a request with a token that must be refused. The recorder keeps facts about the token.
func badTokenRequest(res Resource, credential, token string) recorder.Request {
	q := res.GetWith(credential, "Bearer "+token)
	q.Presents = token
	return q
}

// presentIssued sends a token that was issued to another client, or in another environment.
func presentIssued(credential, client string) sender {
	return controlled(presentIssuedTo(credential, client))
}

func presentIssuedTo(credential, client string) func(context.Context, *run, Resource) (recorder.Request, *unsent) {
	return func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		t := r.issuedToken(ctx, credential)
		if t.Value == "" {
			return recorder.Request{}, unmet("%s got no token", client)
		}
		if !t.Until.IsZero() && r.Clock().After(t.Until) {
			return recorder.Request{}, notApplicable("the token of %s has ended", client)
		}
		return badTokenRequest(res, credential, t.Value), nil
	}
}

// forger makes a token from the good one, which it gets as text and parsed.
type forger func(r *run, good string, parts tokenforge.Token) (string, *unsent, error)

// presentForged sends a forged copy of the good token, which must be a JWT.
func presentForged(credential string, forge forger) sender {
	return presentCopy(credential, forge, func(*run) (tokenforge.Token, *unsent) {
		return tokenforge.Token{}, notApplicable("the access token is not a JWT")
	})
}

// presentForeign sends a token of another authorization server. If good tokens are opaque, the token is made from a plausible JWT.
func presentForeign(credential string, otherIssuer bool) sender {
	sign := func(r *run, _ string, t tokenforge.Token) (string, *unsent, error) {
		issuer := ""
		if otherIssuer {
			issuer = "https://" + r.drawn.host
		}
		return r.signWithOwnKey(t, issuer, nil)
	}
	return presentCopy(credential, sign, func(r *run) (tokenforge.Token, *unsent) { return r.plausible(), nil })
}

// presentCopy sends a forged copy of the good token. For an opaque one, substitute returns the token to forge, or the reason why nothing can be forged.
func presentCopy(credential string, forge forger, substitute func(*run) (tokenforge.Token, *unsent)) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		good, reason := r.token(ctx)
		if reason != nil {
			return recorder.Request{}, reason
		}
		parts, isJWT := tokenforge.Read(good)
		if !isJWT {
			if parts, reason = substitute(r); reason != nil {
				return recorder.Request{}, reason
			}
		}
		token, reason, err := forge(r, good, parts)
		if err != nil {
			reason = cutShort("the token could not be forged: %v", err)
		}
		if reason != nil {
			return recorder.Request{}, reason
		}
		return badTokenRequest(res, credential, token), nil
	})
}

func unsigned(algorithm string) forger {
	return func(_ *run, _ string, t tokenforge.Token) (string, *unsent, error) {
		token, err := t.Unsigned(algorithm)
		return token, nil, err
	}
}

func cutSignature(_ *run, good string, _ tokenforge.Token) (string, *unsent, error) {
	return tokenforge.ReplaceSignature(good, nil), nil, nil
}

// zeroSignature replaces the signature by zeros of the same length, because a check of lengths would refuse another one.
func zeroSignature(_ *run, good string, _ tokenforge.Token) (string, *unsent, error) {
	return tokenforge.ReplaceSignature(good, make([]byte, tokenforge.SignatureSize(good))), nil, nil
}

// signedWithPublicKey signs by HS256 with a form of the published key, which a confused library uses as the secret.
func signedWithPublicKey(form func(tokenforge.Published) ([]byte, error)) forger {
	return underPublicKey(func() string { return "HS256" }, form)
}

// underPublicKey signs by HMAC with a form of the published key; form returns nothing if the key has no such form.
func underPublicKey(algorithm func() string, form func(tokenforge.Published) ([]byte, error)) forger {
	return func(r *run, _ string, t tokenforge.Token) (string, *unsent, error) {
		if !tokenforge.Asymmetric(t.Algorithm()) {
			return "", notApplicable("the access token is signed with %.20q, which has no public key", t.Algorithm()), nil
		}
		keys := r.facts.issuerFacts().keys
		if len(keys) == 0 {
			return "", notApplicable("no public key of the authorization server is known"), nil
		}
		key := keys[0]
		for _, k := range keys {
			if k.ID == t.KeyID() {
				key = k
			}
		}
		secret, err := form(key)
		if err != nil {
			return "", nil, err
		}
		if len(secret) == 0 {
			return "", notApplicable("the published key has no such form"), nil
		}
		token, err := t.HMAC(algorithm(), secret)
		return token, nil, err
	}
}

func trimmedPEM(key tokenforge.Published) ([]byte, error) {
	pem, err := key.PEM()
	return bytes.TrimRight(pem, "\n"), err
}

func publishedJWK(key tokenforge.Published) ([]byte, error) { return key.JWK(), nil }

// signedWithOwnKey signs with the run's own key; change completes the header.
func signedWithOwnKey(change func(r *run, good tokenforge.Token, key tokenforge.Key, header map[string]any) *unsent) forger {
	return func(r *run, _ string, t tokenforge.Token) (string, *unsent, error) {
		return r.signWithOwnKey(t, "", change)
	}
}

func (r *run) signWithOwnKey(t tokenforge.Token, issuer string, change func(*run, tokenforge.Token, tokenforge.Key, map[string]any) *unsent) (string, *unsent, error) {
	key, err := r.ownKey(t.Algorithm())
	if err != nil {
		return "", nil, err
	}
	header := map[string]any{"kid": key.ID}
	if change != nil {
		if reason := change(r, t, key, header); reason != nil {
			return "", reason, nil
		}
	}
	token, err := t.Signed(key, header, issuer)
	return token, nil, err
}

// ownKey returns the run's own key for an algorithm. It makes each key once, because RSA keys take long to make.
func (r *run) ownKey(algorithm string) (tokenforge.Key, error) {
	r.forging.Lock()
	defer r.forging.Unlock()
	k, made := r.ownKeys[algorithm]
	if made {
		return k, nil
	}
	k, err := tokenforge.NewKey(algorithm)
	if err == nil {
		r.ownKeys[algorithm] = k
	}
	return k, err
}

// plausibleLife is the lifetime of a [run.plausible] token, in seconds.
const plausibleLife = 300

// plausible returns a JWT as the node might issue it. It is used if the real tokens are opaque.
func (r *run) plausible() tokenforge.Token {
	now := r.Clock().Unix()
	number := func(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
	id := r.Target.Credentials.ClientID
	return tokenforge.Token{
		Header: map[string]any{"alg": "ES256", "typ": "at+jwt"},
		Claims: map[string]any{
			"iss": evidence.OriginOf(r.Target.TokenURL), "sub": id, "client_id": id, "azp": id, "aud": evidence.OriginOf(r.Target.InfoURL),
			"iat": number(now), "exp": number(now + plausibleLife), "jti": r.drawn.id,
		},
	}
}
