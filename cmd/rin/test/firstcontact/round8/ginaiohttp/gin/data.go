package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Text is a text in one language; trans: O original, H by a person, M by a machine.
type Text struct {
	Lang  string `json:"lang"`
	Trans string `json:"trans"`
	Text  string `json:"text"`
}

type Budget struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

type FunderRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type Funder struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Country string  `json:"country"`
	City    string  `json:"city"`
	Website string  `json:"website"`
	RorID   *string `json:"rorId"`
}

// Call is a record of the store. Published is not part of an answer.
type Call struct {
	ID           string     `json:"id"`
	Title        []Text     `json:"title"`
	Summary      []Text     `json:"summary"`
	Funder       FunderRef  `json:"funder"`
	OpensAt      time.Time  `json:"opensAt"`
	ClosesAt     *time.Time `json:"closesAt"`
	Budget       Budget     `json:"budget"`
	Subjects     []string   `json:"subjects"`
	TargetGroups []string   `json:"targetGroups"`
	MaxMonths    int        `json:"maxDurationMonths"`
	Website      string     `json:"website"`
	UpdatedAt    time.Time  `json:"updatedAt"`
	Published    bool       `json:"published"`
}

func ror(s string) *string { s = "https://ror.org/" + s; return &s }

var funderList = []Funder{
	{"FG-01", "Österreichischer Fonds für Grundlagenforschung", "AT", "Wien", "https://grundlagen.example/", ror("013tf3c58")},
	{"FG-02", "Forschungsförderung Tirol", "AT", "Innsbruck", "https://tirol-forscht.example/", nil},
	{"FG-03", "Štátna agentúra pre výskum", "SK", "Košice", "https://vyskum.example/", ror("05r0e1p29")},
	{"FG-04", "Fondation Élan pour la recherche", "FR", "Besançon", "https://elan.example/", nil},
	{"FG-05", "Łódzki Fundusz Nauki", "PL", "Łódź", "https://nauka-lodz.example/", ror("02xyz7k88")},
	{"FG-06", "Kärntner Zukunftsstiftung", "AT", "Klagenfurt am Wörthersee", "https://zukunft-k.example/", nil},
	{"FG-07", "Ίδρυμα Έρευνας Αιγαίου", "GR", "Μυτιλήνη", "https://aigaio.example/", nil},
}

var themesDE = []string{"Klimaforschung in den Alpen", "Quantenoptik für Übertragungsnetze", "Öffentliche Gesundheit und Pflege", "Frühneuzeitliche Handschriften", "Künstliche Intelligenz im Schulunterricht", "Gletscher & Wasserhaushalt", "Werkstoffe aus nachwachsenden Rohstoffen", "Mehrsprachigkeit in Grenzräumen", "Böden, Moore und Wälder"}
var themesEN = []string{"Alpine Climate Research", "Quantum Optics for Transmission Networks", "Public Health and Care", "Early Modern Manuscripts", "Artificial Intelligence in Schools", "Glaciers & Water Balance", "Materials from Renewable Sources", "Multilingualism in Border Regions", "Soils, Mires and Forests"}
var kindsDE = []string{"Einzelprojekte", "Doktoratsprogramm", "Verbundvorhaben", "Frühe Karrieren"}
var kindsEN = []string{"Individual Projects", "Doctoral Programme", "Joint Projects", "Early Careers"}
var groups = []string{"UNIVERSITY", "UNIVERSITY_OF_APPLIED_SCIENCES", "RESEARCH_INSTITUTE", "COMPANY", "INDEPENDENT_RESEARCHER"}
var subjects = []string{"105204", "103026", "303012", "601014", "503006", "105205", "205016", "602048", "105904"}

func makeCall(n int, day time.Time) Call {
	theme, kind := n*5%9, n*3%4
	f := funderList[(n*n+n/3)%len(funderList)]
	opens := day.AddDate(0, 0, (n*37)%420-260).Add(7 * time.Hour)
	var closes *time.Time
	if n%9 != 4 {
		end := []time.Duration{11 * time.Hour, 23*time.Hour + 30*time.Minute, 22*time.Hour + 59*time.Minute + 59*time.Second, 15 * time.Hour}[n%4]
		t := opens.Add(-7*time.Hour).AddDate(0, 0, 40+(n*53)%170).Add(end)
		closes = &t
	}
	c := Call{
		ID:       fmt.Sprintf("RC-%04d", n),
		Title:    []Text{{"de", "O", themesDE[theme] + ": " + kindsDE[kind] + fmt.Sprintf(" %d", 2026+n%3)}, {"en", "H", themesEN[theme] + ": " + kindsEN[kind] + fmt.Sprintf(" %d", 2026+n%3)}},
		Summary:  []Text{{"de", "O", "Gefördert werden Vorhaben zum Thema „" + themesDE[theme] + "“. Anträge sind über das Portal einzureichen."}},
		Funder:   FunderRef{f.ID, f.Name},
		OpensAt:  opens,
		ClosesAt: closes,
		Budget:   Budget{float64(25000+(n*73913)%4200000) + []float64{0, 0, 0.5, 0.25}[n%4], []string{"EUR", "EUR", "EUR", "CHF", "PLN"}[n%5]},
		Subjects: []string{subjects[theme]}, TargetGroups: []string{groups[n%5]},
		MaxMonths: 12 + 6*(n%7),
		Website:   fmt.Sprintf("%scalls/%d", f.Website, n),
		UpdatedAt: day.AddDate(0, 0, -(n % 60)).Add(time.Duration(n%24) * time.Minute * 17),
		Published: n%13 != 6,
	}
	if n%3 == 0 {
		c.Subjects = append(c.Subjects, subjects[(theme+2)%9])
		c.TargetGroups = append(c.TargetGroups, groups[(n+2)%5])
	}
	return c
}

// store keeps the calls in a bbolt file, keyed by their identifiers.
type store struct {
	db   *bolt.DB
	day  time.Time
	last int
}

var bucket = []byte("calls")

func openStore(single bool) (*store, error) {
	dir, err := os.MkdirTemp("", "node")
	if err != nil {
		return nil, err
	}
	db, err := bolt.Open(filepath.Join(dir, "calls.db"), 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		return nil, err
	}
	_ = os.RemoveAll(dir) // the open file lives as long as the process
	s := &store{db: db, day: time.Now().UTC().Truncate(24 * time.Hour), last: 168}
	if single {
		s.last = 1
	}
	return s, db.Update(func(tx *bolt.Tx) error {
		if _, err := tx.CreateBucketIfNotExists(bucket); err != nil {
			return err
		}
		for n := 1; n <= s.last; n++ {
			if err := put(tx, makeCall(n, s.day)); err != nil {
				return err
			}
		}
		return nil
	})
}

func put(tx *bolt.Tx, c Call) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return tx.Bucket(bucket).Put([]byte(c.ID), b)
}

func (s *store) get(id string) (c Call, ok bool) {
	_ = s.db.View(func(tx *bolt.Tx) error {
		if b := tx.Bucket(bucket).Get([]byte(id)); b != nil {
			ok = json.Unmarshal(b, &c) == nil
		}
		return nil
	})
	return c, ok
}

// page reads up to limit matching calls after the given key and counts all that match.
func (s *store) page(after string, limit int, match func(*Call) bool) (items []Call, next string, total int, err error) {
	items = []Call{}
	err = s.db.View(func(tx *bolt.Tx) error {
		more, scanned := false, 0
		cur := tx.Bucket(bucket).Cursor()
		for k, v := cur.First(); k != nil; k, v = cur.Next() {
			var c Call
			if err := json.Unmarshal(v, &c); err != nil {
				return err
			}
			here := string(k) > after
			if here {
				scanned++
			}
			if !match(&c) {
				continue
			}
			total++
			if !here || opt.scanCap && scanned > 100 {
				continue
			}
			if len(items) < limit {
				items = append(items, c)
			} else {
				more = true
			}
		}
		if more {
			next = items[len(items)-1].ID
		}
		return nil
	})
	return items, next, total, err
}

// live adds a call and touches another one from time to time.
func (s *store) live() {
	for range time.Tick(25 * time.Second) {
		_ = s.db.Update(func(tx *bolt.Tx) error {
			s.last++
			c := makeCall(s.last, s.day)
			c.UpdatedAt = time.Now().UTC().Truncate(time.Second)
			c.Published = true
			if err := put(tx, c); err != nil {
				return err
			}
			old := makeCall(1+s.last%20, s.day)
			old.UpdatedAt = c.UpdatedAt
			return put(tx, old)
		})
	}
}
