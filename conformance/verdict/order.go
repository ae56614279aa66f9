package verdict

import "github.com/rin-network/rin/conformance/requirement"

// Outcomes lists the outcomes from best to worst.
func Outcomes() []requirement.Outcome {
	return []requirement.Outcome{
		requirement.Pass, requirement.NotApplicable, requirement.Warn,
		requirement.Blocked, requirement.Inconclusive, requirement.Fail,
	}
}

// Worse reports whether outcome a is worse than outcome b in the order of [Outcomes]. An outcome that is not among them is
// the worst of all.
func Worse(a, b requirement.Outcome) bool { return rank(a) > rank(b) }

func rank(o requirement.Outcome) int {
	all := Outcomes()
	for i, known := range all {
		if o == known {
			return i
		}
	}
	return len(all)
}
