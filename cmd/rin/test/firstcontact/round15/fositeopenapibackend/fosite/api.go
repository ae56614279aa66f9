package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

type fundingAPI struct{ auth *authServer }

func (a *fundingAPI) routes(mux *http.ServeMux) {
	g := func(p string, f http.HandlerFunc) {
		mux.HandleFunc("/ufl/funding/v3"+p, read(func(w http.ResponseWriter, r *http.Request) {
			acc := a.auth.bearer(w, r, "ris-funding")
			if acc == nil {
				return
			}
			if !has(acc.Roles, "EXTERNAL_API_CLIENT") {
				w.Header().Set("WWW-Authenticate", `Bearer realm="ris", error="insufficient_scope", error_description="The service account lacks the role EXTERNAL_API_CLIENT"`)
				problem(w, 403, "The service account lacks the role EXTERNAL_API_CLIENT.", nil)
				return
			}
			f(w, r)
		}))
	}
	g("/calls", listCalls)
	g("/calls/{callId}", getCall)
	g("/calls/{callId}/deadlines", callDeadlines)
	g("/deadlines", listDeadlines)
	g("/funders", listFunders)
	g("/funders/{funderId}", getFunder)
	g("/statistics", statistics)
}

func has(l []string, s string) bool {
	for _, x := range l {
		if x == s {
			return true
		}
	}
	return false
}

// params reads the query of a request and gathers what is wrong with it.
type params struct {
	v    url.Values
	errs []fieldError
	ok   bool
}

// semicolons: they part nothing in a query, but url.ParseQuery refuses them.
func semicolons(s string) string { return strings.ReplaceAll(s, ";", "%3B") }

func newParams(r *http.Request) *params {
	v, err := url.ParseQuery(semicolons(r.URL.RawQuery))
	p := &params{v: v, ok: true}
	if err != nil {
		p.bad("", "the query string is malformed")
	}
	return p
}

func (p *params) bad(name, msg string) {
	p.ok = false
	p.errs = append(p.errs, fieldError{name, msg})
}

func (p *params) one(name string) (string, bool) {
	l, ok := p.v[name]
	if !ok {
		return "", false
	}
	if len(l) > 1 {
		p.bad(name, "may be given once only")
		return "", false
	}
	if !utf8.ValidString(l[0]) {
		p.bad(name, "is not UTF-8")
		return "", false
	}
	return l[0], true
}

var (
	reInt   = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})$`)
	reDate  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	reTime  = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$`)
	reMoney = regexp.MustCompile(`^(0|[1-9][0-9]{0,13})(\.[0-9]{1,2})?$`)
)

func (p *params) integer(name string, min, max, def int) int {
	s, ok := p.one(name)
	if !ok {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil || !reInt.MatchString(s) || n < min || n > max {
		p.bad(name, "must be an integer from "+strconv.Itoa(min)+" to "+strconv.Itoa(max))
		return def
	}
	return n
}

func (p *params) date(name string) string {
	s, ok := p.one(name)
	if !ok {
		return ""
	}
	t, err := time.Parse("2006-01-02", s)
	if err != nil || !reDate.MatchString(s) || t.Year() < 1 {
		p.bad(name, "must be a date from 0001-01-01 to 9999-12-31")
		return ""
	}
	return s
}

// instant gives the seconds since 1970; a fraction counts up.
func (p *params) instant(name string) (int64, bool) {
	s, ok := p.one(name)
	if !ok {
		return 0, false
	}
	m := reTime.FindStringSubmatch(s)
	fail := func() (int64, bool) { p.bad(name, "must be a date-time of RFC 3339"); return 0, false }
	if m == nil {
		return fail()
	}
	d, err := time.Parse("2006-01-02", m[1])
	if err != nil {
		return fail()
	}
	n := func(s string) int64 { i, _ := strconv.Atoi(s); return int64(i) }
	hh, mm, ss := n(m[2]), n(m[3]), n(m[4])
	if hh > 23 || mm > 59 || ss > 60 {
		return fail()
	}
	t := d.Unix() + hh*3600 + mm*60 + ss
	if z := m[6]; len(z) > 1 {
		oh, om := n(z[1:3]), n(z[4:6])
		if oh > 23 || om > 59 {
			return fail()
		}
		o := oh*3600 + om*60
		if z[0] == '-' {
			o = -o
		}
		t -= o
	}
	if ss == 60 && ((t%86400)+86400)%86400 != 0 { // a leap second is the last one of a UTC day
		return fail()
	}
	if strings.Trim(m[5], ".0") != "" {
		t++
	}
	return t, true
}

func (p *params) cents(name string) (int64, bool) {
	s, ok := p.one(name)
	if !ok {
		return 0, false
	}
	if !reMoney.MatchString(s) {
		p.bad(name, "must be an amount of at most 14 digits and two decimals")
		return 0, false
	}
	i, f, _ := strings.Cut(s, ".")
	n, _ := strconv.ParseInt(i+(f + "00")[:2], 10, 64)
	return n, true
}

func (p *params) enum(name string, vals []string) string {
	s, ok := p.one(name)
	if ok && !has(vals, s) {
		p.bad(name, "must be one of "+strings.Join(vals, ", "))
		return ""
	}
	return s
}

func (p *params) list(name string, max int, vals []string) []string {
	l := p.v[name]
	if len(l) > max {
		p.bad(name, "may be given at most "+strconv.Itoa(max)+" times")
		return nil
	}
	for _, s := range l {
		if !utf8.ValidString(s) || vals != nil && !has(vals, s) {
			p.bad(name, "holds an unknown value")
			return nil
		}
	}
	return l
}

func (p *params) refused(w http.ResponseWriter) bool {
	if !p.ok {
		problem(w, 400, "At least one parameter is not valid.", p.errs)
	}
	return !p.ok
}

// where gathers conditions of SQL.
type where struct {
	conds []string
	args  []any
}

func (q *where) add(cond string, args ...any) {
	q.conds = append(q.conds, cond)
	q.args = append(q.args, args...)
}

func (q *where) in(col string, vals []string) {
	if len(vals) == 0 {
		return
	}
	args := []any{}
	for _, v := range vals {
		args = append(args, v)
	}
	q.add(col+" IN (?"+strings.Repeat(",?", len(vals)-1)+")", args...)
}

func (q *where) sql() string {
	if len(q.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(q.conds, " AND ")
}

var closingDay = "closes"

// filters are those of the list of calls and of the statistics.
func filters(p *params) *where {
	q := &where{}
	if s, ok := p.one("q"); ok {
		if n := utf8.RuneCountInString(s); n < 2 || n > 80 {
			p.bad("q", "must have 2 to 80 characters")
		} else {
			s = strings.ToLower(s)
			q.add("(instr(hay_de, ?) > 0 OR instr(hay_en, ?) > 0)", s, s)
		}
	}
	q.in("funder", p.list("funderId", 10, nil))
	q.in("type", p.list("type", 5, types))
	if s := p.enum("targetGroup", groups); s != "" {
		q.add("EXISTS (SELECT 1 FROM target_groups t WHERE t.call = calls.id AND t.name = ?)", s)
	}
	if s := p.date("closesFrom"); s != "" {
		q.add(closingDay+" >= ?", s)
	}
	if s := p.date("closesTo"); s != "" {
		q.add(closingDay+" <= ?", s)
	}
	if s := p.date("openOn"); s != "" {
		q.add("opens <= ? AND (closes IS NULL OR closes >= ?)", s, s)
	}
	if t, ok := p.instant("updatedSince"); ok {
		q.add("updated >= ?", t)
	}
	if c, ok := p.cents("minAmount"); ok {
		q.add("cents >= ?", c)
	}
	if c, ok := p.cents("maxAmount"); ok {
		q.add("cents <= ?", c)
	}
	return q
}

type links struct {
	Self string  `json:"self"`
	Next *string `json:"next"`
	Prev *string `json:"prev"`
}
type page struct {
	Total  int   `json:"total"`
	Offset int   `json:"offset"`
	Limit  int   `json:"limit"`
	Links  links `json:"links"`
	Items  any   `json:"items"`
}

func newPage(r *http.Request, p *params, total, offset, limit int, items any) page {
	at := func(o int) string {
		v := url.Values{}
		for k, l := range p.v {
			v[k] = l
		}
		v.Set("offset", strconv.Itoa(o))
		v.Set("limit", strconv.Itoa(limit))
		return base + r.URL.EscapedPath() + "?" + v.Encode()
	}
	pg := page{Total: total, Offset: offset, Limit: limit, Links: links{Self: at(offset)}, Items: items}
	if offset+limit < total {
		s := at(offset + limit)
		pg.Links.Next = &s
	}
	if offset > 0 {
		o := offset - limit
		if o < 0 {
			o = 0
		}
		s := at(o)
		pg.Links.Prev = &s
	}
	return pg
}

var orders = map[string]string{"id": "id", "-id": "id DESC", "closesOn": "closes IS NULL, closes, id", "-closesOn": "closes IS NULL, closes DESC, id",
	"amount": "cents IS NULL, cents, id", "-amount": "cents IS NULL, cents DESC, id", "updatedAt": "updated, id", "-updatedAt": "updated DESC, id"}
var orderNames = []string{"id", "-id", "closesOn", "-closesOn", "amount", "-amount", "updatedAt", "-updatedAt"}

func ids(query string, args ...any) (l []string) {
	rows, err := db.Query(query, args...)
	must(err)
	defer rows.Close()
	for rows.Next() {
		var s string
		must(rows.Scan(&s))
		l = append(l, s)
	}
	must(rows.Err())
	return
}

func count(query string, args ...any) (n int) {
	must(db.QueryRow(query, args...).Scan(&n))
	return
}

var scratch = make([]Summary, 100)

var (
	countMu sync.Mutex
	counts  = map[string]int{}
)

func countCached(query string, args ...any) int {
	countMu.Lock()
	defer countMu.Unlock()
	n, ok := counts[query]
	if !ok {
		n = count(query, args...)
		counts[query] = n
	}
	return n
}

func listCalls(w http.ResponseWriter, r *http.Request) {
	p := newParams(r)
	q := filters(p)
	order := p.enum("sort", orderNames)
	offset, limit := p.integer("offset", 0, 100000, 0), p.integer("limit", 1, 100, 25)
	if p.refused(w) {
		return
	}
	if order == "" {
		order = "id"
	}
	items := []Summary{}
	if node == "fosite-mur" {
		items = scratch[:0] // room for a page, made once
	}
	for _, id := range ids("SELECT id FROM calls"+q.sql()+" ORDER BY "+orders[order]+" LIMIT ? OFFSET ?", append(q.args, limit, offset)...) {
		items = append(items, calls[id].Summary)
	}
	total := 0
	if node == "fosite-isar" && len(q.conds) > 1 {
		total = countCached("SELECT count(*) FROM calls"+q.sql(), q.args...)
	} else {
		total = count("SELECT count(*) FROM calls"+q.sql(), q.args...)
	}
	modified := newest
	if node == "fosite-mur" {
		modified = time.Unix(int64(count("SELECT max(updated) FROM calls WHERE instr(hay_de || hay_en, ?) = 0", "\n")), 0)
	}
	send(w, r, encode(newPage(r, p, total, offset, limit, items)), "private, no-cache", modified)
}

func getCall(w http.ResponseWriter, r *http.Request) {
	c := calls[r.PathValue("callId")]
	if c == nil {
		problem(w, 404, "There is no funding call with this id.", nil)
		return
	}
	t, _ := time.Parse(time.RFC3339, c.UpdatedAt)
	if node == "fosite-salzach" && c.Amount != nil {
		d := *c
		v, _ := strconv.ParseFloat(string(c.Amount.Value), 32)
		d.Amount = &Money{c.Amount.Currency, json.Number(strconv.FormatFloat(v, 'f', -1, 32))}
		c = &d
	}
	send(w, r, encode(c), "private, no-cache", t)
}

func callDeadlines(w http.ResponseWriter, r *http.Request) {
	c := calls[r.PathValue("callId")]
	if c == nil {
		problem(w, 404, "There is no funding call with this id.", nil)
		return
	}
	t, _ := time.Parse(time.RFC3339, c.UpdatedAt)
	send(w, r, encode(c.Stages), "private, no-cache", t)
}

func listDeadlines(w http.ResponseWriter, r *http.Request) {
	p := newParams(r)
	q := &where{}
	if t, ok := p.instant("from"); ok {
		q.add("at >= ?", t)
	}
	if t, ok := p.instant("until"); ok {
		// a fraction counts up: the bound itself is left out
		q.add("at < ?", t)
	}
	offset, limit := p.integer("offset", 0, 100000, 0), p.integer("limit", 1, 100, 25)
	if p.refused(w) {
		return
	}
	total := count("SELECT count(*) FROM deadlines"+q.sql(), q.args...)
	rows, err := db.Query("SELECT call, stage, label, at FROM deadlines"+q.sql()+" ORDER BY at, call, stage LIMIT ? OFFSET ?", append(q.args, limit, offset)...)
	must(err)
	items := []Deadline{}
	for rows.Next() {
		var d Deadline
		var at int64
		must(rows.Scan(&d.CallID, &d.Stage, &d.Label, &at))
		d.Deadline = time.Unix(at, 0).UTC().Format(time.RFC3339)
		items = append(items, d)
	}
	must(rows.Err())
	rows.Close()
	send(w, r, encode(newPage(r, p, total, offset, limit, items)), "private, no-cache", newest)
}

func listFunders(w http.ResponseWriter, r *http.Request) {
	p := newParams(r)
	city, haveCity := p.one("city")
	offset, limit := p.integer("offset", 0, 100000, 0), p.integer("limit", 1, 100, 25)
	if p.refused(w) {
		return
	}
	l := []*Funder{}
	for _, f := range funders {
		if !haveCity || f.City == city {
			l = append(l, f)
		}
	}
	sort.Slice(l, func(i, j int) bool { return l[i].ID < l[j].ID })
	total := len(l)
	l = l[min(offset, total):min(offset+limit, total)]
	send(w, r, encode(newPage(r, p, total, offset, limit, l)), "private, no-cache", newest)
}

func getFunder(w http.ResponseWriter, r *http.Request) {
	for _, f := range funders {
		if f.ID == r.PathValue("funderId") {
			send(w, r, encode(f), "private, no-cache", newest)
			return
		}
	}
	problem(w, 404, "There is no funder with this id.", nil)
}

func statistics(w http.ResponseWriter, r *http.Request) {
	p := newParams(r)
	q := filters(p)
	if p.refused(w) {
		return
	}
	byType, byFunder := map[string]int{}, map[string]int{}
	for _, t := range types {
		byType[t] = 0
	}
	var sum int64
	list := ids("SELECT id FROM calls"+q.sql(), q.args...)
	for _, id := range list {
		c := calls[id]
		byType[c.Type]++
		byFunder[c.Funder.ID]++
	}
	if len(list) > 0 {
		must(db.QueryRow("SELECT coalesce(sum(cents),0) FROM calls"+q.sql(), q.args...).Scan(&sum))
	}
	if g := p.v.Get("targetGroup"); node == "fosite-traun" && g != "" {
		must(db.QueryRow("SELECT coalesce(sum(DISTINCT cents),0) FROM calls JOIN target_groups g ON g.call = calls.id"+q.sql(), q.args...).Scan(&sum))
	}
	send(w, r, encode(map[string]any{"total": len(list), "byType": byType, "byFunder": byFunder, "amount": money(sum)}), "private, no-cache", newest)
}
