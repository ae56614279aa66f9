package sheet

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/rin-network/rin/sandbox/conduct"
)

// Lines writes requests for a terminal of so many columns: what was sent, what came back, and, where it was wrong, why and what is right.
func Lines(w io.Writer, lines []conduct.Line, columns int) error {
	p := &paper{columns: max(columns, 40)}
	for _, l := range lines {
		p.line(l)
	}
	_, err := io.WriteString(w, p.text.String())
	return err
}

func (p *paper) line(l conduct.Line) {
	target := l.Path
	if l.Query != "" {
		target += "?" + l.Query
	}
	p.paragraph(fmt.Sprintf("%5s  ", fmt.Sprintf("#%d", l.Number)), fmt.Sprintf("%s %s %s %s -> %s", l.Time.UTC().Format("15:04:05"), cmp.Or(l.Remark.Client, l.Entry.Client, "-"), l.Method, target, outcome(l)))
	if r := l.Refusal; r != nil {
		p.paragraph("       ", strings.TrimSuffix(r.Detail+"; "+r.Hint, "; "))
	}
	if len(l.Rules) > 0 {
		rules := make([]string, len(l.Rules))
		for i, id := range l.Rules {
			rules[i] = string(id)
		}
		p.paragraph("       ", "breaks "+strings.Join(rules, ", "))
	}
	if l.Curl != "" {
		fmt.Fprintf(&p.text, "       right  %s\n", plain(l.Curl))
	}
}

// outcome says what came back.
func outcome(l conduct.Line) string {
	text := fmt.Sprint(l.Status)
	if l.Status == 0 {
		text = "answer not seen"
	}
	if l.Cut {
		text += ", cut"
	}
	if l.Page != nil {
		text += ", " + count(l.Page.Items, "item")
		if l.Page.Next {
			text += " and more"
		}
	}
	if l.RetryAfter != "" {
		text += ", Retry-After: " + l.RetryAfter
	}
	if len(l.Ignored) > 0 {
		text += ", ignored " + strings.Join(l.Ignored, " ")
	}
	if len(l.Deviations) > 0 {
		text += ", deviates: " + strings.Join(l.Deviations, " ")
	}
	return text
}
