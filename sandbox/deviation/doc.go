// Package deviation is the catalogue of ways in which the sandbox can misbehave: each breaks named requirements, so
// that a conformance suite can be shown to notice. There is one seam: a deviation wraps the handler of the whole
// node. It sees requests before the node and answers after it, and never touches the node's insides; what it needs
// to know is in its Env. Each table of deviations has a file of its own; what tables are written with is in answer.go, edit.go,
// wrap.go, form.go and credential.go.
//
// Benign deviations break nothing: they are unusual ways to be right, each with a name in the field, so that a conformance suite can be
// shown not to cry wolf. Their tables are in the files benign_*.go.
package deviation
