package matrix

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

// WriteMarkdown writes the matrix as a document: requirements with the faults that prove them, then the faults. It is a pure function of the
// matrix and the catalogue.
func (m Matrix) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Kill matrix

Each requirement of the suite is proved by faults that are planted into the sandbox, one at a time, and certified live. A fault counts as
noticed when exactly the requirements that it breaks get worse than on the clean sandbox (a warning or a failure); what depends on them
may be blocked. `+"`rin sandbox --deviate NAME`"+` serves a node with a fault.

Written by `+"`make mutants`"+`; do not edit. Catalogue %s.

**%s.**
`, m.Catalogue, m.Score())
	m.markdownFaults(&b, "Not noticed", func(f Fault) []requirement.ID { return f.Missed })
	m.markdownFaults(&b, "Noticed by requirements that the fault does not break", func(f Fault) []requirement.ID { return f.Surplus })
	if open := m.survivors(); len(open) > 0 {
		fmt.Fprintf(&b, "\n**No fault proves** %s.\n", ids(open))
	}
	b.WriteString("\n## Requirements\n")
	for _, g := range requirement.Groups() {
		head := fmt.Sprintf("\n### %s %s\n\n| Requirement | | Noticed | Faults |\n|---|---|---:|---|\n", g.Name, g.Title)
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
	b.WriteString("\n## Faults\n\n| Fault | What goes wrong | Breaks |\n|---|---|---|\n")
	for _, f := range m.Faults {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, cell(f.Why), ids(f.Breaks))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (m Matrix) markdownFaults(b *strings.Builder, title string, of func(Fault) []requirement.ID) {
	title = "\n**" + title + ":**\n\n"
	for _, f := range m.Faults {
		if list := of(f); len(list) > 0 {
			fmt.Fprintf(b, "%s- `%s`: %s\n", title, f.Name, ids(list))
			title = ""
		}
	}
}

// cell keeps text of this project's own tables inside one cell.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`).Replace(s)
}
