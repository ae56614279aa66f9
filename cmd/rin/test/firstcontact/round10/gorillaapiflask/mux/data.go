package main

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

type Text struct {
	Lang  string `json:"lang"`
	Trans string `json:"trans"`
	Text  string `json:"text"`
}

type Volume struct {
	Currency string  `json:"currency"`
	Amount   float64 `json:"amount"`
}

type TimeSpan struct {
	Months int32 `json:"months"`
}

type Identifier struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type OrgUnit struct {
	ID      string `json:"id"`
	Name    []Text `json:"name"`
	Acronym string `json:"acronym"`
	Website string `json:"website"`
}

type Funder struct {
	FunderType string  `json:"funderType"`
	Funder     OrgUnit `json:"funder"`
}

type Subject struct {
	Fraction float64 `json:"fraction"`
	Value    string  `json:"value"`
}

type CallStage struct {
	Number string    `json:"number"`
	Start  time.Time `json:"callStageStart"`
	End    time.Time `json:"callStageEnd"`
}

// CallPart holds what only calls have.
type CallPart struct {
	CallStages           []CallStage `json:"callStages"`
	SubmissionModes      []string    `json:"submissionModes"`
	EligibleScope        string      `json:"eligibleApplicantsScope"`
	EligibleRegions      []string    `json:"eligibleApplicantsRegions"`
	MinProjectVolume     Volume      `json:"minProjectVolume"`
	MaxProjectVolume     Volume      `json:"maxProjectVolume"`
	FullyFunded          bool        `json:"fullyFunded"`
	MinInkind            float64     `json:"minInkind"`
	MaxOverHeads         float64     `json:"maxOverHeads"`
	MinProjectDuration   TimeSpan    `json:"minProjectDuration"`
	MaxProjectDuration   TimeSpan    `json:"maxProjectDuration"`
	ApplicationLanguages []string    `json:"applicationLanguages"`
}

// ProgrammePart holds what only programmes have.
type ProgrammePart struct {
	StartDate time.Time  `json:"startDate"`
	EndDate   *time.Time `json:"endDate,omitempty"`
}

type Funding struct {
	ID              string       `json:"id"`
	Type            string       `json:"type"`
	Name            []Text       `json:"name"`
	Acronym         string       `json:"acronym,omitempty"`
	Identifiers     []Identifier `json:"identifiers"`
	Description     []Text       `json:"description"`
	Funder          []Funder     `json:"funder"`
	Characteristics []string     `json:"characteristics"`
	TargetGroups    []string     `json:"targetGroups"`
	Subjects        []Subject    `json:"subjects"`
	CareerStages    []string     `json:"careerStages"`
	FundingScheme   string       `json:"fundingScheme"`
	LegalType       string       `json:"legalType"`
	Website         []string     `json:"website"`
	*CallPart
	*ProgrammePart

	updated  time.Time
	deadline time.Time
}

var (
	targetGroups    = []string{"UNIVERSITY", "UNIVERSITY_OF_APPLIED_SCIENCES", "PRIVATE_UNIVERSITY", "RESEARCH_INSTITUTE", "COMPANY", "PRIVATE_NON_PROFIT", "INDEPENDENT_RESEARCHER", "GOVERNMENT"}
	regions         = []string{"VIENNA", "BURGENLAND", "LOWER_AUSTRIA", "CARINTHIA", "UPPER_AUSTRIA", "SALZBURG", "STYRIA", "TYROL", "VORARLBERG"}
	fundingTypes    = []string{"PROGRAMME", "CALL", "ONGOING_CALL", "RESEARCH_CONTRACT", "AWARD", "GRANT", "SCHOLARSHIP"}
	scopes          = []string{"NATIONAL", "REGIONAL"}
	characteristics = []string{"NATIONAL_PROGRAMME", "CONSORTIUM", "PERSONAL_GRANT", "PROJECT_FUNDING", "INFRASTRUCTURE", "MOBILITY_PROGRAMME"}
	funders         = []OrgUnit{
		{"DNW", []Text{{"de", "O", "Donauwissenschaftsfonds"}, {"en", "H", "Danube Science Fund"}}, "DNW", "https://dnw.example/"},
		{"KRF", []Text{{"de", "O", "Kärntner Forschungsfonds"}}, "KRF", "https://krf.example/"},
		{"STI", []Text{{"de", "O", "Stiftung Innovation & Lehre"}, {"en", "M", "Foundation for Innovation & Teaching"}}, "STI", "https://sti.example/"},
		{"TWB", []Text{{"de", "O", "Tiroler Wissenschaftsbüro"}}, "TWB", "https://twb.example/"},
		{"AMG", []Text{{"en", "O", "Alpine Mobility Grants"}}, "AMG", "https://amg.example/"},
	}
	topics = []string{"Quantum Materials", "Alpine Hydrology", "Digital Humanities", "Rare Diseases", "Green Hydrogen", "Trustworthy AI", "Soil & Climate", "Early Music", "Photonics", "Urban Mobility", "Crop Genetics"}
)

// loadFundings builds the data of this node; the same on every start.
func loadFundings(oddIDs bool) []*Funding {
	var all []*Funding
	for i := 1; i <= 97; i++ {
		f := funders[(i*3+i/7)%len(funders)]
		topic := topics[(i*5)%len(topics)]
		isCall := i%4 != 0
		id := fmt.Sprintf("%s-%02d-%04d", f.ID, 20+i%6, 1000+i*37)
		if oddIDs {
			id = fmt.Sprintf("%s/%02d/ü %d+%d", strings.ToLower(f.ID), 20+i%6, i*37, i%5)
		}
		x := &Funding{ID: id, Acronym: fmt.Sprintf("%s%d", f.ID, i), FundingScheme: "PROGRAMME",
			Name:        []Text{{"en", "O", fmt.Sprintf("%s %d", topic, 2020+i%7)}, {"de", "M", fmt.Sprintf("Förderung „%s“ %d", topic, 2020+i%7)}},
			Identifiers: []Identifier{{"RIS_SYNERGY", fmt.Sprintf("ris-%05d", 20000+i*11)}},
			Description: []Text{{"en", "O", "Supports work on " + strings.ToLower(topic) + "."}},
			Funder:      []Funder{{"EXECUTIVE_ORGANISATION", f}}, Characteristics: []string{characteristics[i%6], characteristics[(i+2)%6]},
			Subjects: []Subject{{Fraction: 62.5, Value: fmt.Sprint(101000 + i%9*1000)}, {Fraction: 37.5, Value: fmt.Sprint(201000 + i%8*1000)}},
			Website:  []string{f.Website + "calls/" + fmt.Sprint(i)}, LegalType: []string{"PROJECT26", "PROJECT27"}[i%2], CareerStages: []string{},
		}
		x.TargetGroups = []string{targetGroups[i%7]} // GOVERNMENT has none at present
		if i%3 == 0 {
			x.TargetGroups = append(x.TargetGroups, targetGroups[(i+3)%7])
			x.CareerStages = []string{"EARLY_STAGE_RESEARCHERS", "EXPERTS"}
		}
		if i%10 == 7 {
			x.Acronym = ""
		}
		x.updated = time.Date(2025, time.Month(1+i%12), 1+i%27, 8+i%9, (i*7)%60, (i*13)%60, 0, time.UTC)
		if isCall {
			x.Type = "CALL"
			start := time.Date(2024+i%3, time.Month(1+(i%4)*3), 1, 7, 0, 0, 0, time.UTC)
			end := time.Date(2025+(i%5), time.Month(3+(i%2)*6), 15, 12, 0, 0, 0, time.UTC)
			if !end.After(start) {
				end = start.AddDate(0, 4, 14)
			}
			x.deadline = end
			regs := []string{regions[i%8]} // VORARLBERG has none at present
			if i%5 == 0 {
				regs = append(regs, regions[(i+4)%8])
			}
			x.CallPart = &CallPart{CallStages: []CallStage{{"1", start, end}}, SubmissionModes: []string{[]string{"ONLINE_FULL", "ONLINE_PARTLY", "OFFLINE"}[i%3]},
				EligibleScope: scopes[i%2], EligibleRegions: regs,
				MinProjectVolume: Volume{"EUR", float64(5000 + i*250)}, MaxProjectVolume: Volume{"EUR", float64(90000+i*1750) + 0.5*float64(i%2)},
				FullyFunded: i%2 == 0, MinInkind: float64(i%3) * 7.5, MaxOverHeads: float64(i%4) * 5,
				MinProjectDuration: TimeSpan{6}, MaxProjectDuration: TimeSpan{int32(12 + i%5*6)}, ApplicationLanguages: []string{"de", "en"}}
			if i%6 == 1 {
				x.CallStages = append(x.CallStages, CallStage{"2", end.AddDate(0, 1, 0), end.AddDate(0, 3, 0)})
			}
		} else {
			x.Type = "PROGRAMME"
			x.ProgrammePart = &ProgrammePart{StartDate: time.Date(2019+i%5, 1, 1, 0, 0, 0, 0, time.UTC)}
			if i%8 == 0 {
				e := time.Date(2031, 12, 31, 22, 59, 59, 0, time.UTC)
				x.EndDate = &e
			}
		}
		all = append(all, x)
	}
	sort.SliceStable(all, func(a, b int) bool { return all[a].ID < all[b].ID })
	return all
}

func (f *Funding) running(now time.Time) bool {
	if f.CallPart == nil {
		return false
	}
	s := f.CallStages[0]
	return !s.Start.After(now) && s.End.After(now)
}
