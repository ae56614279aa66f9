// Package hostile certifies nodes that are out to hurt whoever tests them, with the built binary. Each attack is a value in the
// table of its theme; every run must end in time, in little memory and with a verdict that names the cause, ask nothing of
// places that the node names, and write nothing that acts on a terminal, a browser, an XML reader or a Markdown renderer.
//
// make hostile runs all attacks, of which many take seconds. make test runs those that are typical of their theme, all with one
// binary and side by side. RIN_HOSTILE chooses by name.
package hostile
