package verdict

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

//go:generate env RIN_WRITE_MATRIX=1 go test -count 1 .

// MatrixVersion is the version of the recorded form.
const MatrixVersion = "rin.matrix/v1"

// Matrix is what one run over the deviations found.
type Matrix struct {
	Schema string `json:"schema"` // "rin.matrix/v1"
	// Catalogue is the version of the catalogue that was measured.
	Catalogue string `json:"catalogue"`
	// Requirements are those of the catalogue, in its order.
	Requirements []requirement.ID `json:"requirements"`
	Deviations   []Deviation      `json:"deviations"`
}

// Deviation is one way to misbehave that was put into a correct node, alone.
type Deviation struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	// Breaks are the requirements that have to notice it.
	Breaks []requirement.ID `json:"breaks"`
	// Missed are those of them that noticed nothing, Surplus requirements beyond them that got worse: a miss is a hole in the suite, a
	// surplus a false alarm.
	Missed  []requirement.ID `json:"missed,omitempty"`
	Surplus []requirement.ID `json:"surplus,omitempty"`
}

// NewDeviation compares what a deviation is to break with what got worse.
func NewDeviation(name, why string, breaks, worse []requirement.ID) Deviation {
	d := Deviation{Name: name, Why: why, Breaks: slices.Sorted(slices.Values(breaks))}
	for _, id := range d.Breaks {
		if !slices.Contains(worse, id) {
			d.Missed = append(d.Missed, id)
		}
	}
	for _, id := range slices.Sorted(slices.Values(worse)) {
		if !slices.Contains(d.Breaks, id) {
			d.Surplus = append(d.Surplus, id)
		}
	}
	return d
}

// Exact reports whether the deviation was noticed by every requirement that it breaks, and by no other.
func (d Deviation) Exact() bool { return len(d.Missed) == 0 && len(d.Surplus) == 0 }

// kills reports whether a requirement noticed the deviation.
func (d Deviation) kills(id requirement.ID) bool {
	return slices.Contains(d.Surplus, id) || slices.Contains(d.Breaks, id) && !slices.Contains(d.Missed, id)
}

// KilledBy lists the deviations that a requirement noticed, in the order of the matrix.
func (m Matrix) KilledBy(id requirement.ID) []Deviation {
	var deviations []Deviation
	for _, d := range m.Deviations {
		if d.kills(id) {
			deviations = append(deviations, d)
		}
	}
	return deviations
}

// names of the deviations that a requirement noticed.
func (m Matrix) names(id requirement.ID) []string {
	var names []string
	for _, d := range m.KilledBy(id) {
		names = append(names, d.Name)
	}
	return names
}

// AttestedRequirements lists the requirements that nothing may provoke: trying whether a node is protected against brute force would lock accounts.
// Only its operator can attest them.
func AttestedRequirements() []requirement.ID { return []requirement.ID{"SEC-07"} }

//go:embed matrix.json
var recordedMatrix []byte

// RecordedMatrix is the last whole matrix that was measured; make mutants measures it anew.
func RecordedMatrix() Matrix {
	m, err := ReadMatrix(recordedMatrix)
	if err != nil {
		panic(err) // it is embedded, and a test reads it
	}
	return m
}

// ReadMatrix reads what [Matrix.JSON] wrote.
func ReadMatrix(data []byte) (Matrix, error) {
	var m Matrix
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return Matrix{}, fmt.Errorf("read the kill matrix: %w", err)
	}
	if m.Schema != MatrixVersion {
		return Matrix{}, fmt.Errorf("read the kill matrix: expected schema %s, got %.40q", MatrixVersion, m.Schema)
	}
	return m, nil
}

// JSON is the recorded form: one line for each deviation, so that a difference between two measurements reads well.
func (m Matrix) JSON() ([]byte, error) {
	var b strings.Builder
	ids, err := json.Marshal(m.Requirements)
	if err != nil {
		return nil, fmt.Errorf("encode the kill matrix: %w", err)
	}
	fmt.Fprintf(&b, "{\n\"schema\": %q,\n\"catalogue\": %q,\n\"requirements\": %s,\n\"deviations\": [", m.Schema, m.Catalogue, ids)
	for i, d := range m.Deviations {
		line, err := json.Marshal(d)
		if err != nil {
			return nil, fmt.Errorf("encode the kill matrix: %w", err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n%s", line)
	}
	b.WriteString("\n]\n}\n")
	return []byte(b.String()), nil
}

// Score is a matrix in figures.
type Score struct {
	// Deviations were tried; Noticed of them were noticed exactly: by every requirement that they break, and by no other.
	Deviations int `json:"deviations"`
	Noticed    int `json:"noticed"`
	// Requirements can be proved by a deviation; Killed of them noticed one at least.
	Requirements int `json:"requirements"`
	Killed       int `json:"killed"`
	// AttestedRequirements are the requirements that no deviation may prove.
	Attested []requirement.ID `json:"attested"`
}

// Score counts the matrix.
func (m Matrix) Score() Score {
	s := Score{Deviations: len(m.Deviations), Attested: []requirement.ID{}}
	for _, d := range m.Deviations {
		if d.Exact() {
			s.Noticed++
		}
	}
	for _, id := range m.Requirements {
		if slices.Contains(AttestedRequirements(), id) {
			s.Attested = append(s.Attested, id)
			continue
		}
		s.Requirements++
		if len(m.KilledBy(id)) > 0 {
			s.Killed++
		}
	}
	return s
}

// String is the score in one line: "312 of 312 deviations noticed exactly, 129 of 129 requirements killed, SEC-07 left to attestation".
func (s Score) String() string {
	text := fmt.Sprintf("%d of %d deviations noticed exactly, %d of %d requirements killed", s.Noticed, s.Deviations, s.Killed, s.Requirements)
	if len(s.Attested) > 0 {
		text += ", " + joinIDs(s.Attested) + " left to attestation"
	}
	return text
}

// Sentence is the score for the reader of a report. attested lists the requirements that the operator of the node attested.
func (s Score) Sentence(attested []requirement.ID) string {
	text := fmt.Sprintf("The suite notices %d of %d deviations tried on a correct node; they prove %d of %d requirements",
		s.Noticed, s.Deviations, s.Killed, s.Requirements)
	for _, id := range s.Attested {
		if slices.Contains(attested, id) {
			text += fmt.Sprintf("; the operator attests %s", id)
		} else {
			text += fmt.Sprintf("; %s cannot be tried and was not attested", id)
		}
	}
	return text + "."
}

// survivors are the requirements that noticed no deviation and are not attested.
func (m Matrix) survivors() []requirement.ID {
	var ids []requirement.ID
	for _, id := range m.Requirements {
		if len(m.KilledBy(id)) == 0 && !slices.Contains(AttestedRequirements(), id) {
			ids = append(ids, id)
		}
	}
	return ids
}

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
			killers := m.names(id)
			names := "`" + strings.Join(killers, "`, `") + "`"
			if len(killers) == 0 {
				names = "none"
			}
			if slices.Contains(AttestedRequirements(), id) {
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

func (m Matrix) markdownDeviations(b *strings.Builder, title string, of func(Deviation) []requirement.ID) {
	title = "\n**" + title + ":**\n\n"
	for _, d := range m.Deviations {
		if list := of(d); len(list) > 0 {
			fmt.Fprintf(b, "%s- `%s`: %s\n", title, d.Name, joinIDs(list))
			title = ""
		}
	}
}

// markdownCell keeps text of this project's own tables inside one cell.
func markdownCell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`).Replace(s)
}

// matrixWidth is the number of columns of the printed matrix.
const matrixWidth = 80

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
				writeHanging(&b, fmt.Sprintf("  %s  %3d  ", id, len(killers)), strings.Join(killers, ", "))
			case slices.Contains(AttestedRequirements(), id):
				writeHanging(&b, fmt.Sprintf("  %s    –  ", id), "left to the operator's attestation")
			default:
				writeHanging(&b, fmt.Sprintf("✗ %s    0  ", id), "NO DEVIATION PROVES IT")
			}
		}
	}
	b.WriteByte('\n')
	for _, d := range m.Deviations {
		if len(d.Missed) > 0 {
			writeHanging(&b, "✗ SURVIVED  ", fmt.Sprintf("%s: not noticed by %s", d.Name, joinIDs(d.Missed)))
		}
		if len(d.Surplus) > 0 {
			writeHanging(&b, "✗ SURPLUS   ", fmt.Sprintf("%s: noticed by %s, too", d.Name, joinIDs(d.Surplus)))
		}
	}
	if !partial {
		writeHanging(&b, "", m.Score().String())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeHanging writes a paragraph behind a lead, its further lines below its first.
func writeHanging(b *strings.Builder, lead, text string) {
	indent := len([]rune(lead))
	b.WriteString(lead)
	column := indent
	for i, word := range strings.Fields(text) {
		switch n := len([]rune(word)); {
		case i == 0:
			column += n
		case column+1+n > matrixWidth:
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

func joinIDs(list []requirement.ID) string {
	words := make([]string, 0, len(list))
	for _, id := range list {
		words = append(words, string(id))
	}
	return strings.Join(words, ", ")
}
