package conduct

import "github.com/rin-network/rin/sandbox/journal"

// Level is what a finding is worth.
type Level string

// The levels, the gravest first.
const (
	// Fault breaks a rule, gives a secret away, or loses data.
	Fault Level = "fault"
	// Waste is legal, and costs the client or the node more than it needs.
	Waste Level = "waste"
	// Note is worth knowing, and may be intended.
	Note Level = "note"
)

// Levels lists all levels, the gravest first.
func Levels() []Level { return []Level{Fault, Waste, Note} }

// ID is the id of a rule, such as CLT-01. It is never reused or given to another rule.
type ID string

// Source says who asks for it.
type Source struct {
	// Text names the place: "RFC 6750 §2.3".
	Text string `json:"text"`
	// Link leads there, if it is published.
	Link string `json:"link,omitempty"`
}

// Rule is one rule for clients.
type Rule struct {
	ID    ID
	Title string
	Level Level
	// Sources are the places that ask for it, the strongest first.
	Sources []Source
	// Why tells what comes of breaking it, Fix how to keep it.
	Why, Fix string
	check    func(requests) []Sighting
}

// Sighting is one time that a rule was seen broken, or one row of times.
type Sighting struct {
	// What says what was seen.
	What string `json:"what"`
	// Entries are the requests that show it, the first of them at fault.
	Entries []*journal.Entry `json:"-"`
}

// Catalogue lists all rules in the order of their ids.
func Catalogue() []Rule {
	var all []Rule
	for _, group := range [][]Rule{tokenRules(), secrecyRules(), grantRules(), bearerRules(), patienceRules(), requestRules(), pagingRules(), headerRules()} {
		all = append(all, group...)
	}
	return all
}

// Find returns the rule of an id.
func Find(id ID) (Rule, bool) {
	for _, r := range Catalogue() {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}
