package verdict

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

// MatrixVersion is the version of the recorded matrix.
const MatrixVersion = "rin.matrix/v1"

// Matrix is the kill matrix: which deviations of a node the suite noticed, and by which requirements. The suites under cmd/rin/test measure it
// on the sandbox; this package holds the last measurement, because every report quotes its score.
type Matrix struct {
	Schema string `json:"schema"` // "rin.matrix/v1"
	// Catalogue is the version of the catalogue that was measured.
	Catalogue string `json:"catalogue"`
	// Requirements lists the ids of the catalogue in its order.
	Requirements []requirement.ID `json:"requirements"`
	Deviations   []Deviation      `json:"deviations"`
}

// Deviation is one way to misbehave, added to a correct node.
type Deviation struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	// Breaks lists the requirements that must notice it.
	Breaks []requirement.ID `json:"breaks"`
	// Missed lists those of them that noticed nothing, a hole in the suite. Surplus lists other requirements that got worse, a false alarm.
	Missed  []requirement.ID `json:"missed,omitempty"`
	Surplus []requirement.ID `json:"surplus,omitempty"`
}

// NewDeviation compares the requirements that a deviation breaks with those that got worse.
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

// Exact reports whether exactly the requirements that the deviation breaks noticed it.
func (d Deviation) Exact() bool { return len(d.Missed) == 0 && len(d.Surplus) == 0 }

// kills reports whether a requirement noticed the deviation.
func (d Deviation) kills(id requirement.ID) bool {
	return slices.Contains(d.Surplus, id) || slices.Contains(d.Breaks, id) && !slices.Contains(d.Missed, id)
}

// KilledBy returns the deviations that a requirement noticed, in the order of the matrix.
func (m Matrix) KilledBy(id requirement.ID) []Deviation {
	var deviations []Deviation
	for _, d := range m.Deviations {
		if d.kills(id) {
			deviations = append(deviations, d)
		}
	}
	return deviations
}

// AttestedRequirements lists the requirements that must not be probed, so that only the operator can attest them: a probe of the protection
// against brute force would lock accounts.
func AttestedRequirements() []requirement.ID { return []requirement.ID{"SEC-07"} }

//go:embed matrix.json
var recordedMatrix []byte

// RecordedMatrix returns the last complete measurement; "make mutants" repeats it.
func RecordedMatrix() Matrix {
	m, err := ReadMatrix(recordedMatrix)
	if err != nil {
		panic(err) // the matrix is embedded, and a test reads it
	}
	return m
}

// ReadMatrix reads the output of [Matrix.JSON].
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

// JSON encodes the matrix with one line for each deviation, so that a diff of two measurements is readable.
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

// Score counts a matrix.
type Score struct {
	// Deviations is the number of deviations tried, Noticed the number of those that exactly the right requirements noticed.
	Deviations int `json:"deviations"`
	Noticed    int `json:"noticed"`
	// Requirements is the number of requirements that a deviation can prove, Killed the number of those that noticed at least one.
	Requirements int `json:"requirements"`
	Killed       int `json:"killed"`
	// Attested lists the requirements that no deviation can prove.
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

// String returns the score in one line: "312 of 312 deviations noticed exactly, 129 of 129 requirements proved, SEC-07 left to attestation".
func (s Score) String() string {
	text := fmt.Sprintf("%d of %d deviations noticed exactly, %d of %d requirements proved", s.Noticed, s.Deviations, s.Killed, s.Requirements)
	if len(s.Attested) > 0 {
		text += ", " + ListIDs(s.Attested, len(s.Attested)) + " left to attestation"
	}
	return text
}

// Sentence returns the score for the reader of a report. suite and catalogue are the versions that it is about: another version of rin has other numbers.
// attested lists the requirements that the operator of the node attested.
func (s Score) Sentence(suite, catalogue string, attested []requirement.ID) string {
	text := fmt.Sprintf("rin %s (catalogue %s) notices %d of %d deviations tried; they prove %d of %d requirements",
		suite, catalogue, s.Noticed, s.Deviations, s.Killed, s.Requirements)
	for _, id := range s.Attested {
		if slices.Contains(attested, id) {
			text += fmt.Sprintf("; the operator attests %s", id)
		} else {
			text += fmt.Sprintf("; %s cannot be tried and was not attested", id)
		}
	}
	return text + "."
}
