// Package session wires one run: the journal that keeps the evidence, the redactor, the recorder that sends, the probes that ask,
// and the judge of the node's document. It decides nothing; it is the one place where those parts meet.
package session
