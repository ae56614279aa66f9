package mutants_test

import (
	"fmt"
	"regexp"

	"github.com/rin-network/rin/sandbox/deviation"
)

// selector names the environment variable with a regular expression that restricts a run to some deviations, for work on them:
// RIN_MUTANTS=^realm- go test ./cmd/rin/mutants.
const selector = "RIN_MUTANTS"

// selection is the deviations of a run.
type selection struct {
	deviations []deviation.Deviation
	of         int // how many there are
}

// selected are the deviations that the pattern matches; the empty pattern matches all.
func selected(pattern string) (selection, error) {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return selection{}, fmt.Errorf("%s is no regular expression: %w", selector, err)
	}
	all := deviation.All()
	s := selection{of: len(all)}
	for _, d := range all {
		if expression.MatchString(d.Name) {
			s.deviations = append(s.deviations, d)
		}
	}
	if len(s.deviations) == 0 {
		return selection{}, fmt.Errorf("%s=%s matches no deviation", selector, pattern)
	}
	return s, nil
}

// partial says that some deviations are left out. A partial matrix proves nothing of the whole.
func (s selection) partial() bool { return len(s.deviations) < s.of }

// title heads the printed matrix.
func (s selection) title() string {
	if s.partial() {
		return fmt.Sprintf("partial kill matrix: %d of %d deviations, by %s", len(s.deviations), s.of, selector)
	}
	return fmt.Sprintf("kill matrix: %d deviations", s.of)
}
