// Package quiet keeps every command of a binary from asking the terminal for its colours before main begins.
//
// Bubble Tea 1 does so in an init function: it writes a query and waits up to five seconds for the answer, although most commands have no
// interface. The library behind it asks nothing where the variable CI is set. Go initialises packages that are ready in the order of their
// import paths, and this one needs the standard library alone, so that it comes before golang.org/x/sys and all that builds on it: the
// variable is there while Bubble Tea starts, and [End] takes it away. Who needs the colours asks for them, see package terminal.
package quiet

import (
	"os"
)

const variable = "CI"

// begun tells whether the variable was set here. It is a package variable because only initialisation comes early enough.
var begun = begin()

func begin() bool {
	if _, set := os.LookupEnv(variable); set {
		return false
	}
	return os.Setenv(variable, "rin") == nil
}

// End puts the environment back to what it was; it is the first thing that main does.
func End() {
	if begun {
		begun = false
		_ = os.Unsetenv(variable) // it was set a moment ago
	}
}
