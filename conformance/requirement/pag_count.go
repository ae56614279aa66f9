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

// This file compares numbers of records that a node names in different places: on each page of one list, in header and envelope, in the statistics.

// judgeTotalsOfPages compares the totals of pages of one query: each page must name the same number of records in all.
func judgeTotalsOfPages(e Evidence) []Judgement {
	o, known := operation(e, e.Roles.List)
	if !known || e.unsteady() {
		return nil
	}
	var s survey
	first := map[string]evidence.Exchange{}
	for _, x := range pageAnswers(e) {
		if stated, at, named := statedTotal(e, x); named && listPageOf(e, x).Listed && meaningOfTotal(e, x.Label.Resource(), at).OfPage && stated != len(listPageOf(e, x).Items) {
			came := len(listPageOf(e, x).Items)
			s.add("totals of one page", Subject{Name: callInWords(x) + " " + at, Label: x.Label, Expected: strconv.Itoa(came)}.
				warned(fmt.Sprintf("the document says that the total counts the items of the page; it is %d, and %d came", stated, came), strconv.Itoa(stated)).Hinting("count the items that are sent"))
		}
		total, place, ok := totalOf(e, x)
		if !ok || !describesTotal(e, place) || !listPageOf(e, x).Listed || isEstimate(e, place) {
			continue
		}
		if inHeader, name, both := openapi.Total(headerOf(x), nil); both && describesTotal(e, name) {
			text, _ := e.jsonText(x)
			if inBody, path, named := openapi.Total(nil, text); named && inBody != inHeader && !isEstimate(e, path) && meaningOfTotal(e, x.Label.Resource(), path).Counts(inBody) && !strings.HasSuffix(path, "recordsTotal") {
				s.add("two totals", Subject{Name: callInWords(x) + " " + path, Label: x.Label, Expected: strconv.Itoa(inHeader) + ", as in " + name}.
					failed("header and envelope of one page name different totals", strconv.Itoa(inBody)).Hinting(countHint))
			}
		}
		key := place + " " + queryWithoutPage(o, x)
		before, seen := first[key]
		if !seen {
			first[key] = x
			continue
		}
		if other, _, _ := totalOf(e, before); other != total && !e.withinEdits(other, total, spanOf(before, x), queryWithoutPage(o, x) == "") {
			s.add("totals of pages", Subject{Name: callInWords(x) + " " + place, Label: x.Label, Expected: fmt.Sprintf("%d, as in %s", other, callInWords(before))}.
				failed(fmt.Sprintf("the total is %d on one page and %d on another page of one list", other, total), strconv.Itoa(total)).Hinting(countHint).Seen(before.Label))
		}
	}
	return s.faults
}

// unsteady reports whether the list changed during the run, so that answers of different times need not agree.
func (e Evidence) unsteady() bool { return e.unsteadyBeside("") }

// unsteadyBeside is [Evidence.unsteady] without the answer with the label except, which may be at fault itself.
func (e Evidence) unsteadyBeside(except evidence.Label) bool {
	again, _ := readingOf(e, "whole-again")
	small, _ := readingOf(e, "small-again")
	return e.anyPageChanged(except) || e.totalChanged() || again.Ended() && small.Ended() && recordsChanged(e)
}

// maxTotals bounds the totals of a list that changes while it is tested. A total that differs each time has another cause.
const maxTotals = 4

// totalChanged reports whether the total of the list changed during the run and did not change back: up to some moment all answers for one URL name one
// total, and from then on another. A total that comes back, for any URL, comes from replicas or caches that differ.
func (e Evidence) totalChanged() bool {
	return remember(e.judged, "the total changed", func() bool {
		changed := false
		for _, totals := range totalsByURL(e) {
			totals = slices.Compact(totals)
			if distinct := slices.Compact(slices.Sorted(slices.Values(totals))); len(distinct) < len(totals) || len(totals) > maxTotals {
				return false
			}
			changed = changed || len(totals) > 1
		}
		return changed
	})
}

// totalsByURL returns, for each URL of the list, the totals in the answers to the client with the role, the earliest first.
func totalsByURL(e Evidence) [][]int {
	byURL := map[string][]evidence.Exchange{}
	good := e.exchange(evidence.ListOperation.With(evidence.OK))
	for _, x := range operationAnswers(e) {
		if x.Label.Resource() == e.Roles.List && x.Request.Method == "GET" && success(x) && !lacksGoodToken(x) && sameCaller(x, good) {
			byURL[x.Request.URL] = append(byURL[x.Request.URL], x)
		}
	}
	var out [][]int
	for _, answers := range byURL {
		slices.SortStableFunc(answers, func(a, b evidence.Exchange) int { return a.Started.Compare(b.Started) })
		var totals []int
		for _, x := range answers {
			if total, _, ok := totalOf(e, x); ok {
				totals = append(totals, total)
			}
		}
		out = append(out, totals)
	}
	return out
}

const countHint = "count by the query that lists: with its filters, and without its page"

// queryWithoutPage returns the query of a call without the parameters that choose a page or an order.
func queryWithoutPage(o openapi.Operation, x evidence.Exchange) string {
	u, err := url.Parse(x.Request.URL)
	if err != nil {
		return x.Request.URL
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil { // a query with a broken escape equals only itself
		return u.RawQuery
	}
	for _, p := range o.QueryParameters() {
		if openapi.RoleOf(p) != "" {
			q.Del(p.Name)
		}
	}
	q.Del(x.Given["sizeParameter"])
	return q.Encode()
}
