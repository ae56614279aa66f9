// Package suite is the certification as a Ginkgo suite: one It per requirement, in catalogue order.
//
// It is what the worker runs, and what somebody else's suite can hold: [Register] adds one ordered container to the tree
// that is being built. The container's BeforeAll starts discovery and probing and never fails; each It waits for the exchanges that its
// requirement reads, judges them, and fails only when the outcome blocks the profile. Judging is the same pure function as
// offline: this package adds waiting and telling.
package suite
