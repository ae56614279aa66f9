package mutants_test

import (
	"fmt"
	"regexp"

	"github.com/rin-network/rin/sandbox/deviation"
)

// selector names the environment variable with a regular expression that restricts a run to some deviations, for work on them:
// RIN_MUTANTS=^realm- go test ./cmd/rin/mutants. RIN_MUTANTS=. takes them all.
const selector = "RIN_MUTANTS"

// selection is the deviations of a run.
type selection struct {
	deviations []deviation.Deviation
	how        string // in words, for the title of the matrix
}

// selected are the deviations that the pattern matches.
func selected(pattern string) (selection, error) {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return selection{}, fmt.Errorf("%s is no regular expression: %w", selector, err)
	}
	s := selection{how: "those that match " + pattern}
	for _, d := range deviation.All() {
		if expression.MatchString(d.Name) {
			s.deviations = append(s.deviations, d)
		}
	}
	if len(s.deviations) == 0 {
		return selection{}, fmt.Errorf("%s=%s matches no deviation", selector, pattern)
	}
	return s, nil
}

// sampled are enough deviations to break each requirement once: what make test has the time for.
func sampled() selection {
	s := selection{how: "one or more for each requirement; make mutants measures all"}
	broken := map[string]bool{}
	for _, d := range deviation.All() {
		known := true
		for _, id := range d.Breaks {
			known = known && broken[id]
			broken[id] = true
		}
		if !known {
			s.deviations = append(s.deviations, d)
		}
	}
	return s
}

// partial says that some deviations are left out. A partial matrix proves nothing of the whole.
func (s selection) partial() bool { return len(s.deviations) < len(deviation.All()) }

// title heads the printed matrix.
func (s selection) title() string {
	if s.partial() {
		return fmt.Sprintf("partial kill matrix: %d of %d deviations, %s", len(s.deviations), len(deviation.All()), s.how)
	}
	return fmt.Sprintf("kill matrix: %d deviations", len(s.deviations))
}
