// Package makers holds the proof that the conformance suite is fair: nodes as they are built from well-known software, each
// written anew with data of its own, are certified, with exactly the warnings that their software earns. It has no code of its own.
package makers
