package requirement

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges the order of lists: the one that a call requests, or else the one that the document promises.

// A sequence has the items of a list in the order in which they were read, page after page.
type sequence struct {
	calls []evidence.Exchange
	items [][]byte
	ends  []int // the index after the last item of each page
}

// sequences returns the lists whose order is known: each reading of several pages as one list, and each other answer of the list by itself.
func sequences(e Evidence, ordered func(x evidence.Exchange) bool) []sequence {
	var out []sequence
	taken := map[evidence.Label]bool{}
	add := func(calls []evidence.Exchange) {
		if len(calls) == 0 || !ordered(calls[0]) {
			return
		}
		s, known := sequence{}, map[string]bool{}
		for _, x := range calls {
			items, err := e.itemsOf(x)
			if err != nil || !success(x) || x.Response.Truncated {
				break
			}
			taken[x.Label] = true
			s.calls = append(s.calls, x)
			for _, item := range items {
				if id := e.identity(item); !known[id] { // other checks judge repeated items
					known[id] = true
					s.items = append(s.items, item)
				}
			}
			s.ends = append(s.ends, len(s.items))
		}
		if len(s.items) > 1 {
			out = append(out, s)
		}
	}
	for _, name := range readingNames(e) {
		_, calls := readingOf(e, name)
		add(calls)
	}
	for _, x := range listAnswers(e) {
		if !taken[x.Label] {
			add([]evidence.Exchange{x})
		}
	}
	return out
}

// readingNames lists the names of the readings in the evidence.
func readingNames(e Evidence) []string {
	var out []string
	for _, x := range e.Exchanges {
		if name := x.Given["reading"]; name != "" && x.Label.Resource() == e.Roles.List && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// judgeOrders judges each answer of the list by its order.
func judgeOrders(e Evidence) []Judgement {
	o, described := operation(e, e.Roles.List)
	if !described {
		return nil
	}
	var parts []Judgement
	judged, whole := map[string]sequence{}, map[string]sequence{} // by the order in words; by the parameters of the order
	orderOf := func(x evidence.Exchange) (openapi.Order, string, bool) {
		u, err := url.Parse(x.Request.URL)
		if err != nil {
			return openapi.Order{}, "", false
		}
		order, words, ok := o.OrderAsked(u.Query())
		if order.InProse { // prose about the list may not apply to every answer
			name := x.Given["reading"]
			ok = ok && (x.Label.Case() == evidence.OK || name == "whole" || name == "small")
		}
		return order, words, ok
	}
	for _, s := range sequences(e, func(x evidence.Exchange) bool { _, _, ok := orderOf(x); return ok }) {
		order, words, _ := orderOf(s.calls[0])
		if j, found := findMisorder(e, s, order, words); found {
			parts = append(parts, j)
		}
		if j, found := findIgnoredDirection(s, order, words, judged); found {
			parts = append(parts, j)
		}
		asked, onlyOrder := orderParameters(o, s.calls[0])
		if asked += " " + words; onlyOrder && !order.InProse && len(s.items) > len(whole[asked].items) {
			whole[asked] = s
		} else if j, found := findForgottenOrder(e, s, whole[asked], order, words); found {
			parts = append(parts, j)
		}
	}
	if len(parts) == 0 {
		parts = findFilteredMisorder(e, o)
	}
	return withoutRepeats(parts)
}

// orderParameters returns the parameters of a call that name its order, with their values. onlyOrder reports whether the call has no others but those of pages.
func orderParameters(o openapi.Operation, x evidence.Exchange) (order string, onlyOrder bool) {
	u, err := url.Parse(x.Request.URL)
	if err != nil {
		return x.Request.URL, false
	}
	given, out := u.Query(), url.Values{}
	for _, offered := range o.Orders() {
		for _, field := range offered.Query {
			if given.Has(field[0]) {
				out[field[0]] = given[field[0]]
			}
		}
	}
	onlyOrder = true
	for name := range given {
		p, described := queryParameter(o, name)
		onlyOrder = onlyOrder && (out.Has(name) || described && openapi.RoleOf(p) != "")
	}
	return out.Encode(), onlyOrder
}

// findForgottenOrder finds a filtered list whose items do not come in the order that they have in the whole list, although the same order was asked for. So
// it does not matter how the language of the node sorts. It compares only items with the same value in both lists, and takes texts that differ in case,
// accents or signs for equal.
func findForgottenOrder(e Evidence, s, whole sequence, order openapi.Order, words string) (j Judgement, found bool) {
	c, ok := openapi.ColumnOf(s.items, order.By)
	all, known := openapi.ColumnOf(whole.items, order.By)
	if !ok || !known || c.Path != all.Path || !isFilteredCall(s.calls[0]) {
		return Judgement{}, false
	}
	places := map[string]int{}
	for i, item := range whole.items {
		places[e.identity(item)] = i
	}
	last, lastPlace := -1, -1
	for i, item := range s.items {
		place, listed := places[e.identity(item)]
		if !listed || c.Values[i] == "" || c.Values[i] != all.Values[place] {
			continue
		}
		isTie := last >= 0 && (c.Equal(last, i) || !c.Exact() && openapi.Joined(c.Values[last]) == openapi.Joined(c.Values[i]))
		if place < lastPlace && !isTie {
			j := s.failed(e, i, "with "+clip(words)+" and a filter, items come in another order than without the filter", clip(c.Path)+" as in the whole list, in this order",
				quote(c.Values[i])+" after "+quote(c.Values[last])).Hinting("sort filtered lists, too: the query with filters often forgets the order")
			if e.unsteady() {
				j.Outcome = Warn
			}
			return j, true
		}
		last, lastPlace = i, place
	}
	return Judgement{}, false
}

// findFilteredMisorder finds filtered lists that do not come in the order that prose promises for the list, and that the whole list has. Two filtered
// lists must show it, because one may be an exception that the prose does not mention.
func findFilteredMisorder(e Evidence, o openapi.Operation) []Judgement {
	// "unless sorted" or "by relevance" makes an exception for filtered lists.
	exception := regexp.MustCompile(`(?i)\b(without|unless|except|default|if no|when no|unfiltered)\b[^.]*\b(order|sorted)|\b(order|sorted)[^.]*\b(without|unless|except|default|if no|when no|unfiltered)\b|relevan`)
	whole, _ := wholeList(e)
	if exception.MatchString(o.Description) || len(whole) < 2 {
		return nil
	}
	var parts []Judgement
	misordered, left, ids := map[string]bool{}, maxFilteredOrders, e.identities(whole) // misordered has the filters by parameter and value
	promised, words, ok := o.OrderAsked(url.Values{})
	c, known := openapi.ColumnOf(whole, promised.By)
	if !ok || !promised.InProse || !known {
		return nil
	}
	switch { // the whole list shows the direction
	case c.Misplaced(false) < 0:
		promised.Down, promised.Certain = false, true
	case c.Misplaced(true) < 0 && !promised.Certain:
		promised.Down, promised.Certain = true, true
	default:
		return nil
	}
	for _, s := range sequences(e, func(x evidence.Exchange) bool { return isMemberFilter(x) || x.Label.Case() == "filter-seen" }) {
		u, err := url.Parse(s.calls[0].Request.URL)
		if err != nil {
			continue
		}
		if order, _, ok := o.OrderAsked(u.Query()); !ok || !order.InProse || left == 0 {
			continue
		}
		isForeign := func(item []byte) bool { // PAG-07 judges lists with items that do not fit the filter
			return !slices.Contains(ids, e.identity(item)) || slices.ContainsFunc(conditionsOf(s.calls[0]), func(c condition) bool { return !c.fits(e, item) })
		}
		if slices.ContainsFunc(s.items, isForeign) {
			continue
		}
		left--
		if j, found := findMisorder(e, s, promised, words); found {
			parts = append(parts, j)
			misordered[s.calls[0].Given["parameter"]+"="+s.calls[0].Given["value"]] = true
		}
	}
	if len(misordered) < minMisordered {
		return nil
	}
	return parts
}

// findMisorder finds an item that is out of order in a list that was read in one order.
func findMisorder(e Evidence, s sequence, order openapi.Order, words string) (j Judgement, found bool) {
	c, ok := openapi.ColumnOf(s.items, order.By)
	if !ok {
		return Judgement{}, false
	}
	words = clip(words)
	at := c.Misplaced(order.Down)
	if !order.Certain && at >= 0 && c.Misplaced(!order.Down) < 0 { // the document does not name the direction, and the list has the other one
		at, order.Down = -1, !order.Down
	}
	if order.Apart && (at < 0 || c.Part(at, len(c.Values)).Misplaced(order.Down) < 0) { // two parts, each in order
		return Judgement{}, false
	}
	if at >= 0 {
		return judgeMisplacedItem(e, s, c, order, words, at)
	}
	if !c.Exact() || c.Mixed() {
		return Judgement{}, false
	}
	switch place := c.Absent(); {
	case c.Path == e.identityMember() && place != openapi.NoneAbsent:
		return Judgement{}, false // API-04 judges missing ids
	case place == openapi.AbsentBetween:
		i := absentAt(c)
		return s.failed(e, i, "with "+words+", items without "+clip(c.Path)+" come between items with it", "items without a value first or last", "no "+clip(c.Path)), true
	case place == openapi.AbsentFirst && order.NullsLast && !mayStartLater(s):
		return s.failed(e, 0, "with "+words+", items without "+clip(c.Path)+" come first, and the document says that they come last", "items without a value last", "no "+clip(c.Path)), true
	}
	if order.TiesByID && order.By != e.identityMember() {
		return findMisplacedTie(e, s, c, order, words)
	}
	return Judgement{}, false
}

// maxFilteredOrders bounds the filtered lists whose order is judged. minMisordered is how many of them must be out of order.
const maxFilteredOrders, minMisordered = 6, 2

// mayStartLater reports whether a sequence may begin after the first item of the list: it is an answer to a call that names a page.
func mayStartLater(s sequence) bool {
	return s.calls[0].Given["reading"] == "" && s.calls[0].Given["page"] != ""
}

// absentAt returns the index of the first item without a value that comes after an item with one. If there is none, it returns that of the first item without
// a value.
func absentAt(c openapi.Column) int {
	for i := 1; i < len(c.Values); i++ {
		if c.Values[i] == "" && c.Values[i-1] != "" {
			return i
		}
	}
	return slices.Index(c.Values, "")
}

// judgeMisplacedItem judges an item that comes out of order. isFault is true for numbers and times. Languages sort texts in different ways, so misplaced
// texts are a fault only if each page is in order and the whole list is not.
func judgeMisplacedItem(e Evidence, s sequence, c openapi.Column, order openapi.Order, words string, at int) (j Judgement, isFault bool) {
	const hint = "sort the whole list before the page is cut, by the values that are shown: times as instants, numbers as numbers"
	direction := "in ascending order"
	if order.Down {
		direction = "in descending order"
	}
	if !order.Certain {
		direction = "in order"
	}
	got := quote(c.Values[at]) + " after " + quote(c.Before(at))
	j = s.failed(e, at, "with "+words+", "+clip(c.Path)+" is not "+direction, clip(c.Path)+" "+direction, got).Hinting(hint)
	if c.Exact() {
		return j, true
	}
	if len(s.ends) < 2 {
		return Judgement{}, false
	}
	start, longPages := 0, 0 // two pages of more than two items, each in order, show that the node sorts each page
	for _, end := range s.ends {
		page := c.Part(start, end)
		if page.Misplaced(order.Down) >= 0 {
			return Judgement{}, false
		}
		if end-start > 2 {
			longPages++
		}
		start = end
	}
	return j, longPages > 1
}

// failed returns the failure of an item of the sequence. It is a warning if the item is the first of a later page, and the list changed while it was read.
func (s sequence) failed(e Evidence, at int, reason, expected, got string) Judgement {
	page, start := 0, 0
	for page < len(s.ends)-1 && at >= s.ends[page] {
		start = s.ends[page]
		page++
	}
	x := s.calls[page]
	about := Subject{Name: callInWords(x) + " $[" + strconv.Itoa(at-start) + "]", Label: x.Label, Expected: expected}
	j := about.failed(reason, got)
	if again, _ := readingOf(e, "whole-again"); at == start && page > 0 && again.Ended() && recordsChanged(e) {
		j.Outcome = Warn
	}
	return j
}

// findIgnoredDirection finds a list whose order is the same for both directions, ascending and descending, although its values differ. judged has the sequences
// that were judged before, by their orders.
func findIgnoredDirection(s sequence, order openapi.Order, words string, judged map[string]sequence) (j Judgement, found bool) {
	if !order.Certain || len(s.calls) != 1 && s.calls[0].Given["reading"] == "" {
		return Judgement{}, false
	}
	c, ok := openapi.ColumnOf(s.items, order.By)
	if !ok || c.Exact() {
		return Judgement{}, false // findMisorder judges values whose order is exact
	}
	u, _ := url.Parse(s.calls[0].Request.URL)
	rest := restOfQuery(u, s.calls[0].Given["parameter"])
	up, down := order.By+" up "+rest, order.By+" down "+rest
	mine, other := up, down
	if order.Down {
		mine, other = down, up
	}
	judged[mine] = s
	opposite, known := judged[other]
	if !known {
		return Judgement{}, false
	}
	ids, others := openapi.Identities(s.items), openapi.Identities(opposite.items)
	n := min(len(ids), len(others))
	if n < 3 || !slices.Equal(ids[:n], others[:n]) || !someDiffer(c.Values[:n]) {
		return Judgement{}, false
	}
	x := s.calls[0]
	return Subject{Name: callInWords(x), Label: x.Label, Expected: "the reverse order"}.
		failed(fmt.Sprintf("the list comes in the same order with %s as in the opposite direction", clip(words)), "the same order"), true
}

func someDiffer(values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return !strings.EqualFold(v, values[0]) })
}

// restOfQuery returns a query without a parameter.
func restOfQuery(u *url.URL, name string) string {
	q := u.Query()
	q.Del(name)
	return q.Encode()
}
