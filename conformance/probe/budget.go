package probe

import (
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
)

// operationRoom is how many requests the operations of a document may take, the funding operations included.
const operationRoom = 120

// documentRoom is how many requests a document may bring about: its operations, and what the themes ask because of it.
func documentRoom(t target.Target) int {
	room := operationRoom
	for _, th := range themes() {
		if th.forDocumentMost != nil {
			room += th.forDocumentMost(t)
		}
	}
	return room
}

// Budget is the number of requests of a run at most: the plan for the target, for a probe target, for the operations of a
// document and for the listed endpoints, and a quarter of all that for repeats, redirects and fresh tokens.
func Budget(t target.Target) int {
	n := ForTarget(t).With(ForProbeTarget(t, exchange.Info)).Requests()
	if wantsFunding(t) {
		n += documentRoom(t) + ForEndpoints(maxEndpoints, nil).Requests()
	}
	return n + (n+3)/4
}
