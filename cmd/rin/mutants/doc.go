// Package mutants holds the proof that the conformance suite notices: for each deviation of the sandbox, exactly the requirements
// that the deviation says it breaks get worse on a live run. It has no code of its own; it is a test, and stands here because the
// command's tests are the one place where sandbox and conformance may meet.
package mutants
