package requirement

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file holds the check of BRR-10. A refusal proves something only if the token was good before it expired: a node also refuses a string that never was a token.

// judgeExpiredTokens is the check of BRR-10.
func judgeExpiredTokens(e Evidence) Judgement {
	if !e.Run.ExpiredToken && e.Run.Wait <= 0 {
		return Inapplicable("no wait for a token to expire was allowed (--wait), and no expired token was given (--expired-token)")
	}
	calls := []evidence.Case{"expired"}
	// Evidence of earlier versions lacks this case.
	if used := e.Roles.ProbeTarget.With("expired-in-use"); slices.Contains(e.Planned, used) {
		calls = append(calls, "expired-in-use")
	}
	var parts, unproven []Judgement
	for _, c := range calls {
		j, proven := judgeExpiredCall(e, c)
		if !proven {
			unproven = append(unproven, j)
			continue
		}
		parts = append(parts, j)
	}
	if len(unproven) > 0 && !slices.ContainsFunc(parts, func(j Judgement) bool { return j.Outcome == Pass }) {
		parts = append(parts, unproven...)
	}
	return gather(append(parts, judgeExpiredAtOperations(e)...)...)
}

// judgeExpiredAtOperations judges the same calls of the list and of the detail, as far as they prove something: a node may have several guards, each with its
// own cache of verified tokens. API-08 judges operations that accept any token.
func judgeExpiredAtOperations(e Evidence) []Judgement {
	var parts []Judgement
	for _, r := range []evidence.Resource{e.Roles.List, e.Roles.Detail} {
		good := e.exchange(r.With(evidence.OK))
		if r == "" || r == e.Roles.ProbeTarget || !success(good) || success(e.exchange(r.With("tampered"))) {
			continue
		}
		for _, c := range []evidence.Case{"expired", "expired-in-use"} {
			x, sent := e.Get(r.With(c))
			if !sent || !x.Answered() {
				continue
			}
			if j, proven := judgeExpired(e, x, good); proven && (j.Outcome == Pass || j.Outcome == Fail) {
				parts = append(parts, j)
			}
		}
	}
	return parts
}

// judgeExpiredCall judges the call with one expired token. proven is false if nothing shows that the node refuses the token for its age.
func judgeExpiredCall(e Evidence, c evidence.Case) (j Judgement, proven bool) {
	if j, missing := e.missingAnswer(evidence.ProbeTarget.With(c)); missing {
		return j, true
	}
	x, good := target(e, c)
	return judgeExpired(e, x, good)
}

// judgeExpired judges a call with an expired token; good is the same call with a good one.
func judgeExpired(e Evidence, x, good evidence.Exchange) (j Judgement, proven bool) {
	if at, alive := stillAlive(x); alive {
		exp := at.UTC().Format(time.RFC3339)
		return expect(x, "an expired token").unclear("the token that was given as expired is too young: its exp is "+exp, "exp "+exp).
			Hinting("give a token of this client whose exp is two minutes ago or more"), true
	}
	j = judgeRefusal("the call "+x.Words, x, good)
	if j.Outcome == Fail {
		j = judgeSecondAcceptance(e, x, good, j)
	}
	if j.Outcome != Pass && j.Outcome != Fail {
		return j, true
	}
	if doubt := tokenDoubt(e, x, j.Outcome == Fail); doubt != "" {
		hint := "leave out --expired-token and give --wait: the run then uses a token of its own until it expires"
		if _, _, _, isJWT := jwtOf(e); isJWT {
			hint = "give a JWT of this client that has expired since, of the issuer and key in use; or " + hint
		}
		return expect(x, "an expired token that was good before").unclear("a refusal proves nothing here: "+doubt, describe(x)).Hinting(hint), false
	}
	return j, true
}

// judgeSecondAcceptance judges the second call, a minute after the expired token was accepted.
func judgeSecondAcceptance(e Evidence, x, good evidence.Exchange, first Judgement) Judgement {
	label := x.Label.Resource().With(x.Label.Case() + "-again")
	if j, missing := e.missingAnswer(label); missing {
		return j
	}
	y := e.exchange(label)
	if later := judgeRefusal("the call "+x.Words+", a minute later,", y, good); later.Outcome != Fail {
		return later.Noting("an expired token was accepted at first and refused a minute later: a cache keeps it longer than its lifetime")
	}
	return first
}

// tokenDoubt returns why nothing shows that a token was good and has expired since, or "" if something does. A token that is accepted is good, so only its
// age is in doubt.
func tokenDoubt(e Evidence, x evidence.Exchange, accepted bool) string {
	isGiven := x.Given["token"] == "given"
	t := x.Presented
	switch {
	case isGiven && t == nil:
		return "the recording has no facts about the expired token"
	case isGiven && t.JWT == nil:
		return "the token that was given is opaque, so nothing shows that it was good before it expired"
	case isGiven && !hasExpiry(*t.JWT):
		return "the token that was given does not say when it expires (exp)"
	case accepted, t != nil && seenWorking(e, x):
		return ""
	case t == nil:
		return "the recording has no facts about the expired token"
	case t.JWT == nil:
		return "the token was not seen to work before it expired"
	}
	return differenceFromLive(e, x, *t.JWT, isGiven)
}

func hasExpiry(t evidence.JWTFacts) bool {
	exp, isNumber := number(t.Claims["exp"])
	return isNumber && exp > 0
}

// seenWorking reports whether the resource accepted the token of x in an earlier call.
func seenWorking(e Evidence, x evidence.Exchange) bool {
	fingerprint := ":" + x.Presented.Fingerprint + ":"
	return slices.ContainsFunc(e.Exchanges, func(y evidence.Exchange) bool {
		return y.Label.Resource() == x.Label.Resource() && success(y) && y.Started.Before(x.Started) &&
			strings.Contains(strings.Join(evidence.Values(y.Request.Header, "Authorization"), " "), fingerprint)
	})
}

// differenceFromLive returns the difference between a presented JWT and the live one for which a node may refuse it, or "". A server may change its key
// during a run, so only a token that was given must have the key in use.
func differenceFromLive(e Evidence, x evidence.Exchange, t evidence.JWTFacts, isGiven bool) string {
	_, live, _, isJWT := jwtOf(e)
	if !isJWT {
		return "the expired token is a JWT, and the live one is opaque"
	}
	named := false
	for _, claim := range []string{"client_id", "azp", "sub"} {
		if !reflect.DeepEqual(t.Claims[claim], live.Claims[claim]) {
			return "the expired token belongs to another client: its " + claim + " differs from that of the live one"
		}
		named = named || live.Claims[claim] != nil
	}
	switch {
	case !named:
		return "neither the expired token nor the live one names its client"
	case !reflect.DeepEqual(t.Claims["iss"], live.Claims["iss"]):
		return "the expired token has another issuer than the live one"
	case !isGiven:
	case !reflect.DeepEqual(t.Header["alg"], live.Header["alg"]):
		return "the expired token is signed with another algorithm than the live one"
	case !reflect.DeepEqual(t.Header["kid"], live.Header["kid"]):
		return "the expired token is signed with another key than the live one: its kid differs"
	case live.Header["kid"] == nil && (x.Verification == nil || !x.Verification.Verified):
		return "nothing shows that the key of the live token signed the expired one: neither token names a key, and no published key verifies the expired one"
	case x.Verification != nil && !x.Verification.Verified:
		return "the published keys do not verify the expired token: " + clip(x.Verification.Why)
	}
	return ""
}

// stillAlive reports whether a token was presented before its own expiry. An accepted token has a minute of leeway, because clocks may
// differ.
func stillAlive(x evidence.Exchange) (until time.Time, alive bool) {
	if x.Presented == nil || x.Presented.JWT == nil {
		return until, false
	}
	exp, isNumber := number(x.Presented.JWT.Claims["exp"])
	if !isNumber || exp <= 0 || exp > millisecondLike {
		return until, false
	}
	until = time.Unix(int64(exp), 0)
	leeway := time.Minute
	if refusedByNode(x) {
		leeway = 0
	}
	return until, answeredAt(x).Before(until.Add(leeway))
}
