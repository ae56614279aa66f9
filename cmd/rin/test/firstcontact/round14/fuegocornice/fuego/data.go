package main

import (
	"fmt"
	"sort"
)

// record is a funding call as the editorial office of the university keeps it.
type record struct {
	ID, Type  string
	TitleDE   string
	TitleEN   string
	SummaryDE string
	SummaryEN string
	Funder    string
	Regions   []string
	Opens     string
	Deadline  string // empty: no deadline
	Budget    float64
	Subjects  []string
	Website   string
	Updated   string
}

// Funder is an organisation that publishes funding calls.
type Funder struct {
	ID      string `json:"id" validate:"required" description:"Key of the funder"`
	Name    string `json:"name" validate:"required" description:"Name in the language of the funder"`
	Country string `json:"country" validate:"required" description:"ISO 3166-1 alpha-2"`
}

var funders = []Funder{
	{"DFG", "Deutsche Forschungsgemeinschaft", "DE"},
	{"FWF", "Fonds zur Förderung der wissenschaftlichen Forschung", "AT"},
	{"R&D-Nord", "R&D Fonds Nord + Ostsee", "DE"},
	{"SNF", "Schweizerischer Nationalfonds", "CH"},
	{"ERC", "European Research Council", "BE"},
	{"Möwe", "Möwe-Stiftung für Küstenforschung", "DE"},
	{"NWO", "Nederlandse Organisatie voor Wetenschappelijk Onderzoek", "NL"},
}

var callTypes = []string{"AWARD", "CALL", "GRANT", "ONGOING_CALL", "PROGRAMME", "SCHOLARSHIP"}

var regions = []string{"BREMEN", "HAMBURG", "LOWER_SAXONY", "MECKLENBURG", "SCHLESWIG_HOLSTEIN"}

var topics = [][2]string{
	{"Küstenschutz und Sturmfluten", "Coastal protection and storm surges"},
	{"Quantensensorik", "Quantum sensing"},
	{"Niederdeutsche Philologie", "Low German philology"},
	{"Moore als Kohlenstoffspeicher", "Peatlands as carbon stores"},
	{"Offshore-Windenergie", "Offshore wind energy"},
	{"Hanseatische Handelsgeschichte", "Hanseatic trade history"},
	{"Algorithmische Fairness", "Algorithmic fairness"},
	{"Pflegewissenschaft", "Nursing science"},
	{"Meeresbiologie der Ostsee", "Marine biology of the Baltic Sea"},
	{"Wasserstofftechnologien", "Hydrogen technologies"},
	{"Digitale Editionen", "Digital editions"},
	{"Antibiotikaresistenzen", "Antimicrobial resistance"},
	{"Friedens- und Konfliktforschung", "Peace and conflict studies"},
	{"Leichtbau im Schiffbau", "Lightweight shipbuilding"},
	{"Frühkindliche Bildung", "Early childhood education"},
	{"Gletscher und Meeresspiegel", "Glaciers and sea level"},
	{"Robotik in der Landwirtschaft", "Agricultural robotics"},
}

var subjectCodes = []string{"101", "205", "304", "401", "504", "602", "603"}

var deadlines = []string{"2026-01-15", "2026-02-28", "2026-03-31", "2026-03-31", "", "2026-06-30", "2026-09-01",
	"2026-12-31", "2027-01-01", "2028-02-29", "2027-05-15", "2026-03-31", "2029-12-31"}

func loadRecords() []record {
	kinds := [][2]string{{"Förderaufruf", "Call"}, {"Stipendium", "Scholarship"}, {"Verbundprojekt", "Joint project"}, {"Preis", "Award"}}
	var all []record
	for i := 0; i < 50; i++ {
		t, k := topics[(i*5)%len(topics)], kinds[(i/3)%len(kinds)]
		r := record{
			ID:        fmt.Sprintf("NM-%d-%03d", 2024+i%4, 7*i+11),
			Type:      callTypes[(i*7+i/6)%len(callTypes)],
			TitleDE:   fmt.Sprintf("%s: %s", k[0], t[0]),
			TitleEN:   fmt.Sprintf("%s: %s", k[1], t[1]),
			SummaryDE: fmt.Sprintf("Gefördert werden Vorhaben zum Thema %s mit einer Laufzeit von %d Monaten.", t[0], 12+6*(i%5)),
			SummaryEN: fmt.Sprintf("Supports projects on %s with a duration of %d months.", t[1], 12+6*(i%5)),
			Funder:    funders[(i*3+i/5)%len(funders)].ID,
			Regions:   []string{regions[i%len(regions)]},
			Opens:     fmt.Sprintf("%d-%02d-%02d", 2024+i%3, 1+(i*5)%12, 1+(i*11)%28),
			Deadline:  deadlines[i%len(deadlines)],
			Budget:    float64(25000+i*i*1873) + 0.25*float64(i%4),
			Subjects:  []string{subjectCodes[i%len(subjectCodes)]},
			Website:   fmt.Sprintf("https://foerderung.nordmark.example/aufruf/%d", 7*i+11),
			Updated:   fmt.Sprintf("2025-%02d-%02dT%02d:15:00Z", 1+i%11, 1+(i*3)%28, i%24),
		}
		if i%3 == 0 {
			r.Regions = append(r.Regions, regions[(i+2)%len(regions)])
		}
		if i%4 == 1 {
			r.Subjects = append(r.Subjects, subjectCodes[(i+3)%len(subjectCodes)])
		}
		all = append(all, r)
	}
	special := func(id, typ, de, en, funder, opens, deadline string, budget float64, regs ...string) {
		all = append(all, record{ID: id, Type: typ, TitleDE: de, TitleEN: en, SummaryDE: "Sonderaufruf: " + de + ".",
			SummaryEN: "Special call: " + en + ".", Funder: funder, Regions: regs, Opens: opens, Deadline: deadline, Budget: budget,
			Subjects: []string{"504"}, Website: "https://foerderung.nordmark.example/sonder", Updated: "2025-11-03T08:00:00Z"})
	}
	special("NM/2026/Ä 1", "GRANT", "Wattenmeer „grenzenlos“", "Wadden Sea \"without borders\"", "Möwe", "2025-10-01", "2026-12-31", 480000.5, "SCHLESWIG_HOLSTEIN", "LOWER_SAXONY")
	special("NM%2F7", "CALL", "100 % erneuerbar", "100 % renewable", "R&D-Nord", "2026-01-01", "2026-12-30", 1250000, "HAMBURG")
	special("NM/7", "AWARD", "Preis für <offene> Daten & Software", "Award for <open> data & software", "DFG", "2020-02-29", "2024-02-29", 10000, "BREMEN")
	special("NM+C++", "SCHOLARSHIP", "Stipendium C++ und Rechnerarchitektur", "Scholarship C++ and computer architecture", "ERC", "2026-02-01", "2026-12-31", 36000.75, "HAMBURG")
	special("nm-2026-011", "PROGRAMME", "Zukunftsprogramm ohne Ende", "Open-ended future programme", "NWO", "2000-01-01", "9999-12-31", 0, "MECKLENBURG")
	special("NM-:~@!", "ONGOING_CALL", "Reisekosten", "Travel costs", "SNF", "1999-12-31", "", 1500, "BREMEN")
	special("NM-2026-ß", "CALL", "Straßen aus Asche", "Roads made of ash", "FWF", "2026-05-05", "2027-01-01", 99999.99, "LOWER_SAXONY")
	sort.Slice(all, func(i, j int) bool { return all[i].ID < all[j].ID })
	return all
}
