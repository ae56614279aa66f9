package requirement

import (
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
)

// presentedTokens returns BRR-06 to BRR-14, about credentials other than a good token. They are tried on the probe target, a protected resource that
// discovery chose: the info endpoint if it refuses an anonymous call, else an operation that does.
func presentedTokens() []Requirement {
	return []Requirement{
		{
			ID: "BRR-06", Title: "A garbage token is refused",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "7").And(RFC(6750, "3.1")),
			Quote:    validateToken,
			Probe:    "A GET of the probe target with a random bearer value in the shape of the good token; and with values that are drawn for each run: random ones of other shapes, words of programming languages, wildcards. Every other credential of the run that is not good, such as those of ROB-01, counts as well if it got protected data.",
			Forgives: "Any 4xx of the node. A 5xx is inconclusive here (an introspecting node whose authorization server is down) and judged in BRR-07.",
			Fix:      "Verify the token before the request is served: the signature against the authorization server's keys, or introspection (RFC 7662). Spring Security: spring.security.oauth2.resourceserver.jwt.issuer-uri or .opaquetoken.introspection-uri.",
			Breaks:   "Any bearer value that is not empty is accepted.",
			Needs:    onTarget("garbage"), Reads: onTarget("garbage-scheme"), After: []ID{"TOK-01"}, Control: withToken(), Breach: findUnclaimed("BRR-06"), Check: refusalCheck("garbage"),
		},
		{
			ID: "BRR-07", Title: "Garbage token: status 401 with a Bearer challenge",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6750, "3").And(RFC(6750, "3.1")),
			Quote:    "If the protected resource request does not include authentication credentials or does not contain an access token that enables access to the protected resource, the resource server MUST include the HTTP \"WWW-Authenticate\" response header field",
			Probe:    "The answer to the garbage token, and every other 401 of the API to a request with credentials, however odd.",
			Forgives: "The page of a server in front of the node. 400, 403 or another 4xx with a Bearer challenge (a warning).",
			Fix:      "Answer 401 with WWW-Authenticate: Bearer error=\"invalid_token\". In front of the node: nginx auth_request hands on the challenge of a 401 of its authorization service, and answers 500 to anything but 2xx, 401 and 403; Envoy ext_authz: let allowed_client_headers have www-authenticate.",
			Breaks:   "403 without WWW-Authenticate for bad tokens; anonymous calls stay correct.",
			Needs:    onTarget("garbage"), After: []ID{"TOK-01"}, Control: withToken(), Reads: []evidence.Label{evidence.WholeRun},
			Check: withForbiddenOperations("garbage", onEvery401("garbage", sendsCredentials, judgeGarbageChallenge, judgeChallengePresence)),
		},
		{
			ID: "BRR-08", Title: "Garbage token: error=\"invalid_token\"",
			Level: StandardShould, Gate: Advice, Profile: Auth,
			Source:   RFC(6750, "3").And(RFC(6750, "3.1")),
			Quote:    "If the protected resource request included an access token and failed authentication, the resource server SHOULD include the \"error\" attribute to provide the client with the reason why the access request was declined.",
			Probe:    "The Bearer challenge of the answer to the garbage token, and of every other 401 of the API to a request with a token.",
			Forgives: "invalid_request, for a token that is seen as malformed (a warning); the refusal of a client without the role, which BRR-19 judges.",
			Fix:      "Put error=\"invalid_token\" into the challenge when a token was sent and is not valid. Spring Security's BearerTokenAuthenticationEntryPoint does so; check what replaces it (an AuthenticationEntryPoint of your own).",
			Breaks:   "The challenge for bad tokens has only a realm.",
			Needs:    onTarget("garbage"), After: []ID{"BRR-06"}, Control: withToken(), Reads: []evidence.Label{evidence.WholeRun},
			Check: onEvery401("garbage", withoutOddInput(sendsToken), judgeGarbageError, withoutEvidence(judgeGarbageError)),
		},
		{
			ID: "BRR-09", Title: "A tampered token is refused",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "7").And(RFC(8725, "3.3")),
			Quote:    validateToken,
			Probe:    "A GET of the probe target with the good token, one character in the middle of its last segment replaced; and with other neighbours of the good token, which are drawn for each run: cut, extended, changed in each segment or claim, segments swapped or missing.",
			Forgives: "Any 4xx of the node. The last character is never the one replaced, since its low bits may be padding.",
			Fix:      "Verify the signature with the authorization server's key and an allow-list of algorithms; do not merely decode the payload. Spring Security: NimbusJwtDecoder.withIssuerLocation(…); PyJWT: jwt.decode(token, key, algorithms=[…]) without verify_signature: False.",
			Breaks:   "The payload is decoded and the signature is not verified.",
			Needs:    onTarget("tampered"), After: []ID{"BRR-06"}, Control: withToken(), Breach: findUnclaimed("BRR-09"), Check: refusalCheck("tampered"),
		},
		{
			ID: "BRR-10", Title: "An expired token is refused",
			Level: StandardMust, Gate: Gating, Profile: Full,
			Source:   RFC(6749, "7").And(RFC(7519, "4.1.4")),
			Quote:    validateToken,
			Probe:    "A GET of the probe target with a token that was kept unused until 130 seconds after its expiry, or with an expired one that the operator gave; and with the token that was in use until it expired. With --wait the same on the list and the detail. A call that was accepted is repeated a minute later.",
			Forgives: "Clocks that differ by up to two minutes; caches of introspection answers that live a minute. It does not apply when the token lives longer than the run may wait (--wait) and no --expired-token was given. A refusal counts only if the token was good before: it was seen to work, or it is a JWT of the same issuer, client and key as the live one. Wherever it is judged, it gates.",
			Fix:      "Compare exp with the time at each request, also for tokens that a cache has verified before: Spring Security's JwtTimestampValidator with a skew of a minute, PyJWT without verify_exp: False; let an introspection cache end with the token.",
			Breaks:   "exp is not checked.",
			Reads:    append(labelsOf([]evidence.Resource{evidence.ProbeTarget, evidence.ListOperation, evidence.DetailOperation}, "in-use", "expired", "expired-in-use", "expired-again", "expired-in-use-again", evidence.OK), issuedToken()),
			After:    []ID{"BRR-06"}, Control: withToken(), Check: judgeExpiredTokens,
		},
		{
			ID: "BRR-11", Title: "Empty or blank bearer credential is refused",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6750, "2.1").And(RFC(6750, "3.1")),
			Quote:    "credentials = \"Bearer\" 1*SP b64token",
			Probe:    "A GET of the probe target with the header Authorization: Bearer with nothing after the word, and with one blank after it, written to the connection as it is.",
			Forgives: "Stacks that trim the blank; a 4xx other than 400 or 401 (a warning).",
			Fix:      "Treat a missing token like an invalid one: check the length after the scheme before splitting or looking up, and answer 401 or 400.",
			Breaks:   "An empty token skips the validation.",
			Needs:    onTarget("empty-bearer", "blank-bearer"), After: []ID{"TOK-01"}, Control: withToken(), Check: judgeEmptyBearers,
		},
		{
			ID: "BRR-12", Title: "Another scheme does not authenticate",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "7").And(NET("R12")),
			Quote:    validateToken,
			Probe:    "A GET of the probe target with Basic and a random id and secret, and with the good token under the scheme Token.",
			Forgives: "Any 4xx of the node; a node that offers Basic beside Bearer and refuses the random one. The good token under the scheme Token is a warning where it is accepted: it lets nobody in who has no good token.",
			Fix:      "Compare the scheme with Bearer (without case) before you take the rest of the header as the token.",
			Breaks:   "Basic with any id and secret is admitted.",
			Needs:    onTarget("basic-scheme", "token-scheme"), Reads: onTarget(evidence.NoToken),
			After: []ID{"TOK-01"}, Control: withToken(), Check: judgeOtherSchemes,
		},
		{
			ID: "BRR-13", Title: "Scheme name is case-insensitive, extra blanks are tolerated",
			Level: StandardMust, Gate: Advice, Profile: Auth,
			Source:   RFC(9110, "11.1").And(RFC(6750, "2.1")),
			Quote:    "It uses a case-insensitive token to identify the authentication scheme",
			Probe:    "A GET of the probe target with bearer, BEARER, and Bearer followed by two blanks, each before the good token.",
			Forgives: "Two blanks refused, as in Spring Security. Clients of this network always send Bearer, so this never gates.",
			Fix:      "Compare the scheme without case: header[:7].lower() == \"bearer \" in Python, regionMatches(true, …) in Java, strings.EqualFold in Go.",
			Breaks:   "Only the exact string Bearer is accepted.",
			Needs:    onTarget("lower-scheme", "upper-scheme"), Reads: onTarget("two-blanks"),
			After: []ID{"TOK-01"}, Control: withToken(), Check: judgeSchemeCase,
		},
		{
			ID: "BRR-14", Title: "Token in the query string is not accepted",
			Level: StandardShould, Gate: Advice, Profile: Full,
			Source:   RFC(6750, "2.3").And(RFC(9700, "4.3.2")),
			Quote:    "Because of the security weaknesses associated with the URI method (see Section 5), including the high likelihood that the URL containing the access token will be logged, it SHOULD NOT be used",
			Probe:    "A GET of the probe target with a throw-away token in the parameter access_token and no Authorization, last in the run. The token remains in access logs, so the call is sent only with --allow-token-in-url.",
			Forgives: "Any 4xx of the node.",
			Fix:      "Read the token from the Authorization header alone: Spring Security's DefaultBearerTokenResolver with setAllowUriQueryParameter(false), which is the default; passport-jwt's fromAuthHeaderAsBearerToken().",
			Breaks:   "A token in the query is accepted.",
			Reads:    onTarget("token-in-query", evidence.OK),
			After:    []ID{"BRR-01"}, Control: withToken(), Check: judgeQueryToken,
		},
	}
}

// target returns the exchange of one case on the probe target, and the good call of the probe target.
func target(e Evidence, c evidence.Case) (x, good evidence.Exchange) {
	return e.exchange(evidence.ProbeTarget.With(c)), e.exchange(withToken())
}

// judgeGarbageChallenge judges the status and the Bearer challenge of the refusal of a garbage token (BRR-07).
func judgeGarbageChallenge(x evidence.Exchange) Judgement {
	if serverError(x) {
		return expect(x, "401 with WWW-Authenticate: Bearer").failed("a garbage token breaks the node while a good one works", describe(x)).
			Hinting("catch the error that the token library or the introspection call raises for an unreadable token, and answer 401")
	}
	if j, unclear := inconclusiveRefusal(x); unclear {
		return j
	}
	switch {
	case success(x):
		return Judgement{Outcome: Blocked, BlockedBy: "BRR-06", Reason: "the garbage token was not refused"}
	case !isRefusal(x):
		return expect(x, "401").unclear("the call with a garbage token was redirected elsewhere", describe(x)).Hinting(loginHint)
	case len(bearerChallenges(x)) == 0:
		return expect(x, "WWW-Authenticate: Bearer …").failed("the refusal of a garbage token has no Bearer challenge", describe(x)+", "+headerText(x, "WWW-Authenticate"))
	case x.Status() != 401:
		return expect(x, "401").warned("a garbage token is refused with a challenge, but not with 401", describe(x))
	}
	return Passed(x.Label)
}

// judgeGarbageError judges the error code in the challenge for a garbage token (BRR-08).
func judgeGarbageError(x evidence.Exchange) Judgement {
	challenges := bearerChallenges(x)
	if len(challenges) == 0 {
		return Inapplicable("the refusal of the garbage token has no Bearer challenge")
	}
	want, got := expect(x, "error=\"invalid_token\""), headerText(x, "WWW-Authenticate")
	switch code := attribute(challenges, "error"); code {
	case "invalid_token":
		return Passed(x.Label)
	case "invalid_request":
		return want.warned("the challenge says that the request is invalid, but only the token is invalid", got)
	case "":
		return want.failed("the challenge does not say that the token is invalid", got)
	default:
		return want.failed("the challenge names an error other than those of RFC 6750 for an invalid token", got)
	}
}

// judgeEmptyBearers is the check of BRR-11.
func judgeEmptyBearers(e Evidence) Judgement {
	var parts []Judgement
	for _, credential := range []struct {
		sent evidence.Case
		what string
	}{
		{"empty-bearer", "the call with an empty bearer credential"},
		{"blank-bearer", "the call with a blank bearer credential"},
	} {
		x, good := target(e, credential.sent)
		what := credential.what
		j, want := judgeRefusal(what, x, good), expect(x, "400 or 401")
		switch {
		case sameRedirect(x, good):
			j = want.warned(what+" could not be tried: the URL redirects before the token is checked", describe(x)).
				Hinting("record and test the URL that answers directly (INF-04)")
		case serverError(x):
			j = want.failed(what+" breaks the node", describe(x))
		case j.Outcome == Pass && x.Status() != 400 && x.Status() != 401:
			j = want.warned(what+" is refused, but neither with 400 nor 401", describe(x))
		}
		parts = append(parts, j)
	}
	return gather(parts...)
}

// sameRedirect reports whether an answer is the redirect that the good call got as well, such as to a path with a slash.
func sameRedirect(x, good evidence.Exchange) bool {
	return redirected(x) && success(good) && len(good.Redirects) > 0 && good.Redirects[0].Status == x.Status() &&
		slices.Equal(header(x, "Location"), evidence.Values(good.Redirects[0].Header, "Location"))
}

// judgeOtherSchemes is the check of BRR-12.
func judgeOtherSchemes(e Evidence) Judgement {
	x, good := target(e, "basic-scheme")
	basic := judgeRefusal("the call with Basic and a random secret", x, good)
	anonymous, _ := target(e, evidence.NoToken)
	if basic.Outcome == Pass && hasOnlyBasic(x) && hasOnlyBasic(anonymous) {
		basic = expect(x, "the node's own refusal").unclear("a front end with its own Basic login refuses the call, so the node itself was not tested", describe(x)+", "+headerText(x, "WWW-Authenticate")).
			Hinting("take the Basic protection off the staging site for the run, or test the production base")
	}
	y, good := target(e, "token-scheme")
	token := judgeRefusal("the call with the token under the scheme Token", y, good)
	if token.Outcome == Fail && success(y) { // only callers with a good token get in, so nothing is open to strangers
		token.Outcome = Warn
	}
	return gather(token, basic)
}

// judgeSchemeCase is the check of BRR-13.
func judgeSchemeCase(e Evidence) Judgement {
	var parts []Judgement
	for _, scheme := range []struct {
		sent    evidence.Case
		written string
	}{{"lower-scheme", "bearer"}, {"upper-scheme", "BEARER"}} {
		x, _ := target(e, scheme.sent)
		j, unclear := inconclusiveRefusal(x)
		switch {
		case unclear: // j says why
		case success(x):
			j = Passed(x.Label)
		case isRefusal(x):
			j = expect(x, "2xx as with Bearer").failed("a good token is refused when the scheme is written "+scheme.written, describe(x))
		default:
			j = expect(x, "2xx").unclear("the call with the scheme written "+scheme.written+" was redirected elsewhere", describe(x))
		}
		parts = append(parts, j)
	}
	j := gather(parts...)
	if x, _ := target(e, "two-blanks"); isRefusal(x) {
		j = j.Noting("two blanks after Bearer are refused; clients of this network send one")
	}
	return j
}

// judgeQueryToken is the check of BRR-14.
func judgeQueryToken(e Evidence) Judgement {
	if !e.Run.TokenInURL {
		return Inapplicable("the operator did not allow a token in a URL (--allow-token-in-url)")
	}
	if j, missing := e.missingAnswer(evidence.ProbeTarget.With("token-in-query")); missing {
		return j
	}
	x, good := target(e, "token-in-query")
	j := judgeRefusal("the call with the token in the query", x, good)
	if j.Outcome != Fail {
		return j
	}
	directives := cacheDirectives(x)
	_, private := directives["private"]
	_, unstored := directives["no-store"]
	if !private && !unstored {
		j = j.Noting("the answer may be stored by shared caches: Cache-Control has neither private nor no-store (RFC 6750 §2.3)")
	}
	return j
}

// withToken returns the label of the good call of the probe target, the positive control of most refusals.
func withToken() evidence.Label { return evidence.ProbeTarget.With(evidence.OK) }
