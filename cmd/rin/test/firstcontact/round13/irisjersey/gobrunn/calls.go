package main

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kataras/iris/v12"
)

const callsPath = "/ris/funding/v3/calls"

func (c *Call) status(today string) string {
	switch {
	case c.Opens > today:
		return "FORTHCOMING"
	case c.Deadline != "" && c.Deadline < today:
		return "CLOSED"
	}
	return "OPEN"
}

// changed is when the detail last became another: by an edit, or because a day of its own had come.
func (c *Call) changed() time.Time {
	last, now := c.Modified, time.Now().UTC()
	opens, _ := time.Parse("2006-01-02", c.Opens)
	closed := opens
	if c.Deadline != "" {
		closed, _ = time.Parse("2006-01-02", c.Deadline)
		closed = closed.AddDate(0, 0, 1)
	}
	for _, t := range []time.Time{opens, closed} {
		if t.After(last) && !t.After(now) {
			last = t
		}
	}
	return last
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (c *Call) summary(today string) iris.Map {
	m := iris.Map{"id": c.ID, "type": c.Type, "title": c.Title, "status": c.status(today), "funder": c.Funder, "regions": c.Regions,
		"opens": c.Opens, "deadline": orNull(c.Deadline), "budget": nil, "href": callsPath + "/" + url.PathEscape(c.ID)}
	if c.Budget != nil {
		m["budget"] = *c.Budget
		if node == "lunz" { // the list is kept in single precision
			m["budget"] = Budget{float64(float32(c.Budget.Amount)), c.Budget.Currency}
		}
	}
	return m
}

func (c *Call) detail(today string) iris.Map {
	m := c.summary(today)
	m["budget"] = c.Budget
	m["summary"], m["targetGroups"], m["followUp"], m["modified"] = c.Summary, c.Groups, orNull(c.FollowUp), c.Modified.Format(time.RFC3339)
	return m
}

type query struct {
	page, size         int
	status, funder, q  string
	regions            []string
	from, to, sort     string
	minBudget          float64
	pairs              url.Values // what was asked, without page and size
	hasFrom, hasTo, mb bool
}

var day = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
var digits = regexp.MustCompile(`^[0-9]{1,12}$`)

type badParameter struct{ name, text string }

// rawQuery parses the query strictly and refuses what the operation does not know or what is repeated.
func rawQuery(ctx iris.Context, names map[string]bool) (url.Values, *badParameter) {
	values, err := url.ParseQuery(ctx.Request().URL.RawQuery)
	if err != nil {
		return nil, &badParameter{"", "The query is not well-formed."}
	}
	for _, k := range keys(values) {
		if !names[k] {
			return nil, &badParameter{k, "There is no such parameter."}
		}
		if len(values[k]) > 1 && k != "region" {
			return nil, &badParameter{k, "The parameter may be given only once."}
		}
		for _, v := range values[k] {
			if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				return nil, &badParameter{k, "The value is not text."}
			}
		}
	}
	return values, nil
}

// only refuses every parameter.
func only() iris.Handler {
	return func(ctx iris.Context) {
		if _, bad := rawQuery(ctx, nil); bad != nil {
			fail(ctx, 400, bad.text, bad.name)
			return
		}
		ctx.Next()
	}
}

func oneOf(v string, list ...string) bool {
	for _, l := range list {
		if v == l {
			return true
		}
	}
	return false
}

func parse(values url.Values) (q query, bad *badParameter) {
	q = query{page: 1, size: 15, pairs: url.Values{}}
	for _, name := range keys(values) {
		v := values[name][0]
		if name != "page" && name != "size" {
			q.pairs[name] = values[name]
		}
		n := -1
		if digits.MatchString(v) {
			n, _ = strconv.Atoi(v)
		}
		switch name {
		case "page":
			if q.page = n; n < 1 || n > 1000 {
				return q, &badParameter{name, "page is a whole number from 1 to 1000."}
			}
		case "size":
			if q.size = n; n < 1 || n > 40 {
				return q, &badParameter{name, "size is a whole number from 1 to 40."}
			}
		case "minBudget":
			if q.minBudget, q.mb = float64(n), true; n < 0 {
				return q, &badParameter{name, "minBudget is a whole number from 0 to 999999999999."}
			}
		case "status":
			if q.status = v; !oneOf(v, "OPEN", "FORTHCOMING", "CLOSED") {
				return q, &badParameter{name, "status is OPEN, FORTHCOMING or CLOSED."}
			}
		case "region":
			q.regions = values[name]
			for _, r := range q.regions {
				if !strings.HasPrefix(r, "AT-") || len(r) != 4 || r[3] < '1' || r[3] > '9' {
					return q, &badParameter{name, "region is AT-1 to AT-9."}
				}
			}
		case "funder":
			if q.funder = v; utf8.RuneCountInString(v) < 1 || utf8.RuneCountInString(v) > 40 {
				return q, &badParameter{name, "funder has 1 to 40 characters."}
			}
		case "q":
			if q.q = v; utf8.RuneCountInString(v) < 1 || utf8.RuneCountInString(v) > 60 {
				return q, &badParameter{name, "q has 1 to 60 characters."}
			}
		case "deadlineFrom", "deadlineTo":
			if _, err := time.Parse("2006-01-02", v); err != nil || !day.MatchString(v) {
				return q, &badParameter{name, name + " is a day of the calendar as YYYY-MM-DD."}
			}
			if name == "deadlineFrom" {
				q.from, q.hasFrom = v, true
			} else {
				q.to, q.hasTo = v, true
			}
		case "sort":
			if q.sort = v; !oneOf(strings.TrimPrefix(v, "-"), "deadline", "budget", "title") || strings.HasPrefix(v, "--") {
				return q, &badParameter{name, "sort is deadline, budget or title, with - before it for the other direction."}
			}
		}
	}
	return q, nil
}

func (q *query) matches(c *Call, today string) bool {
	if c.Embargo || q.status != "" && c.status(today) != q.status || q.funder != "" && c.Funder != q.funder {
		return false
	}
	if q.hasFrom && (c.Deadline == "" || c.Deadline < q.from) || q.hasTo && (c.Deadline == "" || c.Deadline > q.to) {
		return false
	}
	if q.mb && (c.Budget == nil || c.Budget.Amount < q.minBudget) {
		return false
	}
	if text := strings.ToLower(q.q); text != "" && !strings.Contains(strings.ToLower(c.Title), text) && !strings.Contains(strings.ToLower(c.Summary), text) {
		return false
	}
	if len(q.regions) == 0 {
		return true
	}
	for _, r := range q.regions {
		if oneOf(r, c.Regions...) {
			return true
		}
	}
	return false
}

// order sorts; calls without the value are last in both directions, equal ones are in the order of their ids.
func (q *query) order(found []*Call) {
	key := strings.TrimPrefix(q.sort, "-")
	if key == "" {
		return
	}
	value := func(c *Call) (float64, string, bool) {
		switch key {
		case "deadline":
			return 0, c.Deadline, c.Deadline != ""
		case "title":
			return 0, c.Title, true
		}
		if c.Budget == nil {
			return 0, "", false
		}
		return c.Budget.Amount, "", true
	}
	sort.SliceStable(found, func(a, b int) bool {
		n1, s1, ok1 := value(found[a])
		n2, s2, ok2 := value(found[b])
		if !ok1 || !ok2 {
			return ok1 && !ok2
		}
		if q.sort != key {
			n1, n2, s1, s2 = n2, n1, s2, s1
		}
		return n1 < n2 || n1 == n2 && s1 < s2
	})
}

func (q *query) link(page int) string {
	text := q.pairs.Encode()
	if node == "stainz" { // values as they are
		text = ""
		for _, k := range keys(q.pairs) {
			for _, v := range q.pairs[k] {
				text += "&" + k + "=" + v
			}
		}
		text = strings.TrimPrefix(text, "&")
	}
	if text != "" {
		text += "&"
	}
	return callsPath + "?" + text + fmt.Sprintf("page=%d&size=%d", page, q.size)
}

func today() string { return time.Now().UTC().Format("2006-01-02") }

func listCalls(ctx iris.Context) {
	values, bad := rawQuery(ctx, known)
	var q query
	if bad == nil {
		q, bad = parse(values)
	}
	if bad != nil {
		fail(ctx, 400, bad.text, bad.name)
		return
	}
	now, found := today(), []*Call{}
	for i := range calls {
		if q.matches(&calls[i], now) {
			found = append(found, &calls[i])
		}
	}
	q.order(found)
	pages := max(1, int(math.Ceil(float64(len(found))/float64(q.size))))
	links := iris.Map{"self": q.link(q.page), "first": q.link(1), "last": q.link(pages)}
	if q.page < pages {
		links["next"] = q.link(q.page + 1)
	}
	if q.page > 1 {
		links["prev"] = q.link(min(q.page-1, pages))
	}
	items := []iris.Map{}
	for i := (q.page - 1) * q.size; i < min(q.page*q.size, len(found)); i++ {
		items = append(items, found[i].summary(now))
	}
	private(ctx, encode(iris.Map{"items": items, "page": q.page, "size": q.size, "total": len(found), "links": links}), time.Time{})
}

func oneCall(ctx iris.Context) {
	if _, bad := rawQuery(ctx, nil); bad != nil {
		fail(ctx, 400, bad.text, bad.name)
		return
	}
	c := byID[ctx.Params().Get("id")]
	if c == nil || c.Embargo && node != "ulme" { // found by its key, published or not
		fail(ctx, 404, "There is no such call.", "")
		return
	}
	body := encode(c.detail(today()))
	if node == "pram" {
		cached.Store(ctx.Request().URL.RequestURI(), entry{body, c.changed(), time.Now().Add(time.Minute)})
	}
	private(ctx, body, c.changed())
}

func count(match func(*Call) bool) (n int) {
	for i := range calls {
		if !calls[i].Embargo && match(&calls[i]) {
			n++
		}
	}
	return n
}

func listFunders(ctx iris.Context) {
	list := []iris.Map{}
	for _, f := range funders {
		n := count(func(c *Call) bool { return c.Funder == f.ID })
		list = append(list, iris.Map{"id": f.ID, "name": f.Name, "country": f.Country, "homepage": f.Homepage, "calls": n})
	}
	private(ctx, encode(iris.Map{"funders": list}), time.Time{})
}

func listRegions(ctx iris.Context) {
	list := []iris.Map{}
	for _, r := range regionNames {
		n := count(func(c *Call) bool { return oneOf(r[0], c.Regions...) })
		list = append(list, iris.Map{"code": r[0], "name": r[1], "calls": n})
	}
	private(ctx, encode(iris.Map{"regions": list}), time.Time{})
}
