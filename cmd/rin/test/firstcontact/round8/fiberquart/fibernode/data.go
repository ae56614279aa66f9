package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

var (
	bucketCalls    = []byte("calls")
	bucketFunders  = []byte("funders")
	bucketDeadline = []byte("by_deadline")
	bucketTokens   = []byte("tokens")
)

// Text is a text in the two languages of the portal.
type Text struct {
	De string `json:"de"`
	En string `json:"en"`
}

func (t Text) in(lang string) string {
	if lang == "en" {
		return t.En
	}
	return t.De
}

// Budget is the whole sum of a call.
type Budget struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// Record is a call as it is stored.
type Record struct {
	ID          string
	Title       Text
	Abstract    Text
	FunderID    string
	Opens       string
	Deadline    time.Time
	Budget      *Budget
	Disciplines []string
	Contact     string
	Website     string
	Draft       bool
	Amended     time.Time
}

// Funder is an organisation that gives money.
type Funder struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Country string `json:"country"`
	Website string `json:"website"`
}

var disciplines = []string{"humanities", "social-sciences", "medicine", "physics", "chemistry", "life-sciences", "engineering", "computer-science", "arts"}

// Store keeps everything in one bbolt file.
type Store struct {
	db  *bolt.DB
	dir string
}

func openStore() (*Store, error) {
	dir, err := os.MkdirTemp("", "fundstore")
	if err != nil {
		return nil, err
	}
	db, err := bolt.Open(filepath.Join(dir, "node.db"), 0o600, &bolt.Options{Timeout: 2 * time.Second, NoSync: true})
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, dir: dir}
	return s, db.Update(func(tx *bolt.Tx) error {
		for _, b := range [][]byte{bucketCalls, bucketFunders, bucketDeadline, bucketTokens} {
			if _, err := tx.CreateBucketIfNotExists(b); err != nil {
				return err
			}
		}
		for _, f := range seedFunders() {
			if err := putJSON(tx.Bucket(bucketFunders), []byte(f.ID), f); err != nil {
				return err
			}
		}
		for _, r := range seedCalls() {
			if err := putJSON(tx.Bucket(bucketCalls), []byte(r.ID), r); err != nil {
				return err
			}
			if err := tx.Bucket(bucketDeadline).Put(sortKey(r.Deadline, r.ID), []byte(r.ID)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) close() {
	s.db.Close()
	os.RemoveAll(s.dir)
}

func putJSON(b *bolt.Bucket, key []byte, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(key, raw)
}

// sortKey orders calls by deadline, then by id.
func sortKey(t time.Time, id string) []byte {
	k := make([]byte, 8, 8+len(id))
	binary.BigEndian.PutUint64(k, uint64(t.Unix()))
	return append(k, id...)
}

func encodeCursor(k []byte) string { return base64.RawURLEncoding.EncodeToString(k) }

func decodeCursor(s string) ([]byte, bool) {
	k, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(k) < 8 || len(k) > 40 {
		return nil, false
	}
	for _, c := range k[8:] {
		if !(c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z') {
			return nil, false
		}
	}
	return k, true
}

func (s *Store) call(id string) (*Record, bool) {
	var r Record
	ok := false
	s.db.View(func(tx *bolt.Tx) error {
		if raw := tx.Bucket(bucketCalls).Get([]byte(id)); raw != nil {
			ok = json.Unmarshal(raw, &r) == nil
		}
		return nil
	})
	return &r, ok
}

func (s *Store) funder(id string) (*Funder, bool) {
	var f Funder
	ok := false
	s.db.View(func(tx *bolt.Tx) error {
		if raw := tx.Bucket(bucketFunders).Get([]byte(id)); raw != nil {
			ok = json.Unmarshal(raw, &f) == nil
		}
		return nil
	})
	return &f, ok
}

func (s *Store) funders() []Funder {
	out := []Funder{}
	s.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketFunders).ForEach(func(_, raw []byte) error {
			var f Funder
			if err := json.Unmarshal(raw, &f); err != nil {
				return err
			}
			out = append(out, f)
			return nil
		})
	})
	return out
}

// Filter says which calls are wanted.
type Filter struct {
	Status, Funder, Discipline, Text string
	From, To                         time.Time // To is exclusive
	MinBudget                        int64
	Drafts                           bool
}

func (f Filter) match(r *Record, now time.Time) bool {
	if r.Draft && !f.Drafts {
		return false
	}
	if f.Status != "" && r.status(now) != f.Status {
		return false
	}
	if f.Funder != "" && r.FunderID != f.Funder {
		return false
	}
	if f.Discipline != "" {
		found := false
		for _, d := range r.Disciplines {
			found = found || d == f.Discipline
		}
		if !found {
			return false
		}
	}
	if !f.From.IsZero() && r.Deadline.Before(f.From) {
		return false
	}
	if !f.To.IsZero() && !r.Deadline.Before(f.To) {
		return false
	}
	if f.MinBudget > 0 && (r.Budget == nil || r.Budget.Amount < f.MinBudget) {
		return false
	}
	if f.Text != "" {
		hay := strings.ToLower(r.Title.De + "\n" + r.Title.En)
		if !strings.Contains(hay, strings.ToLower(f.Text)) {
			return false
		}
	}
	return true
}

// list returns at most limit calls behind the key after, the number of all calls that match, and the key of the last.
func (s *Store) list(f Filter, after []byte, limit int, now time.Time) (page []*Record, total int, last []byte, more bool) {
	s.db.View(func(tx *bolt.Tx) error {
		calls := tx.Bucket(bucketCalls)
		return tx.Bucket(bucketDeadline).ForEach(func(k, id []byte) error {
			var r Record
			if err := json.Unmarshal(calls.Get(id), &r); err != nil {
				return err
			}
			if !f.match(&r, now) {
				return nil
			}
			total++
			if after != nil {
				if opt.cursorByTime {
					if bytes.Compare(k[:8], after[:8]) <= 0 {
						return nil
					}
				} else if bytes.Compare(k, after) <= 0 {
					return nil
				}
			}
			if len(page) == limit {
				more = true
				return nil
			}
			page = append(page, &r)
			last = append([]byte(nil), k...)
			return nil
		})
	})
	if opt.cursorByTime && last != nil {
		last = last[:8]
	}
	return page, total, last, more
}

func (r *Record) status(now time.Time) string {
	opens, _ := time.Parse("2006-01-02", r.Opens)
	switch {
	case r.Draft:
		return "draft"
	case now.Before(opens):
		return "forthcoming"
	case now.After(r.Deadline):
		return "closed"
	}
	return "open"
}

func seedFunders() []Funder {
	return []Funder{
		{"alm", "Almstiftung für Hochgebirgsforschung", "AT", "https://almstiftung.example/"},
		{"donau", "Donauländischer Wissenschaftsfonds", "AT", "https://dwf.example/foerderungen"},
		{"krka", "Znanstveni sklad Krka – Čatež", "SI", "https://sklad-krka.example/"},
		{"oresund", "Øresundsfonden för tillämpad forskning", "SE", "https://oresundsfonden.example/"},
		{"rhein", "Rheinische Akademie der Künste & Wissenschaften", "DE", "https://rheinakademie.example/"},
		{"tatra", "Fundacja Badań Tatrzańskich „Łączność”", "PL", "https://tatra.example/nabory"},
	}
}

func seedCalls() []Record {
	topicsDe := []string{"Gletscherrückgang und Wasserhaushalt", "Künstliche Intelligenz in der Pflege", "Mehrsprachigkeit im Grenzraum", "Quantenmaterialien", "Öffentlicher Verkehr im ländlichen Raum", "Straßenbäume & Stadtklima", "Handschriften des Spätmittelalters", "Seltene Erkrankungen", "Grüner Wasserstoff", "Bürgerwissenschaft", "Erdbebensicheres Bauen", "Süßwasserfische", "Digitale Musikedition"}
	topicsEn := []string{"Glacier retreat and water balance", "Artificial intelligence in care", "Multilingualism in border regions", "Quantum materials", "Public transport in rural areas", "Street trees & city climate", "Manuscripts of the late Middle Ages", "Rare diseases", "Green hydrogen", "Citizen science", "Earthquake-resistant building", "Freshwater fish", "Digital music editions"}
	kindsDe := []string{"Einzelprojekte", "Doktoratsstellen", "Netzwerkreisen", "Infrastruktur", "Nachwuchsgruppen"}
	kindsEn := []string{"single projects", "doctoral positions", "networking travel", "infrastructure", "junior research groups"}
	fs := seedFunders()
	amounts := []int64{24_000, 75_000, 180_000, 450_000, 1_250_000, 3_600_000_000}
	start := time.Date(2026, 9, 14, 0, 0, 0, 0, time.UTC)
	n := 137
	if opt.sparse {
		n = 9
	}
	out := []Record{}
	for i := 0; i < n; i++ {
		k := (i / len(topicsDe)) % len(kindsDe)
		f := fs[(i*5+i/7)%len(fs)]
		day := (i*53 + 11) % 431
		deadline := start.AddDate(0, 0, day).Add(time.Duration(11+i%7) * time.Hour)
		if i%8 == 3 { // the round of the end of winter
			deadline = time.Date(2027, 2, 26, 11, 0, 0, 0, time.UTC)
		}
		opens := deadline.AddDate(0, 0, -50-(i*17)%60).Format("2006-01-02")
		r := Record{
			ID:       fmt.Sprintf("fc-%05d-%s", 20311+i*7, strings.ToLower(string(rune('A'+(i*11)%26)))),
			Title:    Text{topicsDe[i%13] + " – " + kindsDe[k], topicsEn[i%13] + " – " + kindsEn[k]},
			FunderID: f.ID,
			Opens:    opens,
			Deadline: deadline,
			Contact:  fmt.Sprintf("calls+%02d@%s.example", i%9, f.ID),
			Website:  fmt.Sprintf("%s?call=%d", f.Website, 20311+i*7),
			Amended:  deadline.AddDate(0, 0, -115).Add(time.Duration(i) * time.Minute),
		}
		r.Abstract = Text{
			fmt.Sprintf("Gefördert werden %s zum Thema „%s“. Anträge müssen vollständig und fristgerecht eingereicht werden.", kindsDe[k], topicsDe[i%13]),
			fmt.Sprintf("Funding of %s on “%s”. Proposals have to be complete and on time.", kindsEn[k], topicsEn[i%13]),
		}
		if i%6 != 5 {
			cur := "EUR"
			if f.ID == "oresund" {
				cur = "SEK"
			} else if f.ID == "tatra" {
				cur = "PLN"
			}
			r.Budget = &Budget{amounts[(i+i/6)%len(amounts)], cur}
		}
		if i%31 != 17 {
			r.Disciplines = append(r.Disciplines, disciplines[(i*4)%9])
			if i%3 == 0 {
				r.Disciplines = append(r.Disciplines, disciplines[(i*4+5)%9])
			}
			sort.Strings(r.Disciplines)
		} else {
			r.Disciplines = []string{}
			if opt.nilSlice {
				r.Disciplines = nil
			}
		}
		r.Draft = i%23 == 7
		out = append(out, r)
	}
	return out
}
