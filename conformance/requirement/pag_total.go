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

// totalOf returns the number of items that a list says it has, in a header field or in its envelope, and where it says so. A number that counts something
// else, as the document says, is no total.
func totalOf(e Evidence, x evidence.Exchange) (total int, place string, ok bool) {
	total, place, ok = statedTotal(e, x)
	if ok && !meaningOfTotal(e, x.Label.Resource(), place).Counts(total) {
		return 0, "", false
	}
	return total, place, ok
}

// meaningOfTotal returns what the document says of the total of a list in this place. It is kept for all answers.
func meaningOfTotal(e Evidence, list evidence.Resource, place string) openapi.TotalMeaning {
	o, known := operation(e, list)
	if !known {
		return openapi.TotalMeaning{}
	}
	return remember(e.judged, "the meaning of the total "+o.Pointer+" "+place, func() openapi.TotalMeaning { return e.Spec.MeaningOfTotal(o, place) })
}

// statedTotal is [totalOf] for a total of any meaning.
func statedTotal(e Evidence, x evidence.Exchange) (total int, place string, ok bool) {
	text, err := e.jsonText(x)
	if err != nil {
		text = nil
	}
	return openapi.Total(headerOf(x), text)
}

// judgeTotal finds a total of the list that is not the number of its items. A greater total is right if the answer is only the first page, so judgeTotal compares
// a greater total with the items of all pages, if they were read.
func judgeTotal(e Evidence, list evidence.Exchange, items [][]byte) (j Judgement, found bool) {
	total, place, ok := totalOf(e, list)
	if stated, at, named := statedTotal(e, list); named && !ok && meaningOfTotal(e, list.Label.Resource(), at).Others && stated < len(items) {
		total, place, ok = stated, at, true // a number that counts more than the list is still too low
	}
	if !ok || list.Response.Truncated || total == len(items) {
		return Judgement{}, false
	}
	want := Subject{Name: callName(list) + " " + place, Label: list.Label, Expected: strconv.Itoa(len(items))}
	reason := fmt.Sprintf("the list says that it has %s, and %d came", evidence.Count(total, "item"), len(items))
	const hint = "count what the caller may see, by the query that lists it"
	estimate := isEstimate(e, place)
	if total < len(items) {
		j := want.failed(reason, strconv.Itoa(total)).Hinting(hint)
		if estimate {
			j.Outcome = Warn
		}
		return j, true
	}
	if rd, calls := readingOf(e, "whole"); len(calls) > 0 {
		if n := countDistinct(rd.Items()); rd.Ended() && n < total && !e.withinEdits(n, total, spanOf(append(calls, list)...), true) {
			j := want.failed(fmt.Sprintf("the list says that it has %s, and %d came on all of its pages", evidence.Count(total, "item"), n), strconv.Itoa(total)).Hinting(hint)
			if !describesTotal(e, place) || estimate || e.anyPageChanged(list.Label) {
				j.Outcome = Warn
			}
			return j, true
		}
		return Judgement{}, false
	}
	p, _ := walkOf(e, evidence.FirstWalk)
	values, ended := p.Walked()
	var walked []string
	for _, v := range values {
		walked = append(walked, p.ByValue[v].Items...)
	}
	if !ended || !p.Faults().Empty() || countDistinct(walked) >= total {
		return Judgement{}, false // the rest is on other pages, or PAG-03 says what is lost
	}
	return want.warned(reason+" on all of its pages", strconv.Itoa(total)).Hinting(hint), true
}

// countsGroups reports whether the items are the groups of a statistic, which have no ids, and the total is the sum of their counts: some member is a count in
// each item, and these counts add up to the total.
func countsGroups(items [][]byte, total int) bool {
	if len(items) < 2 {
		return false
	}
	counts := regexp.MustCompile(`(?i)count|total|number|sum|quantity|anzahl|nombre|^n$`)
	sums, counted := map[string]int{}, map[string]int{} // by member
	for _, item := range items {
		group := openapi.Object(item)
		if group["id"] != nil || group["@id"] != nil {
			return false
		}
		for name, value := range group {
			if n, err := strconv.Atoi(string(value)); err == nil && n >= 0 && n <= total && counts.MatchString(name) {
				sums[name] += n
				counted[name]++
			}
		}
	}
	for name, sum := range sums {
		if sum == total && counted[name] == len(items) {
			return true
		}
	}
	return false
}

// countDistinct returns the number of different items.
func countDistinct(items []string) int { return len(openapi.Missing(items, nil)) }

// judgeTotals compares the totals of filtered and of shortened lists with their items.
func judgeTotals(e Evidence) []Judgement {
	plain := e.exchange(evidence.ListOperation.With(evidence.OK))
	plainTotal, plainPlace, hasTotal := totalOf(e, plain)
	if hasTotal && !describesTotal(e, plainPlace) {
		return nil // nobody knows what an undescribed header field counts
	}
	if isInexact(e, plainPlace) {
		return nil
	}
	if !hasTotal || strings.HasSuffix(plainPlace, "recordsTotal") { // recordsTotal counts the items before the filter
		plainTotal = -1
	}
	allItems, complete := wholeList(e)
	countsItems := complete && plainTotal == len(allItems) // the total of the list is the number of its items
	return withoutRepeats(append(judgeTotalsOfAnswers(e, plain.Label, plainTotal, countsItems), judgeTotalsOfReadings(e, plainTotal, countsItems)...))
}

// judgeTotalsOfAnswers compares the total of each answer that is the only page of its list with the items of the answer. plainTotal is the total of the list
// without parameters, -1 if it is not known.
func judgeTotalsOfAnswers(e Evidence, plain evidence.Label, plainTotal int, countsItems bool) []Judgement {
	var parts []Judgement
	cut := cutLengths(e)
	for _, x := range listAnswers(e) {
		listPage := listPageOf(e, x)
		total, place, ok := totalOf(e, x)
		came := len(listPage.Items)
		if !ok || !listPage.Listed || x.Label == plain || total == came {
			continue
		}
		if cut[came] || !isOnlyPage(e, x, came) || isInexact(e, place) {
			continue
		}
		repeatsWholeTotal := x.Given["search"] != "" && countsItems && total == plainTotal
		if listPage.Next() != "" && !(repeatsWholeTotal && hasFullPages(e)) {
			continue // where pages may be short, a short page with a next page is not the end of a list
		}
		want := Subject{Name: callInWords(x) + " " + place, Label: x.Label, Expected: strconv.Itoa(came)}
		reason := fmt.Sprintf("%s says that it has %s, and %d came", callInWords(x), evidence.Count(total, "item"), came)
		switch {
		case total < came, countsItems, total == plainTotal && isFilteredCall(x):
			parts = append(parts, want.failed(reason, strconv.Itoa(total)).Hinting(countHint))
		default:
			parts = append(parts, want.warned(reason, strconv.Itoa(total)).Hinting(countHint))
		}
	}
	return parts
}

// cutLengths returns the lengths of pages that the node has shortened on its own: more items were requested, and the list without a filter has more. Filtered
// pages of the same length may be shortened, too.
func cutLengths(e Evidence) map[int]bool {
	o, _ := operation(e, e.Roles.List)
	out := map[int]bool{}
	_, pages := readingOf(e, "whole")
	for _, x := range slices.Concat(listAnswers(e), pages) {
		total, _, known := totalOf(e, x)
		if n := len(listPageOf(e, x).Items); known && total > n && queryWithoutPage(o, x) == "" && requestedSize(o, x) > n {
			out[n] = true
		}
	}
	return out
}

// judgeTotalsOfReadings compares the greatest total that the pages of each reading name with the items on these pages.
func judgeTotalsOfReadings(e Evidence, plainTotal int, countsItems bool) []Judgement {
	var parts []Judgement
	for _, name := range readingNames(e) {
		rd, calls := readingOf(e, name)
		if len(calls) == 0 {
			continue
		}
		if _, place, named := totalOf(e, calls[0]); named && isInexact(e, place) {
			continue
		}
		largest := -1
		for _, s := range rd.Pages {
			largest = max(largest, s.Total)
		}
		first, last := calls[0], calls[len(calls)-1]
		isFiltered := rd.Ended() && isFilteredCall(first)
		switch n := countDistinct(rd.Items()); {
		case largest >= 0 && largest < n:
			parts = append(parts, Subject{Name: callInWords(last), Label: last.Label, Expected: "at least " + strconv.Itoa(n)}.
				failed(fmt.Sprintf("the list says that it has %s, and %d came on %s", evidence.Count(largest, "item"), n, evidence.Count(len(calls), "page")), strconv.Itoa(largest)).Hinting(countHint))
		case isFiltered && n < largest && largest == plainTotal:
			parts = append(parts, Subject{Name: callInWords(first), Label: first.Label, Expected: strconv.Itoa(n)}.
				failed(fmt.Sprintf("the filtered list says that it has %s, as the whole list does, and %d came on all of its pages", evidence.Count(largest, "item"), n), strconv.Itoa(largest)).Hinting(countHint))
		case isFiltered && n < largest && countsItems && !e.unsteady():
			parts = append(parts, Subject{Name: callInWords(first), Label: first.Label, Expected: strconv.Itoa(n)}.
				failed(fmt.Sprintf("the filtered list says that it has %s, and %d came on all of its pages", evidence.Count(largest, "item"), n), strconv.Itoa(largest)).Hinting(countHint))
		}
	}
	return parts
}

// hasFullPages reports whether all pages of the list but the last are equally long, so that a shorter one is the last.
func hasFullPages(e Evidence) bool {
	reading, _ := readingOf(e, "whole")
	for i, s := range reading.Pages {
		if i < len(reading.Pages)-1 && len(s.Items) != len(reading.Pages[0].Items) {
			return false
		}
	}
	return len(reading.Pages) > 1 && reading.Ended()
}

// describesTotal reports whether the document describes the place of the total. The schema of the envelope describes a member.
func describesTotal(e Evidence, place string) bool {
	if strings.HasPrefix(place, "$") {
		return true
	}
	o, known := operation(e, e.Roles.List)
	status, _, ok := o.Success()
	if !known || !ok {
		return false
	}
	response, why := e.Spec.Descend(openapi.Join(o.Pointer, "responses"), status)
	value, _ := e.Spec.Raw(response + "/headers")
	headers, _ := value.(map[string]any)
	for name := range headers {
		if why == "" && strings.EqualFold(name, place) {
			return true
		}
	}
	return false
}

// isEstimate reports whether the document calls the total in this place an estimate.
func isEstimate(e Evidence, place string) bool {
	const estimate = `(?i)\b(approximat\w*|estimat\w*|about|roughly|at most|up to)\b[^.]{0,40}\b(total|count|number)\b|\b(total|count|number)\b[^.]{0,60}\b(approximat\w*|estimat\w*|roughly)\b`
	o, _ := operation(e, e.Roles.List)
	return remember(e.judged, "an estimate of "+o.Pointer, func() bool { return regexp.MustCompile(estimate).MatchString(o.Description) }) ||
		totalIsDescribedAs(e, place, `(?i)\b(approximat\w*|estimat\w*|roughly|rounded|(lower|upper) bound|may differ|not exact)|(^|\s)(ungefähr|geschätzt|schätz|gerundet|näherung)`)
}

// isInexact reports whether the document says that the total in this place is not the number of the items that fit the filters.
func isInexact(e Evidence, place string) bool {
	return isEstimate(e, place) || countsWithoutFilters(e, place)
}

// countsWithoutFilters reports whether the document says that the total of a filtered list is that of the whole list.
func countsWithoutFilters(e Evidence, place string) bool {
	return totalIsDescribedAs(e, place, `(?i)\b(regardless|irrespective|independent\w*) of[^.]{0,20}\b(filter|search|quer)|\b(before|without) (any |the |all )*(filter|search)|\bunfiltered\b|\b(ohne|unabhängig von|vor)( \S+)? (filter|suche)|`+
		`\bwhether (or not )?they (match|fit)|\bfiltered or not\b|\bfilters? (have|has) no (effect|influence)|\bnot (only|just) (of )?(the |those )[^.]{0,20}\b(match|fit)|\bfilters? leaves? out\b|`+
		`\bfilter\w* (haben|hat) (darauf |hierauf )?keine\w* (einfluss|wirkung)|\bdurch (die |den )?filter (aus|weg)\w+`)
}

// totalIsDescribedAs reports whether the description of the total in this place, a header field or a member of the envelope, matches a pattern. The
// result is kept for all answers.
func totalIsDescribedAs(e Evidence, place, pattern string) bool {
	o, known := operation(e, e.Roles.List)
	if !known || e.Spec == nil || place == "" {
		return false
	}
	return remember(e.judged, "the total "+o.Pointer+" "+place+" "+pattern, func() bool { return e.Spec.SaysOfTotal(o, place, regexp.MustCompile(pattern)) })
}

// isFilteredCall reports whether a call has a filter or a bound that can be checked on its items.
func isFilteredCall(x evidence.Exchange) bool { return len(conditionsOf(x)) > 0 }

// requestedSize returns the page size in the query of a call, 0 if it has none.
func requestedSize(o openapi.Operation, x evidence.Exchange) int {
	u, err := url.Parse(x.Request.URL)
	if err != nil {
		return 0
	}
	for _, p := range o.QueryParameters() {
		if size, err := strconv.Atoi(u.Query().Get(p.Name)); err == nil && openapi.RoleOf(p) == openapi.SizeRole {
			return size
		}
	}
	return 0
}

// isOnlyPage reports whether an answer begins with the first item of its list and has fewer items than were requested. If no size was requested, it must have
// fewer items than the list without parameters.
func isOnlyPage(e Evidence, x evidence.Exchange, items int) bool {
	o, _ := operation(e, e.Roles.List)
	u, err := url.Parse(x.Request.URL)
	if err != nil {
		return false
	}
	plain, _ := e.itemsOf(e.exchange(evidence.ListOperation.With(evidence.OK)))
	requested := len(plain)
	for _, p := range o.QueryParameters() {
		value := u.Query().Get(p.Name)
		switch role := openapi.RoleOf(p); {
		case value == "": // not sent
		case role == openapi.SizeRole:
			requested, err = strconv.Atoi(value)
			tooLarge := p.Schema.Maximum != nil && float64(requested) > *p.Schema.Maximum
			if err != nil || requested < 1 || tooLarge {
				return false
			}
		case role == openapi.PageRole || role == openapi.SkipRole || role == openapi.CursorRole:
			return false
		case role == "" && items == 0 && (p.Schema.Type == "integer" || p.Schema.Type == "number") && !isFilteredCall(x):
			return false // a number without a known purpose may name a page after the last
		}
	}
	return requested > items
}
