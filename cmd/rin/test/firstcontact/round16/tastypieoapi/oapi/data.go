package main

import (
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Two is a text in both languages.
type Two struct{ De, En string }

func (t Two) in(lang string) string {
	if lang == "en" {
		return t.En
	}
	return t.De
}

type Funder struct {
	ID            string
	Name          Two
	City, Country string
}

type Topic struct {
	ID    string
	Label Two
}

type Record struct {
	ID       string
	Type     string
	Title    Two
	Text     Two
	Funder   *Funder
	Topics   []*Topic
	Cents    int64
	Opens    string
	Deadline string // "" is open-ended
	Updated  time.Time
	folded   string
}

var funders = []*Funder{
	{"ahorn", Two{"Ahorn-Stiftung für Völkerkunde", "Ahorn Foundation for Ethnology"}, "Göttingen", "DE"},
	{"birke", Two{"Birkenfonds Österreich", "Birch Fund Austria"}, "Klagenfurt", "AT"},
	{"buche", Two{"Bündnis Buche", "Beech Alliance"}, "Zürich", "CH"},
	{"eiche", Two{"Eiche gGmbH & Söhne", "Oak Charitable & Sons"}, "Köln", "DE"},
	{"erle", Two{"Erlenwerk Fördergesellschaft", "Alder Works Funding Society"}, "Lübeck", "DE"},
	{"linde", Two{"Lindenhof, Verein für Späterfindungen", "Lindenhof, Society for Late Inventions"}, "Graz", "AT"},
}

var topics = []*Topic{
	{"boden", Two{"Böden", "Soils"}},
	{"energie", Two{"Energieträger", "Energy carriers"}},
	{"gesundheit", Two{"Gesundheit", "Health"}},
	{"hoeren", Two{"Hörforschung", "Hearing research"}},
	{"moor", Two{"Moorschutz", "Peatland protection"}},
	{"sprache", Two{"Sprachen", "Languages"}},
	{"verkehr", Two{"Verkehrsströme", "Traffic flows"}},
	{"zoll", Two{"Zölle", "Customs"}},
}

var types = []string{"GRANT", "FELLOWSHIP", "PRIZE", "EQUIPMENT", "NETWORK"}

var (
	records  []*Record
	byID     = map[string]*Record{}
	funderBy = map[string]*Funder{}
)

func fold(s string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
}

func generate() {
	de1 := []string{"Förderlinie", "Ausschreibung", "Zuschüsse", "Preisgeld", "Reisemittel", "Großgeräte", "Netzwerkmittel"}
	en1 := []string{"Funding line", "Call", "Grants", "Prize money", "Travel funds", "Large devices", "Network funds"}
	de2 := []string{"für Nachwuchs", "Flüsse und Äcker", "mit „Bürgerräten“", "über Grenzen", "in Übersee", "für Tüftler, Bastler", "zur Wärmewende"}
	en2 := []string{"for early careers", "Rivers and Fields", "with \"citizens' councils\"", "across borders", "overseas", "for tinkerers, makers", "for the heat transition"}
	rnd := rand.New(rand.NewSource(1616))
	start := time.Date(2024, 9, 1, 0, 0, 0, 0, time.UTC)
	for _, f := range funders {
		funderBy[f.ID] = f
	}
	for n := 1; n <= 124; n++ {
		a, b := rnd.Intn(len(de1)), rnd.Intn(len(de2))
		r := &Record{
			ID:     fmt.Sprintf("st-%05d", 10000+n*7),
			Type:   types[rnd.Intn(len(types))],
			Title:  Two{de1[a] + " " + de2[b], en1[a] + " " + en2[b]},
			Funder: funders[rnd.Intn(len(funders))],
			Cents:  []int64{0, 500000, 1640035, 7500050, 25000000, 120000000, 990000000}[rnd.Intn(7)],
		}
		if n%4 == 1 {
			r.Title.De += fmt.Sprintf(" %d", 2025+n%3)
			r.Title.En += fmt.Sprintf(" %d", 2025+n%3)
		}
		for _, i := range rnd.Perm(len(topics))[:1+rnd.Intn(3)] {
			r.Topics = append(r.Topics, topics[i])
		}
		sort.Slice(r.Topics, func(i, j int) bool { return r.Topics[i].ID < r.Topics[j].ID })
		r.Text = Two{"Gefördert wird: " + r.Title.De + ". Anträge auf Deutsch oder Englisch.",
			"Funded: " + r.Title.En + ". Applications in German or English."}
		opens := start.AddDate(0, 0, rnd.Intn(900))
		r.Opens = opens.Format("2006-01-02")
		if n%9 != 4 {
			r.Deadline = opens.AddDate(0, 0, 14+rnd.Intn(180)).Format("2006-01-02")
		}
		if n == 61 {
			r.Opens, r.Deadline = "0001-01-02", "9999-12-31"
		}
		r.Updated = time.Date(2026, 2, 1, 5, 0, 0, 0, time.UTC).Add(time.Duration(rnd.Intn(22000000)) * time.Second)
		r.folded = fold(r.Title.De) + "\n" + fold(r.Title.En)
		records = append(records, r)
		byID[r.ID] = r
	}
}

func (r *Record) hasTopic(id string) bool {
	for _, t := range r.Topics {
		if t.ID == id {
			return true
		}
	}
	return false
}

func (r *Record) matches(search string) bool { return strings.Contains(r.folded, search) }
