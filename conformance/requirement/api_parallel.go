package requirement

import (
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file judges tokens that were requested at the same time as others and that the list refuses with 401. A server may accept only the newest token of a
// client. So a refusal is a fault only together with other evidence.

// signingHint is the fix for an authorization server that breaks tokens if it issues several at the same time.
const signingHint = "make the object that signs anew for each token, or lock it: signature and hash objects such as java.security.Signature hold the data of one token, and requests at the same time mix it up"

// judgeLostParallelTokens finds tokens that were requested at the same time as others and that the list refuses with 401: the published key does not verify
// the token, an older token of the same client is accepted, or the node keeps more tokens of a client than came since.
func judgeLostParallelTokens(e Evidence) []Judgement {
	if !success(e.exchange(e.Roles.List.With(evidence.OK))) {
		return nil
	}
	var parts []Judgement
	for _, client := range []evidence.Resource{evidence.TokenEndpoint, evidence.SecondClient} {
		calls, kept := parallelCallsOf(e, client), tokensKept(e)
		for _, c := range calls {
			if c.list.Status() != 401 || !refusedByNode(c.list) || c.mayHaveEnded() || c.handedOutAgain(e) {
				continue
			}
			subject := Subject{Name: resourceName(e, e.Roles.List), Label: c.list.Label, Expected: "that the token works until its stated end"}
			older := slices.IndexFunc(calls, func(o parallelCall) bool { return o.accepted() && o.olderThan(c) })
			switch v := c.issue.Verification; {
			case v != nil && !v.Verified:
				parts = append(parts, subject.failed("a token that was requested at the same time as others has a broken signature, and is refused", describe(c.list)).
					Hinting(signingHint).Seen(c.issue.Label))
			case older >= 0:
				parts = append(parts, subject.failed("a token that was requested at the same time as others is refused, and an older one of the same client is accepted", describe(c.list)).
					Hinting(signingHint).Seen(c.issue.Label, calls[older].list.Label))
			case newerTokens(e, c)+unrecordedRenewals <= kept:
				parts = append(parts, subject.failed("a token that was requested at the same time as others is refused, and earlier a token lived on although many came after it", describe(c.list)).
					Hinting(signingHint).Seen(c.issue.Label).Seen(e.Resolve(evidence.ProbeTarget.With("first-token"))...))
			}
		}
	}
	return withoutRepeats(parts)
}

// parallelCall is a call of the list with a token that was requested at the same time as others.
type parallelCall struct{ issue, list evidence.Exchange }

// parallelCallsOf returns the calls with the tokens of a client.
func parallelCallsOf(e Evidence, client evidence.Resource) (out []parallelCall) {
	n := 0
	for _, l := range slices.Concat(evidence.ParallelTokenRequests()...) {
		if l.Resource() != client {
			continue
		}
		n++
		label := e.Roles.List.With(evidence.ParallelTokenCase(n))
		if client == evidence.SecondClient {
			label = e.Roles.List.With("roleless-" + evidence.ParallelTokenCase(n))
		}
		if c := (parallelCall{e.exchange(l), e.exchange(label)}); isTokenAnswer(c.issue) && c.list.Answered() {
			out = append(out, c)
		}
	}
	return out
}

// accepted reports whether the node knew the token; the second client lacks the role.
func (c parallelCall) accepted() bool {
	return success(c.list) || c.list.Status() == 403 && refusedByNode(c.list) && c.issue.Label.Resource() == evidence.SecondClient
}

// olderThan reports whether the token came before the other one was requested, and is another token.
func (c parallelCall) olderThan(other parallelCall) bool {
	token, _ := tokenFacts(c.issue)
	next, _ := tokenFacts(other.issue)
	return !c.issue.Started.Add(c.issue.Duration).After(other.issue.Started) && token.Fingerprint != next.Fingerprint
}

// mayHaveEnded reports whether the stated life of the token was almost over.
func (c parallelCall) mayHaveEnded() bool {
	seconds, _, known := lifetime(c.issue)
	return !known || c.list.Started.Add(c.list.Duration).Sub(c.issue.Started) >= time.Duration(seconds*float64(time.Second))-transferTime
}

// handedOutAgain reports whether another answer brought the same token: its end may be earlier than that of its request.
func (c parallelCall) handedOutAgain(e Evidence) bool {
	own, _ := tokenFacts(c.issue)
	return slices.ContainsFunc(e.Exchanges, func(x evidence.Exchange) bool {
		t, ok := tokenFacts(x)
		return ok && t.Fingerprint == own.Fingerprint && x.Label != c.issue.Label
	})
}

// unrecordedRenewals bounds the renewals of a token between the bursts and the calls of the list; they are not recorded.
const unrecordedRenewals = 3

// tokensKept returns how many tokens came after the first token of the run while that still worked: the node keeps at least as many for a client.
func tokensKept(e Evidence) int {
	labels := e.Resolve(evidence.ProbeTarget.With("first-token"))
	if len(labels) == 0 || !success(e.exchange(labels[0])) {
		return 0
	}
	return tokensBetween(e, e.exchange(evidence.TokenEndpoint.With(evidence.OK)), e.exchange(labels[0]))
}

// newerTokens returns how many tokens of the client may have come after the token and before the call with it.
func newerTokens(e Evidence, c parallelCall) int { return tokensBetween(e, c.issue, c.list) }

// tokensBetween counts the other tokens of the same client that came between the request for a token and a call.
func tokensBetween(e Evidence, issue, call evidence.Exchange) int {
	own, _ := tokenFacts(issue)
	found := map[string]bool{}
	for _, x := range e.Exchanges {
		if t, ok := tokenFacts(x); ok && x.Label.Resource() == issue.Label.Resource() && x.Started.Add(x.Duration).After(issue.Started) && x.Started.Before(call.Started) && t.Fingerprint != own.Fingerprint {
			found[t.Fingerprint] = true
		}
	}
	return len(found)
}
