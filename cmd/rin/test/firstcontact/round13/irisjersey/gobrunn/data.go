package main

import (
	"fmt"
	"sort"
	"time"
)

type Budget struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// Call is one record; what a client sees of it is made in view.go.
type Call struct {
	ID, Title, Summary, Type, Funder string
	Regions, Groups                  []string
	Opens                            string
	Deadline                         string // "" = open without an end
	Budget                           *Budget
	FollowUp                         string
	Embargo                          bool // not published yet
	Modified                         time.Time
}

type Funder struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Country  string `json:"country"`
	Homepage string `json:"homepage"`
}

var funders = []Funder{
	{"FWG", "Wissenschaftsfonds Gobrunn", "AT", "https://fwg.example/"},
	{"L&F", "Lehre & Forschung, Stiftung öffentlichen Rechts", "AT", "https://lf.example/de?x=1&y=2"},
	{"EU-HE", "European Commission, Horizon", "BE", "https://he.example/"},
	{"NÖ Land", "Land Niederösterreich (Abteilung K3)", "AT", "https://noe.example/"},
	{"MŠMT", "Ministerstvo školství", "CZ", "https://msmt.example/"},
	{"SSF-1", "Swiss Small Fund", "CH", "https://ssf.example/"},
	{"ALT", "Altstadtfonds (ruht)", "AT", "https://alt.example/"},
}

var regionNames = [][2]string{
	{"AT-1", "Burgenland"}, {"AT-2", "Kärnten"}, {"AT-3", "Niederösterreich"}, {"AT-4", "Oberösterreich"}, {"AT-5", "Salzburg"},
	{"AT-6", "Steiermark"}, {"AT-7", "Tirol"}, {"AT-8", "Vorarlberg"}, {"AT-9", "Wien"},
}

var groupNames = []string{"UNIVERSITY", "COMPANY", "SCHOOL", "PERSON", "NGO"}

var (
	calls  []Call // sorted by id
	byID   = map[string]*Call{}
	topics = []string{"Limnologie", "R&D in Holzbau", "Seltene Erden", "Quantenoptik", "Bodenkunde", "Mittelalterliche Musik", "R&D Mobilität",
		"Pflegewissenschaft", "Krebsforschung", "Stadtklima", "Alpine Geologie", "Kryptographie", "Bienengesundheit", "R&D Wasserstoff", "Digitale Edition",
		"Sprachen der Donau", "Lawinenschutz"}
	forms = []string{"Doktoratsprogramm", "Einzelprojekt", "Reisezuschuss", "Konsortium", "Preis", "Infrastruktur", "Anschubfinanzierung"}
)

func init() {
	odd := []Call{
		{ID: "100%-Frauen", Title: "100% Frauen in der Technik", Summary: "Stellen für Forscherinnen; 100% der Kosten.", Type: "CALL", Funder: "L&F", Regions: []string{"AT-9"}, Opens: "2026-01-15", Deadline: "2027-02-28", Budget: &Budget{16777217, "EUR"}},
		{ID: "A+B", Title: "Academia + Business", Summary: "Gründungen aus der Universität.", Type: "CALL", Funder: "FWG", Regions: []string{"AT-6", "AT-2"}, Opens: "2026-06-01", Deadline: "2027-06-30", Budget: &Budget{750000.5, "EUR"}},
		{ID: "ÖAW Stipendium 7", Title: "Österreichisches Stipendium \"Sieben\"", Summary: "Für Doktorand:innen, <b>nicht</b> für Postdocs.", Type: "PROGRAMME", Funder: "FWG", Regions: []string{"AT-1", "AT-3", "AT-9"}, Opens: "2020-02-29", Budget: &Budget{0, "EUR"}},
		{ID: "a&b=c", Title: "Äpfel & Birnen = Obst", Summary: "Obstbau 🍐 in der Wachau.", Type: "CALL", Funder: "NÖ Land", Regions: []string{"AT-3"}, Opens: "2024-01-01", Deadline: "2024-02-29", Budget: &Budget{12345678.9, "EUR"}},
		{ID: "#1?", Title: "Erste Frage", Summary: "Was\nwäre, wenn?", Type: "CALL", Funder: "SSF-1", Regions: []string{"AT-8"}, Opens: "2026-10-01", Deadline: "9999-12-31", Budget: &Budget{33554433, "CHF"}},
		{ID: "日本-AT", Title: "日本とオーストリア", Summary: "Bilateral mobility Japan–Austria.", Type: "CALL", Funder: "EU-HE", Regions: []string{"AT-4", "AT-5"}, Opens: "2027-01-01", Deadline: "2027-01-31", Budget: &Budget{123456789, "EUR"}},
		{ID: "x~1;v=2", Title: "'Zweite' Fassung\\neu", Summary: "C:\\Forschung", Type: "CALL", Funder: "MŠMT", Regions: []string{}, Opens: "2025-05-05", Deadline: "2026-12-31", Budget: &Budget{0.01, "CZK"}},
		{ID: "it's", Title: "It's open", Summary: "Open for ever; no end.", Type: "PROGRAMME", Funder: "SSF-1", Regions: []string{"AT-7", "AT-8"}, Opens: "2019-12-31"},
		// Not published yet; another call's followUp names each of these.
		{ID: "GB-2099-01", Title: "Limnologie: zweite Runde", Summary: "Gesperrt bis zur Pressekonferenz.", Type: "CALL", Funder: "FWG", Regions: []string{"AT-3"}, Opens: "2099-01-01", Deadline: "2099-03-31", Budget: &Budget{5000000, "EUR"}, Embargo: true},
		{ID: "GB-2099-02", Title: "Quantenoptik: zweite Runde", Summary: "Gesperrt bis zur Pressekonferenz.", Type: "CALL", Funder: "L&F", Regions: []string{"AT-7"}, Opens: "2099-01-01", Deadline: "2099-04-30", Budget: &Budget{7500000, "EUR"}, Embargo: true},
	}
	calls = append(calls, odd...)
	for i := 0; i < 51; i++ {
		form := forms[(i*5+i/7)%len(forms)]
		c := Call{ID: fmt.Sprintf("GB-%d-%03d", 2024+i%4, i+1), Title: topics[i%len(topics)] + ": " + form, Type: "CALL", Funder: funders[(i*i+i/3)%6].ID}
		c.Summary = fmt.Sprintf("%s zum Thema %s, Runde %d. Einreichung laufend über das Portal.", form, topics[i%len(topics)], i/len(topics)+1)
		if i%6 == 5 {
			c.Type = "PROGRAMME"
		}
		for r := range regionNames {
			if (i+r*r)%4 == 0 || (i+r)%7 == 2 {
				c.Regions = append(c.Regions, regionNames[r][0])
			}
		}
		open := time.Date(2024+i%4, time.Month(1+(i*5)%12), 1+(i*11)%28, 0, 0, 0, 0, time.UTC)
		c.Opens = open.Format("2006-01-02")
		if i%9 != 4 {
			c.Deadline = open.AddDate(0, 2+i%3*4, 5*(i%4)).Format("2006-01-02")
		}
		if i%8 != 3 {
			c.Budget = &Budget{float64((i%10+1)*250000) * []float64{1, 1, 4, 0.5, 37}[i%5], []string{"EUR", "EUR", "EUR", "CHF"}[i%4]}
		}
		calls = append(calls, c)
	}
	sort.Slice(calls, func(a, b int) bool { return calls[a].ID < calls[b].ID })
	for i := range calls {
		c := &calls[i]
		for g := range groupNames {
			if (i+g*2)%3 == 0 {
				c.Groups = append(c.Groups, groupNames[g])
			}
		}
		if c.Regions == nil {
			c.Regions = []string{}
		}
		c.Modified = time.Date(2026, time.Month(1+i%10), 1+i%27, 6+i%12, (i*7)%60, (i*13)%60, 0, time.UTC)
		byID[c.ID] = c
	}
	byID["GB-2024-001"].FollowUp = "GB-2099-01"
	byID["GB-2027-004"].FollowUp = "GB-2099-02"
	byID["a&b=c"].FollowUp = "A+B"
}
