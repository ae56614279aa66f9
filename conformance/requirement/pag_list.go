package requirement

import (
	"fmt"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file reads the list from the evidence: its pages, the complete list, and the items that an answer lacks.

// headerOf returns the header of an answer as an http.Header.
func headerOf(x evidence.Exchange) map[string][]string {
	h := map[string][]string{}
	if x.Response != nil {
		for _, f := range x.Response.Header {
			name := textproto.CanonicalMIMEHeaderKey(f.Name)
			h[name] = append(h[name], f.Value)
		}
	}
	return h
}

// listPageOf reads an answer as a page of a list, and caches the page.
func listPageOf(e Evidence, x evidence.Exchange) openapi.ListPage {
	items, err := e.itemsOf(x)
	if err != nil || !success(x) || x.Response.Truncated || len(items) >= openapi.MaxItems {
		return openapi.ListPage{Total: -1}
	}
	e.bodies.mu.Lock()
	listPage, known := e.bodies.listPages[x.Response]
	e.bodies.mu.Unlock()
	if !known {
		listPage = openapi.ListPageOf(headerOf(x), x.Response.Body, items, e.identities(items))
		if _, place, named := statedTotal(e, x); named {
			listPage = listPage.ReadAs(meaningOfTotal(e, x.Label.Resource(), place), x.Response.Body)
		}
		e.bodies.mu.Lock()
		defer e.bodies.mu.Unlock()
		e.bodies.listPages[x.Response] = listPage
	}
	return listPage
}

// readingOf returns the pages of a reading of the list, with the calls.
func readingOf(e Evidence, name string) (rd openapi.Reading, calls []evidence.Exchange) {
	for n := 1; ; n++ {
		x, sent := e.Get(e.Roles.List.With(evidence.ReadingCase(name, n)))
		if !sent || !x.Answered() {
			return rd, calls
		}
		rd.Numbered = rd.Numbered || x.Given["numbered"] == "true"
		rd.Pages, calls = append(rd.Pages, listPageOf(e, x)), append(calls, x)
	}
}

// completeList is the list as one reading; complete is false if some of it was not read.
type completeList struct {
	rd       openapi.Reading
	calls    []evidence.Exchange
	complete bool
}

// wholeReading returns the complete list, and keeps it for other checks.
func wholeReading(e Evidence) (rd openapi.Reading, calls []evidence.Exchange, complete bool) {
	list := remember(e.judged, "the complete list", func() completeList {
		rd, calls, complete := readWhole(e)
		return completeList{rd, calls, complete}
	})
	return list.rd, list.calls, list.complete
}

// readWhole reads the complete list from the evidence; see [wholeReading].
func readWhole(e Evidence) (rd openapi.Reading, calls []evidence.Exchange, complete bool) {
	if rd, calls = readingOf(e, "whole"); len(calls) > 0 {
		return rd, calls, rd.Ended() && len(rd.Repeated()) == 0
	}
	x, sent := e.Get(e.Roles.List.With(evidence.OK))
	if !sent || !x.Answered() {
		return rd, nil, false
	}
	listPage := listPageOf(e, x)
	rd.Pages = []openapi.ListPage{listPage}
	p, _ := walkOf(e, evidence.FirstWalk)
	values, _ := p.Walked()
	for _, v := range values {
		if p.Meaning() != openapi.Ignored && len(openapi.Missing(p.ByValue[v].Items, listPage.Items)) > 0 {
			return rd, []evidence.Exchange{x}, false
		}
	}
	return rd, []evidence.Exchange{x}, listPage.Listed && listPage.Next() == "" && listPage.Total <= len(listPage.Items) && !listPage.Partial
}

// wholeList returns the items of the complete list; ok is false if some of it was not read.
func wholeList(e Evidence) (items [][]byte, ok bool) {
	_, calls, complete := wholeReading(e)
	for _, x := range calls {
		more, err := e.itemsOf(x)
		if err != nil {
			return nil, false
		}
		items = append(items, more...)
	}
	return items, complete
}

// isCompleteAnswer reports whether an answer has all items of its list. Such an answer names no next page, and its total, or a length below that of a full page,
// shows that no item is missing. If the list was not read in pages and no page size was sent, it is enough that no page follows.
func isCompleteAnswer(e Evidence, x evidence.Exchange) bool {
	listPage := listPageOf(e, x)
	switch {
	case !listPage.Listed || listPage.Next() != "":
		return false
	case listPage.Total >= 0:
		return listPage.Total <= len(listPage.Items)
	}
	full := -1 // the length of a full page; -1 if it is unknown
	reading, _ := readingOf(e, "whole")
	if listPage.Partial && len(reading.Pages) < 2 {
		return false
	}
	if n := len(reading.Pages); n > 1 {
		full = len(reading.Pages[0].Items)
	}
	if u, err := url.Parse(x.Request.URL); err == nil {
		name := e.exchange(evidence.ListOperation.With("size-2")).Given["parameter"]
		if size, err := strconv.Atoi(u.Query().Get(name)); err == nil && name != "" {
			return len(listPage.Items) < size && (full < 0 || len(listPage.Items) < full)
		}
	}
	if len(reading.Pages) == 0 {
		return true
	}
	first, err := e.itemsOf(e.exchange(evidence.ListOperation.With(evidence.OK)))
	return err == nil && len(listPage.Items) < len(first)
}

// lostItems returns the ids of the items of the complete list that fit a call, and that its answer lacks. It leaves out items that have left the list since, or
// were edited.
func lostItems(e Evidence, x evidence.Exchange, got []string, fits func(item []byte) bool) []string {
	allItems, ok := wholeList(e)
	if !ok {
		return nil
	}
	if slices.ContainsFunc(itemsOrNone(e, x), e.isAnonymous) {
		return nil // an item that seems lost may be shown without its id
	}
	var expected []string
	for _, item := range allItems {
		if fits(item) && !e.isAnonymous(item) {
			expected = append(expected, e.identity(item))
		}
	}
	lost := e.withoutDeparted(x, withoutRemoved(e, openapi.Missing(expected, got)))
	_, calls, _ := wholeReading(e)
	meanwhile := spanOf(append(slices.Clone(calls), x)...)
	var members []string
	for _, c := range conditionsOf(x) {
		members = append(members, c.member)
	}
	return slices.DeleteFunc(lost, func(id string) bool { return e.wasEdited(id, meanwhile, members...) })
}

// withoutDeparted returns the items without those that may have left a changing list before the answer came, because no later answer has them. If the total
// changed, it also removes those that may have joined the list after the answer, because no earlier answer has them.
func (e Evidence) withoutDeparted(x evidence.Exchange, items []string) []string {
	changed := len(items) > 0 && e.totalChanged()
	if !changed && (len(items) == 0 || !e.anyPageChanged(x.Label)) {
		return items
	}
	later, earlier := map[string]bool{}, map[string]bool{}
	for _, a := range operationAnswers(e) {
		if a.Label.Resource() != e.Roles.List || !success(a) || a.Label == x.Label || !isOrdinaryCall(a) {
			continue
		}
		ids := later
		if !a.Started.After(x.Started) {
			ids = earlier
		}
		for _, id := range e.identities(itemsOrNone(e, a)) {
			ids[id] = true
		}
	}
	return slices.DeleteFunc(items, func(item string) bool { return !later[item] || changed && !earlier[item] })
}

// judgeEmpty judges an empty answer to filters that some items fit. The items may have left a changing list before the answer, and an empty page that names a
// next one is not the whole answer.
func (e Evidence) judgeEmpty(x evidence.Exchange, j Judgement, all ...condition) Judgement {
	if listPageOf(e, x).Next() != "" {
		return Inapplicable("the filtered list begins with an empty page and goes on along a link").Seen(x.Label)
	}
	j = e.blockIfPagesLose(j)
	if j.Outcome == Blocked {
		return j
	}
	var had []string
	for _, item := range itemsOrNone(e, e.exchange(evidence.ListOperation.With(evidence.OK))) {
		if !slices.ContainsFunc(all, func(c condition) bool { return !c.fits(e, item) }) {
			had = append(had, e.identity(item))
		}
	}
	if len(had) > 0 && len(e.withoutDeparted(x, had)) == 0 {
		return Inapplicable("the items that match have left the list while it was read").Seen(x.Label)
	}
	return j
}

// withoutRemoved returns the items without those that a later reading of the complete list lacks.
func withoutRemoved(e Evidence, items []string) []string {
	again, calls := readingOf(e, "whole-again")
	if !again.Ended() {
		x, sent := e.Get(e.Roles.List.With("list-again"))
		if first, _ := readingOf(e, "whole"); !sent || len(first.Pages) > 0 {
			return items
		}
		again, calls = openapi.Reading{Pages: []openapi.ListPage{listPageOf(e, x)}}, []evidence.Exchange{x}
	}
	if !again.Ended() {
		return items
	}
	gone := e.withoutListedLater(openapi.Missing(items, again.Items()), spanOf(calls...).to)
	return slices.DeleteFunc(items, func(item string) bool { return slices.Contains(gone, item) })
}

// withoutListedLater returns the items without those that an answer of the list still has after a moment.
func (e Evidence) withoutListedLater(items []string, moment time.Time) []string {
	if len(items) == 0 {
		return nil
	}
	listed := map[string]bool{}
	for _, x := range ordinaryListAnswers(e) {
		if !x.Started.After(moment) {
			continue
		}
		for _, id := range e.identities(itemsOrNone(e, x)) {
			listed[id] = true
		}
	}
	return slices.DeleteFunc(items, func(item string) bool { return listed[item] })
}

// itemLoss returns the failure of an answer that lacks items.
func itemLoss(x evidence.Exchange, what string, lost []string, of int) Judgement {
	j := Failed(fmt.Sprintf("%s loses %d of %s that match", what, len(lost), evidence.Count(of, "item")), "all items that match", quote(lost[0])+" is missing")
	for _, item := range lost {
		j = j.About(Subject{Name: callInWords(x) + ", item " + quote(item), Label: x.Label, Expected: "in the list", Got: "missing"})
	}
	return j.bounded()
}

// itemsOrNone returns the items of a good list answer. Any other answer has none.
func itemsOrNone(e Evidence, x evidence.Exchange) [][]byte {
	items, err := e.itemsOf(x)
	if err != nil || !success(x) {
		return nil
	}
	return items
}
