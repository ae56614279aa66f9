package matrix

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

// width is the number of columns of the printed matrix.
const width = 80

// WriteText prints the matrix for a terminal: each group with its requirements and the deviations that they noticed; what was missed, what
// was surplus and the score last, next to the prompt. Requirements that a partial matrix did not touch are left out.
func (m Matrix) WriteText(w io.Writer, partial bool) error {
	var b strings.Builder
	for _, g := range requirement.Groups() {
		title := fmt.Sprintf("\n%s  %s\n", g.Name, g.Title)
		for _, id := range m.Requirements {
			killers := m.names(id)
			if id.Group() != g.Name || partial && len(killers) == 0 {
				continue
			}
			b.WriteString(title)
			title = ""
			switch {
			case len(killers) > 0:
				hang(&b, fmt.Sprintf("  %s  %3d  ", id, len(killers)), strings.Join(killers, ", "))
			case slices.Contains(Attested(), id):
				hang(&b, fmt.Sprintf("  %s    –  ", id), "attested by the operator")
			default:
				hang(&b, fmt.Sprintf("✗ %s    0  ", id), "NO DEVIATION PROVES IT")
			}
		}
	}
	b.WriteByte('\n')
	for _, d := range m.Deviations {
		if len(d.Missed) > 0 {
			hang(&b, "✗ SURVIVED  ", fmt.Sprintf("%s: not noticed by %s", d.Name, ids(d.Missed)))
		}
		if len(d.Surplus) > 0 {
			hang(&b, "✗ SURPLUS   ", fmt.Sprintf("%s: noticed by %s, too", d.Name, ids(d.Surplus)))
		}
	}
	if !partial {
		hang(&b, "", m.Score().String())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// hang writes a paragraph behind a lead, its further lines below its first.
func hang(b *strings.Builder, lead, text string) {
	indent := len([]rune(lead))
	b.WriteString(lead)
	column := indent
	for i, word := range strings.Fields(text) {
		switch n := len([]rune(word)); {
		case i == 0:
			column += n
		case column+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent + n
		default:
			b.WriteByte(' ')
			column += 1 + n
		}
		b.WriteString(word)
	}
	b.WriteByte('\n')
}

func ids(list []requirement.ID) string {
	words := make([]string, 0, len(list))
	for _, id := range list {
		words = append(words, string(id))
	}
	return strings.Join(words, ", ")
}
