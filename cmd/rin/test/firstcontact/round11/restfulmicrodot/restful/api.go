package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	restful "github.com/emicklei/go-restful/v3"
)

//go:embed spec.json
var specSource string
var spec []byte

type obj = map[string]any

type stage struct {
	no       int
	de, en   string
	due      string
	optional bool
}

type call struct {
	id, funder, state, opens, deadline, updated, url string
	de, en                                           string
	areas                                            []string
	max                                              float64
	currency                                         string
	stages                                           []stage
}

type funder struct{ id, name, country, site string }

var calls []*call
var byID = map[string]*call{}
var funders = []funder{
	{"FND-01", "Österreichischer Wissensfonds", "AT", "urn:funder:wissensfonds"},
	{"FND-02", "Nordic Research Trust", "NO", "urn:funder:nrt"},
	{"FND-03", "Stiftung Küste & Klima", "DE", "urn:funder:kueste-klima"},
	{"FND-04", "Fondation Lumière", "FR", "urn:funder:lumiere"},
	{"FND-05", "Baltic Innovation Council", "EE", "urn:funder:bic"},
}

func buildData() {
	rnd := rand.New(rand.NewSource(20260417))
	topics := [][2]string{{"Meeresforschung", "Marine research"}, {"Künstliche Intelligenz", "Artificial intelligence"},
		{"Öffentliche Gesundheit", "Public health"}, {"Digitale Edition", "Digital editions"}, {"Quantenoptik", "Quantum optics"},
		{"Stadt und Verkehr", "City and traffic"}, {"Klimafolgen", "Climate impact"}, {"Sprachwandel", "Language change"}}
	kinds := [][2]string{{"Einzelprojekte", "individual projects"}, {"Nachwuchsgruppen", "junior groups"}, {"Netzwerke", "networks"}, {"Reisebeihilfen", "travel grants"}}
	areas := []string{"LIFE", "NATURAL", "SOCIAL", "HUMANITIES", "ENGINEERING"}
	past := []string{"2026-03-31T15:00:00Z", "2026-05-15T22:00:00Z", "2026-09-30T15:00:00Z"}
	next := []string{"2027-01-31T15:00:00Z", "2027-03-15T22:00:00Z", "2027-06-30T15:00:00Z", "2027-09-30T15:00:00Z"}
	for i := 0; i < 57; i++ {
		t, k := topics[rnd.Intn(len(topics))], kinds[rnd.Intn(len(kinds))]
		c := &call{id: fmt.Sprintf("NL-%04d", 1003+i*7), funder: funders[rnd.Intn(len(funders))].id, currency: []string{"EUR", "NOK"}[rnd.Intn(2)]}
		c.de, c.en = t[0]+": "+k[0]+" "+strconv.Itoa(2026+i%3), t[1]+": "+k[1]+" "+strconv.Itoa(2026+i%3)
		switch i % 5 {
		case 0:
			c.state, c.opens, c.deadline = "closed", "2025-11-03", past[rnd.Intn(len(past))]
		case 1:
			c.state, c.opens, c.deadline = "forthcoming", "2027-02-01", next[2+rnd.Intn(2)]
		case 4:
			c.state, c.opens = "open", "2026-01-15"
		default:
			c.state, c.opens, c.deadline = "open", "2026-10-01", next[rnd.Intn(len(next))]
		}
		c.max = float64(20+rnd.Intn(900))*1000 + []float64{0, 0.5, 0}[i%3]
		c.areas = []string{areas[rnd.Intn(5)]}
		if a := areas[rnd.Intn(5)]; a != c.areas[0] {
			c.areas = append(c.areas, a)
		}
		c.updated = time.Date(2026, time.Month(1+rnd.Intn(10)), 1+rnd.Intn(28), rnd.Intn(24), rnd.Intn(60), 0, 0, time.UTC).Format(time.RFC3339)
		c.url = "urn:nordlys:call:" + strings.ToLower(c.id)
		for n := 1; n <= 1+i%3; n++ {
			s := stage{no: n, de: "Stufe " + strconv.Itoa(n), en: "Stage " + strconv.Itoa(n), optional: n == 3}
			if c.deadline != "" {
				d, _ := time.Parse(time.RFC3339, c.deadline)
				s.due = d.AddDate(0, 2*(n-1), 0).Format(time.RFC3339)
			}
			c.stages = append(c.stages, s)
		}
		calls = append(calls, c)
		byID[c.id] = c
	}
}

func buildSpec() {
	s := strings.ReplaceAll(specSource, "__ORIGIN__", origin)
	switch {
	case variant("birch"):
		s = strings.Replace(s, "with its lifetime in seconds in expires_in.", "without expires_in: every access token lives exactly 70 seconds.", 1)
	case variant("fjord"):
		s = strings.Replace(s, "Every page but the last holds exactly `limit` calls.", "A page may hold fewer calls than `limit`, even none, although more follow; the list has ended only when `next` is null.", 1)
	}
	spec = []byte(s)
	if !json.Valid(spec) {
		panic("spec")
	}
}

func problem(w http.ResponseWriter, status int, title, detail string) {
	p := obj{"type": "about:blank", "title": title, "status": status}
	if detail != "" {
		p["detail"] = detail
	}
	b, _ := json.Marshal(p)
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	w.Write(b)
}

// accepts tells whether JSON is acceptable.
func accepts(r *http.Request) bool {
	vals := r.Header.Values("Accept")
	if len(vals) == 0 {
		return true
	}
	best, ok, any := -1, false, false
	for _, part := range strings.Split(strings.Join(vals, ","), ",") {
		f := strings.Split(part, ";")
		m := strings.ToLower(strings.TrimSpace(f[0]))
		if m == "" {
			continue
		}
		any = true
		spec := map[string]int{"*/*": 0, "application/*": 1, "application/json": 2}
		n, known := spec[m]
		if !known || n < best {
			continue
		}
		q := 1.0
		for _, p := range f[1:] {
			if k, v, _ := strings.Cut(strings.TrimSpace(p), "="); strings.EqualFold(k, "q") {
				q, _ = strconv.ParseFloat(v, 64)
			}
		}
		best, ok = n, q > 0
	}
	return ok || !any
}

func language(r *http.Request) string {
	best, lang := 0.0, "de"
	for _, part := range strings.Split(strings.Join(r.Header.Values("Accept-Language"), ","), ",") {
		f := strings.Split(part, ";")
		tag := strings.ToLower(strings.TrimSpace(f[0]))
		q := 1.0
		for _, p := range f[1:] {
			if k, v, _ := strings.Cut(strings.TrimSpace(p), "="); strings.EqualFold(k, "q") {
				q, _ = strconv.ParseFloat(v, 64)
			}
		}
		base, _, _ := strings.Cut(tag, "-")
		if (base == "de" || base == "en") && q > best {
			best, lang = q, base
		}
	}
	return lang
}

func send(rq *restful.Request, rs *restful.Response, v any, lang, tag string) {
	w, r := rs.ResponseWriter, rq.Request
	if !accepts(r) {
		problem(w, 406, "Not Acceptable", "the answer is available as application/json")
		return
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.Encode(v)
	b := buf.Bytes()
	if variant("gneiss") {
		b = respell(b)
	}
	if tag == "" {
		sum := sha256.Sum256(b)
		tag = hex.EncodeToString(sum[:8])
	}
	tag = `"` + tag + `"`
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Authorization, Accept, Accept-Language")
	if lang != "" {
		h.Set("Content-Language", lang)
	}
	if m := strings.Join(r.Header.Values("If-None-Match"), ","); m != "" {
		for _, x := range strings.Split(m, ",") {
			x = strings.TrimSpace(x)
			if x == "*" || strings.TrimPrefix(x, "W/") == tag {
				w.WriteHeader(304)
				return
			}
		}
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b)
}

func infoHandler(rq *restful.Request, rs *restful.Response) {
	g := rq.Attribute("grant").(grant)
	send(rq, rs, obj{"clientId": g.c.id, "serviceAccountUserId": g.c.account, "roles": g.c.roles, "affiliationId": g.c.affiliation, "audience": g.c.audience,
		"endpoints": obj{"funding": []obj{{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 2, "url": origin + "/ris/funding/v3/calls"}}}}, "", "")
}

func registry(rq *restful.Request, rs *restful.Response) {
	send(rq, rs, obj{"member": []obj{{"id": "nordlys", "acronym": "NORD", "name": "University of Nordlys", "contact": "ris@[127.0.0.1]", "oauth2": origin + realmPath + "/token", "info": origin + "/ris/info/v1/oauth/info/"}}}, "", "")
}

func metadata(rq *restful.Request, rs *restful.Response) {
	send(rq, rs, obj{"issuer": origin + issuer, "token_endpoint": origin + realmPath + "/token", "revocation_endpoint": origin + realmPath + "/revoke",
		"grant_types_supported": []string{"client_credentials"}, "response_types_supported": []string{}, "scopes_supported": []string{"funding.read"},
		"token_endpoint_auth_methods_supported":      []string{"client_secret_basic", "client_secret_post"},
		"revocation_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"}}, "", "")
}

func apiDocs(rq *restful.Request, rs *restful.Response) {
	send(rq, rs, json.RawMessage(spec), "", "")
}

func render(c *call, lang string) obj {
	title := c.de
	if lang == "en" {
		title = c.en
	}
	o := obj{"id": c.id, "title": title, "state": c.state, "funderId": c.funder, "opensOn": c.opens, "areas": c.areas,
		"maxAmount": obj{"value": c.max, "currency": c.currency}, "stageCount": len(c.stages), "link": c.url, "updatedAt": c.updated}
	if c.deadline != "" {
		o["deadline"] = c.deadline
	}
	return o
}

type filter struct {
	state, funder, from, to, q, area, sort, lang string
	limit                                        int
	cursor                                       string
}

var last *filter

func bad(rs *restful.Response, text string) { problem(rs.ResponseWriter, 400, "Bad Request", text) }

func readFilter(r *http.Request) (*filter, string) {
	vals, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, "the query cannot be decoded"
	}
	f := &filter{limit: 20, sort: "id", lang: language(r)}
	for k, dst := range map[string]*string{"state": &f.state, "funder": &f.funder, "deadlineFrom": &f.from, "deadlineTo": &f.to, "q": &f.q, "area": &f.area, "sort": &f.sort, "cursor": &f.cursor} {
		if v, ok := vals[k]; ok {
			if len(v) > 1 || v[0] == "" || !utf8.ValidString(v[0]) || strings.ContainsRune(v[0], 0) {
				return nil, "parameter " + k + " must be given once and not be empty"
			}
			*dst = v[0]
		}
	}
	if v, ok := vals["limit"]; ok {
		n, err := strconv.Atoi(v[0])
		if err != nil || len(v) > 1 || n < 1 || n > 50 {
			return nil, "limit must be a number from 1 to 50"
		}
		f.limit = n
	}
	if f.state != "" && !contains([]string{"open", "closed", "forthcoming"}, f.state) {
		return nil, "state must be open, closed or forthcoming"
	}
	if f.area != "" && !contains([]string{"LIFE", "NATURAL", "SOCIAL", "HUMANITIES", "ENGINEERING"}, f.area) {
		return nil, "unknown area"
	}
	if !contains([]string{"id", "deadline", "-deadline", "-updatedAt"}, f.sort) {
		return nil, "unknown sort order"
	}
	for _, d := range []string{f.from, f.to} {
		if _, err := time.Parse("2006-01-02", d); d != "" && err != nil {
			return nil, "deadlineFrom and deadlineTo are dates, YYYY-MM-DD"
		}
	}
	if n := utf8.RuneCountInString(f.q); f.q != "" && (n < 2 || n > 80) {
		return nil, "q has 2 to 80 characters"
	}
	if utf8.RuneCountInString(f.funder) > 40 {
		return nil, "funder has at most 40 characters"
	}
	return f, ""
}

func (f *filter) print() string {
	s := sha256.Sum256([]byte(strings.Join([]string{f.state, f.funder, f.from, f.to, f.q, f.area, f.sort}, "\x00")))
	return hex.EncodeToString(s[:4])
}

func (f *filter) match(c *call) bool {
	day := ""
	if c.deadline != "" {
		day = c.deadline[:10]
	}
	return (f.state == "" || c.state == f.state) && (f.funder == "" || c.funder == f.funder) &&
		(f.area == "" || contains(c.areas, f.area)) &&
		(f.from == "" || day != "" && day >= f.from) && (f.to == "" || day != "" && day <= f.to) &&
		(f.q == "" || strings.Contains(strings.ToLower(c.de), strings.ToLower(f.q)) || strings.Contains(strings.ToLower(c.en), strings.ToLower(f.q)))
}

// key orders calls ascending; calls without a deadline come last.
func (f *filter) key(c *call) string {
	switch f.sort {
	case "deadline":
		if c.deadline == "" {
			return "9999"
		}
		return c.deadline
	case "-deadline":
		if c.deadline == "" {
			return "9999"
		}
		return invert(c.deadline)
	case "-updatedAt":
		return invert(c.updated)
	}
	return c.id
}

func invert(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0' + '9' - r
		}
		return r
	}, s)
}

func listCalls(rq *restful.Request, rs *restful.Response) {
	f, msg := readFilter(rq.Request)
	if f == nil {
		bad(rs, msg)
		return
	}
	last = f
	time.Sleep(4 * time.Millisecond)
	if variant("heron") {
		f = last
	}
	var hits []*call
	for _, c := range calls {
		if f.match(c) {
			hits = append(hits, c)
		}
	}
	sort.SliceStable(hits, func(i, j int) bool {
		a, b := f.key(hits[i]), f.key(hits[j])
		return a < b || a == b && hits[i].id < hits[j].id
	})
	total := len(hits)
	if f.cursor != "" {
		raw, err := base64.RawURLEncoding.DecodeString(f.cursor)
		p := strings.Split(string(raw), "|")
		if err != nil || len(p) != 3 || p[0] != f.print() {
			bad(rs, "the cursor is not valid for this query")
			return
		}
		n := sort.Search(len(hits), func(i int) bool {
			k := f.key(hits[i])
			if variant("iris") {
				return k > p[1]
			}
			return k > p[1] || k == p[1] && hits[i].id > p[2]
		})
		hits = hits[n:]
	}
	size := f.limit
	if variant("fjord") && size > 2 && len(hits) > size {
		size = size - 1 - len(hits)%2
	}
	var next any
	if len(hits) > size {
		hits = hits[:size]
		e := hits[size-1]
		next = base64.RawURLEncoding.EncodeToString([]byte(f.print() + "|" + f.key(e) + "|" + e.id))
	}
	items := []obj{}
	for _, c := range hits {
		items = append(items, render(c, f.lang))
	}
	send(rq, rs, obj{"items": items, "total": total, "next": next}, f.lang, "")
}

func find(rq *restful.Request, rs *restful.Response) *call {
	c := byID[rq.PathParameter("callId")]
	if c == nil {
		problem(rs.ResponseWriter, 404, "Not Found", "there is no such call")
	}
	return c
}

func oneCall(rq *restful.Request, rs *restful.Response) {
	c := find(rq, rs)
	if c == nil {
		return
	}
	lang, tag := language(rq.Request), ""
	o := render(c, lang)
	if variant("juniper") {
		d, _ := time.Parse(time.RFC3339, c.deadline)
		o["deadline"] = d.Format(time.RFC3339)
	}
	if variant("kelp") {
		s := sha256.Sum256([]byte(c.id + c.updated))
		tag = hex.EncodeToString(s[:8])
	}
	send(rq, rs, o, lang, tag)
}

func callStages(rq *restful.Request, rs *restful.Response) {
	c := find(rq, rs)
	if c == nil {
		return
	}
	lang, out := language(rq.Request), []obj{}
	for _, s := range c.stages {
		o := obj{"number": s.no, "name": s.de, "optional": s.optional}
		if lang == "en" {
			o["name"] = s.en
		}
		if s.due != "" {
			o["dueAt"] = s.due
		}
		out = append(out, o)
	}
	send(rq, rs, out, lang, "")
}

func funderObj(f funder) obj {
	n := 0
	for _, c := range calls {
		if c.funder == f.id {
			n++
		}
	}
	return obj{"id": f.id, "name": f.name, "country": f.country, "site": f.site, "callCount": n}
}

func listFunders(rq *restful.Request, rs *restful.Response) {
	out := []obj{}
	for _, f := range funders {
		out = append(out, funderObj(f))
	}
	send(rq, rs, out, "", "")
}

func oneFunder(rq *restful.Request, rs *restful.Response) {
	for _, f := range funders {
		if f.id == rq.PathParameter("funderId") {
			send(rq, rs, funderObj(f), "", "")
			return
		}
	}
	problem(rs.ResponseWriter, 404, "Not Found", "there is no such funder")
}

func statistics(rq *restful.Request, rs *restful.Response) {
	m := map[string]int{"open": 0, "closed": 0, "forthcoming": 0}
	for _, c := range calls {
		m[c.state]++
	}
	send(rq, rs, obj{"total": len(calls), "byState": m}, "", "")
}

// respell writes the same JSON value in another spelling: indented, members
// in reverse order, non-ASCII letters escaped.
func respell(b []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	d.Decode(&v)
	var w bytes.Buffer
	spell(&w, v, "\n")
	w.WriteString("\r\n")
	return w.Bytes()
}

func spell(w *bytes.Buffer, v any, nl string) {
	switch x := v.(type) {
	case map[string]any:
		var ks []string
		for k := range x {
			ks = append(ks, k)
		}
		sort.Sort(sort.Reverse(sort.StringSlice(ks)))
		w.WriteString("{")
		for i, k := range ks {
			if i > 0 {
				w.WriteString(",")
			}
			w.WriteString(nl + "\t")
			spell(w, k, nl)
			w.WriteString(" : ")
			spell(w, x[k], nl+"\t")
		}
		w.WriteString(nl + "}")
	case []any:
		w.WriteString("[")
		for i, e := range x {
			if i > 0 {
				w.WriteString(" , ")
			}
			spell(w, e, nl+"\t")
		}
		w.WriteString("]")
	case string:
		s, _ := json.Marshal(x)
		for _, r := range string(s) {
			if r > 126 {
				fmt.Fprintf(w, `\u%04X`, r)
			} else if r == '/' {
				w.WriteString(`\/`)
			} else {
				w.WriteRune(r)
			}
		}
	case json.Number:
		if f, _ := x.Float64(); strings.Contains(string(x), ".") {
			w.WriteString(strconv.FormatFloat(f, 'E', -1, 64))
		} else {
			w.WriteString(string(x))
		}
	default:
		s, _ := json.Marshal(x)
		w.Write(s)
	}
}
