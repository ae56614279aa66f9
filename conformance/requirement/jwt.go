package requirement

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// jwtOf returns the content of the run's access token; if it is not a JWT, ok is false and j the judgement.
func jwtOf(e Evidence) (x evidence.Exchange, t evidence.JWTFacts, j Judgement, ok bool) {
	x = e.exchange(issuedToken())
	facts, known := tokenFacts(x)
	switch {
	case !known:
		return x, t, Unclear("the recording has no facts about the token").Blaming(Suite).Seen(x.Label), false
	case facts.JWT == nil:
		return x, t, Inapplicable("the access token is opaque, which is allowed: it has no readable content").Seen(x.Label), false
	}
	return x, *facts.JWT, j, true
}

// onJWT makes a check of the token's content.
func onJWT(check func(x evidence.Exchange, t evidence.JWTFacts) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		x, t, j, ok := jwtOf(e)
		if !ok {
			return j
		}
		return check(x, t)
	}
}

// onEveryJWT is [onJWT] for every token that the server had to issue: tokens for other clients, or by HTTP Basic, often come from other code.
func onEveryJWT(check func(x evidence.Exchange, t evidence.JWTFacts) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		return onEvery(onJWT(check)(e), issuedToken(), e.sweep().tokens, func(x evidence.Exchange) Judgement {
			facts, known := tokenFacts(x)
			if !known || facts.JWT == nil {
				return Judgement{Outcome: Pass}
			}
			return check(x, *facts.JWT)
		})
	}
}

// judgeSignature is the check of JWT-01.
func judgeSignature(x evidence.Exchange, t evidence.JWTFacts) Judgement {
	const expected = "a signature, and an algorithm other than none"
	alg, named := t.Header["alg"].(string)
	switch {
	case !named:
		return expect(x, expected).failed("the header of the token names no algorithm", "alg: "+openapi.JSONType(t.Header["alg"]))
	case strings.EqualFold(alg, "none"):
		return expect(x, expected).failed("the token is not signed, so everybody can forge one", "alg "+quote(alg))
	case !t.Signature:
		return expect(x, expected).failed("the signature of the token is empty", "alg "+quote(alg)+" and no signature")
	case t.KnownKey != "":
		want := expect(x, "a signature that the authorization server alone can make")
		return want.failed("the key of the signature is known, so others can forge tokens: "+clip(t.KnownKey), "a signature by HMAC with "+clip(t.KnownKey)).
			Hinting("sign with a private key (RS256, ES256); an HMAC key must be random, of 256 bits, and known to no client")
	}
	return Passed(x.Label)
}

const (
	millisecondLike = 1e11 // an exp above this is in milliseconds: read as seconds, it would be after the year 5000
	// clockLeeway is the error allowed to the clock of the test machine if the node does not send a Date.
	clockLeeway = 130 * time.Second
)

// judgeExpiry judges exp, and an nbf in the future.
func judgeExpiry(x evidence.Exchange, t evidence.JWTFacts) Judgement {
	want := expect(x, "exp: seconds since 1970, in the future")
	value, present := t.Claims["exp"]
	if !present {
		return want.warned("the token does not say when it expires", "no exp")
	}
	exp, isNumber := number(value)
	if !isNumber {
		return want.failed("exp is not a JSON number", "exp: "+openapi.JSONType(value))
	}
	got := clip(fmt.Sprintf("exp: %v", value))
	if exp > millisecondLike {
		return want.failed("exp is in milliseconds, so the token does not expire for thousands of years", got)
	}
	now, exact := nodeTime(x)
	if !exact {
		now = now.Add(-clockLeeway)
	}
	if exp <= float64(now.Unix()) {
		return want.failed("the token had expired when it was issued", got+" at "+now.UTC().Format(time.RFC3339))
	}
	if nbf, has := number(t.Claims["nbf"]); has && exact && nbf > float64(now.Add(clockLeeway).Unix()) {
		return expect(x, "nbf: not later than the Date of the answer").warned("the token is not valid yet when it is issued: servers that check nbf refuse it", clip(fmt.Sprintf("nbf: %v at %s", t.Claims["nbf"], now.UTC().Format(time.RFC3339))))
	}
	return Passed(x.Label)
}

// lifetimeTolerance is the difference in seconds that two statements of the lifetime may have.
const lifetimeTolerance = 10

// earlyRenewal bounds how much a server may understate a lifetime, so that clients renew their tokens in time.
const earlyRenewal = 5 * time.Minute

// judgeLifetimes judges the lifetime of every token of the run.
func judgeLifetimes(e Evidence) Judgement {
	first := e.exchange(issuedToken())
	own := onEvery(onJWT(judgeLifetime)(e), first.Label, e.sweep().tokens, func(x evidence.Exchange) Judgement {
		facts, known := tokenFacts(x)
		if !known || facts.JWT == nil {
			return Judgement{Outcome: Pass}
		}
		return judgeLifetime(x, *facts.JWT)
	})
	parts := []Judgement{own}
	for _, r := range repeatedStatements(e) {
		if r.hasExp {
			parts = append(parts, r.want().failed("a token that is handed out again has an expires_in that ends later than before, but its exp has not changed", r.got()).Hinting(lifetimeHint))
		}
	}
	if len(parts) == 1 {
		return own
	}
	return gather(parts...)
}

// judgeLifetime compares the lifetime of one token with the expires_in of its answer.
func judgeLifetime(x evidence.Exchange, t evidence.JWTFacts) Judgement {
	o, _ := jsonObject(x)
	stated, isStated := number(o["expires_in"])
	exp, hasExp := number(t.Claims["exp"])
	iat, hasIat := number(t.Claims["iat"])
	switch {
	case !isStated || stated <= 0 || stated > epochLike:
		return Inapplicable("the answer has no usable expires_in to compare with (TOK-08, TOK-09)").Seen(x.Label)
	case !hasExp:
		return Inapplicable("the token has no exp to compare with").Seen(x.Label)
	}
	near := func(life float64) bool { return life-stated <= lifetimeTolerance && stated-life <= lifetimeTolerance }
	now, exact := nodeTime(x)
	left := exp - float64(now.Unix())
	switch {
	case hasIat && iat > millisecondLike:
		return expect(x, "iat: seconds since 1970").failed("iat is in milliseconds, so the token seems to be issued thousands of years from now", clip(fmt.Sprintf("iat: %v", t.Claims["iat"])))
	case exact && hasIat && near(exp-iat) && stated-left > clockLeeway.Seconds():
		return expect(x, fmt.Sprintf("about %.0f seconds left", stated)).warned("the token expires before expires_in ends: it was issued earlier, and expires_in is not the remaining time", fmt.Sprintf("exp - Date: %.0f seconds", left)).
			Hinting(lifetimeHint)
	}
	// expires_in may be the rest of the lifetime of a cached token, but never more than its whole lifetime. The clock behind Date measures the
	// rest; ROB-07 allows it an error of clockAccuracy.
	isOld := float64(now.Unix())-iat > lifetimeTolerance
	mayBeRest := !hasIat || isOld && stated <= exp-iat+lifetimeTolerance
	isRest := mayBeRest && math.Abs(left-stated) <= lifetimeTolerance+clockAccuracy.Seconds()
	if hasIat && near(exp-iat) || near(left) || isRest {
		return Passed(x.Label)
	}
	life, from := left, "exp - Date"
	if hasIat {
		life, from = exp-iat, "exp - iat"
	}
	want, got := expect(x, fmt.Sprintf("about %.0f seconds, as expires_in says", stated)), fmt.Sprintf("%s: %.0f seconds", from, life)
	if stated < life && life-stated <= earlyRenewal.Seconds() {
		return want.warned("the token lives longer than the answer says, so clients fetch new ones too early", got)
	}
	if stated < life {
		return want.failed("the token lives much longer than the answer says", got)
	}
	return want.failed("the answer promises a longer life than the token has, so clients go on with an expired one", got)
}

// judgeTypHeader is the check of JWT-07.
func judgeTypHeader(x evidence.Exchange, t evidence.JWTFacts) Judgement {
	typ, _ := t.Header["typ"].(string)
	if strings.TrimPrefix(strings.ToLower(typ), "application/") == "at+jwt" {
		return Passed(x.Label)
	}
	got := "typ " + quote(typ)
	if _, has := t.Header["typ"]; !has {
		got = "no typ"
	}
	return expect(x, "typ: at+jwt").warned("the header does not distinguish the access token from other JWTs, as with stock Keycloak", got).Habit(keycloak)
}

// issuedToken returns the label of the exchange whose token is judged.
func issuedToken() evidence.Label { return evidence.TokenEndpoint.With(evidence.OK) }

// tokenClaims returns JWT-01 to JWT-07, about the content of the token. They do not apply to opaque tokens.
func tokenClaims() []Requirement {
	needs, after := []evidence.Label{issuedToken()}, []ID{"TOK-01"}
	return []Requirement{
		{
			ID: "JWT-01", Title: "The token is signed, alg is not none",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(9068, "2.1").And(RFC(8725, "3.2")),
			Quote:    "JWT access tokens MUST NOT use \"none\" as the signing algorithm.",
			Probe:    "The header and the last segment of each access token, if it is a JWT. An HMAC is verified with the client's secret and with keys from published examples.",
			Forgives: "Opaque tokens; any algorithm other than none, such as HMAC with a key that only the server knows.",
			Fix:      "Let the authorization server sign access tokens with an asymmetric key, such as RS256 or ES256. Keycloak and Spring Authorization Server do by default; in home-made issuers name the algorithm explicitly.",
			Breaks:   "The authorization server issues tokens with alg none and no signature.",
			Needs:    needs, Reads: everyTokenRequest(), After: after, Check: onEveryJWT(judgeSignature),
		},
		{
			ID: "JWT-02", Title: "exp is present, numeric and in the future",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(7519, "4.1.4").And(RFC(9068, "2.2")),
			Quote:    "Its value MUST be a number containing a NumericDate value.",
			Probe:    "The claim exp of each token, compared with the Date of the token answer. Its iat, nbf and auth_time are numbers of seconds as well.",
			Forgives: "Opaque tokens; fractions of seconds; a token without exp (a warning); the clock of the test machine does not matter.",
			Fix:      "Write exp as seconds since 1970, as a JSON number: Math.floor(Date.now() / 1000) + lifetime in JavaScript, Instant.getEpochSecond() in Java. Milliseconds make a token that never expires.",
			Breaks:   "exp is in milliseconds.",
			Needs:    needs, Reads: everyTokenRequest(), After: after, Check: onEveryJWT(func(x evidence.Exchange, t evidence.JWTFacts) Judgement {
				return worseOf(judgeExpiry(x, t), judgeTimeClaims(x, t))
			}),
		},
		{
			ID: "JWT-03", Title: "exp - iat agrees with expires_in",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.1").And(RFC(7519, "4.1.6")),
			Quote:    "The lifetime in seconds of the access token.",
			Probe:    "expires_in of every token answer, compared with exp - iat and with exp - Date, within 10 seconds; where a token is handed out again, also with what was said of it before, within 3 seconds. The clock behind Date may be a minute wrong, as in ROB-07, where the token is not new or has no iat.",
			Forgives: "Opaque tokens; cached tokens, whose expires_in is the rest of their life; tokens without exp; a token that lives up to five minutes longer than expires_in says: a warning.",
			Fix:      "Compute expires_in from the token that is sent, not from another setting: a client that believes it goes on with an expired token, or fetches new ones too early.",
			Breaks:   "expires_in is 3600, and the token expires after 60 seconds.",
			Needs:    needs, Reads: everyTokenRequest(), After: after, Check: ifPasses("JWT-02", judgeLifetimes),
		},
		{
			ID: "JWT-04", Title: "iss is present and consistent, the client is identifiable",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(9068, "4").And(RFC(9068, "2.2")).And(RFC(8725, "3.8")),
			Quote:    "The issuer identifier for the authorization server (which is typically obtained during discovery) MUST exactly match the value of the \"iss\" claim.",
			Probe:    "The claims iss, client_id and azp, compared with the token URL, the metadata and the client id. In every token, iss, sub, jti, client_id and azp are texts, and no two tokens have the same jti. The tokens of the other clients of the run do not name the first one, and the reverse.",
			Forgives: "Opaque tokens; azp instead of client_id, as Keycloak has it; an issuer on another host whose metadata names the token URL; no jti. What is missing or differs is a warning, since gateways may rename hosts.",
			Fix:      "Where iss is right, publish the metadata of the issuer (RFC 8414 or OpenID Connect Discovery) with the token URL as its token_endpoint. Where it is not, let the server know its public URL: KC_HOSTNAME in Keycloak, spring.security.oauth2.authorizationserver.issuer in Spring Authorization Server.",
			Breaks:   "iss is http://localhost:8080/….",
			Needs:    needs, Reads: metadataLabels(), After: after, Check: func(e Evidence) Judgement {
				j := judgeIssuerAndClient(e)
				forms := onEveryJWT(judgeTextClaims)(e)
				if forms.Outcome == NotApplicable || forms.Outcome == Inconclusive {
					return j
				}
				return worseOf(worseOf(j, judgeOtherClients(e)), worseOf(forms, judgeIdentifiers(e)))
			},
		},
		{
			ID: "JWT-05", Title: "aud is present and restricts the token",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(9700, "2.3").And(RFC(9068, "2.2")),
			Quote:    "access tokens SHOULD be audience-restricted to a specific resource server",
			Probe:    "The claim aud, which is a text or a list of texts.",
			Forgives: "Opaque tokens; one audience or a list. Stock Keycloak, which leaves aud out or names only its own account service, is a warning.",
			Fix:      "Name the API in aud and check it there. Keycloak: an Audience mapper in a client scope; Spring Authorization Server: an OAuth2TokenCustomizer that sets the audience.",
			Breaks:   "The claim aud is missing.",
			Needs:    needs, After: after, Check: onJWT(func(x evidence.Exchange, t evidence.JWTFacts) Judgement {
				return worseOf(judgeAudienceForm(x, t), judgeAudience(x, t))
			}),
		},
		{
			ID: "JWT-06", Title: "No secret in the token",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R19").AsDerived().And(RFC(7519, "12")),
			Quote:    "The client ID and client secret are highly sensitive and are passed on only through a secure channel.",
			Probe:    "Header and claims of each access token, searched for the client's secret in any form and for members that are named like one.",
			Forgives: "Opaque tokens; personal and technical claims such as Keycloak's clientHost and clientAddress, which are noted; members named like a secret that hold no text.",
			Fix:      "Remove the mapper or customizer that copies the client's settings into the token: the payload of a JWT is readable by everybody who sees it.",
			Breaks:   "A claim client_secret holds the secret.",
			Needs:    needs, Reads: append(everyTokenRequest(), evidence.SecondClient.With(evidence.OK)), After: after, Check: judgeSecretsInTokens,
		},
		{
			ID: "JWT-07", Title: "typ is at+jwt",
			Level: Recommended, Gate: Information, Profile: Auth,
			Source:   RFC(9068, "2.1").And(RFC(8725, "3.11")),
			Quote:    "Therefore, the \"typ\" value used SHOULD be \"at+jwt\".",
			Probe:    "The header member typ.",
			Forgives: "Opaque tokens; application/at+jwt; any case. Keycloak sends JWT, which is a warning and never counts.",
			Fix:      "Issue access tokens of the type at+jwt, so that an ID token is not taken for one. Keycloak, from 26.2: client, Advanced, Fine grain OpenID Connect configuration, Use \"at+jwt\" as access token header type.",
			Breaks:   "typ is JWT.",
			Needs:    needs, After: after, Check: onJWT(judgeTypHeader),
		},
	}
}
