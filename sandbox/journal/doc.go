// Package journal remembers what clients sent to a network and what they got: the answer to "what did my client do, and what was
// wrong with it?". It holds the newest requests within a bound of number and bytes, and says how many it let go.
//
// [Journal.Watch] stands before a node and puts a [Note] into the context of each request; who learns something about the request
// (token endpoint, guard, problem, list) writes it there, so that nothing is parsed twice. When the request ends, the note becomes
// one [Entry]. No entry holds a secret or a token: where one stood, there is a fingerprint, equal for equal values and of no use
// outside this journal.
package journal
