package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gogf/gf/v2/database/gdb"
	"github.com/gogf/gf/v2/frame/g"
)

type call struct {
	Id, TitleDe, TitleEn, SearchDe, SearchEn, SummaryDe, SummaryEn, TextDe, TextEn, Type, Funder string
	Closes                                                                                       *string
	SortKey, Opens                                                                               string
	Amount                                                                                       int64
	Months                                                                                       int
	OpenAccess                                                                                   int
	Updated                                                                                      int64
	Contact, Mail, Url                                                                           string
}

type funder struct{ Id, NameDe, NameEn, Country, Url string }

var types = []string{"FELLOWSHIP", "GRANT", "NETWORK", "PRIZE"}

func openDatabase() {
	dir, err := os.MkdirTemp("", "brg")
	check(err)
	gdb.SetConfig(gdb.Config{"default": gdb.ConfigGroup{{Type: "sqlite", Link: fmt.Sprintf("sqlite::@file(%s)", filepath.Join(dir, "brg.db"))}}})
	ctx := context.Background()
	for _, s := range []string{
		`CREATE TABLE call (id TEXT PRIMARY KEY, title_de TEXT, title_en TEXT, search_de TEXT, search_en TEXT, summary_de TEXT, summary_en TEXT, text_de TEXT, text_en TEXT, type TEXT, funder TEXT, closes TEXT, sort_key TEXT, opens TEXT, amount INTEGER, months INTEGER, open_access INTEGER, updated INTEGER, contact TEXT, mail TEXT, url TEXT)`,
		`CREATE TABLE funder (id TEXT PRIMARY KEY, name_de TEXT, name_en TEXT, country TEXT, url TEXT)`,
		`CREATE TABLE account (id TEXT PRIMARY KEY, role TEXT, affiliation TEXT)`,
		`CREATE TABLE client (id TEXT PRIMARY KEY, secret_hash TEXT, account TEXT, audience TEXT, environment TEXT)`,
	} {
		_, err = g.DB().Exec(ctx, s)
		check(err)
	}
	seed := int64(4711)
	n := func(k int) int { seed = seed * 48271 % 2147483647; return int(seed % int64(k)) }
	funders := []funder{
		{"FWF", "Der Wissenschaftsfonds", "Austrian Science Fund", "AT", "https://fwf.invalid/"},
		{"FFG", "Forschungsförderungsgesellschaft", "Research Promotion Agency", "AT", "https://ffg.invalid/"},
		{"ÖAW", "Österreichische Akademie der Wissenschaften", "Austrian Academy of Sciences", "AT", "https://oeaw.invalid/"},
		{"SNF", "Schweizerischer Nationalfonds", "Swiss National Science Foundation", "CH", "https://snf.invalid/"},
		{"DFG", "Deutsche Forschungsgemeinschaft", "German Research Foundation", "DE", "https://dfg.invalid/"},
		{"GKS", "Gerda-Künßberg-Stiftung", "Gerda Künßberg Foundation", "DE", "https://gks.invalid/"},
	}
	_, err = g.Model("funder").Data(funders).Insert()
	check(err)
	type word struct{ de, en string }
	kinds := map[string][]word{
		"GRANT": {{"Projektförderung", "Project grant"}, {"Anschubfinanzierung", "Seed grant"}}, "PRIZE": {{"Förderpreis", "Award"}, {"Würdigungspreis", "Recognition award"}},
		"FELLOWSHIP": {{"Auslandsstipendium", "Fellowship abroad"}, {"Rückkehrstipendium", "Return fellowship"}}, "NETWORK": {{"Vernetzungsmaßnahme", "Networking measure"}, {"Öffentliche Werkstatt", "Public workshop"}},
	}
	topics := []word{{"Gletscherkunde", "glaciology"}, {"Ökosysteme", "ecosystems"}, {"Übersetzung", "translation"}, {"Wärmespeicher", "heat storage"}, {"Maß und Zahl", "measure & number"}, {"Hörforschung", "hearing research"}, {"Küstenschutz", "coastal protection"}, {"Straßenräume", "street spaces"}, {"Ägyptologie", "Egyptology"}, {"Prüfverfahren", "test methods"}, {"Großforschung", "big science"}, {"Völkerrecht", "international law"}}
	contacts := []string{"Dr. Jürgen Weiß", "Mag.ª Özlem Schön", "Renée Fröhlich", "Björn Kräuter", "Ana-María Löß"}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	calls := []call{}
	for i := 1; i <= 121; i++ {
		kind := types[n(4)]
		k, t, f := kinds[kind][n(2)], topics[n(len(topics))], funders[n(len(funders))]
		opens := start.AddDate(0, 0, n(900)-300)
		day := opens.AddDate(0, 0, 20+n(40)*10).Format("2006-01-02")
		closes := &day
		switch {
		case i%17 == 0:
			closes = nil
		case i == 30 || i == 77:
			*closes = "9999-12-31"
		case i == 52:
			*closes = "0001-01-01"
		}
		c := call{Id: fmt.Sprintf("call-%04d", 2000+i*13), Type: kind, Funder: f.Id, Closes: closes, Opens: opens.Format("2006-01-02"), SortKey: "9999-12-32",
			Amount: int64(1+n(900)) * 2500, Months: 6 * (1 + n(8)), OpenAccess: n(2), Updated: start.Add(-time.Duration(n(400*86400)) * time.Second).Unix(),
			Contact: contacts[n(len(contacts))], Url: fmt.Sprintf("%scalls/%d", f.Url, 2000+i*13), Mail: "info@" + strings.ToLower(strings.ReplaceAll(f.Id, "Ö", "oe")) + ".invalid"}
		if closes != nil {
			c.SortKey = *closes
		}
		if i == 52 {
			c.Opens = "0001-01-01"
		}
		if i%40 == 0 {
			c.Amount = 4_500_000_000 + int64(i)
		}
		year := 2026 + n(2)
		c.TitleDe, c.TitleEn = fmt.Sprintf("%s „%s“ %d", k.de, t.de, year), fmt.Sprintf("%s “%s” %d", k.en, t.en, year)
		c.SearchDe, c.SearchEn = strings.ToLower(c.TitleDe), strings.ToLower(c.TitleEn)
		c.SummaryDe, c.SummaryEn = "Gefördert werden Vorhaben aus dem Bereich "+t.de+".", "Projects in "+t.en+" are funded."
		c.TextDe = fmt.Sprintf("%s fördert mit dieser Ausschreibung Vorhaben aus dem Bereich %s mit einer Laufzeit von höchstens %d Monaten. Anträge können auch auf Englisch gestellt werden.", f.NameDe, t.de, c.Months)
		c.TextEn = fmt.Sprintf("With this call, the %s funds projects in %s that last %d months at most. Applications may be written in German, too.", f.NameEn, t.en, c.Months)
		calls = append(calls, c)
	}
	_, err = g.Model("call").Data(calls).Batch(40).Insert()
	check(err)
	_, err = g.Model("account").Data([]account{
		{"svc-77-01", "EXTERNAL_API_CLIENT", "aff:4711"}, {"svc-77-02", "", "aff:4712"}, {"svc-77-03", "EXTERNAL_API_CLIENT", "aff:4711"}, {"svc-77-04", "EXTERNAL_API_CLIENT", "aff:4711"}, {"svc-00-01", "EXTERNAL_API_CLIENT", "aff:test"},
	}).Insert()
	check(err)
	_, err = g.Model("client").Data([]client{
		{"brg-harvester", digest("h4rV+e=s/%3D&t:~Q!8zKm"), "svc-77-01", "funding", "production"},
		{"brg-visitor", digest("v1s%20i+t&o=r/~!:7yPw"), "svc-77-02", "funding", "production"},
		{"brg-orgunits", digest("0rg+U=n/i%7E&ts:~!3cLd"), "svc-77-03", "orgunits", "production"},
		{"brg-standby", digest("s~T=4n+d/%2F&by:!5fGx"), "svc-77-04", "funding", "production"},
		{"brg-trial", digest("tr=1a%25l/+&~:!6nHsQ"), "svc-00-01", "funding", "staging"},
	}).Insert()
	check(err)
}
