// Package quiet keeps Bubble Tea from querying the terminal before main begins.
//
// Bubble Tea 1 queries the colours of the terminal in an init function and waits up to five seconds for the answer, although most commands
// of the binary have no interface. Its library sends no query if the variable CI is set. Go initialises packages in the order of their import
// paths as soon as their imports are ready. This package imports the standard library only, so it comes before golang.org/x/sys and
// everything that builds on it: the variable is set while Bubble Tea initialises, and [End] removes it. So this package must not import
// anything else. Package terminal queries the colours when the tour needs them.
package quiet

import "os"

const variable = "CI"

// isSet reports whether this package has set the variable. It is a package variable because no other code runs early enough.
var isSet = set()

// set sets the variable; ok is false if the variable exists already, or cannot be set.
func set() (ok bool) {
	if _, exists := os.LookupEnv(variable); exists {
		return false
	}
	return os.Setenv(variable, "rin") == nil
}

// End restores the environment. It must be the first call in main.
func End() {
	if isSet {
		isSet = false
		_ = os.Unsetenv(variable)
	}
}
