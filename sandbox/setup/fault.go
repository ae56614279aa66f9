package setup

import (
	"fmt"
	"strings"
)

// Fault is something in a file that cannot be meant.
type Fault struct {
	// Line and Column are where it stands, from 1.
	Line, Column int
	// Path names the place by its keys: nodes[1].flavour. Empty for the file as a whole.
	Path string
	// Expected is what belongs there, Got what stands there; never a secret.
	Expected, Got string
	// Hint is for whoever mends it; empty for none.
	Hint string
}

// Error implements error.
func (f Fault) Error() string {
	place := f.Path
	if place != "" {
		place += ": "
	}
	return fmt.Sprintf("line %d, column %d: %sexpected %s, got %s", f.Line, f.Column, place, f.Expected, f.Got)
}

// Faults are all faults of a file, in the order in which they stand there.
type Faults []Fault

// Error implements error.
func (f Faults) Error() string {
	lines := make([]string, 0, len(f))
	for _, fault := range f {
		lines = append(lines, fault.Error())
	}
	return strings.Join(lines, "\n")
}
