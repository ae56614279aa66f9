package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// forgeries returns JWT-08 to JWT-11, about published keys, and tokens that the authorization server did not issue.
func forgeries() []Requirement {
	keys := append(metadataLabels(), evidence.KeySet.With("published"))
	return []Requirement{
		{
			ID: "JWT-08", Title: "The signature verifies with the published keys",
			Level: Recommended, Gate: Advice, Profile: Full,
			Source:   RFC(8414, "2").And(RFC(7515, "5.2")),
			Quote:    "The referenced document contains the signing key(s) the client uses to validate signatures from the authorization server.",
			Probe:    "The key set that the metadata names as jwks_uri, fetched once more if it lacks the key of the token, and again if it lacks the kid of another token of the run. The tokens that two clients request at the same time are verified, too. No object of the key set repeats a member name.",
			Forgives: "Opaque tokens; no metadata; tokens signed with a symmetric key; keys that were just rotated, unless tokens of the old and the new key alternate. Keys on another origin are fetched only with --allow-origin.",
			Fix:      "Publish every key that signs tokens, with its kid, before it is used, and keep old ones until their last token has expired. Behind a proxy that caches the key set, let it do so for minutes only.",
			Breaks:   "The key set lacks the kid of the token.",
			Needs:    []evidence.Label{issuedToken()},
			Reads:    append(append(metadataLabels(), everyTokenRequest()...), evidence.KeySet.With("published"), evidence.KeySet.With("refetched"), evidence.KeySet.With("later")),
			After:    []ID{"TOK-01"}, Check: ifPasses("JWT-01", judgeVerification),
		},
		{
			ID: "JWT-09", Title: "A token rewritten to alg none is refused",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(9068, "4").And(RFC(8725, "3.2")),
			Quote:    "The resource server MUST reject any JWT in which the value of \"alg\" is \"none\".",
			Probe:    "A GET of the probe target with the good token, its alg rewritten to none, None and NONE and its signature taken away; the same without its signature and with one of zero bytes, its alg kept. Other spellings of none and other signatures are drawn for each run.",
			Forgives: "Opaque tokens; any 4xx of the node. A 5xx is inconclusive.",
			Fix:      "Give the verifier a list of allowed algorithms and nothing else: PyJWT jwt.decode(…, algorithms=[\"RS256\"]), jsonwebtoken verify(…, {algorithms: […]}), Spring NimbusJwtDecoder.withJwkSetUri(…).jwsAlgorithm(…).",
			Breaks:   "The resource server accepts alg none.",
			Reads:    append(onTarget(unsignedCases()...), issuedToken()),
			// If the authorization server itself issues such tokens, JWT-01 fails, and the node has to accept them.
			After: []ID{"BRR-09"}, Control: withToken(), Breach: findUnclaimedAfter("JWT-09", "BRR-09", "JWT-01"), Check: ifPasses("JWT-01", refusalCheck(unsignedCases()...)),
		},
		{
			ID: "JWT-10", Title: "A token re-signed with the public key as HMAC secret is refused",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(8725, "3.1").And(RFC(8725, "2.1")),
			Quote:    "Libraries MUST enable the caller to specify a supported set of algorithms and MUST NOT use any other algorithms when performing cryptographic operations.",
			Probe:    "A GET of the probe target with the good payload under HS256, signed with the published key as PEM, with and without its last newline, and as JWK. Other forms of the key, longer hashes, and keys that everybody can guess are drawn for each run.",
			Forgives: "Opaque tokens; tokens that are signed with a symmetric key anyway; no published key; any 4xx of the node.",
			Fix:      "Fix the algorithm where the key is configured, and never take it from the token's header: PyJWT algorithms=[…], jsonwebtoken {algorithms: […]}, Spring NimbusJwtDecoder.withPublicKey(…).signatureAlgorithm(…).",
			Breaks:   "The resource server verifies with the algorithm that the header names.",
			Reads:    append(keys, onTarget("hmac-pem", "hmac-pem-trim", "hmac-jwk")...),
			After:    []ID{"BRR-09"}, Control: withToken(), Breach: findUnclaimedAfter("JWT-10", "BRR-09"), Check: refusalCheck("hmac-pem", "hmac-pem-trim", "hmac-jwk"),
		},
		{
			ID: "JWT-11", Title: "Keys named in the token's header are not trusted",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(8725, "3.8").And(RFC(8725, "3.10")).And(RFC(9068, "4")),
			Quote:    "When a JWT contains an \"iss\" (issuer) claim, the application MUST validate that the cryptographic keys used for the cryptographic operations in the JWT belong to the issuer.",
			Probe:    "A GET of the probe target with tokens signed by a key of the suite: the key in the header as jwk, a jku on a host that does not exist, and the kid of the node's own key. Other ways to name a key, such as a kid that is a path or a query, x5u and x5c, are drawn for each run.",
			Forgives: "Opaque tokens; any 4xx of the node.",
			Fix:      "Take keys from the configured issuer's key set alone, and choose among them by kid; ignore jwk, jku, x5c and x5u.",
			Breaks:   "The resource server trusts the jwk in the header.",
			Reads:    onTarget("embedded-jwk", "jku", "borrowed-kid"),
			// If the node accepts any foreign key, ISO-01 fails, and the key in the header makes no difference.
			After: []ID{"BRR-09", "ISO-01"}, Control: withToken(), Breach: findUnclaimedAfter("JWT-11", "BRR-09", "ISO-01"), Check: refusalCheck("embedded-jwk", "jku", "borrowed-kid"),
		},
	}
}

// unsignedCases returns the cases of a token without a valid signature. In Java 15 to 18 without the patches of April 2022 a signature of zero bytes
// is valid for any content (CVE-2022-21449).
func unsignedCases() []evidence.Case {
	return []evidence.Case{"alg-none", "alg-none-title", "alg-none-upper", "signature-cut", "signature-zero"}
}

// refusalCheck returns the check that the probe target refuses the tokens of these cases. A case that was not possible, such as borrowing the kid of
// a key without one, does not count; if no case was possible, the requirement does not apply.
func refusalCheck(cases ...evidence.Case) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		if e.Roles.ProbeTarget == "" {
			return Inapplicable("this run has no " + roleName(withToken()))
		}
		return gatherApplicable(judgeEach(e, onTarget(cases...), func(x evidence.Exchange) Judgement {
			return judgeRefusal("the call "+x.Words, x, e.exchange(withToken()))
		})...)
	}
}

// judgeVerification judges the verification that the probe recorded, because only it knew the token.
func judgeVerification(e Evidence) Judgement {
	_, t, j, ok := jwtOf(e)
	if !ok {
		return j
	}
	if alg, _ := t.Header["alg"].(string); strings.HasPrefix(strings.ToUpper(alg), "HS") {
		return Inapplicable("the token is signed with a symmetric key, which cannot be published").Seen(issuedToken())
	}
	first := evidence.KeySet.With("published")
	if j, missing := e.missingAnswer(first); missing {
		return j
	}
	x := e.exchange(first)
	if refetched, sent := e.Get(evidence.KeySet.With("refetched")); sent && refetched.Answered() {
		x = refetched
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	want := expect(x, "a published key that verifies the token's signature")
	v := x.Verification
	switch {
	case !success(x):
		return want.failed("the key set that the metadata names cannot be read", describe(x))
	case v == nil:
		return Unclear("the recording does not say whether the keys verify the token").Blaming(Suite).Seen(x.Label)
	case e.repeatedIn(x) != "":
		return expect(x, "each member once (RFC 8259 §4)").failed("parsers disagree on the key set: "+e.repeatedIn(x), e.repeatedIn(x))
	case !v.Verified:
		return want.failed("the published keys do not verify the token: "+clip(v.Why), evidence.Count(v.Keys, "key")+", but none fits")
	}
	for _, l := range parallelTokenRequests() {
		if x, sent := e.Get(l); sent && isTokenAnswer(x) && x.Verification != nil && !x.Verification.Verified {
			return expect(x, "a signature that the published key verifies, as that of other tokens").
				failed("a token that was requested at the same time as others has a broken signature: "+clip(x.Verification.Why), "a signature that no key verifies").Hinting(signingHint)
		}
	}
	return judgeSigners(e, t)
}

// judgeSigners finds tokens of the issuer whose kid is in no key set, although a key set was read after they came. If tokens of a published key come
// before and after them, the keys did not change: one of several servers signs with a key of its own.
func judgeSigners(e Evidence, first evidence.JWTFacts) Judgement {
	published, last := map[string]bool{}, evidence.Exchange{}
	for _, c := range []evidence.Case{"published", "refetched", "later"} {
		x, sent := e.Get(evidence.KeySet.With(c))
		set, isObject := jsonObject(x)
		keys, isList := set["keys"].([]any)
		if !sent || !success(x) || !isObject || !isList {
			continue
		}
		for _, key := range keys {
			object, _ := key.(map[string]any)
			kid, named := object["kid"].(string)
			if !named {
				return Passed(x.Label) // a key without a kid may have signed any token
			}
			published[kid] = true
		}
		last = x
	}
	if len(published) == 0 {
		return Passed(evidence.KeySet.With("published"))
	}
	tokens := slices.Clone(e.sweep().tokens)
	slices.SortStableFunc(tokens, func(a, b evidence.Exchange) int { return a.Started.Compare(b.Started) })
	var foreign []Subject
	turns, wasForeign, judged := 0, false, 0 // turns counts the changes between tokens of published keys and of other keys
	for _, x := range tokens {
		facts, known := tokenFacts(x)
		if !known || facts.JWT == nil || facts.JWT.Claims["iss"] != first.Claims["iss"] {
			continue
		}
		kid, _ := facts.JWT.Header["kid"].(string)
		alg, _ := facts.JWT.Header["alg"].(string)
		isForeign := !published[kid]
		if kid == "" || strings.HasPrefix(strings.ToUpper(alg), "HS") || isForeign && x.Started.Add(x.Duration).After(last.Started) {
			continue
		}
		if judged > 0 && isForeign != wasForeign {
			turns++
		}
		judged, wasForeign = judged+1, isForeign
		if isForeign {
			foreign = append(foreign, Subject{Name: callInWords(x), Label: x.Label, Expected: "a kid of the key set", Got: "kid " + quote(kid)})
		}
	}
	if len(foreign) == 0 {
		return Passed(last.Label)
	}
	reason := fmt.Sprintf("%d of %d tokens name a key that is not in the key set", len(foreign), judged)
	j := Warned(reason+"; keys may just have been changed", foreign[0].Expected, foreign[0].Got)
	if turns > 1 {
		j = Failed(reason+", and tokens of published keys come before and after them", foreign[0].Expected, foreign[0].Got).
			Hinting("let all servers behind the token endpoint sign with the same key, or publish the keys of all of them")
	}
	return j.About(foreign...).Seen(last.Label).bounded()
}
