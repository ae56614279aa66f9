package plain

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/message"
	"github.com/rin-network/rin/tui/walk"
)

// intro tells what a step is for.
func (t *teller) intro(step walk.Step) {
	g := step.Guide()
	if step > 0 {
		t.line("")
	}
	head := fmt.Sprintf("%d. %s", int(step)+1, g.Title)
	t.line("%s", head)
	t.line("%s", strings.Repeat("=", len([]rune(head))))
	t.paragraph("", g.Why)
	t.paragraph("Rule: ", g.Rule)
	t.line("")
}

// scene tells what an action came to; its error ends the walk.
func (t *teller) scene(s walk.Scene) error {
	for _, x := range s.Exchanges {
		t.exchange(x)
	}
	for _, text := range s.Says {
		t.paragraph("", text)
	}
	for _, v := range s.Verdicts {
		t.verdict(v)
	}
	if s.Trouble == nil {
		return nil
	}
	t.paragraph("Trouble: ", s.Trouble.What)
	t.list("What usually causes it:", s.Trouble.Causes)
	t.list("What to try:", s.Trouble.Try)
	return ErrTrouble
}

// maxLines bounds how much of a body is printed.
const maxLines = 12

func (t *teller) exchange(x exchange.Exchange) {
	for _, l := range message.Request(x, exchange.Masked) {
		t.line("> %s", l.Text)
	}
	body := 0
	for _, l := range message.Response(x, exchange.Masked) {
		if l.Kind == message.Body {
			if body++; body > maxLines {
				continue
			}
		}
		t.line("< %s", clipped(l.Text, t.Width-2))
	}
	if body > maxLines {
		t.line("< (%d more lines)", body-maxLines)
	}
	t.line("")
}

// clipped cuts a text that is longer than a line; the rest is in the recording.
func clipped(text string, width int) string {
	if report.Columns(text) <= width {
		return text
	}
	n := 0
	for i, r := range text {
		if n += report.Columns(string(r)); n > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}

func (t *teller) verdict(v walk.Verdict) {
	outcome := report.Word(v.Outcome)
	if v.Outcome == requirement.Fail {
		outcome = strings.ToUpper(outcome) // to be noticed without colour
	}
	t.paragraph(fmt.Sprintf("%-12s %s  ", outcome, v.ID), v.Title)
	if v.Outcome == requirement.Pass {
		return
	}
	t.paragraph("    reason:   ", v.Reason)
	if v.Expected != "" {
		t.paragraph("    expected: ", v.Expected)
		t.paragraph("    got:      ", v.Got)
	}
	t.paragraph("    rule:     ", v.Source+": “"+v.Quote+"”")
	t.paragraph("    fix:      ", v.Fix)
}
