package requirement

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges what a page says of itself and of other pages: numbers and flags of the envelope, and links to the first, the previous, the next and
// the last page. The right values follow from the request, the items of the answer, and the total.

// pagePlace is the place of an answer in its list.
type pagePlace struct {
	query      url.Values
	page       openapi.Parameter // the page parameter; its name is empty if there is none
	meaning    openapi.Meaning   // what the page parameter counts
	sizeName   string            // the name of the size parameter
	size       int               // of full pages, 0 if it is not known
	offset     int               // of the first item, -1 if it is not known
	count      int               // of the items of the answer
	total      int               // -1 if it is not known
	cursor     bool              // the call has a cursor
	pageValue  int               // the value of the page parameter, -1 without one
	sizeValue  int               // the value of the size parameter, if the document allows it; otherwise -1
	listPage   openapi.ListPage
	conditions []condition
}

// placeOf returns the place of an answer in its list; ok is false if the answer is not a page, or its place cannot be read.
func placeOf(e Evidence, x evidence.Exchange) (p pagePlace, ok bool) {
	o, known := operation(e, e.Roles.List)
	u, err := url.Parse(x.Request.URL)
	p = pagePlace{offset: -1, pageValue: -1, sizeValue: -1}
	if items, errItems := e.itemsOf(x); err != nil || !known || errItems != nil || len(items) > maxOnPage {
		return p, false
	}
	if p.listPage = listPageOf(e, x); !p.listPage.Listed {
		return p, false
	}
	p.query, p.count, p.total, p.conditions = u.Query(), len(p.listPage.Items), p.listPage.Total, conditionsOf(x)
	for _, q := range o.QueryParameters() {
		value := p.query.Get(q.Name)
		n, err := strconv.Atoi(value)
		isCount := value != "" && err == nil && n >= 0 && len(p.query[q.Name]) == 1
		switch openapi.RoleOf(q) {
		case openapi.CursorRole:
			p.cursor = p.cursor || value != ""
		case openapi.SizeRole:
			p.sizeName = q.Name
			if value != "" && !isCount {
				return p, false
			}
			if isCount && n > 0 && allowsNumber(q.Schema, n) {
				p.sizeValue = n
			}
		case openapi.PageRole, openapi.SkipRole:
			if p.page.Name != "" {
				return p, false // the list has two page parameters
			}
			p.page = q
			if value != "" && !(isCount && allowsNumber(q.Schema, n)) {
				return p, false
			}
			if isCount {
				p.pageValue = n
			}
		}
	}
	p.size = p.sizeValue
	if usual, documented := defaultSize(e); p.sizeValue < 0 && p.query.Get(p.sizeName) == "" && documented {
		p.size = usual
	}
	p.meaning = meaningOf(e, p.page)
	p.offset = p.offsetOf(p.pageValue)
	return p, true
}

// maxOnPage bounds the items of an answer that is judged as a page.
const maxOnPage = 5000

// meaningOf returns what the page parameter counts, or "" if the pages that were read by number do not show it.
func meaningOf(e Evidence, page openapi.Parameter) openapi.Meaning {
	if openapi.RoleOf(page) == openapi.SkipRole {
		return openapi.Offset
	}
	return remember(e.judged, "what the page parameter counts", func() openapi.Meaning {
		walk, calls := walkOf(e, evidence.FirstWalk)
		for value, x := range calls {
			if !success(x) && !walk.PastEnd(value) {
				return ""
			}
		}
		if meaning := walk.Meaning(); meaning != openapi.Ignored && walk.Faults().Empty() {
			return meaning
		}
		return ""
	})
}

// pageAnswers returns the answers of the list to good calls, and the pages of its readings.
func pageAnswers(e Evidence) []evidence.Exchange {
	out := listAnswers(e)
	for _, x := range e.Exchanges {
		if x.Given["reading"] != "" && x.Label.Resource() == e.Roles.List && success(x) {
			out = append(out, x)
		}
	}
	return out
}

// allowsNumber reports whether the bounds of a schema allow a number.
func allowsNumber(s openapi.Schema, n int) bool {
	return (s.Minimum == nil || float64(n) >= *s.Minimum) && (s.Maximum == nil || float64(n) <= *s.Maximum)
}

// offsetOf returns the number of items before the page with a value of the page parameter, or -1 if it is not known.
func (p pagePlace) offsetOf(value int) int {
	switch {
	case p.cursor:
		return -1
	case value < 0:
		return 0
	case p.meaning == openapi.Offset:
		return value
	case p.size <= 0:
		return -1
	case p.meaning == openapi.FromZero:
		return value * p.size
	case p.meaning == openapi.FromOne && value > 0:
		return (value - 1) * p.size
	}
	return -1
}

// fits reports whether the page has as many items as its place and the total require. Other checks judge a page that does not fit.
func (p pagePlace) fits() bool {
	return p.offset >= 0 && p.total >= 0 && p.size > 0 && p.count == min(p.size, max(0, p.total-p.offset))
}

// judgeEnvelopeNumbers judges the numbers and flags in the envelopes of the list.
func judgeEnvelopeNumbers(e Evidence) []Judgement {
	var s survey
	shift, shiftKnown := 0, false // the difference between the page number in the answer and in the request
	for _, x := range pageAnswers(e) {
		text, err := e.jsonText(x)
		if err != nil || openapi.FirstByte(text) != '{' {
			continue
		}
		p, ok := placeOf(e, x)
		if !ok {
			continue
		}
		for _, m := range pageMembers(text) {
			expected := "" // the right value of a member that is wrong
			switch number, isNumber := m.number(); {
			case isNumber && m.named("number", "page", "pagenumber", "currentpage", "pageindex", "current"):
				if !p.isNumbered() {
					continue
				}
				// Spring may count from 0 in its answers and from 1 in requests: then all pages have the same difference.
				if shiftKnown && number-p.pageValue != shift {
					expected = strconv.Itoa(p.pageValue + shift)
				}
				shift, shiftKnown = number-p.pageValue, true
			case isNumber:
				if want, known := p.number(m, number); known && want != number {
					expected = strconv.Itoa(want)
				}
			case m.isFlag() && p.fits():
				if want, known := p.flag(m); known && want != (m.text == "true") && !exceedsTotal(e, m.path) {
					expected = strconv.FormatBool(want)
				}
			}
			if expected != "" {
				want := Subject{Name: callInWords(x) + " " + m.path, Label: x.Label, Expected: expected}
				s.add(m.path, want.failed(m.path+" does not agree with the page that it is on", clip(m.text)).Hinting("take these numbers from the answer itself: after the filters, and for this page"))
			}
		}
	}
	return s.faults
}

// exceedsTotal reports whether the document says that a flag is about records beyond the total, and not about the pages after this one.
func exceedsTotal(e Evidence, path string) bool {
	return totalIsDescribedAs(e, path, `(?i)\b(more|further|mehr|weitere)\b[^.;]{0,40}\b(than|beyond|als) ((the|der|die|in|by|that|what) )*(total|gesamtzahl|counted|gezählt|maximum)`)
}

// isNumbered reports whether the page was requested by its number and has items.
func (p pagePlace) isNumbered() bool {
	return p.pageValue >= 0 && (p.meaning == openapi.FromOne || p.meaning == openapi.FromZero) && p.count > 0
}

// number returns the number that a member must have by the place of the page. got is the number that it has: some members may have either of two.
func (p pagePlace) number(m pageMember, got int) (value int, known bool) {
	switch {
	case m.named("numberofelements", "itemcount", "numitems", "currentitemcount", "returned", "numberreturned"):
		return p.count, true
	case m.named("offset", "skip", "startindex"):
		countsFromOne := m.named("startindex") && got == p.offset+1
		return p.offset, p.meaning == openapi.Offset && p.offset >= 0 && p.count > 0 && !countsFromOne
	case m.named("size", "pagesize", "perpage", "limit", "itemsperpage"):
		return max(p.count, p.sizeValue), got < p.count || got != p.count && p.count == p.sizeValue
	case m.named("totalpages", "pagecount", "numpages", "pages", "pagestotal"):
		if p.total < 0 || p.size <= 0 || p.count > p.size || p.total == 0 && got == 1 {
			return 0, false
		}
		isSizeCertain := p.sizeValue > 0 || p.count == p.size || p.total <= p.size
		return (p.total + p.size - 1) / p.size, isSizeCertain
	}
	return 0, false
}

// flag returns the value of a flag that follows from the place of the page.
func (p pagePlace) flag(m pageMember) (value, known bool) {
	more := p.offset+p.count < p.total
	switch {
	case m.named("hasmore", "hasnext", "hasnextpage", "more"):
		return more, p.count > 0
	case m.named("last", "islast", "lastpage"):
		return !more, p.count > 0
	case m.named("first", "isfirst", "firstpage"):
		return p.offset == 0, true
	case m.named("hasprevious", "hasprev", "haspreviouspage"):
		return p.offset > 0, p.count > 0
	case m.named("empty", "isempty"):
		return p.count == 0, true
	}
	return false, false
}

// pageMember is a member of an envelope that describes its page.
type pageMember struct{ path, name, text string }

// pageMembers returns the numbers and flags of an envelope, and of the objects in it that describe the page.
func pageMembers(text []byte) []pageMember {
	var out []pageMember
	add := func(path string, object map[string][]byte) {
		for name, value := range object {
			if b := openapi.FirstByte(value); b != '{' && b != '[' && b != '"' {
				out = append(out, pageMember{path + "." + name, openapi.Joined(name), strings.TrimSpace(string(value))})
			}
		}
	}
	envelope := openapi.Object(text)
	add("$", envelope)
	for _, name := range []string{"page", "meta", "pagination", "paging", "pageInfo", "page_info", "pageable"} {
		if openapi.FirstByte(envelope[name]) == '{' {
			add("$."+name, openapi.Object(envelope[name]))
		}
	}
	slices.SortFunc(out, func(a, b pageMember) int { return strings.Compare(a.path, b.path) })
	return out
}

func (m pageMember) named(names ...string) bool { return slices.Contains(names, m.name) }

func (m pageMember) isFlag() bool { return m.text == "true" || m.text == "false" }

func (m pageMember) number() (int, bool) {
	n, err := strconv.Atoi(m.text)
	return n, err == nil
}

// judgePageLinks judges the targets of the links between pages with numbers: they must name the right page, and keep its size and filters.
func judgePageLinks(e Evidence) []Judgement {
	var s survey
	for _, x := range pageAnswers(e) {
		p, ok := placeOf(e, x)
		if !ok || p.cursor || p.page.Name == "" {
			continue
		}
		links, _ := linksOf(e, x)
		for _, l := range links {
			if strings.HasPrefix(l.Path, "$[") { // a link of an item
				continue
			}
			to, err := url.Parse(l.Target)
			if err != nil || l.Relation == "self" {
				continue
			}
			reason, expected := p.linkFault(l.Relation, to.Query())
			if reason == "" {
				continue
			}
			where := Subject{Name: clip(fmt.Sprintf("%s, %s rel=%s", callInWords(x), l.Path, l.Relation)), Label: x.Label, Expected: expected}
			s.add(l.Relation+reason, where.failed("the link rel="+l.Relation+" "+reason, clip(l.Target)).Hinting("build the links from the query of the request, and change only the page"))
		}
	}
	return s.faults
}

// linkFault says what is wrong with the query of a link, and what is expected. The reason is "" if nothing is wrong.
func (p pagePlace) linkFault(relation string, q url.Values) (reason, expected string) {
	value, err := strconv.Atoi(q.Get(p.page.Name))
	named := q.Get(p.page.Name) != "" && err == nil
	if !named && relation != "first" {
		return "", "" // the link may lead elsewhere, or name the page in another way
	}
	for _, c := range p.conditions {
		if had := p.query[c.parameter]; len(had) > 0 && len(q[c.parameter]) == 0 && p.count > 0 {
			return "loses " + c.String(), clip(c.parameter + "=" + strings.Join(had, ","))
		}
	}
	if size := q.Get(p.sizeName); p.sizeValue > 0 && named && p.meaning != openapi.Offset && size != strconv.Itoa(p.sizeValue) && p.count == p.sizeValue {
		return "has another page size than the page that it is on", clip(p.sizeName + "=" + strconv.Itoa(p.sizeValue))
	}
	at := 0
	if named {
		at = p.offsetOf(value)
	}
	if at < 0 || p.offset < 0 || p.size <= 0 || p.count == 0 {
		return "", ""
	}
	switch relation {
	case "first":
		if at != 0 {
			return "does not lead to the first page", "the page from the first item on"
		}
	case "prev", "previous":
		if at != max(0, p.offset-p.size) {
			return "does not lead to the previous page", "the page from item " + strconv.Itoa(max(0, p.offset-p.size)+1) + " on"
		}
	case "next":
		if at != p.offset+p.count {
			return "does not lead to the next page", "the page from item " + strconv.Itoa(p.offset+p.count+1) + " on"
		}
	case "last":
		if p.total > 0 && p.fits() && (at >= p.total || at+p.size < p.total) {
			return "does not lead to the last page", "the page with item " + strconv.Itoa(p.total)
		}
	}
	return "", ""
}
