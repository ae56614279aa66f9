package probe

import (
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
)

// How many requests the operations of a document may take. The catalogue's figures are for a document of a few operations; more of
// them need more requests, since a route that nobody tried is the one that was forgotten.
const (
	// guardedRoom is for sixty operations: without a token, with one, with one that is none.
	guardedRoom = 3 * 60
	// fundingRoom is for what is asked of the list and the detail beyond that.
	fundingRoom = 90
	// everywhereRoom is for all odd credentials on each of sixty operations.
	everywhereRoom = 20 * 60
)

// Room is how many requests a document may bring about, whatever it describes: its operations, and what the themes ask because of it.
func Room(t target.Target) int {
	room := guardedRoom + fundingRoom
	if everywhere(t) {
		room += everywhereRoom
	}
	for _, th := range themes() {
		if th.forDocumentMost != nil {
			room += th.forDocumentMost(t)
		}
	}
	return room
}

// everywhere reports that each operation is tried with everything: on this machine, or when the operator asks for it.
func everywhere(t target.Target) bool { return (t.Thorough || t.Loopback()) && !t.Quick }

// Budget is the number of requests of a run at most, whatever the node's document describes. [Budgeted] tells less, once the document
// is read.
func Budget(t target.Target) int {
	n := 0
	if wantsFunding(t) {
		n = Room(t)
	}
	return Budgeted(t, n)
}

// Budgeted is the number of requests of a run whose document takes so many: beside them the plan for the target, for a probe target and
// for the listed endpoints, and a quarter of all that for repeats, redirects and fresh tokens.
func Budgeted(t target.Target, document int) int {
	n := ForTarget(t).With(ForProbeTarget(t, exchange.Info)).Requests()
	if wantsFunding(t) {
		n += document + ForEndpoints(maxEndpoints, nil).Requests()
	}
	return n + (n+3)/4
}
