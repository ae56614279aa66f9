package requirement

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// isolation returns the group ISO, about tokens that a node must not accept: those of another issuer, environment or audience.
func isolation() []Requirement {
	controls := append(onTarget(evidence.OK, "tampered"), issuedToken(), evidence.WholeRun)
	return []Requirement{
		{
			ID: "ISO-01", Title: "A well-formed token of a foreign issuer is refused",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "7").And(RFC(8725, "3.8")),
			Quote:    validateToken,
			Probe:    "A GET of the probe target with tokens that the suite has signed: all claims copied from a good one, and the same with another issuer, whose host does not exist. Where tokens are opaque, the claims are made up. Other types and forms, and claims that are missing or odd, are drawn for each run.",
			Forgives: "Any 4xx of the node. A 5xx is inconclusive.",
			Fix:      "Configure one issuer with its key set, refuse tokens with a kid that is not in it, and compare iss with the issuer. Spring Security: issuer-uri; jose: jwtVerify(token, keySet, {issuer, audience}).",
			Breaks:   "The signature check is skipped when the kid is unknown.",
			Reads:    onTarget("foreign-key", "foreign-issuer"),
			After:    []ID{"BRR-09"}, Control: withToken(), Breach: findUnclaimedAfter("ISO-01", "BRR-09"), Check: refusalCheck("foreign-key", "foreign-issuer"),
		},
		{
			ID: "ISO-02", Title: "A staging token is refused in production",
			Level: StandardMust, Gate: Gating, Profile: Full,
			Source:   NET("R8").AsDerived().And(RFC(9700, "2.3")),
			Quote:    "Separate test endpoints exist for trying the authorization flow: a staging token endpoint and a staging info endpoint.",
			Probe:    "A token of the operator's staging token endpoint, presented to the probe target and to each operation in production, and with parameters, records and pages that are drawn. The credentials of the staging client at the token endpoint of production. No secret or token of production is sent to staging.",
			Forgives: "403 instead of 401. One authorization server for both environments is a warning. Without --staging-token-url it does not apply.",
			Fix:      "Give each environment keys and an issuer of its own, and let the API compare iss: a realm of its own in Keycloak.",
			Breaks:   "Both environments sign with the same key, and iss is not compared.",
			Reads:    append(onTarget("staging-token"), append(controls, evidence.StagingEndpoint.With(evidence.OK), evidence.StagingClient)...),
			After:    []ID{"BRR-09"}, Control: withToken(), Check: judgeStagingTokens,
		},
		{
			ID: "ISO-03", Title: "A token meant for another audience of the same server is refused",
			Level: StandardMust, Gate: Gating, Profile: Full,
			Source:   RFC(9068, "4").And(RFC(7519, "4.1.3")).And(RFC(8725, "3.9")),
			Quote:    "The resource server MUST validate that the \"aud\" claim contains a resource indicator value corresponding to an identifier the resource server expects for itself.",
			Probe:    "A token of a client of the same authorization server that is meant for another audience, presented to the probe target and to each operation, and with parameters, records and pages that are drawn. The list, too, with a token for which that client asked for the audience of this node (RFC 8707 §2).",
			Forgives: "403, as nodes that go by roles answer. It does not apply without --other-client-id, or when the tokens of that client name no audience other than Keycloak's account service, or name the node's own.",
			Fix:      "Compare aud with the identifier of this API: Spring Security spring.security.oauth2.resourceserver.jwt.audiences, PyJWT jwt.decode(…, audience=…), jose jwtVerify(…, {audience}).",
			Breaks:   "aud is not looked at.",
			Reads:    append(onTarget("other-audience"), append(controls, evidence.OtherClient.With(evidence.OK), evidence.OtherClient.With("resource"), evidence.ListOperation.With("audience-resource"))...),
			After:    []ID{"BRR-09"}, Control: withToken(), Check: judgeOtherAudience,
		},
	}
}

// judgeStagingTokens is the check of ISO-02.
func judgeStagingTokens(e Evidence) Judgement {
	if e.Run.StagingTokenURL == "" {
		return Inapplicable("only one environment was given (--staging-token-url names the other)")
	}
	issued := evidence.StagingEndpoint.With(evidence.OK)
	if j, missing := e.missingAnswer(issued); missing {
		return j
	}
	if x := e.exchange(issued); !success(x) || len(x.Tokens) == 0 {
		return expect(x, "an access token").unclear("the staging token endpoint gave no token, so there is nothing to try", describe(x)).
			Hinting("check --staging-token-url and the client that is registered there")
	}
	label := evidence.ProbeTarget.With("staging-token")
	if j, missing := e.missingAnswer(label); missing {
		return j
	}
	return gatherApplicable(append(judgeEach(e, foreignCalls(e, "staging-token", "environment"), func(x evidence.Exchange) Judgement {
		return judgeStagingCall(e, x)
	}), judgeStagingClient(e))...)
}

// judgeStagingClient judges the token request of the staging client at the token endpoint of production.
func judgeStagingClient(e Evidence) Judgement {
	x, sent := e.Get(evidence.StagingClient)
	if !sent || !hasToken(x) {
		return Judgement{Outcome: Pass}
	}
	if sameIssuer(e, e.exchange(evidence.ProbeTarget.With("staging-token"))) {
		return expect(x, "an authorization server for each environment").warned("staging and production share one authorization server, so a client of one is a client of the other", describe(x))
	}
	return expect(x, "4xx without an access token").failed("the token endpoint of production issues a token to the client of staging", describeError(x)).
		Hinting("give each environment its own clients; the client given as --staging-client-id must be registered in staging alone")
}

// judgeStagingCall judges the answer of one resource to the staging token.
func judgeStagingCall(e Evidence, x evidence.Exchange) Judgement {
	j := judgeRefusal("the call "+x.Words, x, foreignControl(e, x))
	if j.Outcome == Fail && sameURL(e.Run.StagingTokenURL, e.Run.TokenURL) || j.Outcome == Fail && sameIssuer(e, x) {
		return expect(x, "an authorization server for each environment").warned("staging and production share one authorization server, so a token of one is valid in the other", describe(x))
	}
	return j
}

// sameIssuer reports whether the presented token names the issuer of the good one.
func sameIssuer(e Evidence, x evidence.Exchange) bool {
	_, own, _, ok := jwtOf(e)
	if !ok || x.Presented == nil || x.Presented.JWT == nil {
		return false
	}
	iss, named := own.Claims["iss"].(string)
	return named && iss != "" && x.Presented.JWT.Claims["iss"] == iss
}

// judgeOtherAudience is the check of ISO-03.
func judgeOtherAudience(e Evidence) Judgement {
	if !e.Run.Other {
		return Inapplicable("no client of another audience was given (--other-client-id)")
	}
	issued := evidence.OtherClient.With(evidence.OK)
	if j, missing := e.missingAnswer(issued); missing {
		return j
	}
	token := e.exchange(issued)
	facts, known := tokenFacts(token)
	if !success(token) || !known {
		return expect(token, "an access token").unclear("the client of another audience got no token, so there is nothing to try", describe(token)).
			Hinting("check --other-client-id and --other-client-secret")
	}
	if facts.JWT != nil {
		names := slices.DeleteFunc(audiences(*facts.JWT), func(a string) bool { return a == "account" })
		if len(names) == 0 {
			return Inapplicable("the tokens of that client name no audience (JWT-05)").Seen(token.Label)
		}
		own, _ := tokenFacts(e.exchange(issuedToken()))
		if own.JWT != nil && slices.ContainsFunc(audiences(*own.JWT), func(a string) bool { return slices.Contains(names, a) }) {
			return Inapplicable("the tokens of that client are meant for the audience of this node as well").Seen(token.Label)
		}
	}
	return gatherApplicable(judgeEach(e, foreignCalls(e, "other-audience", "audience"), func(x evidence.Exchange) Judgement {
		if x.Label.Case() == "audience-resource" && success(x) && namesOwnAudience(e, x) {
			return expect(x, "401, unless that client may have this audience").warned("the client of another audience gets data with a token for this node, which it got by asking for the node's audience", describe(x)).
				Hinting("say at the authorization server which audiences each client may ask for (RFC 8707 §2), and answer invalid_target to the others")
		}
		return judgeRefusal("the call "+x.Words, x, foreignControl(e, x))
	})...)
}

// namesOwnAudience reports whether the presented token names an audience of the good one: the server may give that client this audience as well.
func namesOwnAudience(e Evidence, x evidence.Exchange) bool {
	own, _ := tokenFacts(e.exchange(issuedToken()))
	if own.JWT == nil || x.Presented == nil || x.Presented.JWT == nil {
		return false
	}
	names := audiences(*x.Presented.JWT)
	return slices.ContainsFunc(audiences(*own.JWT), func(a string) bool { return a != "account" && slices.Contains(names, a) })
}

// foreignCalls returns the calls with a foreign token: that of the probe target, and those of operations, plain or in a variant such as a filter, whose
// case begins with prefix. It leaves out operations that refuse the good token or accept any, which API-08 judges, and variants that are open to
// everybody or answer without the data.
func foreignCalls(e Evidence, plain evidence.Case, prefix string) []evidence.Label {
	out := []evidence.Label{e.Roles.ProbeTarget.With(plain)}
	for _, x := range e.Exchanges {
		r, c := x.Label.Resource(), x.Label.Case()
		isVariant := strings.HasPrefix(string(c), prefix+"-")
		if !isVariant && (c != plain || r == e.Roles.ProbeTarget) || !slices.Contains(e.Roles.Operations, r) || declaredPublic(e, r) || !success(e.exchange(r.With(evidence.OK))) {
			continue
		}
		open := slices.ContainsFunc([]evidence.Case{evidence.NoToken, "garbage", "tampered"}, func(c evidence.Case) bool { return success(e.exchange(r.With(c))) })
		if good := foreignControl(e, x); open || isVariant && (success(e.exchange(r.With("open-"+variantOf(c)))) || success(x) && !e.carriesData(x, good)) {
			continue
		}
		out = append(out, x.Label)
	}
	return out
}

// foreignControl returns the good call that corresponds to a call with a foreign token.
func foreignControl(e Evidence, x evidence.Exchange) evidence.Exchange {
	if good, sent := e.Get(x.Label.Resource().With("good-" + variantOf(x.Label.Case()))); sent {
		return good
	}
	return e.exchange(x.Label.Resource().With(evidence.OK))
}

// variantOf returns the variant of a call, such as a filter, which a case names after its credential.
func variantOf(c evidence.Case) evidence.Case {
	_, variant, _ := strings.Cut(string(c), "-")
	return evidence.Case(variant)
}
