package requirement

import (
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// anonymousAccess returns BRR-01, about calls without a token.
func anonymousAccess() []Requirement {
	return []Requirement{{
		ID: "BRR-01", Title: "A call without a token is refused",
		Level: StandardMust, Gate: Gating, Profile: Auth,
		Source:   RFC(6749, "7").And(NET("R12")),
		Quote:    validateToken,
		Probe:    "A GET of the info endpoint and of each operation without Authorization, before the first authorized call. Every other request of the run without a credential that got protected data counts as well.",
		Forgives: "400, 403, 404 or any other 4xx without data instead of 401; an open info endpoint if another operation refuses anonymous calls (a warning; not under an /oauth/ path, where it is declared to be the authorization test); operations declared with security: [] and try-out bases, which never earn a certificate. A login page, or a 500 each time while a good token works, is not a refusal.",
		Fix:      "Refuse requests without a valid token on every protected path: Spring Security authorizeHttpRequests(a -> a.anyRequest().authenticated()) with oauth2ResourceServer(); nginx auth_request on the location; Flask: fail at start when the identity provider is not configured, instead of leaving the check out.",
		Breaks:   "A node that answers anonymous calls with 200 everywhere; wrong tokens are still refused.",
		Reads: slices.Concat(onTarget(evidence.NoToken, evidence.OK), []evidence.Label{
			evidence.Info.With(evidence.NoToken), evidence.Info.With(evidence.OK),
			evidence.EveryOperation.With(evidence.NoToken), evidence.EveryOperation.With(evidence.OK),
		}),
		After: []ID{"TOK-01"}, Breach: findUnclaimed("BRR-01"), Check: judgeAnonymousAccess,
	}}
}

// judgeAnonymousAccess is the check of BRR-01.
func judgeAnonymousAccess(e Evidence) Judgement {
	target := e.Roles.ProbeTarget
	if target == "" {
		return judgeWithoutProbeTarget(e)
	}
	if j, missing := e.missingAnswer(target.With(evidence.NoToken)); missing {
		return j
	}
	j := judgeAnonymousRefusal(e, target)
	if c, failed := failedAnonymousControl(e, target); j.Outcome == Pass && failed {
		return c
	}
	if j.Outcome != Pass || target == evidence.Info {
		return j
	}
	return gather(judgePublicInfo(e), j)
}

// failedAnonymousControl returns a judgement if the positive control of the anonymous call, the call with a good token, failed.
func failedAnonymousControl(e Evidence, r evidence.Resource) (j Judgement, failed bool) {
	if r == evidence.Info && e.judge("INF-01").Outcome == Fail {
		return Judgement{Outcome: Blocked, BlockedBy: "INF-01", Reason: "a refusal proves nothing here: the info endpoint refuses good tokens as well"}, true
	}
	return e.failedControl(r.With(evidence.OK))
}

// judgeAnonymousCall judges the call of one resource without a token.
func judgeAnonymousCall(e Evidence, r evidence.Resource) Judgement {
	return judgeRefusal("the call without a token", e.exchange(r.With(evidence.NoToken)), e.exchange(r.With(evidence.OK)))
}

// judgeAnonymousRefusal is [judgeAnonymousCall], except that a login page or a repeated 500 is a failure ([judgeClearRefusal]).
func judgeAnonymousRefusal(e Evidence, r evidence.Resource) Judgement {
	return judgeClearRefusal("the call without a token", e.exchange(r.With(evidence.NoToken)), e.exchange(r.With(evidence.OK)))
}

// judgeClearRefusal is [judgeRefusal], except that a login page or a repeated 500 fails if the resource answers the good token: neither tells callers that a
// good token is missing.
func judgeClearRefusal(what string, x, good evidence.Exchange) Judgement {
	want := expect(x, "401, or another 4xx without data")
	switch {
	case !success(good):
		return judgeRefusal(what, x, good)
	case redirected(x) && !sameRedirect(x, good), success(x) && isHTML(x) && !isHTML(good):
		return want.failed(what+" is sent to a web page, most likely a login, which no API client understands", describe(x)).Hinting(loginHint)
	case x.Status() == 500 && x.Attempts > 1:
		return want.failed(what+" breaks the node, also when repeated, while a good token works", describe(x)).
			Hinting("check that there is an Authorization header before its token is read, and answer 401 if there is none")
	}
	return judgeRefusal(what, x, good)
}

// judgePublicInfo judges the info endpoint if an operation is the probe target.
func judgePublicInfo(e Evidence) Judgement {
	x, sent := e.Get(evidence.Info.With(evidence.NoToken))
	want := expect(x, "401 without a token")
	if sent && x.Answered() && (redirected(x) || success(x) && isHTML(x)) && success(e.exchange(evidence.Info.With(evidence.OK))) {
		const reason = "the info endpoint sends callers without a token to a web page, most likely a login, which no API client understands"
		if isAuthorizationTest(x) {
			return want.failed(reason, describe(x)).Hinting(loginHint)
		}
		return want.warned(reason, describe(x)).Hinting(loginHint)
	}
	if j := judgeAnonymousRefusal(e, evidence.Info); x.Status() == 500 && j.Outcome == Fail {
		return j
	}
	if !sent || judgeAnonymousCall(e, evidence.Info).Outcome != Fail {
		return Judgement{Outcome: Pass}
	}
	if isAuthorizationTest(x) {
		return failOpenAuthorizationTest(x)
	}
	return want.warned("the info endpoint answers without a token, so it proves nothing about the authorization", describe(x)).
		Hinting("let the info endpoint require a token, as the operations do; because the operations refuse anonymous calls, an open info endpoint alone does not cost the certificate")
}

// isAuthorizationTest reports whether a URL has the segment "oauth" of the interface document's info path (NET-R13).
func isAuthorizationTest(x evidence.Exchange) bool {
	return slices.Contains(segments(x.Request.URL), "oauth")
}

// failOpenAuthorizationTest returns the failure of an info endpoint that answers anonymous calls under the path of the authorization test.
func failOpenAuthorizationTest(x evidence.Exchange) Judgement {
	return expect(x, "401 without a token").failed("the info endpoint is under /oauth/, which declares it the authorization test, and answers without a token", describe(x))
}

// segments returns the path segments of a URL in lower case.
func segments(raw string) []string {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	return strings.Split(strings.ToLower(u.Path), "/")
}

// judgeWithoutProbeTarget judges a run in which discovery found no resource that refuses anonymous calls.
func judgeWithoutProbeTarget(e Evidence) Judgement {
	info := e.exchange(evidence.Info.With(evidence.NoToken))
	infoCall := judgeOtherAnonymousCall(e, evidence.Info)
	openInfo := infoCall.Outcome == Fail
	var open, misdirected, doubtful []Judgement // misdirected are resources that send anonymous callers to a web page, or break
	guarded, public := guardedOperations(e)
	for _, r := range guarded {
		if j := judgeOtherAnonymousCall(e, r); j.Outcome == Fail {
			open = append(open, j)
		} else if refused := judgeAnonymousRefusal(e, r); refused.Outcome == Fail {
			misdirected = append(misdirected, refused)
		} else {
			doubtful = append(doubtful, j)
		}
	}
	if j := judgeAnonymousRefusal(e, evidence.Info); !openInfo && j.Outcome == Fail {
		misdirected = append([]Judgement{j}, misdirected...)
	}
	onlyPublic := len(guarded) == 0 && public > 0
	switch {
	case (openInfo || len(open) > 0) && isTryOutRun(e):
		return Inapplicable("the given base is a try-out mode, which answers without a token by design (NET-R4); no certificate can be issued for it").Seen(info.Label)
	case openInfo && onlyPublic:
		return Inapplicable("every operation is declared with security: []; no certificate can be issued for such a base").Seen(info.Label)
	case openInfo && isAuthorizationTest(info):
		return gather(append([]Judgement{failOpenAuthorizationTest(info)}, open...)...)
	case len(open) > 0:
		return gather(open...).Hinting("if this base is a try-out mode, give the production base; otherwise put the token check in front of every path, also when no identity provider is configured")
	case len(misdirected) > 0:
		return gather(misdirected...)
	case len(doubtful) > 0:
		return gather(doubtful...)
	case openInfo:
		return expect(info, "401").unclear("only the info endpoint is known, and it answers without a token: nothing shows that tokens are checked", describe(info)).
			Hinting("protect the info endpoint, or let the run know the operations with --spec-url")
	}
	return infoCall
}

// guardedOperations returns the executed operations that the document does not declare public, and the number of those that it does.
func guardedOperations(e Evidence) (guarded []evidence.Resource, public int) {
	for _, r := range e.Roles.Operations {
		if declaredPublic(e, r) {
			public++
			continue
		}
		guarded = append(guarded, r)
	}
	return guarded, public
}

// judgeOtherAnonymousCall judges the anonymous call of a resource that is not the probe target. A refusal proves nothing: the resource refuses the good
// token as well, or else discovery would have chosen it as the probe target.
func judgeOtherAnonymousCall(e Evidence, r evidence.Resource) Judgement {
	if j, missing := e.missingAnswer(r.With(evidence.NoToken)); missing {
		return j
	}
	j := judgeAnonymousCall(e, r)
	if good := e.exchange(r.With(evidence.OK)); j.Outcome == Pass && !success(good) {
		return expect(good, "2xx").unclear("a call without a token is refused, but so is the call with a good token", describe(good))
	}
	return j
}

// isTryOutRun reports whether the given URLs name a try-out mode.
func isTryOutRun(e Evidence) bool {
	return slices.ContainsFunc([]string{e.Run.InfoURL, e.Run.BaseURL, e.Roles.OperationBase}, isTryOutURL)
}

// isTryOutURL reports whether a URL belongs to a try-out mode, which answers without a token by design (NET-R4).
func isTryOutURL(raw string) bool {
	return slices.ContainsFunc(segments(raw), func(s string) bool {
		return slices.Contains([]string{"try-out", "tryout", "try_out", "tryitout"}, s)
	})
}

// operation returns the described operation of a resource "op/<key>".
func operation(e Evidence, r evidence.Resource) (openapi.Operation, bool) {
	key, ok := strings.CutPrefix(string(r), "op/")
	if !ok || e.Spec == nil {
		return openapi.Operation{}, false
	}
	return e.Spec.Operation(key)
}

// declaredPublic reports whether the document declares an operation public, or the operation belongs to a try-out mode.
func declaredPublic(e Evidence, r evidence.Resource) bool {
	o, ok := operation(e, r)
	return ok && (e.Spec.Public(o) || isTryOutURL(e.exchange(r.With(evidence.NoToken)).Request.URL))
}
