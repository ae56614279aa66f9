package plain

import (
	"fmt"
	"io"
	"strings"

	"github.com/rin-network/rin/conformance/report"
)

func (t *teller) list(head string, items []string) {
	if len(items) == 0 {
		return
	}
	t.line("%s", head)
	for _, item := range items {
		t.paragraph("  - ", item)
	}
}

// paragraph wraps a text behind a lead, which may come from a node.
func (t *teller) paragraph(lead, text string) {
	if text == "" {
		return
	}
	indent := report.Columns(lead)
	if indent > t.Width/2 { // a lead that long stands alone
		t.line("%s", clipped(strings.TrimRight(lead, " "), t.Width))
		lead, indent = "    ", 4
	}
	for i, line := range report.Wrap(report.Plain(text), max(10, t.Width-indent)) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		t.line("%s%s", lead, line)
	}
}

// line writes one line; the first fault of the writer ends the walk.
func (t *teller) line(format string, args ...any) {
	if t.fault != nil {
		return
	}
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = report.Plain(s)
		}
	}
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	if _, err := io.WriteString(t.out, text+"\n"); err != nil {
		t.fault = fmt.Errorf("print the walk: %w", err)
	}
}
