package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-fuego/fuego"
)

// CallSummary is a funding call as the list shows it.
type CallSummary struct {
	ID       string   `json:"id" validate:"required" description:"Key of the call; percent-encode it in paths"`
	Type     string   `json:"type" validate:"required"`
	Title    string   `json:"title" validate:"required" description:"In the language of the answer"`
	FunderID string   `json:"funderId" validate:"required"`
	Regions  []string `json:"regions" validate:"required"`
	Opens    string   `json:"opens" validate:"required" description:"First day of submission"`
	Deadline *string  `json:"deadline,omitempty" description:"Last day of submission; absent where there is no deadline"`
	Budget   Money    `json:"budget" validate:"required"`
	Self     string   `json:"self" validate:"required" description:"Reference of the detail"`
}

// Call is a funding call in full.
type Call struct {
	CallSummary
	Summary  string   `json:"summary" validate:"required" description:"In the language of the answer"`
	Language string   `json:"language" validate:"required"`
	Funder   Funder   `json:"funder" validate:"required"`
	Subjects []string `json:"subjects" validate:"required"`
	Website  string   `json:"website" validate:"required"`
	Updated  string   `json:"updated" validate:"required"`
}

type Money struct {
	Amount   float64 `json:"amount" validate:"required"`
	Currency string  `json:"currency" validate:"required"`
}

type Page struct {
	Number     int `json:"number" validate:"required"`
	Size       int `json:"size" validate:"required"`
	TotalItems int `json:"totalItems" validate:"required" description:"Number of calls that fit the filters, on all pages"`
	TotalPages int `json:"totalPages" validate:"required"`
}

type Links struct {
	Self  string `json:"self" validate:"required"`
	First string `json:"first" validate:"required"`
	Last  string `json:"last" validate:"required"`
	Prev  string `json:"prev,omitempty" description:"Absent on the first page"`
	Next  string `json:"next,omitempty" description:"Absent on the last page and behind it"`
}

type CallList struct {
	Items []CallSummary `json:"items" validate:"required"`
	Page  Page          `json:"page" validate:"required"`
	Links Links         `json:"links" validate:"required"`
}

type FunderList struct {
	Items []Funder `json:"items" validate:"required"`
}

type Deadline struct {
	Date   string `json:"date" validate:"required"`
	CallID string `json:"callId" validate:"required"`
	Title  string `json:"title" validate:"required"`
}

type DeadlineList struct {
	Items []Deadline `json:"items" validate:"required"`
	Total int        `json:"total" validate:"required"`
}

type service struct {
	records []record
	byID    map[string]*record
	current *record // the record at hand, shared in one variant
}

func newService() *service {
	s := &service{records: loadRecords(), byID: map[string]*record{}}
	for i := range s.records {
		s.byID[s.records[i].ID] = &s.records[i]
	}
	return s
}

// query reads the parameters of an operation: only known ones, each at most once.
func query(c fuego.ContextNoBody, known ...string) (map[string]string, error) {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return nil, fuego.BadRequestError{Detail: "the query is not well-formed"}
	}
	out := map[string]string{}
	for name, v := range values {
		if !slices.Contains(known, name) {
			return nil, invalid(name, "this operation has no such parameter")
		}
		if len(v) > 1 {
			return nil, invalid(name, "the parameter is repeated")
		}
		if !utf8.ValidString(v[0]) {
			return nil, invalid(name, "the value is not UTF-8")
		}
		out[name] = v[0]
	}
	return out, nil
}

func invalid(name, reason string) error {
	if !utf8.ValidString(name) {
		name = "?"
	}
	return fuego.BadRequestError{Detail: "a query parameter is not valid",
		Errors: []fuego.ErrorItem{{Name: name, Reason: reason}}}
}

// params reads typed parameters; the first that is not valid is kept as err.
type params struct {
	q   map[string]string
	err error
}

func (p *params) check(name string, good bool, need string) {
	if p.err == nil && !good {
		p.err = invalid(name, need)
	}
}

func (p *params) integer(name string, low, high, dflt int) int {
	text, given := p.q[name]
	if !given {
		return dflt
	}
	n, err := strconv.Atoi(text)
	p.check(name, err == nil && !strings.HasPrefix(text, "+") && n >= low && n <= high, fmt.Sprintf("an integer from %d to %d is needed", low, high))
	return n
}

func (p *params) oneOf(name string, allowed []string) string {
	text, given := p.q[name]
	p.check(name, !given || slices.Contains(allowed, text), "one of "+strings.Join(allowed, ", ")+" is needed")
	return text
}

func (p *params) date(name string) string {
	text, given := p.q[name]
	_, err := time.Parse("2006-01-02", text)
	p.check(name, !given || err == nil, "a date of the form YYYY-MM-DD is needed")
	return text
}

var sortKeys = []string{"id", "deadline", "-deadline", "budget", "-budget"}

func (s *service) listCalls(c fuego.ContextNoBody) (CallList, error) {
	var none CallList
	q, err := query(c, "page", "pageSize", "type", "region", "funder", "open", "deadlineFrom", "deadlineTo", "q", "sort")
	if err != nil {
		return none, err
	}
	p := params{q: q}
	number, size := p.integer("page", 1, 100000, 1), p.integer("pageSize", 1, 50, 20)
	typ, region := p.oneOf("type", callTypes), p.oneOf("region", regions)
	open, order := p.oneOf("open", []string{"true", "false"}), p.oneOf("sort", sortKeys)
	from, to := p.date("deadlineFrom"), p.date("deadlineTo")
	text, given := q["q"]
	n := utf8.RuneCountInString(text)
	p.check("q", !given || (n >= 2 && n <= 80), "2 to 80 characters are needed")
	if p.err != nil {
		return none, p.err
	}
	funder, byFunder := q["funder"]
	lang := language(c.Request())
	today := time.Now().UTC().Format("2006-01-02")

	hits := s.records
	keep := func(test func(r *record) bool) {
		source := hits
		if variant == "fuego-hasel" {
			source = s.records
		}
		var kept []record
		for i := range source {
			if test(&source[i]) {
				kept = append(kept, source[i])
			}
		}
		hits = kept
	}
	if typ != "" {
		keep(func(r *record) bool { return r.Type == typ })
	}
	if region != "" {
		keep(func(r *record) bool { return slices.Contains(r.Regions, region) })
	}
	if byFunder {
		keep(func(r *record) bool { return r.Funder == funder })
	}
	if open != "" {
		keep(func(r *record) bool {
			return (r.Opens <= today && (r.Deadline == "" || r.Deadline >= today)) == (open == "true")
		})
	}
	if from != "" || to != "" {
		keep(func(r *record) bool {
			return r.Deadline != "" && (from == "" || r.Deadline >= from) && (to == "" || r.Deadline <= to)
		})
	}
	if given {
		needle := strings.ToLower(text)
		keep(func(r *record) bool {
			title, summary := r.texts(lang)
			return strings.Contains(strings.ToLower(title), needle) || strings.Contains(strings.ToLower(summary), needle)
		})
	}
	hits = sorted(hits, order)

	out := CallList{Items: []CallSummary{}, Page: Page{Number: number, Size: size, TotalItems: len(hits)}}
	out.Page.TotalPages = (len(hits) + size - 1) / size
	start := min((number-1)*size, len(hits))
	for _, r := range hits[start:min(start+size, len(hits))] {
		out.Items = append(out.Items, summarise(&r, lang))
	}
	link := func(n int) string {
		v := url.Values{}
		for name, value := range q {
			v.Set(name, value)
		}
		v.Set("page", strconv.Itoa(n))
		v.Set("pageSize", strconv.Itoa(size))
		return apiPath + "/calls?" + v.Encode()
	}
	out.Links = Links{Self: link(number), First: link(1), Last: link(max(out.Page.TotalPages, 1))}
	if number > 1 {
		out.Links.Prev = link(min(number-1, max(out.Page.TotalPages, 1)))
	}
	if number < out.Page.TotalPages {
		out.Links.Next = link(number + 1)
	}
	return out, nil
}

// sorted orders by the key; ties by id; calls without a deadline come last in both directions.
func sorted(list []record, order string) []record {
	list = slices.Clone(list)
	key, down := strings.CutPrefix(order, "-")
	sort.SliceStable(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		switch {
		case key == "deadline" && a.Deadline != b.Deadline:
			if a.Deadline == "" || b.Deadline == "" {
				return b.Deadline == ""
			}
			return (a.Deadline < b.Deadline) != down
		case key == "budget" && a.Budget != b.Budget:
			return (a.Budget < b.Budget) != down
		}
		return a.ID < b.ID
	})
	return list
}

func (r *record) texts(lang string) (title, summary string) {
	if lang == "en" {
		return r.TitleEN, r.SummaryEN
	}
	return r.TitleDE, r.SummaryDE
}

func summarise(r *record, lang string) CallSummary {
	title, _ := r.texts(lang)
	out := CallSummary{ID: r.ID, Type: r.Type, Title: title, FunderID: r.Funder, Regions: r.Regions, Opens: r.Opens,
		Budget: Money{r.Budget, "EUR"}, Self: apiPath + "/calls/" + url.PathEscape(r.ID)}
	if r.Deadline != "" {
		d := r.Deadline
		out.Deadline = &d
	}
	return out
}

func (r *record) full(lang string) Call {
	_, summary := r.texts(lang)
	out := Call{CallSummary: summarise(r, lang), Summary: summary, Language: lang, Subjects: r.Subjects, Website: r.Website, Updated: r.Updated}
	for _, f := range funders {
		if f.ID == r.Funder {
			out.Funder = f
		}
	}
	return out
}

func (s *service) getCall(c fuego.ContextNoBody) (Call, error) {
	if _, err := query(c); err != nil {
		return Call{}, err
	}
	r, ok := s.byID[c.PathParam("id")]
	if !ok {
		return Call{}, fuego.NotFoundError{Detail: "there is no funding call with this id"}
	}
	lang := language(c.Request())
	if variant == "fuego-linde" {
		s.current = r
		time.Sleep(8 * time.Millisecond) // the translation service
		r = s.current
	}
	if variant == "fuego-ilm" {
		c.SetHeader("ETag", entityTag([]byte(r.ID+r.Updated)))
	}
	return r.full(lang), nil
}

func (s *service) listFunders(c fuego.ContextNoBody) (FunderList, error) {
	if _, err := query(c); err != nil {
		return FunderList{}, err
	}
	return FunderList{Items: funders}, nil
}

func (s *service) listDeadlines(c fuego.ContextNoBody) (DeadlineList, error) {
	out := DeadlineList{Items: []Deadline{}}
	q, err := query(c, "from", "to")
	if err != nil {
		return out, err
	}
	p := params{q: q}
	from, to := p.date("from"), p.date("to")
	p.check("to", from == "" || to == "" || from <= to, "the end lies before the beginning")
	if p.err != nil {
		return out, p.err
	}
	lang := language(c.Request())
	for _, r := range sorted(s.records, "deadline") {
		if r.Deadline != "" && (from == "" || r.Deadline >= from) && (to == "" || r.Deadline <= to) {
			title, _ := r.texts(lang)
			out.Items = append(out.Items, Deadline{Date: r.Deadline, CallID: r.ID, Title: title})
		}
	}
	out.Total = len(out.Items)
	return out, nil
}

// language chooses German or English (RFC 9110, section 12.5.4); German where neither is wanted.
func language(r *http.Request) string {
	best := map[string]float64{"de": -1, "en": -1}
	star := -1.0
	for _, part := range strings.Split(strings.Join(r.Header.Values("Accept-Language"), ","), ",") {
		tag, q := weighted(part)
		primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
		if primary == "*" {
			star = max(star, q)
		} else if old, ok := best[primary]; ok {
			best[primary] = max(old, q)
		}
	}
	for l := range best {
		if best[l] < 0 {
			best[l] = max(star, 0)
		}
	}
	if best["en"] > best["de"] {
		return "en"
	}
	return "de"
}

// weighted splits an element of an Accept header from its weight.
func weighted(part string) (string, float64) {
	fields := strings.Split(part, ";")
	q := 1.0
	for _, f := range fields[1:] {
		if name, value, ok := strings.Cut(strings.TrimSpace(f), "="); ok && strings.EqualFold(name, "q") {
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				q = n
			}
		}
	}
	return strings.TrimSpace(fields[0]), q
}

// acceptsJSON tells whether the client takes application/json.
func acceptsJSON(r *http.Request) bool {
	values := r.Header.Values("Accept")
	if len(values) == 0 || strings.TrimSpace(strings.Join(values, "")) == "" {
		return true
	}
	precision, weight := -1, 0.0
	for _, part := range strings.Split(strings.Join(values, ","), ",") {
		name, q := weighted(part)
		p := slices.Index([]string{"*/*", "application/*", "application/json"}, strings.ToLower(name))
		if p > precision {
			precision, weight = p, q
		}
	}
	return weight > 0
}
