package requirement

import "github.com/rin-network/rin/conformance/evidence"

// findLockOfOthers judges the good token request that was sent right after another client had been locked out for wrong secrets. Only the document can promise
// that the lock is for one client: many servers count failures by address.
func findLockOfOthers(e Evidence) []Judgement {
	x := e.exchange(evidence.BesideLock)
	if e.Spec == nil || !e.Spec.LocksOneClient() || !clientError(x) || !refusedByNode(x) && !rateLimited(x) {
		return nil
	}
	return []Judgement{expect(x, "200 with an access token: the document says that wrong secrets lock out their own client").
		failed("wrong secrets of one client lock out another one, too", describeError(x)).
		Hinting("count failed attempts by client_id, not by address, institution or endpoint: behind one proxy, or in one institution, anybody could lock out the others")}
}
