package requirement

import (
	"regexp"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// revokedTokens returns BRR-21, about a token that the run itself revokes.
func revokedTokens() []Requirement {
	list, detail := evidence.ListOperation, evidence.DetailOperation
	return []Requirement{{
		ID: "BRR-21", Title: "A revoked token is refused",
		Level: StandardMust, Gate: Gating, Profile: API,
		Source:   RFC(7009, "2.1").And(RFC(7009, "3")).And(RFC(7662, "4")),
		Quote:    "The invalidation takes place immediately, and the token cannot be used again after the revocation.",
		Probe:    "Where the metadata names a revocation endpoint at the origin of the token endpoint: a new token on the list and on a detail (requested again a second later, if the server had handed it out before), its revocation, and the same calls again. A call that is answered all the same is repeated a minute later. Before its revocation, the second client tries to revoke the token: it must stay good. Where a revoked token is refused, another one is revoked with the hint that it is a refresh token.",
		Forgives: "An authorization server without a revocation endpoint, or whose endpoint does not revoke access tokens; a server that hands out one token again and again; refusal within a minute, since answers of introspection may be cached (a warning); JWTs that the API reads on its own, where the document does not say that revoked ones are refused (a warning).",
		Fix:      "Ask the authorization server about each token (RFC 7662), and keep its answer for seconds, not for the life of the token; or let the revocation clear the cache. Where tokens are JWTs that nobody asks about, keep them short-lived, and take the revocation endpoint out of the metadata or check a list of revoked jti. Compare the client of the token with the one that authenticated: django-oauth-toolkit does so from 3.4.1 on.",
		Breaks:   "The API keeps what it has learnt about a token until the token expires.",
		Reads: []evidence.Label{revocableToken(), evidence.TokenEndpoint.With("to-revoke-later"), evidence.Revocation.With(evidence.OK), evidence.Revocation.With("by-another-client"), list.With("to-revoke"), list.With("revoked-by-another"), list.With("revoked"), evidence.TokenEndpoint.With("to-revoke-hinted"), list.With("to-revoke-hinted"), evidence.Revocation.With("hinted"), list.With("revoked-hinted"), list.With("revoked-again"),
			detail.With("to-revoke"), detail.With("revoked"), detail.With("revoked-again")},
		After: []ID{"TOK-01", "SPC-01", "SPC-03"}, Check: judgeRevokedTokens,
	}}
}

// revocableToken returns the label of the token request for the token that is revoked.
func revocableToken() evidence.Label { return evidence.TokenEndpoint.With("to-revoke") }

// judgeRevokedTokens is the check of BRR-21.
func judgeRevokedTokens(e Evidence) Judgement {
	if _, planned := e.Skipped(revocableToken()); !planned {
		if _, sent := e.Get(revocableToken()); !sent {
			return Inapplicable("this run did not look for a revocation endpoint")
		}
	}
	for _, label := range []evidence.Label{revocableToken(), evidence.Revocation.With(evidence.OK)} {
		if j, missing := e.missingAnswer(label); missing {
			return j
		}
	}
	if j, found := findForeignRevocation(e); found {
		return j
	}
	revocation := e.exchange(evidence.Revocation.With(evidence.OK))
	if revocation.Status() != 200 {
		return Inapplicable("the server did not revoke an access token: " + describeError(revocation)).Seen(revocation.Label)
	}
	var parts []Judgement
	for _, r := range []evidence.Resource{e.Roles.List, e.Roles.Detail} {
		before, x := e.exchange(r.With("to-revoke")), e.exchange(r.With("revoked"))
		if r == "" || !success(before) || !x.Answered() {
			continue
		}
		what := "a call of " + resourceName(e, r) + " with a revoked token"
		j := judgeRefusal(what, x, before).named(what)
		if j.Outcome == Fail {
			j = judgeAcceptedAfterRevocation(e, j, r, before)
		}
		parts = append(parts, j)
	}
	if len(parts) == 0 {
		return Inapplicable("no operation accepted the token before it was revoked")
	}
	return gather(append(parts, judgeHintedRevocation(e)...)...)
}

// judgeHintedRevocation judges the call with a token that was revoked with the hint of another type. The server must look for it among all types (RFC 7009
// §2.1).
func judgeHintedRevocation(e Evidence) []Judgement {
	x, revocation := e.exchange(e.Roles.List.With("revoked-hinted")), e.exchange(evidence.Revocation.With("hinted"))
	if !success(x) || revocation.Status() != 200 || !success(e.exchange(e.Roles.List.With("to-revoke-hinted"))) || isRefusal(e.exchange(e.Roles.List.With("revoked-again"))) {
		return nil // at a node that refuses a revoked token only after a while, the call was not repeated
	}
	return []Judgement{expect(x, "401").failed("a token that was revoked with token_type_hint=refresh_token is accepted, and the revocation was answered with 200", describe(x)).
		Hinting("look for a token among all types if it is not one of the hinted type (RFC 7009 §2.1)").Seen(revocation.Label)}
}

// findForeignRevocation returns a failure if the second client revoked a token of the first one: the server must check whose token it is (RFC 7009 §2.1).
func findForeignRevocation(e Evidence) (j Judgement, found bool) {
	before, x := e.exchange(e.Roles.List.With("to-revoke")), e.exchange(e.Roles.List.With("revoked-by-another"))
	if e.Roles.List == "" || !success(before) || x.Status() != 401 || !livesUntil(e, x.Started.Add(x.Duration)) {
		return j, false
	}
	revocation := e.exchange(evidence.Revocation.With("by-another-client"))
	return expect(x, "2xx, as before").failed("the second client revoked a token of the first one: the list accepted it before, and refuses it now", describe(x)).
		Hinting("let the revocation endpoint compare the client of the token with the client that authenticated (RFC 7009 §2.1)").Seen(revocation.Label, before.Label), true
}

// livesUntil reports whether the token that is to be revoked lives at least until then, by the expires_in of the answer that issued it.
func livesUntil(e Evidence, then time.Time) bool {
	issued := e.exchange(revocableToken())
	if later := e.exchange(evidence.TokenEndpoint.With("to-revoke-later")); success(later) {
		issued = later
	}
	seconds, stated := statedLife(issued)
	return stated && then.Before(issued.Started.Add(time.Duration(seconds*float64(time.Second))-transferTime))
}

// judgeAcceptedAfterRevocation turns the failure into a warning if the node accepted the token only for a while, or if it is a JWT that the API verifies on
// its own.
func judgeAcceptedAfterRevocation(e Evidence, j Judgement, r evidence.Resource, before evidence.Exchange) Judgement {
	later := e.exchange(r.With("revoked-again"))
	if later.Answered() && isRefusal(later) {
		j.Outcome = Warn
		return j.Noting("the token was refused a minute later").Seen(later.Label)
	}
	if facts, known := tokenFacts(e.exchange(revocableToken())); known && facts.JWT != nil && !promisesRevocation(e) {
		j.Outcome = Warn
		return j.Noting("the token is a JWT, which the API may read without asking (RFC 7009 §3)")
	}
	return j
}

// promisesRevocation reports whether the document says that revoked tokens are refused.
func promisesRevocation(e Evidence) bool {
	promise := regexp.MustCompile(`(?i)\brevoked?\b[^.]{0,120}\b(refused|rejected|401|no longer|not accepted|not valid|invalid)\b`)
	return e.Spec.SaysOfAll(promise) || slices.ContainsFunc(e.Roles.Operations, func(r evidence.Resource) bool {
		o, ok := operation(e, r)
		return ok && e.Spec.Says(o, promise)
	})
}
