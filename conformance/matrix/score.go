package matrix

import (
	"fmt"
	"slices"

	"github.com/rin-network/rin/conformance/requirement"
)

// Score is a matrix in figures.
type Score struct {
	// Deviations were tried; Noticed of them were noticed exactly: by every requirement that they break, and by no other.
	Deviations int `json:"deviations"`
	Noticed    int `json:"noticed"`
	// Requirements can be proved by a deviation; Killed of them noticed one at least.
	Requirements int `json:"requirements"`
	Killed       int `json:"killed"`
	// Attested are the requirements that no deviation may prove.
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
		if slices.Contains(Attested(), id) {
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

// String is the score of a measurement: "312 of 312 deviations noticed exactly, 129 of 129 requirements killed, SEC-07 attested".
func (s Score) String() string {
	text := fmt.Sprintf("%d of %d deviations noticed exactly, %d of %d requirements killed", s.Noticed, s.Deviations, s.Killed, s.Requirements)
	if len(s.Attested) > 0 {
		text += ", " + ids(s.Attested) + " attested"
	}
	return text
}

// Sentence tells the score to the reader of a certificate.
func (s Score) Sentence() string {
	text := fmt.Sprintf("The suite notices %d of %d deviations tried on a correct node; they prove %d of %d requirements",
		s.Noticed, s.Deviations, s.Killed, s.Requirements)
	if len(s.Attested) > 0 {
		text += "; the operator attests " + ids(s.Attested)
	}
	return text + "."
}

// survivors are the requirements that noticed no deviation and are not attested.
func (m Matrix) survivors() []requirement.ID {
	var ids []requirement.ID
	for _, id := range m.Requirements {
		if len(m.KilledBy(id)) == 0 && !slices.Contains(Attested(), id) {
			ids = append(ids, id)
		}
	}
	return ids
}
