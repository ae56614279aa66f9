package requirement

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges lists that were read page by page with filters and other parameters: later pages must keep the parameters.

// judgeFilteredReadings judges the readings with filters and other parameters: for PAG-07 their items, for PAG-10 whether links keep the parameters.
func judgeFilteredReadings(e Evidence) (filter, links []Judgement) {
	for _, name := range readingNames(e) {
		if name == "filtered" || name == "combined" || name == "several" || evidence.IsLinkedReading(name) {
			f, l := judgeFilteredPages(e, name)
			filter, links = append(filter, f...), append(links, l...)
		}
	}
	return filter, links
}

// judgeFilteredPages judges the pages of one reading.
func judgeFilteredPages(e Evidence, name string) (filter, links []Judgement) {
	rd, calls := readingOf(e, name)
	if len(calls) == 0 {
		return nil, nil
	}
	all := conditionsOf(calls[0])
	if len(all) == 0 {
		return nil, judgePagesAfterLink(e, rd, calls)
	}
	for n, x := range calls {
		if n > 0 {
			if j, lost := findLostCondition(e, all, calls[n-1], x); lost {
				return nil, []Judgement{j}
			}
		}
		if j, unclear := inconclusiveAnswer(x); unclear {
			return []Judgement{j}, nil
		}
	}
	if j, found := findFiltersJoinedByOr(e, rd, calls, all); found {
		return []Judgement{j}, nil
	}
	for n, x := range calls {
		for i, item := range itemsOrNone(e, x) {
			for _, c := range all {
				if has, isContradicted := c.contradictedBy(e, item); isContradicted {
					return []Judgement{Subject{Name: fmt.Sprintf("%s $[%d].%s", callInWords(x), i, clip(c.member)), Label: x.Label, Expected: c.expected()}.
						failed(fmt.Sprintf("page %d of the list with %s holds items that contradict it", n+1, c), quote(strings.Join(has, ", ")))}, nil
				}
			}
		}
	}
	for _, x := range calls {
		if surplus := e.filteredSurplus(x, itemsOrNone(e, x), all...); surplus != nil {
			return []Judgement{e.blockIfPagesLose(*surplus)}, nil
		}
	}
	if !rd.Ended() || someAnonymous(e, calls) {
		return nil, nil
	}
	last := calls[len(calls)-1]
	fits := func(item []byte) bool {
		return !slices.ContainsFunc(all, func(c condition) bool { return !c.fits(e, item) })
	}
	var words []string
	for _, c := range all {
		words = append(words, c.String())
	}
	if lost := lostItems(e, last, rd.Items(), fits); len(lost) > 0 {
		if j, ok := e.passes("PAG-03"); !ok && j.Outcome == Blocked && isSorted(e, last) {
			return []Judgement{j}, nil // the order loses items without a filter, too
		}
		return []Judgement{e.blockIfPagesLose(itemLoss(last, "the list with "+strings.Join(words, " and ")+", read page by page,", lost, len(lost)+len(rd.Items())))}, nil
	}
	return []Judgement{Passed(callLabels(calls)...)}, nil
}

// findFiltersJoinedByOr warns if each item of the pages fits one of several filters, and the document does not say that it must fit all of them. Pages that
// were not read to the end need not show all items that fit one filter.
func findFiltersJoinedByOr(e Evidence, rd openapi.Reading, calls []evidence.Exchange, all []condition) (j Judgement, found bool) {
	if len(all) < 2 || saysAnd(e) {
		return Judgement{}, false
	}
	var items [][]byte
	for _, x := range calls {
		items = append(items, itemsOrNone(e, x)...)
	}
	anyMiss := false
	for _, item := range items {
		misses := 0
		for _, c := range all {
			if _, isContradicted := c.contradictedBy(e, item); isContradicted {
				misses++
			}
		}
		if misses == len(all) {
			return Judgement{}, false
		}
		anyMiss = anyMiss || misses > 0
	}
	last := calls[len(calls)-1]
	if !anyMiss || rd.Ended() && !joinsByOr(e, last, all, items, true) {
		return Judgement{}, false
	}
	return expect(last, "items that match all filters").warned(fmt.Sprintf("%s together with %s gives items that fit only one of them", all[0], all[1]), "items that fit only one of them"), true
}

// findLostCondition finds a condition that is missing from the link to a page, and that an item of the page contradicts.
func findLostCondition(e Evidence, all []condition, before, x evidence.Exchange) (j Judgement, found bool) {
	u, err := url.Parse(x.Request.URL)
	if err != nil || listPageOf(e, before).Cursor != "" {
		return Judgement{}, false
	}
	for _, c := range all {
		if c.isIn(u.Query()[c.parameter]) {
			continue
		}
		for i, item := range itemsOrNone(e, x) {
			if has, isContradicted := c.contradictedBy(e, item); isContradicted {
				return Subject{Name: fmt.Sprintf("%s $[%d].%s", callInWords(x), i, clip(c.member)), Label: x.Label, Expected: c.expected()}.
					failed("the link to the next page loses "+c.String(), quote(strings.Join(has, ", "))), true
			}
		}
	}
	return Judgement{}, false
}

// judgePagesAfterLink judges two pages with a parameter whose meaning is not known. The totals, or a call that reads the list with the parameter at once,
// show whether the second page still has the parameter.
func judgePagesAfterLink(e Evidence, rd openapi.Reading, calls []evidence.Exchange) []Judgement {
	if len(calls) < 2 || !success(calls[1]) || !rd.Pages[1].Listed {
		return nil
	}
	first, x := calls[0], calls[1]
	what := clip(first.Given["parameter"] + "=" + first.Given["value"])
	reason := "the link to the next page loses " + what
	subject := Subject{Name: callInWords(x), Label: x.Label, Expected: "items of the list with " + what}
	if someAnonymous(e, calls) {
		return nil
	}
	plain := listPageOf(e, e.exchange(evidence.ListOperation.With(evidence.OK)))
	if a, b := rd.Pages[0].Total, rd.Pages[1].Total; a >= 0 && b >= 0 && a != b && b == plain.Total {
		subject.Expected = evidence.Count(a, "item") + " in all"
		return []Judgement{subject.failed(reason+": its total is that of the whole list", evidence.Count(b, "item"))}
	}
	atOnce, sent := e.Get(e.Roles.List.With(evidence.UnlinkedCase(first.Given["parameter"])))
	if !sent || !success(atOnce) || !isCompleteAnswer(e, atOnce) || someAnonymous(e, []evidence.Exchange{atOnce}) {
		return nil
	}
	right := listPageOf(e, atOnce).Items
	other := withoutRemoved(e, openapi.Missing(rd.Pages[1].Items, right))
	if len(openapi.Missing(rd.Pages[0].Items, right)) > 0 || len(other) == 0 || len(other)*2 < len(rd.Pages[1].Items) {
		return nil // the list changes from call to call
	}
	return []Judgement{subject.failed(reason, "item "+quote(other[0]))}
}

// someAnonymous reports whether answers hold items without an id, which cannot be distinguished.
func someAnonymous(e Evidence, calls []evidence.Exchange) bool {
	return slices.ContainsFunc(calls, func(x evidence.Exchange) bool { return slices.ContainsFunc(itemsOrNone(e, x), e.isAnonymous) })
}

// isSorted reports whether a call asks for an order.
func isSorted(e Evidence, x evidence.Exchange) bool {
	o, _ := operation(e, e.Roles.List)
	u, err := url.Parse(x.Request.URL)
	return err == nil && slices.ContainsFunc(o.QueryParameters(), func(p openapi.Parameter) bool {
		return openapi.RoleOf(p) == openapi.SortRole && u.Query().Get(p.Name) != ""
	})
}

// findBrokenLinks finds links to the next page that the node itself refuses, in all readings of the list: a link may encode a value of the query in another way
// than the node reads it.
func findBrokenLinks(e Evidence) []Judgement {
	var parts []Judgement
	seen := map[string]bool{}
	for _, x := range e.Exchanges {
		name := x.Given["reading"]
		if name == "" || x.Label.Resource() != e.Roles.List || seen[name] {
			continue
		}
		seen[name] = true
		_, calls := readingOf(e, name)
		for i := 1; i < len(calls); i++ {
			if !slices.Contains([]int{400, 404, 422}, calls[i].Status()) || !success(calls[i-1]) {
				continue
			}
			if link := listPageOf(e, calls[i-1]).Link; link != "" && resolve(calls[i-1].Request.URL, link) == calls[i].Request.URL {
				parts = append(parts, expect(calls[i], "2xx with the next items").failed("a link to the next page, which the node gave itself, is refused", describe(calls[i])).
					Hinting("encode the values in a link as UTF-8 (RFC 3986 §2.5), and keep all parameters that the node needs").Seen(calls[i-1].Label))
			}
		}
	}
	if len(parts) > 0 && e.unsteady() {
		return nil
	}
	return parts
}
