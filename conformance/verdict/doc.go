// Package verdict decides what the judgements of one run are worth: certified, not certified, to be repeated, or partial.
//
// Outcome is what was seen, gate is what it costs; this package is the only place where the two meet. [Decide] is a pure function
// of the catalogue, the judgements and the evidence, so everybody who holds the evidence comes to the same decision.
package verdict
