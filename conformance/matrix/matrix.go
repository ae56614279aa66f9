package matrix

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

// Version is the version of the recorded form.
const Version = "rin.matrix/v1"

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

// Measured compares what a deviation is to break with what got worse.
func Measured(name, why string, breaks, worse []requirement.ID) Deviation {
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

// Attested lists the requirements that nothing may provoke: trying whether a node is protected against brute force would lock accounts.
// Its operator attests them.
func Attested() []requirement.ID { return []requirement.ID{"SEC-07"} }

//go:embed matrix.json
var recorded []byte

// Recorded is the last whole matrix that was measured; make mutants measures it anew.
func Recorded() Matrix {
	m, err := Read(recorded)
	if err != nil {
		panic(err) // it is embedded, and a test reads it
	}
	return m
}

// Read reads what [Matrix.JSON] wrote.
func Read(data []byte) (Matrix, error) {
	var m Matrix
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return Matrix{}, fmt.Errorf("read the kill matrix: %w", err)
	}
	if m.Schema != Version {
		return Matrix{}, fmt.Errorf("read the kill matrix: expected schema %s, got %.40q", Version, m.Schema)
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
