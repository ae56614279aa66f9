package view

import (
	"fmt"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/walk"
)

// Sign is an outcome as a sign, a word and their style.
func (t Theme) Sign(o requirement.Outcome) (sign, word string, style lipgloss.Style) {
	switch o {
	case requirement.Pass:
		return "✓", "passed", t.Good
	case requirement.Warn:
		return "!", "warning", t.Warn
	case requirement.Fail:
		return "✗", "failed", t.Bad
	}
	return "–", string(o), t.Muted
}

// Verdicts are the lines of some verdicts: passes in a line each, the others with reason, rule and fix.
func Verdicts(t Theme, verdicts []walk.Verdict, width int) []string {
	var out []string
	for _, v := range verdicts {
		sign, word, style := t.Sign(v.Outcome)
		lead := style.Render(sign) + " " + t.Key.Render(string(v.ID)) + " "
		if v.Outcome == requirement.Pass {
			out = append(out, Hang(lead, v.Title, width)...)
			continue
		}
		out = append(out, Hang(lead, v.Title+": "+word, width)...)
		for _, part := range [][2]string{{"reason", v.Reason}, {"expected", v.Expected}, {"got", v.Got}, {"rule", v.Source + ": “" + v.Quote + "”"}, {"fix", v.Fix}} {
			if part[1] != "" {
				out = append(out, Hang(t.Muted.Render(fmt.Sprintf("    %-9s", part[0])), part[1], width)...)
			}
		}
	}
	return out
}

// Trouble are the lines of an action that did not reach its aim.
func Trouble(t Theme, trouble walk.Trouble, width int) []string {
	out := Hang(t.Bad.Render("✗")+" ", trouble.What, width)
	list := func(head string, items []string) {
		if len(items) == 0 {
			return
		}
		out = append(out, "", t.Key.Render(head))
		for _, item := range items {
			out = append(out, Hang("  - ", item, width)...)
		}
	}
	list("What usually causes it", trouble.Causes)
	list("What to try", trouble.Try)
	return out
}
