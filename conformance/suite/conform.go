package suite

import (
	"fmt"
	"strings"

	"github.com/onsi/gomega/types"

	"github.com/rin-network/rin/conformance/requirement"
)

// Conform succeeds for a judgement that does not cost the certificate at that gate: anything on an advice or information row,
// and pass, warn or not-applicable on a gating one.
func Conform(gate requirement.Gate) types.GomegaMatcher { return conform{gate} }

type conform struct{ gate requirement.Gate }

func (c conform) Match(actual any) (bool, error) {
	j, ok := actual.(requirement.Judgement)
	if !ok {
		return false, fmt.Errorf("conform: expected a requirement.Judgement, got %T", actual)
	}
	return !requirement.Blocks(c.gate, j.Outcome), nil
}

func (c conform) FailureMessage(actual any) string {
	j := actual.(requirement.Judgement)
	lines := []string{string(j.Outcome) + ": " + j.Reason}
	if j.Expected != "" {
		lines = append(lines, "expected: "+j.Expected)
	}
	if j.Got != "" {
		lines = append(lines, "got:      "+j.Got)
	}
	return strings.Join(lines, "\n")
}

func (c conform) NegatedFailureMessage(actual any) string {
	return fmt.Sprintf("expected a judgement that costs the certificate, got %s", actual.(requirement.Judgement).Outcome)
}
