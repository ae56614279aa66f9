package requirement

import (
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// anonymousRefused checks BRR-01.
func anonymousRefused(e Evidence) Judgement {
	target := e.Roles.ProbeTarget
	if target == "" {
		return noneRefuses(e)
	}
	if j, lacks := e.lacking(target.With(exchange.NoToken)); lacks {
		return j
	}
	j := anonymousCall(e, target)
	if c, controlled := goodCall(e, target); j.Outcome == Pass && !controlled {
		return c
	}
	if j.Outcome != Pass || target == exchange.Info {
		return j
	}
	return gather(publicInfo(e), j)
}

// goodCall is the positive control of the anonymous call. Data that came without a token needs none.
func goodCall(e Evidence, r exchange.Resource) (Judgement, bool) {
	if r == exchange.Info && NewJudge(infoEndpoint(), e).Of("INF-01").Outcome == Fail {
		return Judgement{Outcome: Blocked, BlockedBy: "INF-01", Reason: "a refusal proves nothing here: the info endpoint refuses good tokens as well"}, false
	}
	return NewJudge(nil, e).controlled(Requirement{Control: r.With(exchange.OK)})
}

// anonymousCall judges the call of one resource without a token.
func anonymousCall(e Evidence, r exchange.Resource) Judgement {
	return refusal("the call without a token", e.The(r.With(exchange.NoToken)), e.The(r.With(exchange.OK)))
}

// publicInfo looks at the info endpoint when an operation is the probe target.
func publicInfo(e Evidence) Judgement {
	x, asked := e.Get(exchange.Info.With(exchange.NoToken))
	if asked && x.Answered() && (redirected(x) || success(x) && html(x)) && success(e.The(exchange.Info.With(exchange.OK))) {
		return Warned("the info endpoint sends callers without a token to a web page, most likely a login, which no API client understands", "401 without a token", describe(x)).
			Hinting(loginHint).about(x, "401", describe(x))
	}
	if !asked || anonymousCall(e, exchange.Info).Outcome != Fail {
		return Judgement{Outcome: Pass}
	}
	if authorizationTest(x) {
		return openAuthorizationTest(x)
	}
	return Warned("the info endpoint answers without a token, so as a test of the authorization it proves nothing", "401 without a token", describe(x)).
		Hinting("let the info endpoint ask for a token as the operations do; they refuse anonymous calls, so this alone costs no certificate").about(x, "401", describe(x))
}

// authorizationTest reports whether a URL has the segment "oauth" of the interface document's info path (NET-R13).
func authorizationTest(x exchange.Exchange) bool {
	return slices.Contains(segments(x.Request.URL), "oauth")
}

func openAuthorizationTest(x exchange.Exchange) Judgement {
	return Failed("the info endpoint lies under /oauth/, which declares it the authorization test, and answers without a token", "401 without a token", describe(x)).
		about(x, "401", describe(x))
}

// segments are the path segments of a URL in lower case.
func segments(raw string) []string {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	return strings.Split(strings.ToLower(u.Path), "/")
}

// noneRefuses judges a run in which discovery found nothing that refuses anonymous calls.
func noneRefuses(e Evidence) Judgement {
	info := e.The(exchange.Info.With(exchange.NoToken))
	infoCall := openToAll(e, exchange.Info)
	openInfo := infoCall.Outcome == Fail
	var open, doubtful []Judgement
	guarded, public := guardedOperations(e)
	for _, r := range guarded {
		if j := openToAll(e, r); j.Outcome == Fail {
			open = append(open, j)
		} else {
			doubtful = append(doubtful, j)
		}
	}
	onlyPublic := len(guarded) == 0 && public > 0
	switch {
	case (openInfo || len(open) > 0) && tryOut(e):
		return Missing("the given base is a try-out mode, which answers without a token by design (NET-R4); no certificate can be issued for it").Seen(info.Label)
	case openInfo && onlyPublic:
		return Missing("every operation is declared with security: []; no certificate can be issued for such a base").Seen(info.Label)
	case openInfo && authorizationTest(info):
		return gather(append([]Judgement{openAuthorizationTest(info)}, open...)...)
	case len(open) > 0:
		return gather(open...).Hinting("if this base is a try-out mode, give the production base; otherwise put the token check in front of every path, also when no identity provider is configured")
	case len(doubtful) > 0:
		return gather(doubtful...)
	case openInfo:
		return Unclear("only the info endpoint is known, and it answers without a token: nothing shows that tokens are checked").
			Hinting("protect the info endpoint, or let the run know the operations with --spec-url").about(info, "401", describe(info))
	}
	return infoCall
}

// guardedOperations are the executed operations that the document does not declare public, and how many it does.
func guardedOperations(e Evidence) (guarded []exchange.Resource, public int) {
	for _, r := range e.Roles.Operations {
		if declaredPublic(e, r) {
			public++
			continue
		}
		guarded = append(guarded, r)
	}
	return guarded, public
}

// openToAll judges the anonymous call of a resource that discovery did not take as the probe target. One that refuses it refuses the good
// token as well, or discovery would have taken it: that proves nothing.
func openToAll(e Evidence, r exchange.Resource) Judgement {
	if j, lacks := e.lacking(r.With(exchange.NoToken)); lacks {
		return j
	}
	j := anonymousCall(e, r)
	if good := e.The(r.With(exchange.OK)); j.Outcome == Pass && !success(good) {
		return Unclear("a call without a token is refused, but so is the call with a good token").about(good, "2xx", describe(good))
	}
	return j
}

// tryOut reports whether the given URLs name a try-out mode (T11).
func tryOut(e Evidence) bool {
	for _, raw := range []string{e.Run.InfoURL, e.Run.BaseURL, e.Roles.OperationBase} {
		for _, s := range segments(raw) {
			switch s {
			case "try-out", "tryout", "try_out", "tryitout":
				return true
			}
		}
	}
	return false
}

// operation finds the described operation behind a resource "op/<key>".
func operation(e Evidence, r exchange.Resource) (document.Operation, bool) {
	key, ok := strings.CutPrefix(string(r), "op/")
	if !ok || e.Spec == nil {
		return document.Operation{}, false
	}
	return e.Spec.Operation(key)
}

// declaredPublic reports whether the document says that an operation needs no token: security: [] or an empty alternative. A document
// without any word on security says nothing of the kind.
func declaredPublic(e Evidence, r exchange.Resource) bool {
	o, ok := operation(e, r)
	return ok && o.Security != nil && o.Security.Open
}
