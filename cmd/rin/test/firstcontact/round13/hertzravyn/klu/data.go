package main

import "fmt"

type text struct {
	Lang  string `json:"lang"`
	Trans string `json:"trans"`
	Text  string `json:"text"`
}

type money struct {
	Currency string  `json:"currency"`
	Amount   float64 `json:"amount"`
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

type stage struct {
	Number   int    `json:"number"`
	Start    string `json:"start"`
	Deadline string `json:"deadline"`
}

// summary is what the list shows of a call.
type summary struct {
	ID         string    `json:"id"`
	Type       string    `json:"type"`
	Name       []text    `json:"name"`
	Funder     funderRef `json:"funder"`
	Regions    []string  `json:"regions"`
	Deadline   *string   `json:"deadline"`
	Amount     money     `json:"amount"`
	ModifiedAt string    `json:"modifiedAt"`
}

// call is what the detail shows: all of the summary and more.
type call struct {
	summary
	Description  []text   `json:"description"`
	TargetGroups []string `json:"targetGroups"`
	FullyFunded  bool     `json:"fullyFunded"`
	Languages    []string `json:"applicationLanguages"`
	Website      string   `json:"website"`
	Stages       []stage  `json:"stages"`
}

var (
	types   = []string{"CALL", "ONGOING_CALL", "PROGRAMME", "AWARD", "SCHOLARSHIP"}
	regions = []string{"VIENNA", "BURGENLAND", "LOWER_AUSTRIA", "CARINTHIA", "UPPER_AUSTRIA", "SALZBURG", "STYRIA", "TYROL", "VORARLBERG"}
	groups  = []string{"UNIVERSITY", "UNIVERSITY_OF_APPLIED_SCIENCES", "RESEARCH_INSTITUTE", "COMPANY", "INDEPENDENT_RESEARCHER"}
	funders = []funder{
		{"F-01", "Kärntner Wissenschaftsfonds", "AT", "https://kwf.invalid/"},
		{"F-02", "Alpine Research Council", "CH", "https://arc.invalid/"},
		{"F-03", "Stiftung \"Neue Wege\", Graz", "AT", "https://neuewege.invalid/"},
		{"F-04", "Sklad za znanost Ljubljana", "SI", "https://sklad.invalid/"},
		{"F/05", "Fondazione Friuli & Carinzia", "IT", "https://ffc.invalid/"},
	}
	topics = [][2]string{
		{"Gletscherhydrologie", "Glacier Hydrology"}, {"Öffentliche Gesundheit", "Public Health"}, {"Halbleiterphysik", "Semiconductor Physics"},
		{"Minderheitensprachen", "Minority Languages"}, {"Holzbau und Statik", "Timber Construction"}, {"Künstliche Intelligenz", "Artificial Intelligence"},
		{"Barocke Musik", "Baroque Music"}, {"Bodenökologie", "Soil Ecology"}, {"Steuerrecht", "Tax Law"}, {"Tourismusforschung", "Tourism Studies"},
		{"Wasserkraft", "Hydropower"}, {"Übersetzungswissenschaft", "Translation Studies"},
	}
	forms = [][2]string{{"Startförderung", "Seed Grant"}, {"Verbundprojekt", "Joint Project"}, {"Nachwuchspreis", "Early Career Award"}, {"Infrastruktur", "Infrastructure"}}
	odd   = map[int]string{4: "KLU/2026 04", 9: "50%-Brücke", 14: "A+B", 15: "A%2BB", 22: "Straße?#7", 30: "x;y=z,&w", 37: "klu-2026-036", 41: "λ:Ω~'(1)*"}
	ends  = []string{"2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z", "2027-03-15T11:00:00Z", "2027-03-15T11:00:00Z", "2028-02-29T12:00:00Z", "2026-12-31T10:30:00Z",
		"2027-06-30T22:00:00Z", "2025-10-26T01:30:00Z", "2027-03-15T23:30:00Z", "2099-12-31T23:59:59Z", "2027-06-30T22:00:00Z"}
	amounts = []float64{50000, 120000.5, 20000001.25, 0, 999.99, 3500000, 123456789012.34, 75000, 16777217, 120000.5, 2500}
)

var (
	calls = map[string]*call{}
	order []string // ids in the order of the catalogue
)

func init() {
	for i := 1; i <= 53; i++ {
		t, f, fu := topics[(i*5)%len(topics)], forms[(i*7)%len(forms)], funders[(i*3)%len(funders)]
		k := &call{}
		k.ID = fmt.Sprintf("KLU-2026-%03d", i)
		if o := odd[i]; o != "" {
			k.ID = o
		}
		k.Type = types[(i*2+i/7)%len(types)]
		de, en := f[0]+" "+t[0], f[1]+" "+t[1]
		switch i {
		case 11:
			de, en = "Preis „Grüne Brücke“; \"Zeile\", Komma", "Award \"Green Bridge\"; line, comma"
		case 26:
			de, en = "Zweizeilig:\nTeil B", "Two lines:\nPart B"
		}
		k.Name = []text{{"de", "O", de}, {"en", "H", en}}
		if i%6 == 0 {
			k.Name = append(k.Name, text{"sl", "M", "Razpis " + t[1] + " – št. " + fmt.Sprint(i)})
		}
		k.Funder = funderRef{fu.ID, fu.Name}
		k.Regions = []string{}
		for r := range regions {
			if (i*(2*r+1)+r*r+i/5)%7 < 3 && i%9 != 0 {
				k.Regions = append(k.Regions, regions[r])
			}
		}
		if end := ends[(i*4)%len(ends)]; k.Type != "ONGOING_CALL" {
			k.Deadline = &end
		}
		k.Amount = money{[]string{"EUR", "EUR", "CHF"}[i%3], amounts[(i*3)%len(amounts)]}
		k.ModifiedAt = fmt.Sprintf("2026-%02d-%02dT%02d:%02d:00Z", 1+i%10, 1+(i*7)%28, i%24, (i*13)%60)
		k.Description = []text{{"de", "O", "Gefördert werden Vorhaben zu " + t[0] + "."}, {"en", "H", "Supports projects on " + t[1] + "."}}
		k.TargetGroups = []string{groups[i%len(groups)]}
		if second := groups[(i*3+1)%len(groups)]; second != k.TargetGroups[0] {
			k.TargetGroups = append(k.TargetGroups, second)
		}
		k.FullyFunded = i%3 == 0
		k.Languages = []string{"de", "en"}[:1+i%2]
		k.Website = fmt.Sprintf("https://calls.invalid/%d", i)
		k.Stages = []stage{}
		if k.Deadline != nil {
			if i%4 == 0 {
				k.Stages = append(k.Stages, stage{1, "2025-01-07T08:00:00Z", "2025-06-30T22:00:00Z"})
			}
			k.Stages = append(k.Stages, stage{len(k.Stages) + 1, "2025-09-01T08:00:00Z", *k.Deadline})
		}
		calls[k.ID] = k
		order = append(order, k.ID)
	}
}
