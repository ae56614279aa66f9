package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// This file puts outcomes, costs and totals into words and symbols, the same in every format.

// presentation is how an outcome looks: its mark for output without colour, its word in a sentence, and its colour on a terminal.
type presentation struct{ symbol, word, style string }

func present(o requirement.Outcome) presentation {
	switch o {
	case requirement.Pass:
		return presentation{"✓", "passed", green}
	case requirement.Warn:
		return presentation{"!", "warning", yellow}
	case requirement.Fail:
		return presentation{"✗", "failed", red}
	case requirement.NotApplicable:
		return presentation{"–", "not applicable", ""}
	case requirement.Blocked:
		return presentation{"⊘", "blocked", ""}
	case requirement.Inconclusive:
		return presentation{"?", "inconclusive", magenta}
	}
	return presentation{"?", string(o), ""}
}

// Symbol returns the mark of an outcome for output without colour.
func Symbol(o requirement.Outcome) string { return present(o).symbol }

// Word returns an outcome as a word of a sentence.
func Word(o requirement.Outcome) string { return present(o).word }

// bestFirst lists the outcomes in the order in which totals are shown.
func bestFirst() []requirement.Outcome {
	return []requirement.Outcome{
		requirement.Pass, requirement.Warn, requirement.Fail, requirement.Inconclusive, requirement.Blocked, requirement.NotApplicable,
	}
}

// remedy returns the label of the fix.
func remedy(o requirement.Outcome) string {
	if o == requirement.Inconclusive {
		return "to do"
	}
	return "fix"
}

// costsFull says what failed advice costs in a run for a profile other than full.
const costsFull = "costs only the profile full"

// Consequence says what the outcome costs.
func (q Requirement) Consequence() string {
	switch {
	case q.Known != nil:
		return fmt.Sprintf("known until %s (%s)", q.Known.Until, q.Known.Reason)
	case q.Costs && q.Outcome == requirement.Inconclusive:
		return "the certificate waits for it"
	case q.Costs:
		return "costs the certificate"
	case q.Outcome == requirement.Warn:
		return "costs nothing"
	case q.Extra && q.Outcome == requirement.Fail:
		return "advice beyond the profile, " + costsFull
	case q.Extra && q.Gate == requirement.Gating:
		return "gating beyond the profile"
	case q.Extra:
		return "advice beyond the profile"
	case q.Gate == requirement.Advice && q.Outcome == requirement.Fail:
		return "advice, " + costsFull
	case q.Gate == requirement.Information:
		return "information only"
	}
	return string(q.Gate)
}

// outcomeLine describes the outcome in one line: "failed, costs the certificate: the token is empty".
func (q Requirement) outcomeLine() string {
	return Word(q.Outcome) + ", " + q.Consequence() + ": " + q.Reason
}

// Mark returns the outcome whose symbol and colour the requirement gets: a failure that costs nothing here is marked as a warning.
func (q Requirement) Mark() requirement.Outcome {
	if q.Outcome == requirement.Fail && !q.Costs && q.Known == nil {
		return requirement.Warn
	}
	return q.Outcome
}

// markOf returns the outcome whose symbol and colour stand for all requirements of a group with the outcome, or of the whole run if group is empty:
// failures that cost nothing here are marked as warnings.
func (r Report) markOf(o requirement.Outcome, group string) requirement.Outcome {
	if o == requirement.Fail && r.FailureConsequences(group) != "" {
		return requirement.Warn
	}
	return o
}

// Cause says in words where the cause of a finding probably lies; empty if it is not known.
func (q Requirement) Cause() string {
	switch q.Fault {
	case requirement.Environment:
		return "uncertain: it may be the node, the connection, this machine or an input"
	case requirement.Suite:
		return "rin itself"
	case "":
		return ""
	}
	return "the " + string(q.Fault)
}

// mark returns the outcome whose symbol marks a decision.
func mark(d verdict.Decision, failed bool) requirement.Outcome {
	switch {
	case d == verdict.Certified:
		return requirement.Pass
	case d == verdict.NotCertified || failed:
		return requirement.Fail
	case d == verdict.Repeat:
		return requirement.Inconclusive
	}
	return requirement.Warn
}

// counts lists the outcomes that occur, the best first: "16 passed, 1 warning, 2 not applicable".
func counts(t verdict.Totals) string {
	var out []string
	for _, o := range bestFirst() {
		n := t.Of(o)
		if n == 0 {
			continue
		}
		w := Word(o)
		if o == requirement.Warn && n != 1 {
			w += "s"
		}
		out = append(out, fmt.Sprintf("%d %s", n, w))
	}
	if len(out) == 0 {
		return "nothing judged"
	}
	return strings.Join(out, ", ")
}

// tally lists the outcomes of a group, or of the whole run if group is empty. If no failure costs the certificate, it says what the failures
// cost instead: "16 passed, 1 failed (advice, costs only the profile full)".
func (r Report) tally(t verdict.Totals, group string) string {
	if consequences := r.FailureConsequences(group); consequences != "" {
		return counts(t) + " (" + consequences + ")"
	}
	return counts(t)
}

// FailureConsequences says what the failures of a group cost, or those of the whole run if group is empty. It is empty if one of them costs the
// certificate, or if nothing failed.
func (r Report) FailureConsequences(group string) string {
	var consequences []string
	for _, q := range r.Requirements {
		if q.Outcome != requirement.Fail || group != "" && q.ID.Group() != group {
			continue
		}
		if q.Costs || q.Known != nil {
			return ""
		}
		if p := q.Consequence(); !slices.Contains(consequences, p) {
			consequences = append(consequences, p)
		}
	}
	return strings.Join(consequences, "; ")
}

// String returns the ids with the reason.
func (r Reason) String() string {
	return verdict.Reason{Kind: r.Kind, Requirements: r.Requirements, Text: r.Text}.String()
}

// String says how many requests were sent and how many were announced.
func (b Budget) String() string {
	s := fmt.Sprintf("%s sent, at most %d announced", evidence.Count(b.Sent, "request"), b.Planned)
	if !b.Kept {
		s += ": more than announced"
	}
	return s
}

// sentence capitalises a reason, unless it begins with a name whose case matters, such as that of a parameter.
func sentence(reason string) string {
	first, _, _ := strings.Cut(reason, " ")
	if first == "" || strings.Trim(first, "abcdefghijklmnopqrstuvwxyz,") != "" {
		return reason
	}
	return strings.ToUpper(first[:1]) + reason[1:]
}
