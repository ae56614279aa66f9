// Package target says which node is to be certified, with which credentials, and how gently.
//
// A [Target] is plain data that a person's flags become once, before anything is sent. It is checked as a whole by
// [Target.Validate], which tells every mistake at once with the flag that mends it. Its secrets travel in JSON to the
// worker's stdin and nowhere else: a [Secret] shows itself to no formatter and to no logger.
package target
