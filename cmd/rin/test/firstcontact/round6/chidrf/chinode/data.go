package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

var instruments = []string{"PROJECT_GRANT", "FELLOWSHIP", "NETWORK", "PRIZE", "INFRASTRUCTURE"}

type title struct {
	En string `json:"en"`
	De string `json:"de"`
}

type funder struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Country string `json:"country"`
	Website string `json:"website"`
}

type funderRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type money struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
	cents    int64
}

type call struct {
	ID                string     `json:"id"`
	Title             title      `json:"title"`
	Status            string     `json:"status"`
	Instrument        string     `json:"instrument"`
	Funder            funderRef  `json:"funder"`
	OpensAt           time.Time  `json:"opensAt"`
	Deadline          *time.Time `json:"deadline"`
	Budget            money      `json:"budget"`
	MaxDurationMonths int        `json:"maxDurationMonths"`
	Keywords          []string   `json:"keywords"`
	DmpRequired       bool       `json:"dmpRequired"`
	ContactEmail      string     `json:"contactEmail"`
	UpdatedAt         time.Time  `json:"updatedAt"`
}

type document struct {
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Language  string `json:"language"`
	SizeBytes int    `json:"sizeBytes"`
	URL       string `json:"url"`
}

func (c call) statusAt(t time.Time) string {
	switch {
	case t.Before(c.OpensAt):
		return "UPCOMING"
	case c.Deadline != nil && !t.Before(*c.Deadline):
		return "CLOSED"
	}
	return "OPEN"
}

func (c call) contains(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(strings.ToLower(c.Title.En), text) || strings.Contains(strings.ToLower(c.Title.De), text)
}

func (c call) documents() []document {
	out := []document{}
	if c.Instrument == "PRIZE" {
		return out
	}
	for i, d := range []struct{ name, lang string }{{"Guide for applicants", "en"}, {"Leitfaden für Antragstellende", "de"}, {"Budget template", "en"}} {
		if i == 2 && !c.DmpRequired {
			continue
		}
		mt, ext := "application/pdf", "pdf"
		if i == 2 {
			mt, ext = "application/vnd.oasis.opendocument.spreadsheet", "ods"
		}
		out = append(out, document{d.name, mt, d.lang, 81_344 + 977*i + 31*len(c.Title.En), fmt.Sprintf("https://funders.example/%s/%d.%s", c.ID, i+1, ext)})
	}
	return out
}

var funders = []funder{
	{"F-010", "Austrian Science Foundation", "AT", "https://asf.example"},
	{"F-020", "Nordic Research Council", "DK", "https://nrc.example"},
	{"F-030", "Stiftung für Küstenforschung", "DE", "https://kueste.example"},
	{"F-040", "European Mobility Fund", "BE", "https://emf.example"},
	{"F-050", "Fonds Sociétés & Santé", "FR", "https://fss.example"},
}

var topics = []struct{ en, de, keyword string }{
	{"Energy systems", "Energiesysteme", "energy"},
	{"Quantum materials", "Quantenmaterialien", "physics"},
	{"Coastal ecology", "Küstenökologie", "ecology"},
	{"Digital humanities", "Digitale Geisteswissenschaften", "humanities"},
	{"Public health", "Öffentliche Gesundheit", "health"},
	{"Machine learning", "Maschinelles Lernen", "computing"},
	{"Urban mobility", "Mobilität in Städten", "mobility"},
	{"Ocean observation", "Meeresbeobachtung", "ocean"},
	{"Early modern archives", "Archive der Frühen Neuzeit", "history"},
	{"Plant genomics", "Pflanzengenomik", "genetics"},
	{"Circular economy", "Kreislaufwirtschaft", "economy"},
	{"Neuroscience of ageing", "Neurowissenschaft des Alterns", "neuroscience"},
	{"Open science", "Offene Wissenschaft", "open science"},
	{"Arctic climate", "Klima der Arktis", "climate"},
}

var forms = []struct{ en, de, instrument string }{
	{"%s: collaborative projects", "%s: Verbundprojekte", "PROJECT_GRANT"},
	{"%s: early career fellowships", "%s: Stipendien für den Nachwuchs", "FELLOWSHIP"},
	{"%s: international networks", "%s: internationale Netzwerke", "NETWORK"},
	{"%s: prize of the year", "%s: Preis des Jahres", "PRIZE"},
	{"%s: shared laboratories", "%s: gemeinsame Labore", "INFRASTRUCTURE"},
	{"%s: stand-alone grants", "%s: Einzelprojekte", "PROJECT_GRANT"},
}

// seed makes the calls as the editors left them on the day of the start.
func seed(now time.Time) []call {
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	var out []call
	for i := range len(topics) * len(forms) {
		t, f, fu := topics[i%len(topics)], forms[(i+i/len(topics))%len(forms)], funders[(i*3+i/7)%len(funders)]
		opens := day.AddDate(0, 0, (i*29)%280-200).Add(8 * time.Hour)
		// Deadlines fall on a few common days.
		deadline := day.AddDate(0, 0, (i*29)%280-200+45+15*((i*7)%6)).Add(15 * time.Hour)
		cents := []int64{95_000_00, 1_250_000_00, 20_000_00, 480_000_50, 3_000_000_00, 150_000_00, 7_500_25, 850_000_00, 60_000_00}[(i*5+i/9)%9] + int64(i)*1_000_00
		c := call{
			ID: fmt.Sprintf("NC-%04d", 1009+i*13), Title: title{fmt.Sprintf(f.en, t.en), fmt.Sprintf(f.de, t.de)},
			Instrument: f.instrument, Funder: funderRef{fu.ID, fu.Name}, OpensAt: opens, Deadline: &deadline,
			Budget:            money{fmt.Sprintf("%d.%02d", cents/100, cents%100), []string{"EUR", "EUR", "EUR", "DKK"}[i%4], cents},
			MaxDurationMonths: []int{12, 24, 36, 48, 6}[i%5], Keywords: []string{t.keyword, strings.ToLower(strings.ReplaceAll(f.instrument, "_", " "))},
			DmpRequired: i%3 != 0, ContactEmail: fmt.Sprintf("calls-%d@funders.example", 1+i%5),
			UpdatedAt: day.AddDate(0, 0, -(i*17)%150-1).Add(time.Duration(i*311) * time.Second),
		}
		if i%17 == 5 {
			c.Deadline = nil
		}
		out = append(out, c)
	}
	return out
}

// sortCalls sorts by the named field; ties are broken by the id, ascending, and
// calls without a deadline come last in either direction.
func sortCalls(calls []call, order string) {
	name, desc := strings.CutPrefix(order, "-")
	slices.SortStableFunc(calls, func(a, b call) int {
		r := 0
		switch name {
		case "deadline":
			switch {
			case a.Deadline == nil && b.Deadline == nil:
			case a.Deadline == nil:
				return 1
			case b.Deadline == nil:
				return -1
			default:
				r = a.Deadline.Compare(*b.Deadline)
			}
		case "title":
			r = cmp.Compare(a.Title.En, b.Title.En)
		case "budget":
			r = cmp.Compare(a.Budget.cents, b.Budget.cents)
			if is("chi-budget-sorts-as-text") {
				r = cmp.Compare(a.Budget.Amount, b.Budget.Amount)
			}
		case "updatedAt":
			r = a.UpdatedAt.Compare(b.UpdatedAt)
		}
		if desc {
			r = -r
		}
		if r != 0 {
			return r
		}
		return cmp.Compare(a.ID, b.ID)
	})
}
