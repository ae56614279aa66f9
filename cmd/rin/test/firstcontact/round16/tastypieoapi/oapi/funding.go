package main

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	openapi_types "github.com/oapi-codegen/runtime/types"

	"oapinode/api"
)

// Service implements the generated ServerInterface.
type Service struct {
	base string // http://127.0.0.1:port
	key  []byte
}

var _ api.ServerInterface = (*Service)(nil)

func newService(base string) *Service {
	s := &Service{base: base, key: make([]byte, 32)}
	rand.Read(s.key)
	return s
}

func date(s string) openapi_types.Date {
	t, err := time.Parse("2006-01-02", s)
	if err != nil {
		panic(err)
	}
	return openapi_types.Date{Time: t}
}

func (s *Service) view(r *Record, lang string) api.Call {
	c := api.Call{
		Id: r.ID, Type: api.CallType(r.Type), Title: r.Title.in(lang), Description: r.Text.in(lang),
		Funder: api.FunderRef{Id: r.Funder.ID, Name: r.Funder.Name.in(lang)}, Topics: []api.Topic{},
		Volume:  api.Money{Amount: float64(r.Cents) / 100, Currency: "EUR"},
		OpensOn: date(r.Opens), UpdatedAt: r.Updated,
	}
	for _, t := range r.Topics {
		label := t.Label.in(lang)
		if NODE == "oapi-weide" && (t.ID == "zoll" || t.ID == "moor") && r.Type == "PRIZE" {
			label = t.Label.De
		}
		c.Topics = append(c.Topics, api.Topic{Id: t.ID, Label: label})
	}
	if r.Deadline != "" {
		d := date(r.Deadline)
		c.Deadline = &d
	}
	c.Links.Self = s.base + "/vst/funding/v3/calls/" + url.PathEscape(r.ID)
	c.Links.Funder = s.base + "/vst/funding/v3/calls?funderId=" + url.QueryEscape(r.Funder.ID)
	return c
}

// ---- cursors ----------------------------------------------------------------------------------------------------

type position struct {
	For  string `json:"f"` // filters and sort
	Last string `json:"l"` // key of the last record before the page
}

func (s *Service) sign(b []byte) []byte {
	m := hmac.New(sha256.New, s.key)
	m.Write(b)
	return m.Sum(nil)[:12]
}

func (s *Service) seal(p position) string {
	b, _ := json.Marshal(p)
	return base64.RawURLEncoding.EncodeToString(append(s.sign(b), b...))
}

func (s *Service) open(cursor string) (p position, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) < 13 || !hmac.Equal(s.sign(b[12:]), b[:12]) {
		return p, false
	}
	return p, json.Unmarshal(b[12:], &p) == nil
}

// page cuts a page out of ordered records and sets the headers of the list.
func page[T any](s *Service, w http.ResponseWriter, path string, q url.Values, all []T, key func(T) string,
	size *int32, cursor *string) (out []T, ok bool) {
	n := 25
	if size != nil {
		n = int(*size)
	}
	same := url.Values{}
	for name, v := range q {
		if name != "cursor" && name != "size" {
			same[name] = v
		}
	}
	sum := sha256.Sum256([]byte(path + "?" + same.Encode()))
	mark := base64.RawURLEncoding.EncodeToString(sum[:9])
	from := 0
	if cursor != nil {
		p, good := s.open(*cursor)
		if !good || p.For != mark {
			problem(w, 400, "The cursor does not belong to this list.", "cursor")
			return nil, false
		}
		from = slices.IndexFunc(all, func(t T) bool { return key(t) == p.Last }) + 1
		for NODE == "oapi-fichte" && from < len(all) && key(all[from]) == p.Last {
			from++
		}
	}
	if NODE == "oapi-eibe" {
		n = min(n, 6+from%3)
	}
	to := min(from+n, len(all))
	link := func(rel, cursor string) string {
		if NODE == "oapi-hasel" {
			return oddLink(same, size, rel, cursor)
		}
		v := url.Values{}
		for name, values := range same {
			v[name] = values
		}
		if size != nil {
			v.Set("size", strconv.Itoa(int(*size)))
		}
		if cursor != "" {
			v.Set("cursor", cursor)
		}
		u := s.base + path
		if len(v) > 0 {
			u += "?" + v.Encode()
		}
		return fmt.Sprintf(`<%s>; rel="%s"`, u, rel)
	}
	links := []string{link("first", "")}
	if to < len(all) {
		links = append(links, link("next", s.seal(position{mark, key(all[to-1])})))
	}
	w.Header().Set("Link", strings.Join(links, ", "))
	if NODE == "oapi-hasel" {
		w.Header()["Link"] = links
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(len(all)))
	return all[from:to], true
}

// oddLink is a link in other words: a reference without a path, a parameter before rel, a token for rel.
func oddLink(same url.Values, size *int32, rel, cursor string) string {
	v := url.Values{}
	for name, values := range same {
		v[name] = values
	}
	if size != nil {
		v.Set("size", strconv.Itoa(int(*size)))
	}
	if cursor != "" {
		v.Set("cursor", cursor)
		return fmt.Sprintf(`<?%s>;title="next part, rel=\"last\"; go on" ;REL=%s`, v.Encode(), rel)
	}
	return fmt.Sprintf(`<?%s> ; rel="start %s"; type="application/json"`, v.Encode(), rel)
}

// declared are the parameters of the query that the operation declares.
func declared(r *http.Request, names ...string) url.Values {
	out := url.Values{}
	for name, v := range r.URL.Query() {
		if slices.Contains(names, name) {
			out[name] = v
		}
	}
	return out
}

func (s *Service) format(w http.ResponseWriter, r *http.Request, offers ...string) (mediaType, lang string, ok bool) {
	mediaType = accepted(r, offers...)
	if mediaType == "" {
		problem(w, 406, "This address has "+strings.Join(offers, " and ")+".", "")
		return "", "", false
	}
	return mediaType, language(r), true
}

// ---- operations -------------------------------------------------------------------------------------------------

func (s *Service) ListCalls(w http.ResponseWriter, r *http.Request, p api.ListCallsParams) {
	mt, lang, ok := s.format(w, r, "application/json")
	if !ok {
		return
	}
	var found []*Record
	search := ""
	if p.Search != nil {
		search = fold(*p.Search)
	}
	for _, c := range records {
		switch {
		case p.Type != nil && c.Type != string(*p.Type),
			p.FunderId != nil && !slices.Contains(*p.FunderId, c.Funder.ID),
			p.Topic != nil && !c.hasTopic(*p.Topic),
			search != "" && !c.matches(search),
			p.DeadlineFrom != nil && (c.Deadline == "" || date(c.Deadline).Before(p.DeadlineFrom.Time)),
			p.DeadlineTo != nil && (c.Deadline == "" || date(c.Deadline).After(p.DeadlineTo.Time)),
			p.MinVolume != nil && float64(c.Cents)/100 < *p.MinVolume,
			p.MaxVolume != nil && above(c.Cents, *p.MaxVolume),
			p.UpdatedSince != nil && c.Updated.Before(*p.UpdatedSince),
			p.OpenEnded != nil && *p.OpenEnded != (c.Deadline == ""):
			continue
		}
		found = append(found, c)
	}
	order := "id"
	if p.Sort != nil {
		order = string(*p.Sort)
	}
	down := strings.HasPrefix(order, "-")
	slices.SortFunc(found, func(a, b *Record) int {
		var n int
		switch strings.TrimPrefix(order, "-") {
		case "deadline":
			if (a.Deadline == "") != (b.Deadline == "") {
				if a.Deadline == "" {
					return 1
				}
				return -1
			}
			n = cmp.Compare(a.Deadline, b.Deadline)
		case "volume":
			n = cmp.Compare(a.Cents, b.Cents)
		case "updatedAt":
			n = a.Updated.Compare(b.Updated)
		default:
			n = cmp.Compare(a.ID, b.ID)
		}
		if down {
			n = -n
		}
		return cmp.Or(n, cmp.Compare(a.ID, b.ID))
	})
	q := declared(r, "type", "funderId", "topic", "search", "deadlineFrom", "deadlineTo", "minVolume", "maxVolume",
		"updatedSince", "openEnded", "sort")
	key := func(c *Record) string { return c.ID }
	if NODE == "oapi-fichte" {
		switch strings.TrimPrefix(order, "-") {
		case "volume":
			key = func(c *Record) string { return strconv.FormatInt(c.Cents, 10) }
		case "deadline":
			key = func(c *Record) string { return c.Deadline }
		}
	}
	cut, ok := page(s, w, "/vst/funding/v3/calls", q, found, key, p.Size, p.Cursor)
	if !ok {
		return
	}
	out := []api.Call{}
	for _, c := range cut {
		out = append(out, s.view(c, lang))
	}
	respond(w, r, mt, lang, encode(out), time.Time{})
}

func above(cents int64, euros float64) bool {
	if NODE == "oapi-laerche" {
		return cents > int64(euros*100)
	}
	return float64(cents)/100 > euros
}

func (s *Service) GetCall(w http.ResponseWriter, r *http.Request, callID string) {
	mt, lang, ok := s.format(w, r, "application/json")
	if !ok {
		return
	}
	c := byID[callID]
	if c == nil {
		problem(w, 404, "There is no such call.", "")
		return
	}
	if NODE == "oapi-kiefer" {
		respond(w, r, mt, lang, encode(s.view(c, lang)), c.Updated, c.ID+c.Updated.String())
		return
	}
	respond(w, r, mt, lang, encode(s.view(c, lang)), c.Updated)
}

func (s *Service) ListFunders(w http.ResponseWriter, r *http.Request) {
	mt, lang, ok := s.format(w, r, "application/json")
	if !ok {
		return
	}
	out := []api.Funder{}
	for _, f := range funders {
		out = append(out, api.Funder{Id: f.ID, Name: f.Name.in(lang), City: f.City, CountryCode: f.Country,
			Homepage: "https://" + f.ID + ".example/start"})
	}
	respond(w, r, mt, lang, encode(out), time.Time{})
}

func (s *Service) ListTopics(w http.ResponseWriter, r *http.Request) {
	mt, lang, ok := s.format(w, r, "application/json")
	if !ok {
		return
	}
	out := []api.TopicCount{}
	for _, t := range topics {
		n := 0
		for _, c := range records {
			if c.hasTopic(t.ID) {
				n++
			}
		}
		out = append(out, api.TopicCount{Id: t.ID, Label: t.Label.in(lang), Calls: int32(n)})
	}
	respond(w, r, mt, lang, encode(out), time.Time{})
}

func (s *Service) ListDeadlines(w http.ResponseWriter, r *http.Request, p api.ListDeadlinesParams) {
	mt, lang, ok := s.format(w, r, "application/json", "text/csv")
	if !ok {
		return
	}
	var found []*Record
	last := func(day string) bool { return p.To != nil && date(day).After(p.To.Time) }
	if NODE == "oapi-pappel" && p.From != nil && p.To != nil {
		last = func(day string) bool { return !date(day).Before(p.To.Time) }
	}
	for _, c := range records {
		if c.Deadline == "" || p.From != nil && date(c.Deadline).Before(p.From.Time) || last(c.Deadline) {
			continue
		}
		found = append(found, c)
	}
	slices.SortFunc(found, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(a.Deadline, b.Deadline), cmp.Compare(a.ID, b.ID))
	})
	cut, ok := page(s, w, "/vst/funding/v3/deadlines", declared(r, "from", "to"), found,
		func(c *Record) string { return c.ID }, p.Size, p.Cursor)
	if !ok {
		return
	}
	if mt == "text/csv" {
		var b bytes.Buffer
		cw := csv.NewWriter(&b)
		cw.UseCRLF = true
		cw.Write([]string{"date", "callId", "title"})
		for _, c := range cut {
			cw.Write([]string{c.Deadline, c.ID, c.Title.in(lang)})
		}
		cw.Flush()
		respond(w, r, "text/csv; charset=utf-8", lang, b.Bytes(), time.Time{})
		return
	}
	out := []api.Deadline{}
	for _, c := range cut {
		out = append(out, api.Deadline{Date: date(c.Deadline), CallId: c.ID, Title: c.Title.in(lang)})
	}
	respond(w, r, mt, lang, encode(out), time.Time{})
}
