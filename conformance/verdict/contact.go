package verdict

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
)

// ContactVersion is the version of the recorded rounds of first contact.
const ContactVersion = "rin.contact/v1"

// Contact counts one round of first contact: nodes whose writers did not know the suite, each certified once before anybody learned from it.
// The kill matrix shows which faults the suite notices of those that its authors made up; a round shows the same for the faults of others.
type Contact struct {
	Round int `json:"round"`
	// Version is the version of rin that met the nodes, Catalogue that of its catalogue.
	Version   string `json:"version"`
	Catalogue string `json:"catalogue"`
	// Wrong nodes: Caught were refused, and a requirement that they break failed; Otherwise were refused for other reasons only; Open were
	// neither refused nor certified; Missed were certified.
	Wrong     int `json:"wrong"`
	Caught    int `json:"caught"`
	Otherwise int `json:"otherwise"`
	Open      int `json:"open"`
	Missed    int `json:"missed"`
	// Right nodes: Certified, Blamed for something (refused), or left Inconclusive.
	Right        int `json:"right"`
	Certified    int `json:"certified"`
	Blamed       int `json:"blamed"`
	Inconclusive int `json:"inconclusive"`
}

//go:embed contact.json
var recordedContacts []byte

// RecordedContacts returns the rounds in their order; the suite in cmd/rin/test/firstcontact measures and records them.
func RecordedContacts() []Contact {
	rounds, err := ReadContacts(recordedContacts)
	if err != nil {
		panic(err) // the rounds are embedded, and a test reads them
	}
	return rounds
}

// LastContact returns the last recorded round; nil before the first.
func LastContact() *Contact {
	rounds := RecordedContacts()
	if len(rounds) == 0 {
		return nil
	}
	return &rounds[len(rounds)-1]
}

// contactFile is the form of contact.json.
type contactFile struct {
	Schema string    `json:"schema"`
	Rounds []Contact `json:"rounds"`
}

// ReadContacts reads the output of [ContactsJSON].
func ReadContacts(data []byte) ([]Contact, error) {
	var file contactFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("read the rounds of first contact: %w", err)
	}
	if file.Schema != ContactVersion {
		return nil, fmt.Errorf("read the rounds of first contact: expected schema %s, got %.40q", ContactVersion, file.Schema)
	}
	for _, c := range file.Rounds {
		if c.Wrong != c.Caught+c.Otherwise+c.Open+c.Missed || c.Right != c.Certified+c.Blamed+c.Inconclusive || c.Wrong == 0 || c.Right == 0 {
			return nil, fmt.Errorf("read the rounds of first contact: round %d does not add up", c.Round)
		}
	}
	return file.Rounds, nil
}

// ContactsJSON encodes rounds for contact.json.
func ContactsJSON(rounds []Contact) ([]byte, error) {
	data, err := json.MarshalIndent(contactFile{Schema: ContactVersion, Rounds: rounds}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the rounds of first contact: %w", err)
	}
	return append(data, '\n'), nil
}

// share returns a part in percent, rounded down: a figure must not look better than it is.
func share(part, whole int) int { return 100 * part / whole }

// String returns the round in one line: "round 2: 40 wrong nodes, 36 caught, 1 refused otherwise, 0 open, 3 missed; 20 right nodes, …".
func (c Contact) String() string {
	return fmt.Sprintf("round %d: %d wrong nodes, %d caught, %d refused otherwise, %d open, %d missed; %d right nodes, %d certified, %d blamed, %d inconclusive",
		c.Round, c.Wrong, c.Caught, c.Otherwise, c.Open, c.Missed, c.Right, c.Certified, c.Blamed, c.Inconclusive)
}

// Sentence returns the round for the reader of a report.
func (c Contact) Sentence() string {
	cause := "each for the rule that it breaks"
	if c.Otherwise > 0 {
		cause = fmt.Sprintf("%d %% for the rule that they break", share(c.Caught, c.Wrong))
	}
	return fmt.Sprintf("At first contact (round %d) rin refused %d %% of %d wrong nodes, %s, and certified %d of %d right ones.",
		c.Round, share(c.Caught+c.Otherwise, c.Wrong), c.Wrong, cause, c.Right-c.Blamed-c.Inconclusive, c.Right)
}
