package main

import (
	"fmt"
	"time"
)

type funder struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Country  string `json:"country"`
	Homepage string `json:"homepage"`
}

type money struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

type document struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Size      int64  `json:"size"`
	Language  string `json:"language"`
}

// call is a funding call as it is stored.
type call struct {
	ID            string
	Title         map[string]string
	Summary       map[string]string
	Funder        funder
	Themes        []string
	Budget        money
	MaxMonths     int
	Opens         time.Time // a day
	Deadline      time.Time // zero: the call is open without a deadline
	Published     time.Time
	Updated       time.Time
	Contact       string
	Draft         bool
	Documents     []document
	EligibleLands []string
}

func (c call) status(now time.Time) string {
	switch {
	case now.Before(c.Opens):
		return "forthcoming"
	case !c.Deadline.IsZero() && !now.Before(c.Deadline):
		return "closed"
	}
	return "open"
}

type store struct {
	funders []funder
	calls   []call
}

func (s *store) call(id string) (call, bool) {
	for _, c := range s.calls {
		if c.ID == id {
			return c, true
		}
	}
	return call{}, false
}

func newStore(today time.Time) *store {
	s := &store{funders: []funder{
		{"DRF", "Danube Research Fund", "AT", "https://danube-research.invalid/"},
		{"LOS", "Land Oberösterreich – Standortförderung", "AT", "https://los.invalid/"},
		{"KHS", "Karoline-Hirsch-Stiftung", "DE", "https://hirsch-stiftung.invalid/"},
		{"SCR", "Slovak Council for Research", "SK", "https://scr.invalid/"},
	}}
	subjects := []struct{ en, de, theme string }{
		{"River ecology and floodplains", "Flussökologie und Auen", "environment"},
		{"Digital humanities", "Digitale Geisteswissenschaften", "humanities"},
		{"Quantum sensing", "Quantensensorik", "physics"},
		{"Healthy ageing", "Gesundes Altern", "health"},
		{"Green steel", "Grüner Stahl", "engineering"},
		{"Language technology", "Sprachtechnologie", "computing"},
		{"Urban heat", "Städtische Hitze", "environment"},
		{"Migration and labour", "Migration und Arbeit", "social-sciences"},
		{"Rare diseases", "Seltene Erkrankungen", "health"},
		{"Battery recycling", "Batterierecycling", "engineering"},
		{"Music archives", "Musikarchive", "humanities"},
	}
	kinds := []struct{ en, de string }{
		{"project grants", "Einzelprojekte"},
		{"doctoral networks", "Doktoratsnetzwerke"},
		{"seed funding", "Anschubfinanzierung"},
		{"infrastructure", "Infrastruktur"},
		{"fellowships", "Stipendien"},
	}
	amounts := []int64{2500000, 480000, 90000, 12000000, 75000, 1600000, 300000}
	for n := 1; n <= 68; n++ {
		sub, kind, f := subjects[n%len(subjects)], kinds[n%len(kinds)], s.funders[(n*7/3)%len(s.funders)]
		opens := today.AddDate(0, 0, (n*37)%240-170)
		c := call{
			ID:        fmt.Sprintf("DC-%04d", 1000+n),
			Title:     map[string]string{"en": sub.en + ": " + kind.en, "de": sub.de + ": " + kind.de},
			Summary:   map[string]string{"en": fmt.Sprintf("%s supports %s in the field “%s”.", f.Name, kind.en, sub.en), "de": fmt.Sprintf("%s fördert %s im Bereich „%s“.", f.Name, kind.de, sub.de)},
			Funder:    f,
			Themes:    []string{sub.theme},
			Budget:    money{amounts[n%len(amounts)] + int64(n%4)*10000, "EUR"},
			MaxMonths: 12 + 12*(n%4),
			Opens:     opens,
			Deadline:  opens.AddDate(0, 0, 60+(n*11)%60).Add(11 * time.Hour),
			Published: opens.AddDate(0, 0, -90-n%9).Add(time.Duration(7+n%8) * time.Hour),
			Contact:   fmt.Sprintf("calls+%d@%s.invalid", 1000+n, map[string]string{"DRF": "danube-research", "LOS": "los", "KHS": "hirsch-stiftung", "SCR": "scr"}[f.ID]),
			Draft:     n == 7 || n == 23 || n == 41 || n == 58,
		}
		if n%3 == 0 {
			c.Themes = append(c.Themes, "interdisciplinary")
		}
		if n%9 == 4 && !opens.After(today) {
			c.Deadline = time.Time{}
		}
		c.Updated = c.Published.Add(time.Duration(n%6) * 3 * time.Hour)
		c.EligibleLands = [][]string{{"AT"}, {"AT", "DE", "SK", "HU"}, {"AT", "DE"}}[n%3]
		for i := range n % 4 {
			lang := []string{"en", "de"}[i%2]
			c.Documents = append(c.Documents, document{
				ID: fmt.Sprintf("%s-D%d", c.ID, i+1), Name: []string{"Guidelines for applicants", "Förderrichtlinie", "Budget template"}[i],
				MediaType: []string{"application/pdf", "application/pdf", "text/csv"}[i], Size: int64(18211 + 977*n + 40961*i), Language: lang,
			})
		}
		s.calls = append(s.calls, c)
	}
	return s
}
