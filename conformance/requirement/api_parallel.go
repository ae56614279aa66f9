package requirement

import (
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file judges tokens that were requested at the same time as others and that the list refuses with 401. A server may accept only the newest token of a
// client, so such a refusal alone is no fault.

// signingHint is the fix for an authorization server that breaks tokens if it issues several at the same time.
const signingHint = "make the object that signs anew for each token, or lock it: signature and hash objects such as java.security.Signature hold the data of one token, and requests at the same time mix it up"

// judgeLostParallelTokens finds tokens that were requested at the same time as others and that the list refuses with 401: the published key does not verify
// the token, or an older token of the same client is accepted.
func judgeLostParallelTokens(e Evidence) []Judgement {
	if !success(e.exchange(e.Roles.List.With(evidence.OK))) {
		return nil
	}
	var parts []Judgement
	for _, client := range []evidence.Resource{evidence.TokenEndpoint, evidence.SecondClient} {
		calls := parallelCallsOf(e, client)
		for _, c := range calls {
			if c.list.Status() != 401 || !refusedByNode(c.list) || c.mayHaveEnded() {
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
