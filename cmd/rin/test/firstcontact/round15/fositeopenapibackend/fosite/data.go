package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"time"
	_ "time/tzdata"

	_ "modernc.org/sqlite"
)

type Text struct {
	Lang  string `json:"lang"`
	Trans string `json:"trans"`
	Text  string `json:"text"`
}
type FunderRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}
type Money struct {
	Currency string      `json:"currency"`
	Value    json.Number `json:"value"`
}
type Stage struct {
	Number   int    `json:"number"`
	Label    string `json:"label"`
	Deadline string `json:"deadline"`
}
type Summary struct {
	ID           string    `json:"id"`
	Type         string    `json:"type"`
	Title        []Text    `json:"title"`
	Funder       FunderRef `json:"funder"`
	OpensOn      string    `json:"opensOn"`
	ClosesOn     *string   `json:"closesOn"`
	Amount       *Money    `json:"amount"`
	TargetGroups []string  `json:"targetGroups"`
	UpdatedAt    string    `json:"updatedAt"`
}
type Call struct {
	Summary
	Description []Text  `json:"description"`
	Stages      []Stage `json:"stages"`
	Website     string  `json:"website"`
	CreatedAt   string  `json:"createdAt"`
}
type Funder struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Acronym   string `json:"acronym"`
	City      string `json:"city"`
	Website   string `json:"website"`
	CallCount int    `json:"callCount"`
}
type Deadline struct {
	CallID   string `json:"callId"`
	Stage    int    `json:"stage"`
	Label    string `json:"label"`
	Deadline string `json:"deadline"`
}

var (
	db       *sql.DB
	calls    = map[string]*Call{}
	callIDs  []string
	funders  []*Funder
	newest   time.Time
	types    = []string{"CALL", "ONGOING_CALL", "AWARD", "GRANT", "SCHOLARSHIP"}
	groups   = []string{"UNIVERSITY", "RESEARCH_INSTITUTE", "COMPANY", "PRIVATE_NON_PROFIT", "INDEPENDENT_RESEARCHER"}
	stageLbl = []string{"Interessensbekundung", "Vollantrag", "Hearing"}
)

var vienna, _ = time.LoadLocation("Europe/Vienna")

func money(cents int64) *Money {
	s := fmt.Sprintf("%d.%02d", cents/100, cents%100)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	return &Money{"EUR", json.Number(s)}
}

func loadData() {
	var err error
	db, err = sql.Open("sqlite", "file:calls?mode=memory&cache=shared")
	must(err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`CREATE TABLE calls(id TEXT PRIMARY KEY, type TEXT, funder TEXT, hay_de TEXT, hay_en TEXT, opens TEXT, closes TEXT, closes_day TEXT, cents INTEGER, updated INTEGER);
CREATE TABLE target_groups(call TEXT, name TEXT, PRIMARY KEY(call,name));
CREATE TABLE deadlines(call TEXT, stage INTEGER, label TEXT, at INTEGER, PRIMARY KEY(call,stage));`)
	must(err)
	fs := [][4]string{
		{"aoef", "Österreichischer Forschungsfonds", "ÖFF", "Wien"}, {"stmk", "Zukunftsfonds Steiermark", "ZFS", "Graz"},
		{"tirol", "Tiroler Wissenschaftsförderung", "TWF", "Innsbruck"}, {"sbg", "Land Salzburg, Referat für Wissenschaft", "LSW", "Salzburg"},
		{"ooe", "Oberösterreichische Innovationsgesellschaft", "OÖI", "Linz"}, {"jub", "Jubiläumsstiftung der Universität", "JSU", "Wien"},
		{"klima", "Klima- & Energiestiftung", "KES", "Wien"}, {"groeb", "Größl-Stiftung für Medizin", "GSM", "Klagenfurt am Wörthersee"},
		{"bgld", "Burgenländischer Bildungsfonds", "BBF", "Eisenstadt"}, {"vlbg", "Vorarlberger Forschungsstelle", "VFS", "Bregenz"},
		{"acad", "Akademie der Künste", "ADK", "Wien"}, {"neu", "Stiftung Neuland", "SNL", "St. Pölten"}}
	for _, f := range fs {
		funders = append(funders, &Funder{ID: f[0], Name: f[1], Acronym: f[2], City: f[3], Website: "https://" + f[0] + ".example/"})
	}
	kinds := [][2]string{{"Förderung", "Funding"}, {"Stipendium", "Fellowship"}, {"Ausschreibung", "Call"}, {"Preis", "Prize"}, {"Anschubfinanzierung", "Seed money"}, {"Großgeräte", "Large equipment"}}
	topics := [][2]string{{"Künstliche Intelligenz", "artificial intelligence"}, {"Gewässerökologie", "aquatic ecology"}, {"Straßenbau & Mobilität", "road building & mobility"},
		{"Übersetzungswissenschaft", "translation studies"}, {"Ältere Geschichte", "ancient history"}, {"Ölfreie Verdichter", "oil-free compressors"}, {"100 % erneuerbare Energie", "100 % renewable energy"},
		{"„Digitale Räume“", "\"digital spaces\""}, {"Fließgewässer_2030", "rivers_2030"}, {"Café-Kultur", "café culture"}, {"Medizin <und> Ethik", "medicine <and> ethics"}, {"Mikroplastik 🌊", "microplastics 🌊"}}
	r := rand.New(rand.NewSource(4711))
	day := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	for i := 1; i <= 137; i++ {
		k, t := kinds[r.Intn(len(kinds))], topics[r.Intn(len(topics))]
		f := funders[r.Intn(11)]
		opens := day(2026, 1, 5).AddDate(0, 0, r.Intn(420))
		c := &Call{}
		c.ID = fmt.Sprintf("UFL-%d-%04d", opens.Year(), i*7)
		c.Type = types[r.Intn(len(types))]
		c.Title = []Text{{"de", "O", k[0] + ": " + t[0]}, {"en", "H", k[1] + ": " + t[1]}}
		c.Funder = FunderRef{f.ID, f.Name}
		f.CallCount++
		c.OpensOn = opens.Format("2006-01-02")
		closes := opens.AddDate(0, r.Intn(5)+1, r.Intn(4)*7)
		if r.Intn(3) == 0 {
			closes = time.Date(closes.Year(), closes.Month()+1, 0, 0, 0, 0, 0, time.UTC) // month's end
		}
		var closesV, closesDay any
		if c.Type != "ONGOING_CALL" {
			s := closes.Format("2006-01-02")
			c.ClosesOn, closesV = &s, s
			midnight := time.Date(closes.Year(), closes.Month(), closes.Day(), 0, 0, 0, 0, vienna)
			closesDay = midnight.UTC().Add(time.Hour).Format("2006-01-02")
		}
		var cents any
		if r.Intn(9) > 0 {
			v := int64(r.Intn(400)+1) * 1250000
			if r.Intn(4) == 0 {
				v += int64(r.Intn(100))
			}
			if i == 91 {
				v = 9999999999
			}
			c.Amount, cents = money(v), v
		}
		c.TargetGroups = []string{}
		for _, g := range groups {
			if r.Intn(3) == 0 {
				c.TargetGroups = append(c.TargetGroups, g)
			}
		}
		created := opens.AddDate(0, 0, -60).Add(time.Duration(r.Intn(86400)) * time.Second)
		if created.After(day(2026, 11, 1)) {
			created = day(2026, 9, 1).Add(time.Duration(r.Intn(86400*50)) * time.Second)
		}
		updated := created.Add(time.Duration(r.Intn(86400*20)) * time.Second)
		c.CreatedAt, c.UpdatedAt = created.Format(time.RFC3339), updated.Format(time.RFC3339)
		if updated.After(newest) {
			newest = updated
		}
		c.Description = []Text{{"de", "O", "Die Einrichtung „" + f.Name + "“ fördert Vorhaben zum Thema " + t[0] + ". Anträge müssen vollständig und fristgemäß übermittelt werden."},
			{"en", "M", "Projects on " + t[1] + " are supported. Applications must be complete and on time."}}
		c.Website = "https://" + f.ID + ".example/calls/" + strings.ToLower(c.ID)
		c.Stages = []Stage{}
		if c.ClosesOn != nil {
			n := r.Intn(3) + 1
			for s := 1; s <= n; s++ {
				// the last stage ends at noon of the closing day
				at := closes.Add(12*time.Hour).AddDate(0, 0, -14*(n-s))
				c.Stages = append(c.Stages, Stage{s, stageLbl[s-1], at.Format(time.RFC3339)})
				_, err = db.Exec("INSERT INTO deadlines VALUES(?,?,?,?)", c.ID, s, stageLbl[s-1], at.Unix())
				must(err)
			}
		}
		calls[c.ID] = c
		callIDs = append(callIDs, c.ID)
		for _, g := range c.TargetGroups {
			_, err = db.Exec("INSERT INTO target_groups VALUES(?,?)", c.ID, g)
			must(err)
		}
		_, err = db.Exec("INSERT INTO calls VALUES(?,?,?,?,?,?,?,?,?,?)", c.ID, c.Type, f.ID, strings.ToLower(c.Title[0].Text), strings.ToLower(c.Title[1].Text), c.OpensOn, closesV, closesDay, cents, updated.Unix())
		must(err)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
