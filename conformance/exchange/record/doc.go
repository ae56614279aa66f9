// Package record sends labelled requests to a node and turns each into one exchange of the evidence.
//
// Everything from a node is taken as hostile: an answer is bounded in header, body, time and decoded size, nothing is followed
// or decoded behind the prober's back, and there are no cookies and no proxies. Everything sent is taken as precious: a
// credential goes to allowed origins only, and each exchange is redacted before it enters the journal. The prober gets the
// answer as it came, in memory.
//
// Rules of politeness and repetition (T4 of the catalogue) live here, so that no probe can forget them.
package record
