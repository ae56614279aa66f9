package main

import (
	"fmt"
	"strconv"
	"time"
)

type Text struct {
	Lang string `json:"lang"`
	Text string `json:"text"`
}

type Budget struct {
	Currency string `json:"currency"`
	Total    Amount `json:"total"`
}

// Entry is what a list shows of a funding.
type Entry struct {
	Key          string  `json:"key"`
	Name         []Text  `json:"name"`
	State        string  `json:"state"`
	Organisation string  `json:"organisation"`
	Budget       Budget  `json:"budget"`
	Deadline     *string `json:"deadline"`
	Modified     string  `json:"modified"`
}

// Funding is the whole record.
type Funding struct {
	Entry
	Abstract    []Text   `json:"abstract"`
	Disciplines []string `json:"disciplines"`
	Rounds      []Round  `json:"rounds"`
	Contact     *Contact `json:"contact,omitempty"`
	Homepage    string   `json:"homepage"`

	at time.Time
}

// nullable is a Funding whose contact is written in any case.
type nullable struct {
	*Funding
	Contact *Contact `json:"contact"`
}

// Amount is a whole number, written in one way or the other.
type Amount int64

func (a Amount) MarshalJSON() ([]byte, error) {
	if is("elbe") {
		return []byte(strconv.FormatFloat(float64(a), 'E', -1, 64)), nil
	}
	return []byte(strconv.FormatInt(int64(a), 10)), nil
}

type Round struct {
	No   int    `json:"no"`
	From string `json:"from"`
	To   string `json:"to"`
}

type Contact struct {
	Name  string `json:"name"`
	Phone string `json:"phone"`
}

type Organisation struct {
	Key     string `json:"key"`
	Name    []Text `json:"name"`
	Country string `json:"country"`
	Web     string `json:"web"`
}

type gen uint64

func (g *gen) n(max int) int {
	*g = *g*6364136223846793005 + 1442695040888963407
	return int((uint64(*g) >> 33) % uint64(max))
}

var states = []string{"FORTHCOMING", "RUNNING", "ENDED"}

var organisations = []Organisation{
	{"ORG-A1", []Text{{"de", "Deutsche Salzforschungsgesellschaft"}}, "DE", "https://127.0.0.1/salz/"},
	{"ORG-B2", []Text{{"de", "Stiftung Händel-Haus"}, {"en", "Handel House Foundation"}}, "DE", "https://127.0.0.1/haendel/"},
	{"ORG-C3", []Text{{"de", "Land Sachsen-Anhalt"}, {"en", "State of Saxony-Anhalt"}}, "DE", "https://127.0.0.1/land/"},
	{"ORG-D4", []Text{{"en", "Nordic Materials Board"}}, "SE", "https://127.0.0.1/materials/"},
	{"ORG-E5", []Text{{"de", "Österreichischer Innovationsfonds"}}, "AT", "https://127.0.0.1/innovation/"},
}

func generate() []*Funding {
	g := gen(77341)
	subject := [][2]string{{"Salzchemie", "Salt chemistry"}, {"Musikgeschichte", "History of music"}, {"Pflanzenbiochemie", "Plant biochemistry"},
		{"Werkstoffe für Windräder", "Materials for wind turbines"}, {"Aufklärungsforschung", "Enlightenment studies"}, {"Maschinelles Übersetzen", "Machine translation"},
		{"Böden im Klimawandel", "Soils and climate change"}}
	kind := [][2]string{{"Reisestipendium", "Travel grant"}, {"Verbundprojekt", "Collaborative project"}, {"Preis", "Prize"}, {"Forschungsförderung", "Research funding"}}
	disc := []string{"CHEMISTRY", "HUMANITIES", "BIOLOGY", "ENGINEERING", "COMPUTING", "EARTH_SCIENCE"}
	budgets := []int64{5000, 20000, 20000, 75000, 150000, 150000, 400000, 1200000, 2500000000, 6000000000}
	var all []*Funding
	for i := 1; i <= 83; i++ {
		s, k := subject[g.n(len(subject))], kind[g.n(len(kind))]
		at := time.Date(2025, time.Month(1+g.n(12)), 1+g.n(28), g.n(24), g.n(60), g.n(60), 0, time.UTC)
		f := &Funding{at: at}
		f.Key = fmt.Sprintf("HF.%04d.%c", i, 'a'+rune(g.n(6)))
		f.Name = []Text{{"de", k[0] + " " + s[0]}}
		if g.n(3) > 0 {
			f.Name = append(f.Name, Text{"en", k[1] + ": " + s[1]})
		}
		f.State = states[g.n(3)]
		f.Organisation = organisations[g.n(len(organisations))].Key
		f.Budget = Budget{[]string{"EUR", "EUR", "SEK"}[g.n(3)], Amount(budgets[g.n(len(budgets))])}
		f.Modified = at.Format(time.RFC3339)
		from := time.Date(2025+g.n(2), time.Month(1+g.n(12)), 1+g.n(28), 8, 0, 0, 0, time.UTC)
		for no := 1; no <= 1+g.n(3); no++ {
			f.Rounds = append(f.Rounds, Round{no, from.Format("2006-01-02"), from.AddDate(0, 2, 3).Format("2006-01-02")})
			from = from.AddDate(0, 4, 0)
		}
		if g.n(6) > 0 {
			d := f.Rounds[len(f.Rounds)-1].To + "T22:59:59Z"
			f.Deadline = &d
		}
		f.Abstract = []Text{{"de", fmt.Sprintf("%s im Bereich „%s“. Bewerbung über das Portal; Runde %d von %d.", k[0], s[0], 1, len(f.Rounds))}}
		f.Disciplines = []string{disc[i%len(disc)]}
		if o := disc[g.n(len(disc))]; o != f.Disciplines[0] {
			f.Disciplines = append(f.Disciplines, o)
		}
		if g.n(4) > 0 {
			f.Contact = &Contact{"Referat " + string(rune('A'+g.n(5))), fmt.Sprintf("+49 345 5500%d", 1+g.n(9))}
		}
		f.Homepage = fmt.Sprintf("https://127.0.0.1/halle/f/%d", i)
		all = append(all, f)
	}
	return all
}
