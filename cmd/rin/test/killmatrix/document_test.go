package killmatrix_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

//go:generate env RIN_WRITE_MATRIX_DOCUMENT=1 go test -count 1 . -ginkgo.focus "The document of the matrix"

// writeMarkdown writes MATRIX.md: the requirements with the deviations that prove them, then the deviations.
func writeMarkdown(w io.Writer, m verdict.Matrix) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Kill matrix

Each requirement of the suite is proved by deviations that are put into the sandbox, one at a time, and certified live. A deviation counts as
noticed when exactly the requirements that it breaks get worse than on the clean sandbox (a warning or a failure); what depends on them
may be blocked. `+"`rin sandbox --deviate NAME`"+` serves a node with a deviation.

Written by `+"`make mutants`"+`; do not edit. Catalogue %s.

**%s.**
`, m.Catalogue, m.Score())
	markdownDeviations(m, &b, "Not noticed", func(d verdict.Deviation) []requirement.ID { return d.Missed })
	markdownDeviations(m, &b, "Noticed by requirements that the deviation does not break", func(d verdict.Deviation) []requirement.ID { return d.Surplus })
	if open := survivors(m); len(open) > 0 {
		fmt.Fprintf(&b, "\n**No deviation proves** %s.\n", joinIDs(open))
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
			killers := deviationNames(m, id)
			names := "`" + strings.Join(killers, "`, `") + "`"
			if len(killers) == 0 {
				names = "none"
			}
			if slices.Contains(verdict.AttestedRequirements(), id) {
				names = "left to the operator's attestation"
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", id, markdownCell(r.Title), len(killers), names)
		}
	}
	b.WriteString("\n## Deviations\n\n| Deviation | What goes wrong | Breaks |\n|---|---|---|\n")
	for _, d := range m.Deviations {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", d.Name, markdownCell(d.Why), joinIDs(d.Breaks))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownDeviations(m verdict.Matrix, b *strings.Builder, title string, idsOf func(verdict.Deviation) []requirement.ID) {
	title = "\n**" + title + ":**\n\n"
	for _, d := range m.Deviations {
		if list := idsOf(d); len(list) > 0 {
			fmt.Fprintf(b, "%s- `%s`: %s\n", title, d.Name, joinIDs(list))
			title = ""
		}
	}
}

// markdownCell escapes text of the catalogue for a table cell.
func markdownCell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`).Replace(s)
}

// writeText prints the matrix on a terminal of 80 columns: each group with its requirements and the deviations that they noticed, then misses,
// surplus and the score. A partial matrix leaves out the requirements that it did not touch.
func writeText(w io.Writer, m verdict.Matrix, partial bool) error {
	var b strings.Builder
	for _, g := range requirement.Groups() {
		title := fmt.Sprintf("\n%s  %s\n", g.Name, g.Title)
		for _, id := range m.Requirements {
			killers := deviationNames(m, id)
			if id.Group() != g.Name || partial && len(killers) == 0 {
				continue
			}
			b.WriteString(title)
			title = ""
			switch {
			case len(killers) > 0:
				b.WriteString(report.Hang(fmt.Sprintf("  %s  %3d  ", id, len(killers)), strings.Join(killers, ", "), 80) + "\n")
			case slices.Contains(verdict.AttestedRequirements(), id):
				b.WriteString(report.Hang(fmt.Sprintf("  %s    –  ", id), "left to the operator's attestation", 80) + "\n")
			default:
				b.WriteString(report.Hang(fmt.Sprintf("✗ %s    0  ", id), "NO DEVIATION PROVES IT", 80) + "\n")
			}
		}
	}
	b.WriteByte('\n')
	for _, d := range m.Deviations {
		if len(d.Missed) > 0 {
			b.WriteString(report.Hang("✗ SURVIVED  ", fmt.Sprintf("%s: not noticed by %s", d.Name, joinIDs(d.Missed)), 80) + "\n")
		}
		if len(d.Surplus) > 0 {
			b.WriteString(report.Hang("✗ SURPLUS   ", fmt.Sprintf("%s: noticed by %s, too", d.Name, joinIDs(d.Surplus)), 80) + "\n")
		}
	}
	if !partial {
		b.WriteString(report.Hang("", m.Score().String(), 80) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// survivors lists the requirements that noticed no deviation and are not attested.
func survivors(m verdict.Matrix) []requirement.ID {
	return slices.DeleteFunc(slices.Clone(m.Requirements), func(id requirement.ID) bool {
		return len(m.KilledBy(id)) > 0 || slices.Contains(verdict.AttestedRequirements(), id)
	})
}

// deviationNames lists the deviations that a requirement noticed.
func deviationNames(m verdict.Matrix, id requirement.ID) []string {
	var names []string
	for _, d := range m.KilledBy(id) {
		names = append(names, d.Name)
	}
	return names
}

func joinIDs(ids []requirement.ID) string { return verdict.ListIDs(ids, len(ids)) }

type ids = []requirement.ID

// matrixOf returns a matrix of TOK-01, TOK-02, TOK-03 and the attested requirement.
func matrixOf(deviations ...verdict.Deviation) verdict.Matrix {
	return verdict.Matrix{Schema: verdict.MatrixVersion, Catalogue: "1.0.0", Requirements: ids{"TOK-01", "TOK-02", "TOK-03", "SEC-07"}, Deviations: deviations}
}

// exactMatrix returns a matrix without misses and surplus.
func exactMatrix() verdict.Matrix {
	return matrixOf(
		verdict.NewDeviation("token-missing", "No | token.", ids{"TOK-01"}, ids{"TOK-01"}),
		verdict.NewDeviation("token-odd", "An odd token.", ids{"TOK-03", "TOK-02"}, ids{"TOK-02", "TOK-03"}),
	)
}

// leakyMatrix returns a matrix with a survivor and a false alarm.
func leakyMatrix() verdict.Matrix {
	return matrixOf(
		verdict.NewDeviation("token-missing", "No token.", ids{"TOK-01"}, nil),
		verdict.NewDeviation("token-odd", "An odd token.", ids{"TOK-02"}, ids{"TOK-02", "TOK-03"}),
	)
}

func matrixText(m verdict.Matrix, partial bool) string {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(writeText(&b, m, partial)).To(Succeed())
	return b.String()
}

func matrixMarkdown(m verdict.Matrix) string {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(writeMarkdown(&b, m)).To(Succeed())
	return b.String()
}

var _ = Describe("The printed matrix", func() {
	It("names the deviations that each requirement noticed", func() {
		Expect(matrixText(exactMatrix(), false)).To(SatisfyAll(
			ContainSubstring("  TOK-01    1  token-missing\n"), ContainSubstring("  SEC-07    –  left to the operator's attestation\n"),
			HaveSuffix("\n2 of 2 deviations noticed exactly, 3 of 3 requirements proved, SEC-07 left to\nattestation\n"),
			Not(ContainSubstring("✗")),
		))
	})

	It("marks survivors, surplus and unproved requirements", func() {
		Expect(matrixText(leakyMatrix(), false)).To(SatisfyAll(
			ContainSubstring("✗ TOK-01    0  NO DEVIATION PROVES IT\n"),
			ContainSubstring("✗ SURVIVED  token-missing: not noticed by TOK-01\n"),
			ContainSubstring("✗ SURPLUS   token-odd: noticed by TOK-03, too\n"),
			ContainSubstring("0 of 2 deviations noticed exactly, 2 of 3 requirements proved"),
		))
	})

	It("leaves out requirements that a partial matrix did not touch", func() {
		Expect(matrixText(leakyMatrix(), true)).To(And(ContainSubstring("SURVIVED"), Not(ContainSubstring("NO DEVIATION")), Not(ContainSubstring("proved"))))
	})

	It("fits 80 columns", func() {
		m := verdict.RecordedMatrix()
		m.Deviations = append(m.Deviations, leakyMatrix().Deviations...)
		for line := range strings.Lines(matrixText(m, false)) {
			Expect(utf8.RuneCountInString(strings.TrimRight(line, "\n"))).To(BeNumerically("<=", 80), line)
		}
	})
})

var _ = Describe("The document of the matrix", func() {
	It("escapes bars in cells and lists missed deviations", func() {
		Expect(matrixMarkdown(exactMatrix())).To(And(ContainSubstring("| `token-missing` | No \\| token. | TOK-01 |\n"), Not(ContainSubstring("Not noticed"))))
		Expect(matrixMarkdown(leakyMatrix())).To(And(ContainSubstring("**Not noticed:**\n\n- `token-missing`: TOK-01\n"), ContainSubstring("**No deviation proves** TOK-01.")))
	})

	It("is up to date with the recorded matrix", func() {
		if os.Getenv(recorder) != "" {
			Skip("the matrix is being measured")
		}
		current := matrixMarkdown(verdict.RecordedMatrix())
		if os.Getenv("RIN_WRITE_MATRIX_DOCUMENT") != "" {
			Expect(os.WriteFile(documentFile(), []byte(current), 0o644)).To(Succeed())
		}
		kept, err := os.ReadFile(documentFile())
		Expect(err).NotTo(HaveOccurred())
		Expect(current).To(Equal(string(kept)), "make generate updates it")
	})
})
