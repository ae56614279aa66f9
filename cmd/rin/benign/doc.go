// Package benign holds the proof that the conformance suite does not cry wolf: nodes that behave well in unusual ways are certified,
// alone and in combination, with no failure and with no other warning than those that their habits are known to earn. It has no code
// of its own; it is a test, and stands here because the command's tests are the one place where sandbox and conformance may meet.
//
// make benign certifies a node with each habit alone, and with many combinations. make test gives each node twenty of the habits, so
// that every one of them is met, and draws fewer combinations, all in one process. RIN_BENIGN chooses habits by name.
package benign
