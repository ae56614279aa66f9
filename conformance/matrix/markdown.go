package matrix

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

// WriteMarkdown writes the matrix as a document: requirements with the deviations that prove them, then the deviations. It is a pure function of the
// matrix and the catalogue.
func (m Matrix) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Kill matrix

Each requirement of the suite is proved by deviations that are put into the sandbox, one at a time, and certified live. A deviation counts as
noticed when exactly the requirements that it breaks get worse than on the clean sandbox (a warning or a failure); what depends on them
may be blocked. `+"`rin sandbox --deviate NAME`"+` serves a node with a deviation.

Written by `+"`make mutants`"+`; do not edit. Catalogue %s.

**%s.**
`, m.Catalogue, m.Score())
	m.markdownDeviations(&b, "Not noticed", func(d Deviation) []requirement.ID { return d.Missed })
	m.markdownDeviations(&b, "Noticed by requirements that the deviation does not break", func(d Deviation) []requirement.ID { return d.Surplus })
	if open := m.survivors(); len(open) > 0 {
		fmt.Fprintf(&b, "\n**No deviation proves** %s.\n", ids(open))
	}
	b.WriteString("\n## Requirements\n")
	for _, g := range requirement.Groups() {
		head := fmt.Sprintf("\n### %s %s\n\n| Requirement | | Noticed | Deviations |\n|---|---|---:|---|\n", g.Name, g.Title)
		for _, id := range m.Requirements {
			if id.Group() != g.Name {
				continue
			}
			b.WriteString(head)
			head = ""
			r, _ := requirement.Find(id)
			killers := m.names(id)
			names := "`" + strings.Join(killers, "`, `") + "`"
			if len(killers) == 0 {
				names = "none"
			}
			if slices.Contains(Attested(), id) {
				names = "attested by the operator"
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", id, cell(r.Title), len(killers), names)
		}
	}
	b.WriteString("\n## Deviations\n\n| Deviation | What goes wrong | Breaks |\n|---|---|---|\n")
	for _, d := range m.Deviations {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", d.Name, cell(d.Why), ids(d.Breaks))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (m Matrix) markdownDeviations(b *strings.Builder, title string, of func(Deviation) []requirement.ID) {
	title = "\n**" + title + ":**\n\n"
	for _, d := range m.Deviations {
		if list := of(d); len(list) > 0 {
			fmt.Fprintf(b, "%s- `%s`: %s\n", title, d.Name, ids(list))
			title = ""
		}
	}
}

// cell keeps text of this project's own tables inside one cell.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`).Replace(s)
}
