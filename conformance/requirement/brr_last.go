package requirement

import (
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// This file holds the bearer rules that are asked last: an expired token (BRR-10) and a token in a URL (BRR-14).

func expiredToken() Requirement {
	return Requirement{
		ID: "BRR-10", Title: "An expired token is refused",
		Level: StandardMust, Gate: Gating, Profile: Full,
		Source:   RFC(6749, "7").And(RFC(7519, "4.1.4")),
		Quote:    validateToken,
		Probe:    "A GET of the probe target with a token that was kept until 130 seconds after its expiry, or with an expired one that the operator gave; a second time a minute later if the first was answered.",
		Forgives: "Clocks that differ by up to two minutes; caches of introspection answers that live a minute. It does not apply when the token lives longer than the run may wait (--wait) and no --expired-token was given. Wherever it is judged, it gates.",
		Fix:      "Compare exp with the time at each request, also for tokens that a cache has verified before: Spring Security's JwtTimestampValidator with a skew of a minute, PyJWT without verify_exp: False; let an introspection cache end with the token.",
		Breaks:   "exp is not checked.",
		Reads:    onTarget(exchange.Expired, exchange.ExpiredAgain, exchange.OK),
		After:    []ID{"BRR-06"}, Control: withToken(), Check: expiredRefused,
	}
}

func tokenInURL() Requirement {
	return Requirement{
		ID: "BRR-14", Title: "Token in the query string is not accepted",
		Level: StandardShould, Gate: Advice, Profile: Full,
		Source:   RFC(6750, "2.3").And(RFC(9700, "4.3.2")),
		Quote:    "Because of the security weaknesses associated with the URI method (see Section 5), including the high likelihood that the URL containing the access token will be logged, it SHOULD NOT be used",
		Probe:    "A GET of the probe target with a throw-away token in the parameter access_token and no Authorization, last in the run. It leaves the token in access logs: only with --allow-token-in-url.",
		Forgives: "Any 4xx of the node.",
		Fix:      "Read the token from the Authorization header alone: Spring Security's DefaultBearerTokenResolver with setAllowUriQueryParameter(false), which is the default; passport-jwt's fromAuthHeaderAsBearerToken().",
		Breaks:   "A token in the query is accepted.",
		Reads:    onTarget(exchange.TokenInQuery, exchange.OK),
		After:    []ID{"BRR-01"}, Control: withToken(), Check: queryTokenRefused,
	}
}

func expiredRefused(e Evidence) Judgement {
	if !e.Run.ExpiredToken && e.Run.Wait <= 0 {
		return Missing("the lifetime of the token exceeds the wait budget: no wait was allowed (--wait), and no expired token was given (--expired-token)")
	}
	if j, lacks := e.lackingOf(exchange.ProbeTarget.With(exchange.Expired)); lacks {
		return j
	}
	x, good := target(e, exchange.Expired)
	if at, alive := stillAlive(x, leeway(x)); alive {
		return Unclear("the token that was given as expired is too young to tell: its exp is "+at.UTC().Format(time.RFC3339)).
			Hinting("give a token of this client whose exp is two minutes ago or more").about(x, "an expired token", "exp "+at.UTC().Format(time.RFC3339))
	}
	j := refusal("the call with an expired token", x, good)
	if j.Outcome != Fail {
		return j
	}
	if again, lacks := e.lackingOf(exchange.ProbeTarget.With(exchange.ExpiredAgain)); lacks {
		return again
	}
	y, _ := target(e, exchange.ExpiredAgain)
	if later := refusal("the call with an expired token, a minute later,", y, good); later.Outcome != Fail {
		return later.Noting("an expired token was accepted once, and no longer when it was tried again: a cache outlives it")
	}
	return j
}

// leeway is what clocks may differ by. A refusal needs none: it is right from the second of the expiry on.
func leeway(x exchange.Exchange) time.Duration {
	if refused(x) {
		return 0
	}
	return time.Minute
}

// stillAlive reports that a token was presented before its own expiry and some leeway.
func stillAlive(x exchange.Exchange, leeway time.Duration) (until time.Time, alive bool) {
	if x.Presented == nil || x.Presented.JWT == nil {
		return until, false
	}
	exp, isNumber := number(x.Presented.JWT.Claims["exp"])
	if !isNumber || exp <= 0 || exp > millisecondLike {
		return until, false
	}
	until = time.Unix(int64(exp), 0)
	now, _ := nodeTime(x)
	return until, now.Before(until.Add(leeway))
}

func queryTokenRefused(e Evidence) Judgement {
	if !e.Run.TokenInURL {
		return Missing("the operator did not allow a token in a URL (--allow-token-in-url)")
	}
	if j, lacks := e.lackingOf(exchange.ProbeTarget.With(exchange.TokenInQuery)); lacks {
		return j
	}
	x, good := target(e, exchange.TokenInQuery)
	j := refusal("the call with the token in the query", x, good)
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
