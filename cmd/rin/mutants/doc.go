// Package mutants holds the proof that the conformance suite notices: for each deviation of the sandbox, exactly the requirements
// that the deviation says it breaks get worse on a live run. It has no code of its own; it is a test, and stands here because the
// command's tests are the one place where sandbox and conformance may meet.
//
// make mutants measures every deviation and records the matrix. make test measures one for every sixth requirement of each group, all
// in one process, and asserts that the recorded matrix is of the deviations and requirements at hand. RIN_MUTANTS chooses by name.
package mutants
