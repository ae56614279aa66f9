package report

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// symbol marks an outcome where colour may be missing.
func symbol(o requirement.Outcome) string {
	switch o {
	case requirement.Pass:
		return "✓"
	case requirement.Warn:
		return "!"
	case requirement.Fail:
		return "✗"
	case requirement.NotApplicable:
		return "–"
	case requirement.Blocked:
		return "⊘"
	}
	return "?"
}

// Word names an outcome in a sentence.
func Word(o requirement.Outcome) string {
	switch o {
	case requirement.Pass:
		return "passed"
	case requirement.Warn:
		return "warning"
	case requirement.Fail:
		return "failed"
	case requirement.NotApplicable:
		return "not applicable"
	}
	return string(o)
}

// remedy names what is to be done about an outcome.
func remedy(o requirement.Outcome) string {
	if o == requirement.Inconclusive {
		return "to do"
	}
	return "fix"
}

// price says what an outcome costs.
func price(q Requirement) string {
	switch {
	case q.Known != nil:
		return fmt.Sprintf("known until %s (%s)", q.Known.Until, q.Known.Reason)
	case q.Costs:
		return "costs the certificate"
	case q.Outcome == requirement.Warn:
		return "costs nothing"
	case q.Extra:
		return "advice beyond the profile"
	case q.Gate == requirement.Information:
		return "information only"
	}
	return string(q.Gate)
}

// mark is the outcome that a decision looks like.
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
	for _, o := range []requirement.Outcome{
		requirement.Pass, requirement.Warn, requirement.Fail, requirement.Inconclusive, requirement.Blocked, requirement.NotApplicable,
	} {
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

// cite quotes the source: RFC 6749 §5.1: “…”; see also RFC 9111 §5.4. Behind the place of an implied rule stands (derived).
func (q Requirement) cite() string {
	s, also, _ := strings.Cut(q.Source.Text, "; ")
	if q.Source.Derived {
		s += " (derived)"
	}
	if q.Quote != "" {
		s += ": “" + q.Quote + "”"
	}
	if also != "" {
		s += "; see also " + also
	}
	return s
}

// String compares sent and announced requests.
func (b Budget) String() string {
	s := fmt.Sprintf("%d requests sent, at most %d announced", b.Sent, b.Planned)
	if b.Sent == 1 {
		s = fmt.Sprintf("1 request sent, at most %d announced", b.Planned)
	}
	if !b.Kept {
		s += ": more than announced"
	}
	return s
}

// sentence begins a reason as a sentence does, unless it begins with a name, such as that of a parameter, whose case means something.
func sentence(reason string) string {
	first, _, _ := strings.Cut(reason, " ")
	if first == "" || strings.Trim(first, "abcdefghijklmnopqrstuvwxyz,") != "" {
		return reason
	}
	return strings.ToUpper(first[:1]) + reason[1:]
}
