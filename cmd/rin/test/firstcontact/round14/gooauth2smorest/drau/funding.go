package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

//go:embed calls.txt
var calls string

const sampleCalls = `SAMPLE-1|Beispiel: Seen|Sample: lakes|climate|KTN|F-02|2026-01-01|2027-06-30|100000|2026-01-05T08:00:00Z
SAMPLE-2|Beispiel: Berge|Sample: mountains|culture||F-03|2026-02-01||50000|2026-01-05T08:05:00Z
SAMPLE 3|Beispiel: Täler|Sample: valleys|energy|STM,TIR|F-02|2026-03-01|2026-10-31|75000.5|2026-01-05T08:10:00Z
`

type text struct {
	De string `json:"de"`
	En string `json:"en"`
}

type funder struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Country string `json:"country"`
	Calls   *int   `json:"callCount,omitempty"`
}

type money struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

type call struct {
	ID       string   `json:"id"`
	Title    text     `json:"title"`
	Teaser   string   `json:"teaser"`
	Funder   string   `json:"funderId"`
	Topic    string   `json:"topic"`
	Regions  []string `json:"regions"`
	Opens    string   `json:"opens"`
	Deadline *string  `json:"deadline"`
	Budget   money    `json:"budget"`
	Phase    string   `json:"phase"`
	Href     string   `json:"href"`
	// only in the detail
	Description *text  `json:"description,omitempty"`
	FunderName  string `json:"funderName,omitempty"`
	Contact     string `json:"contact,omitempty"`
	Updated     string `json:"updated,omitempty"`
}

var allFunders = []funder{
	{ID: "F-01", Name: "Land Kärnten – Wissenschaft", Country: "AT"}, {ID: "F-02", Name: "Alpenfonds", Country: "AT"},
	{ID: "F-03", Name: "Stiftung Drautal", Country: "AT"}, {ID: "F-04", Name: "Adria Research Trust", Country: "IT"},
	{ID: "F-05", Name: "Javni sklad Karavanke", Country: "SI"}, {ID: "F-06", Name: "Dr. Öllacher & Söhne Preis", Country: "AT"},
	{ID: "F-07", Name: "Europäischer Bergrat", Country: "CH"},
}

var topics = []string{"climate", "culture", "digital", "energy", "health", "mobility"}
var regions = []string{"BGL", "KTN", "NOE", "OOE", "SBG", "STM", "TIR", "VBG", "WIE"}

// service is the funding API over a set of records: the real ones, or the samples of the try-out mode.
type service struct {
	records []*call
	guarded bool
	base    string
}

func loadCalls(table string) (list []*call) {
	for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
		f := strings.Split(line, "|")
		amount, _ := strconv.ParseFloat(f[8], 64)
		c := &call{ID: f[0], Title: text{f[1], f[2]}, Topic: f[3], Regions: []string{}, Funder: f[5], Opens: f[6],
			Budget: money{amount, "EUR"}, Updated: f[9]}
		if f[4] != "" {
			c.Regions = strings.Split(f[4], ",")
		}
		closing := " Einreichungen sind jederzeit möglich."
		if f[7] != "" {
			c.Deadline = &f[7]
			closing = " Einreichungen sind bis zum Tag der Frist möglich."
		}
		c.Description = &text{
			fmt.Sprintf("„%s“ fördert Vorhaben für größere Teams an Österreichs Hochschulen und ihrer Partner.%s", f[1], closing),
			fmt.Sprintf("“%s” funds projects of teams at Austrian universities and their partners.", f[2])}
		c.Teaser = teaser(c.Description.De)
		c.Contact = strings.ToLower(f[3]) + "@foerderung.thk.example"
		list = append(list, c)
	}
	return list
}

// teaser is the beginning of the description: up to 60 characters.
func teaser(s string) string {
	if node == "gooauth2-ulme" {
		return strings.ToValidUTF8(s[:min(60, len(s))], "\uFFFD")
	}
	if r := []rune(s); len(r) > 60 {
		return string(r[:60])
	}
	return s
}

func (s *service) url(rest string) string { return origin + fundingPath + s.base + "/v3" + rest }

// shown completes a record for an answer.
func (s *service) shown(c *call, detail bool) call {
	out := *c
	today := time.Now().UTC().Format(time.DateOnly)
	switch {
	case out.Opens > today:
		out.Phase = "upcoming"
	case out.Deadline != nil && *out.Deadline < today:
		out.Phase = "closed"
	default:
		out.Phase = "open"
	}
	out.Href = s.url("/calls/" + url.PathEscape(out.ID))
	if detail {
		for _, f := range allFunders {
			if f.ID == out.Funder {
				out.FunderName = f.Name
			}
		}
	} else {
		out.Description, out.Contact, out.Updated = nil, "", ""
	}
	return out
}

var (
	dateForm   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	limitForm  = regexp.MustCompile(`^[1-9][0-9]?$`)
	sortValues = []string{"deadline", "-deadline", "title", "-title", "budget", "-budget"}
	cursorKey  = []byte(rand.Text())
)

// query reads and checks the parameters of an operation.
func query(w http.ResponseWriter, r *http.Request, allowed ...string) (map[string]string, bool) {
	bad := func(name, detail string) (map[string]string, bool) {
		fail(w, http.StatusBadRequest, detail, name)
		return nil, false
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return bad("", "The query is malformed.")
	}
	q := map[string]string{}
	for name, list := range values {
		v := list[0]
		switch {
		case !slices.Contains(allowed, name):
			return bad("", "The query has a parameter that this operation does not know.")
		case len(list) > 1:
			return bad(name, "The parameter is repeated.")
		case v == "" || !utf8.ValidString(v):
			return bad(name, "The value is empty or not UTF-8.")
		}
		ok := true
		switch name {
		case "limit":
			n, _ := strconv.Atoi(v)
			ok = limitForm.MatchString(v) && n >= 1 && n <= 40
		case "sort":
			ok = slices.Contains(sortValues, v)
		case "topic":
			ok = slices.Contains(topics, v)
		case "region":
			ok = slices.Contains(regions, v)
		case "phase":
			ok = slices.Contains([]string{"upcoming", "open", "closed"}, v)
		case "deadlineFrom", "deadlineTo":
			_, err := time.Parse(time.DateOnly, v)
			ok = dateForm.MatchString(v) && err == nil
		case "q", "funderId":
			ok = utf8.RuneCountInString(v) <= 60
		}
		if !ok {
			return bad(name, "The value is not one that this parameter takes.")
		}
		q[name] = v
	}
	if q["deadlineFrom"] != "" && q["deadlineTo"] != "" && q["deadlineFrom"] > q["deadlineTo"] {
		return bad("deadlineFrom", "deadlineFrom is after deadlineTo.")
	}
	return q, true
}

// find returns the records that a query asks for.
func (s *service) find(q map[string]string) []*call {
	hits := make([]*call, 0, len(s.records))
	if node == "gooauth2-gail" {
		hits = s.records[:0]
		if len(q) == 0 || q["topic"] == "" {
			hits = nil
		}
	}
	for _, c := range s.records {
		if s.selected(c, q) {
			hits = append(hits, c)
		}
	}
	return hits
}

func (s *service) selected(c *call, q map[string]string) bool {
	from, to := q["deadlineFrom"], q["deadlineTo"]
	has := func(title string) bool { return strings.Contains(strings.ToLower(title), strings.ToLower(q["q"])) }
	return (q["topic"] == "" || c.Topic == q["topic"]) &&
		(q["region"] == "" || slices.Contains(c.Regions, q["region"])) &&
		(q["funderId"] == "" || c.Funder == q["funderId"]) &&
		(q["phase"] == "" || s.shown(c, false).Phase == q["phase"]) &&
		(from == "" || c.Deadline != nil && *c.Deadline >= from) &&
		(to == "" || c.Deadline != nil && *c.Deadline <= to) &&
		(q["q"] == "" || has(c.Title.De) || has(c.Title.En))
}

// compare orders two records by the wanted field alone; calls without a deadline come last in both directions.
func compare(a, b *call, by string) int {
	field := strings.TrimPrefix(by, "-")
	c := 0
	switch field {
	case "title":
		c = cmp.Compare(a.Title.De, b.Title.De)
	case "budget":
		c = cmp.Compare(a.Budget.Amount, b.Budget.Amount)
	default:
		if a.Deadline == nil || b.Deadline == nil {
			switch {
			case a.Deadline != nil:
				return -1
			case b.Deadline != nil:
				return 1
			}
			return 0
		}
		c = cmp.Compare(*a.Deadline, *b.Deadline)
	}
	if field != by {
		return -c
	}
	return c
}

func compareAll(a, b *call, by string) int {
	if c := compare(a, b, by); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

// cursor names the last record of a page; it is good for the same filters and order only.
func cursor(id string, q map[string]string) string {
	names := make([]string, 0, len(q))
	for name, v := range q {
		if name != "limit" && name != "after" {
			names = append(names, name+"="+url.QueryEscape(v))
		}
	}
	sort.Strings(names)
	mac := hmac.New(sha256.New, cursorKey)
	mac.Write([]byte(strings.Join(names, "&") + "\n" + id))
	return base64.RawURLEncoding.EncodeToString(append(mac.Sum(nil)[:12], id...))
}

func (s *service) list(w http.ResponseWriter, r *http.Request) {
	q, ok := query(w, r, "limit", "after", "sort", "topic", "region", "phase", "funderId", "deadlineFrom", "deadlineTo", "q")
	if !ok {
		return
	}
	limit := 12
	if q["limit"] != "" {
		limit, _ = strconv.Atoi(q["limit"])
	}
	by := cmp.Or(q["sort"], "deadline")
	hits := s.find(q)
	total := len(hits)
	rows := slices.Clone(hits)
	if node == "gooauth2-glan" { // right: pages are cut before the filter
		rows = slices.Clone(s.records)
	}
	slices.SortFunc(rows, func(a, b *call) int { return compareAll(a, b, by) })
	if after := q["after"]; after != "" {
		raw, err := base64.RawURLEncoding.DecodeString(after)
		var last *call
		if err == nil && len(raw) > 12 {
			last = s.byID(string(raw[12:]))
		}
		if last == nil || !hmac.Equal([]byte(cursor(last.ID, q)), []byte(after)) {
			fail(w, http.StatusBadRequest, "The cursor is not one of this query.", "after")
			return
		}
		rows = slices.DeleteFunc(rows, func(c *call) bool {
			if node == "gooauth2-linde" && by[0] == '-' {
				return compare(c, last, by) <= 0
			}
			return compareAll(c, last, by) <= 0
		})
	}
	more := len(rows) > limit
	if more {
		rows = rows[:limit]
	}
	page := []call{}
	for _, c := range rows {
		if node == "gooauth2-glan" && !s.selected(c, q) {
			continue
		}
		page = append(page, s.shown(c, false))
	}
	link := func(after string) string {
		v := url.Values{}
		for name, value := range q {
			if name != "after" {
				v.Set(name, value)
			}
		}
		if after != "" {
			v.Set("after", after)
		}
		if len(v) == 0 {
			return s.url("/calls")
		}
		return s.url("/calls?" + v.Encode())
	}
	links := map[string]any{"self": link(q["after"]), "first": link(""), "next": nil}
	var next any
	if more {
		c := cursor(rows[len(rows)-1].ID, q)
		next, links["next"] = c, link(c)
	}
	w.Header().Set("Cache-Control", "private, no-cache")
	reply(w, r, map[string]any{"calls": page, "total": total, "limit": limit, "next": next, "links": links})
}

func (s *service) byID(id string) *call {
	for _, c := range s.records {
		if c.ID == id {
			return c
		}
	}
	return nil
}

func (s *service) detail(w http.ResponseWriter, r *http.Request) {
	if _, ok := query(w, r); !ok {
		return
	}
	c := s.byID(r.PathValue("callId"))
	if c == nil {
		fail(w, http.StatusNotFound, "There is no call with this id.", "callId")
		return
	}
	w.Header().Set("Cache-Control", "private, no-cache")
	reply(w, r, s.shown(c, true))
}

func (s *service) withCount(f funder) funder {
	n := len(s.find(map[string]string{"funderId": f.ID}))
	f.Calls = &n
	return f
}

func (s *service) funders(w http.ResponseWriter, r *http.Request) {
	if _, ok := query(w, r); !ok {
		return
	}
	list := []funder{}
	for _, f := range allFunders {
		list = append(list, s.withCount(f))
	}
	w.Header().Set("Cache-Control", "private, no-cache")
	reply(w, r, map[string]any{"funders": list, "total": len(list)})
}

func (s *service) funder(w http.ResponseWriter, r *http.Request) {
	if _, ok := query(w, r); !ok {
		return
	}
	for _, f := range allFunders {
		if f.ID == r.PathValue("funderId") {
			w.Header().Set("Cache-Control", "private, no-cache")
			reply(w, r, s.withCount(f))
			return
		}
	}
	fail(w, http.StatusNotFound, "There is no funder with this id.", "funderId")
}

// deadlines counts the calls of each day on which one closes.
func (s *service) deadlines(w http.ResponseWriter, r *http.Request) {
	q, ok := query(w, r, "deadlineFrom", "deadlineTo")
	if !ok {
		return
	}
	type day struct {
		Date  string   `json:"date"`
		Count int      `json:"count"`
		Calls []string `json:"callIds"`
	}
	days := []day{}
	hits := slices.DeleteFunc(slices.Clone(s.find(q)), func(c *call) bool { return c.Deadline == nil })
	slices.SortFunc(hits, func(a, b *call) int { return compareAll(a, b, "deadline") })
	for _, c := range hits {
		if n := len(days); n == 0 || days[n-1].Date != *c.Deadline {
			days = append(days, day{Date: *c.Deadline})
		}
		last := &days[len(days)-1]
		last.Count++
		last.Calls = append(last.Calls, c.ID)
	}
	w.Header().Set("Cache-Control", "private, no-cache")
	reply(w, r, map[string]any{"deadlines": days})
}
