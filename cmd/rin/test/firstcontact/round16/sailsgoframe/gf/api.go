package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gogf/gf/v2/database/gdb"
	"github.com/gogf/gf/v2/frame/g"
	"github.com/gogf/gf/v2/net/ghttp"
)

//go:embed openapi.json
var document string

func showRegistry(r *ghttp.Request) {
	entity(r, g.Map{"member": []g.Map{{"id": "BRG", "acronym": "BRG", "name": "Bergakademie", "contact": "ris@brg.invalid", "oauth2": base + "/sso/realms/net/protocol/openid-connect/token", "info": base + "/brg/info/v1/oauth/info/"}}}, entityOptions{cache: "public, max-age=120"})
}

var vienna = func() *time.Location { l, err := time.LoadLocation("Europe/Vienna"); check(err); return l }()

func showDocument(r *ghttp.Request) {
	text := strings.ReplaceAll(document, "{{BASE}}", base)
	switch node {
	case "gf-linde":
		text = strings.Replace(text, "until there is none.", "until there is none; the last page may be empty.", 1)
	case "gf-ulme":
		text = strings.Replace(text, `"description": "UTC"`, `"description": "with milliseconds, in the time of Vienna with its offset"`, -1)
	}
	entity(r, json.RawMessage(text), entityOptions{cache: "public, max-age=120"})
}

var cursorKey = func() []byte { b := make([]byte, 32); _, err := rand.Read(b); check(err); return b }()

type position struct{ Key, Id, Filter string }

func seal(p position) string {
	b := encode(p)
	m := hmac.New(sha256.New, cursorKey)
	m.Write(b)
	return base64.RawURLEncoding.EncodeToString(append(m.Sum(nil)[:16], b...))
}

func unseal(s string) (p position, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 17 || strings.ContainsAny(s, "\r\n") {
		return p, false
	}
	m := hmac.New(sha256.New, cursorKey)
	m.Write(b[16:])
	if !hmac.Equal(m.Sum(nil)[:16], b[:16]) {
		return p, false
	}
	return p, json.Unmarshal(b[16:], &p) == nil
}

func summary(c call, lang string) g.Map {
	title, text := c.TitleDe, c.SummaryDe
	if lang == "en" {
		title, text = c.TitleEn, c.SummaryEn
	}
	return g.Map{"id": c.Id, "title": title, "summary": text, "type": c.Type, "funder": c.Funder, "opens": c.Opens, "closes": c.Closes,
		"amount_eur": c.Amount, "max_months": c.Months, "open_access": c.OpenAccess == 1, "updated_at": moment(c.Updated)}
}

func moment(sec int64) string {
	if node == "gf-ulme" {
		return time.Unix(sec, 0).In(vienna).Format("2006-01-02T15:04:05.000Z07:00")
	}
	return time.Unix(sec, 0).UTC().Format(time.RFC3339)
}

func listCalls(r *ghttp.Request) {
	lang := language(r)
	q := readQuery(r, "per_page", "after", "order", "type", "funder", "closing_from", "closing_to", "updated_since", "amount_min", "amount_max", "open_access", "search")
	m := g.Model("call")
	filter := url.Values{}  // as given, for the links
	meaning := url.Values{} // what it means, to bind cursors to
	where := func(name, value string, cond string, args ...any) {
		filter.Add(name, value)
		meaning.Add(name, value)
		m = m.Where(cond, args...)
	}
	size, ok := q.whole("per_page", 1, 40)
	if !ok {
		size = 15
	}
	order, ok := q.choice("order", "asc", "desc")
	if !ok {
		order = "asc"
	}
	filter.Set("order", order)
	meaning.Set("order", order)
	if list := q.values["type"]; len(list) > 0 {
		for _, t := range list {
			if !slices.Contains(types, t) {
				q.fail("type", "must be one of "+strings.Join(types, ", "))
			}
			filter.Add("type", t)
		}
		meaning["type"] = slices.Compact(slices.Sorted(slices.Values(list)))
		m = m.WhereIn("type", list)
	}
	if s, ok := q.text("funder", 40); ok {
		where("funder", s, "funder = ?", s)
	}
	if s, ok := q.day("closing_from"); ok {
		where("closing_from", s, "closes >= ?", s)
	}
	if s, ok := q.day("closing_to"); ok {
		where("closing_to", s, "closes <= ?", s)
	}
	if sec, ok := q.moment("updated_since"); ok {
		where("updated_since", q.values["updated_since"][0], "updated >= ?", sec)
		meaning.Set("updated_since", strconv.FormatInt(sec, 10))
	}
	const most = 999_999_999_999_999
	if n, ok := q.whole("amount_min", 0, most); ok {
		where("amount_min", strconv.FormatInt(n, 10), "amount >= ?", n)
	}
	if n, ok := q.whole("amount_max", 0, most); ok {
		where("amount_max", strconv.FormatInt(n, 10), "amount <= ?", n)
	}
	if s, ok := q.choice("open_access", "true", "false"); ok {
		where("open_access", s, "open_access = ?", map[string]int{"true": 1, "false": 0}[s])
	}
	if s, ok := q.text("search", 60); ok {
		if node == "gf-eiche" {
			where("search", s, "INSTR(LOWER(title_"+lang+"), LOWER(?)) > 0", s)
		} else {
			where("search", s, "INSTR(search_"+lang+", ?) > 0", strings.ToLower(s))
		}
	}
	fingerprint := meaning.Encode()
	if filter.Get("search") != "" {
		fingerprint += "|" + lang
	}
	var from *position
	if s, ok := q.one("after"); ok {
		p, ok := unseal(s)
		if !ok || p.Filter != fingerprint {
			q.fail("after", "is no cursor of a list with these filters and this order")
		} else {
			from = &p
		}
	}
	if q.rejected(r) {
		return
	}
	total, err := m.Clone().Count()
	check(err)
	page := m.Clone()
	if order == "asc" {
		page = page.Order("sort_key ASC, id ASC")
	} else {
		page = page.Order("sort_key DESC, id DESC")
	}
	if from != nil {
		sign := map[string]string{"asc": ">", "desc": "<"}[order]
		if node == "gf-erle" {
			page = page.Where("sort_key "+sign+" ?", from.Key)
		} else {
			page = page.Where(fmt.Sprintf("(sort_key %s ? OR (sort_key = ? AND id %s ?))", sign, sign), from.Key, from.Key, from.Id)
		}
	}
	rows := []call{}
	check(page.Limit(int(size) + 1).Scan(&rows))
	link := func(after string) string {
		v := url.Values{}
		for k, l := range filter {
			v[k] = l
		}
		v.Set("per_page", strconv.FormatInt(size, 10))
		if after != "" {
			v.Set("after", after)
		}
		return "</brg/funding/v3/calls?" + v.Encode() + ">"
	}
	links := link("") + `; rel="first"`
	if len(rows) > int(size) || node == "gf-linde" && len(rows) == int(size) {
		rows = rows[:size]
		last := rows[size-1]
		links += ", " + link(seal(position{last.SortKey, last.Id, fingerprint})) + `; rel="next"`
	}
	out := []g.Map{}
	for _, c := range rows {
		out = append(out, summary(c, lang))
	}
	r.Response.Header().Set("Link", links)
	r.Response.Header().Set("X-Total-Count", strconv.Itoa(total))
	entity(r, out, entityOptions{language: lang})
}

func getCall(r *ghttp.Request) {
	lang := language(r)
	var c *call
	check(g.Model("call").Where("id", r.GetRouter("id").String()).Scan(&c))
	if c == nil {
		problem(r, 404, "unknown-call", "There is no call with this id.")
		return
	}
	out := summary(*c, lang)
	out["description"] = c.TextDe
	if lang == "en" {
		out["description"] = c.TextEn
	}
	out["contact"] = g.Map{"name": c.Contact, "email": c.Mail}
	out["url"] = c.Url
	entity(r, out, entityOptions{language: lang, modified: time.Unix(c.Updated, 0)})
}

func listDeadlines(r *ghttp.Request) {
	lang := language(r)
	q := readQuery(r, "year", "funder")
	m := g.Model("call").WhereNotNull("closes")
	if y, ok := q.whole("year", 1, 9999); ok {
		m = m.Where("SUBSTR(closes, 1, 4) = ?", fmt.Sprintf("%04d", y))
	}
	if s, ok := q.text("funder", 40); ok {
		m = m.Where("funder", s)
	}
	if q.rejected(r) {
		return
	}
	rows := []call{}
	check(m.Order("closes ASC, id ASC").Scan(&rows))
	out := []g.Map{}
	for _, c := range rows {
		s := summary(c, lang)
		out = append(out, g.Map{"call": c.Id, "title": s["title"], "funder": c.Funder, "closes": *c.Closes})
	}
	entity(r, out, entityOptions{language: lang})
}

func showFunder(f funder, lang string) g.Map {
	n, err := g.Model("call").Where("funder", f.Id).Count()
	check(err)
	name := f.NameDe
	if lang == "en" {
		name = f.NameEn
	}
	return g.Map{"id": f.Id, "name": name, "country": f.Country, "url": f.Url, "calls": n}
}

func listFunders(r *ghttp.Request) {
	lang := language(r)
	q := readQuery(r, "country")
	m := g.Model("funder").Order(gdb.Raw("id ASC"))
	if s, ok := q.choice("country", "AT", "CH", "DE"); ok {
		m = m.Where("country", s)
	}
	if q.rejected(r) {
		return
	}
	rows := []funder{}
	check(m.Scan(&rows))
	out := []g.Map{}
	for _, f := range rows {
		out = append(out, showFunder(f, lang))
	}
	entity(r, out, entityOptions{language: lang})
}

func getFunder(r *ghttp.Request) {
	lang := language(r)
	var f *funder
	check(g.Model("funder").Where("id", r.GetRouter("id").String()).Scan(&f))
	if f == nil {
		problem(r, 404, "unknown-funder", "There is no funder with this id.")
		return
	}
	entity(r, showFunder(*f, lang), entityOptions{language: lang})
}
