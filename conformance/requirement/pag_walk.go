package requirement

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// pageWalk returns the requirements on the list and its pages.
func pageWalk() []Requirement {
	list, after := evidence.ListOperation, afterDocument()
	return []Requirement{
		{
			ID: "PAG-01", Title: "List answer is an array (or a documented envelope) with unique ids and right totals",
			Level: Recommended, Gate: Gating, Profile: API,
			Source:   networkClient(246),
			Quote:    "Ensure response is always an array",
			Probe:    "The list operation, and every other answer of it that a good call got: array or envelope, the ids of its items, the total that it names, which is the same on each page, and what an envelope says of its page: number, size, pages in all, whether more follow. The numbers of an operation beside it, such as byStatus or the calls of each funder, against the complete list.",
			Forgives: "An envelope that the document describes; items without an id, which API-04 judges; statistics that add up in themselves, where the document does not say that they count the records of the list (a warning).",
			Fix:      "Send the list as the document describes it, and each record once: a join that multiplies rows needs a DISTINCT.",
			Breaks:   "The first item is listed twice.",
			Needs:    []evidence.Label{list.With(evidence.OK)},
			Reads:    []evidence.Label{evidence.WholeRun}, After: after, Check: onList(judgeList),
		},
		{
			ID: "PAG-03", Title: "Consecutive pages are disjoint and complete",
			Level: Recommended, Gate: Gating, Profile: API,
			Source:   networkClient(81),
			Quote:    "If we get an empty array, stop pagination",
			Probe:    "Up to five consecutive pages, and the last one of a longer list, against the list without parameters; what the page parameter counts is found by asking for 0, 1 and the size. A list that is limited, or that names its next page by a cursor or a link, is read to its end in the largest pages, in small ones of a drawn size, and in the orders that it offers.",
			Forgives: "A page number from 0 or from 1 as well as a number of records to skip; pages smaller than requested; a list that changes while it is read: it is read again twice, and then this does not apply; pages that add up at the second or third reading of a list that did not change (a warning); paging that is not declared, where each fault is a warning.",
			Fix:      "Sort by a unique member, such as the id, before the page is cut, apply filters in the database query and not after it, and apply the declared page parameter. Spring Data: add the id to Pageable's Sort.",
			Breaks:   "Page 2 repeats page 1.",
			Needs:    []evidence.Label{list.With(evidence.OK)},
			Reads:    []evidence.Label{list.With(evidence.WalkCase(1)), evidence.WholeRun}, After: after, Check: onList(judgeAllPages),
		},
		{
			ID: "PAG-04", Title: "A page beyond the end is an empty list",
			Level: Recommended, Gate: Gating, Profile: API,
			Source:   networkClient(81),
			Quote:    "If we get an empty array, stop pagination",
			Probe:    "A page beyond 100000 (or the record of that number) with two items, and one near the end of 32 bits; where pages name the next one, the last page of the list. If the document says that no page is empty, the list is read in pages of a size that divides its length.",
			Forgives: "404, 400, 416 and 204 (warnings); an empty page that the last full one names, unless the document excludes it; paging that is neither declared nor effective; paging that is not declared, where each fault is a warning.",
			Fix:      "Answer 200 with an empty list. Do not fall back to the last page: clients of the network ask for the next page until they get an empty array, and would never end.",
			Breaks:   "Beyond the end the last page is repeated.",
			Needs:    []evidence.Label{list.With(evidence.OK)},
			Reads:    []evidence.Label{list.With("beyond-end"), evidence.WholeRun}, After: after, Check: onList(judgeEndOfPages),
		},
	}
}

// judgeList is the check of PAG-01.
func judgeList(e Evidence) Judgement {
	list := e.exchange(evidence.ListOperation.With(evidence.OK))
	if j, unclear := inconclusiveAnswer(list); unclear {
		return j
	}
	items, err := e.itemsOf(list)
	if err != nil {
		return expect(list, "an array").failed("the list operation does not answer with a list", clip(err.Error()))
	}
	parts := []Judgement{judgeEnvelope(e, list)}
	for _, x := range listAnswers(e) {
		if j, found := findRepeatedIDs(e, x); found {
			parts = append(parts, j)
		}
	}
	if total, _, _ := totalOf(e, list); !countsGroups(items, total) {
		if j, found := judgeTotal(e, list, items); found {
			parts = append(parts, j)
		}
		parts = slices.Concat(parts, judgeTotals(e), judgeTotalsOfPages(e), judgeTotalsOfFilters(e))
	}
	parts = slices.Concat(parts, judgeStatistics(e), findWrongAggregates(e), judgeEnvelopeNumbers(e))
	if j := gather(parts...); j.Outcome == Fail || len(items) > 0 {
		return j
	}
	return Unclear("the list is empty, so its ids cannot be compared").Hinting("publish one test call: put funding calls into the tested system, then repeat the run").Seen(list.Label)
}

// judgeEnvelope judges whether the list is an array or an envelope.
func judgeEnvelope(e Evidence, list evidence.Exchange) Judgement {
	if kind := textType([]byte(strings.TrimPrefix(string(list.Response.Body[:min(len(list.Response.Body), 64)]), string(byteOrderMark())))); kind == "array" {
		return Passed(list.Label)
	}
	const hint = "describe the envelope in the document, or send the array itself: clients of the network read anything else as an empty list"
	o, _ := operation(e, e.Roles.List)
	if _, answer, ok := o.Success(); ok {
		for _, s := range answer.Content {
			if s.Declared && s.Dangling == "" {
				return Passed(list.Label).Noting("the list is wrapped into an envelope, as the document describes; some clients of the network read anything but an array as an empty list")
			}
		}
	}
	return expect(list, "an array").failed("the list is wrapped into an envelope that the document does not describe", "an object with one array").
		Hinting(hint)
}

// findRepeatedIDs finds ids that appear more than once in one answer.
func findRepeatedIDs(e Evidence, x evidence.Exchange) (j Judgement, found bool) {
	items, err := e.itemsOf(x)
	if err != nil || !success(x) {
		return Judgement{}, false
	}
	at := map[string]int{}
	var twice []Subject
	for i, item := range items {
		ids := e.memberValues(item, e.identityMember())
		if len(ids) != 1 {
			continue
		}
		if before, known := at[ids[0]]; known {
			twice = append(twice, Subject{Name: fmt.Sprintf("%s $[%d].%s", callInWords(x), i, clip(e.identityMember())), Label: x.Label, Expected: "an id of its own", Got: fmt.Sprintf("%s, as in $[%d]", quote(ids[0]), before)})
			continue
		}
		at[ids[0]] = i
	}
	if len(twice) == 0 {
		return Judgement{}, false
	}
	return Failed(fmt.Sprintf("%d of %s listed again", len(twice), evidence.Count(len(items), "item")), "each id once", twice[0].Got).About(twice...).bounded(), true
}

// walkOf returns the pages of a walk, which reads consecutive pages by number. calls has the exchanges by the value of the page parameter.
func walkOf(e Evidence, w evidence.Walk) (p openapi.Pages, calls map[int]evidence.Exchange) {
	p, calls = openapi.Pages{ByValue: map[int]openapi.Page{}}, map[int]evidence.Exchange{}
	if items, err := e.itemsOf(e.exchange(evidence.ListOperation.With(w.List()))); err == nil {
		p.Unpaged = e.identities(items)
	}
	p.Size = len(p.Unpaged)
	for n := 1; ; n++ {
		x, ok := e.Get(e.Roles.List.With(w.Page(n)))
		if !ok {
			return p, calls
		}
		value, err := strconv.Atoi(x.Given["value"])
		if err != nil {
			continue
		}
		if size, err := strconv.Atoi(x.Given["size"]); err == nil && size > 0 {
			p.Size = size
		}
		items, err := e.itemsOf(x)
		page := openapi.Page{Listed: success(x) && err == nil}
		if page.Listed {
			page.Items = e.identities(items)
		}
		p.ByValue[value], calls[value] = page, x
	}
}

// judgeAllPages is the check of PAG-03. It judges the pages by number, the other readings of the list, and the order of its items.
func judgeAllPages(e Evidence) Judgement {
	parts := judgeListReadings(e)
	if j, unanswered := e.missingAnswer(e.Roles.List.With(evidence.WalkCase(1))); !unanswered {
		parts = append(parts, judgeNumberedPages(e))
	} else if j.Outcome != NotApplicable || len(parts) == 0 {
		parts = append(parts, j)
	}
	return gather(append(parts, judgeOrders(e)...)...).Noting(readInPart(e)...)
}

// UnreadSuffix is the end of the note about a list of which the run read only a part.
const UnreadSuffix = " were read: no answer is compared with the rest of the list"

// readInPart returns a note if the list is longer than the pages that the run read, because no answer can be compared with the complete list.
func readInPart(e Evidence) []string {
	reading, calls := readingOf(e, "whole")
	if len(calls) == 0 || reading.Ended() {
		return nil
	}
	read := evidence.Count(len(reading.Items()), "item")
	if total := reading.Pages[0].Total; total > 0 {
		read = fmt.Sprintf("%d of %s", len(reading.Items()), evidence.Count(total, "item"))
	}
	return []string{read + UnreadSuffix}
}

// judgeEndOfPages is the check of PAG-04: a page by number beyond the end must be empty, and pages that name the next one must come to an end.
func judgeEndOfPages(e Evidence) Judgement {
	if j, named := findNamedEmptyPage(e); named {
		return j
	}
	if j, unanswered := e.missingAnswer(e.Roles.List.With("beyond-end")); unanswered {
		if end, judged := judgeEndOfReadings(e); judged && j.Outcome == NotApplicable {
			return end
		}
		return j
	}
	j := unlessUndeclared("beyond-end", judgePageBeyondEnd)(e)
	if last, sent := e.Get(e.Roles.List.With("page-end")); sent && (j.Outcome == Pass || j.Outcome == Warn) {
		return gather(j, judgeLastNumberedPage(e, last))
	}
	return j
}

// judgeLastNumberedPage judges a page near the end of 32 bits. A node may refuse so large a number, but must not take it for another page.
func judgeLastNumberedPage(e Evidence, x evidence.Exchange) Judgement {
	items, err := e.itemsOf(x)
	if !success(x) || err != nil || len(items) == 0 || !declaresQuery(e, x.Given["parameter"]) {
		return Passed(x.Label) // PAG-06 judges a value that breaks the node
	}
	return expect(x, "200 with an empty list, or 400").failed(fmt.Sprintf("%s, far beyond the end, gives %s: the place of the page is calculated in too few bits",
		clip(x.Given["parameter"]+"="+x.Given["value"]), evidence.Count(len(items), "item")), evidence.Count(len(items), "item")).
		Hinting("calculate offsets in 64 bits, and refuse a page beyond them with 400: Math.multiplyExact, or a maximum in the document")
}

// judgeNumberedPages judges the pages by number.
func judgeNumberedPages(e Evidence) Judgement {
	p, calls := walkOf(e, evidence.FirstWalk)
	first := e.exchange(evidence.ListOperation.With(evidence.WalkCase(1)))
	name := clip(first.Given["parameter"])
	declared := declaresQuery(e, first.Given["parameter"])
	if j, ok := walkable(e, p, calls, declared); !ok {
		if p.Meaning() == openapi.Ignored && j.Outcome == Fail {
			return recheckWalks(e, j, p) // a list that grows as fast as it is read has the same items on each page
		}
		return j
	}
	note := name + " is " + string(p.Meaning())
	if p.Meaning() != openapi.Offset {
		note += "; the network's client sends the number of records to skip"
	}
	j := judgePages(p, calls, name)
	if !declared {
		note += "; the document does not declare it"
		if j.Outcome == Fail {
			j.Outcome = Warn
		}
	}
	if p.Faults().Empty() {
		return j.Noting(note)
	}
	return recheckWalks(e, j, p).Noting(note)
}

// recheckWalks judges pages that did not add up by the second and the third walk: a list that changes while it is read loses and repeats items.
func recheckWalks(e Evidence, j Judgement, first openapi.Pages) Judgement {
	changed, always, times := false, true, map[evidence.Walk]string{evidence.SecondWalk: "second", evidence.ThirdWalk: "third"}
	previous := first
	for _, w := range []evidence.Walk{evidence.SecondWalk, evidence.ThirdWalk} {
		p, _ := walkOf(e, w)
		if _, unanswered := e.missingAnswer(e.Roles.List.With(w.List())); unanswered || len(p.Unpaged) == 0 || p.Meaning() == "" {
			return j
		}
		moved := !slices.Equal(slices.Sorted(slices.Values(previous.Unpaged)), slices.Sorted(slices.Values(p.Unpaged)))
		changed, always, previous = changed || moved, always && moved, p
		switch complete := p.Faults().Empty() && p.Meaning() != openapi.Ignored; {
		case complete && changed:
			return Passed(e.Roles.List.With(w.List())).Noting(fmt.Sprintf("the list changed while its pages were read; the %s time they were complete", times[w]))
		case complete:
			return Warned(fmt.Sprintf("the pages were complete only the %s time that they were read, although the list did not change", times[w]), j.Expected, j.Got).About(j.Subjects...)
		case w == evidence.ThirdWalk && always:
			return Inapplicable("the list changed each of the three times that its pages were read, so they cannot show whether they add up").Seen(e.Roles.List.With(w.List()))
		}
	}
	return j
}

// walkable reports whether the answers are pages, so that they can be compared. If not, it returns the judgement that follows.
func walkable(e Evidence, p openapi.Pages, calls map[int]evidence.Exchange, declared bool) (j Judgement, ok bool) {
	for _, v := range slices.Sorted(maps.Keys(calls)) {
		if x := calls[v]; rateLimited(x) { // without this page the other pages do not show what the parameter counts
			j, _ := inconclusiveAnswer(x)
			return j, false
		}
	}
	for _, v := range []int{1, 0} {
		if x, ok := calls[v]; ok && !p.ByValue[v].Listed && (v == 1 || len(calls) == 1) {
			if serverError(x) && declared {
				return expect(x, "2xx").failed("a page breaks the node", describe(x)), false
			}
			if j, unclear := inconclusiveAnswer(x); unclear {
				return j, false
			}
		}
	}
	const endless = "the network's client, which asks for pages until it gets an empty array, would never end"
	switch first := calls[0]; {
	case p.Oversized():
		if j, ok := e.passes("PAG-02"); !ok && j.Outcome == Blocked {
			return j, false
		}
		return Inapplicable("every page request gets the whole list; paging is not declared").Noting(endless), false
	case p.Meaning() == openapi.Ignored && declared:
		return expect(first, "another page for each "+clip(first.Given["parameter"])).failed("every page is the same", "the same items for "+calledValues(calls)).
			Hinting("apply the declared page parameter: " + endless), false
	case p.Meaning() == openapi.Ignored:
		return Inapplicable("paging is not declared, and " + clip(first.Given["parameter"]) + " has no effect").Noting(endless), false
	case p.Meaning() == "" && declared:
		x, ok := calls[1]
		if !ok {
			return Unclear("the recording has too few pages to show what " + clip(first.Given["parameter"]) + " counts").Seen(first.Label), false
		}
		return expect(x, "a list").failed("the second page cannot be read, although the list has more items than fit on one", describe(x)), false
	case p.Meaning() == "":
		return Inapplicable("paging is not declared, and the parameters that were tried have no effect"), false
	}
	return Judgement{}, true
}

// calledValues lists the values of the page parameter in the calls.
func calledValues(calls map[int]evidence.Exchange) string {
	var out []string
	for _, v := range slices.Sorted(maps.Keys(calls)) {
		out = append(out, strconv.Itoa(v))
	}
	return strings.Join(out, ", ")
}

// judgePages judges the pages that were read.
func judgePages(p openapi.Pages, calls map[int]evidence.Exchange, name string) Judgement {
	order, _ := p.Walked()
	var labels []evidence.Label
	for _, v := range order {
		x := calls[v]
		if p.PastEnd(v) {
			continue // PAG-04 judges the page
		}
		if j, unclear := inconclusiveAnswer(x); unclear {
			if serverError(x) {
				return expect(x, "2xx").failed("a page breaks the node", describe(x))
			}
			return j
		}
		labels = append(labels, x.Label)
	}
	faults := p.Faults()
	var subjects []Subject
	for _, v := range order {
		for i, item := range p.ByValue[v].Items {
			if slices.Contains(faults.Repeated, item) {
				subjects = append(subjects, Subject{Name: fmt.Sprintf("%s=%d $[%d]", name, v, i), Label: calls[v].Label, Expected: "an item of no other page", Got: quote(item)})
			}
		}
	}
	if len(subjects) > 0 {
		return Failed(fmt.Sprintf("%s on more than one page", evidence.Count(len(faults.Repeated), "item")), "each item on one page", quote(faults.Repeated[0])+" again").About(subjects...).bounded()
	}
	if len(faults.Lost) > 0 {
		j := Failed(fmt.Sprintf("%d of %s of the list missing from all of its pages", len(faults.Lost), evidence.Count(len(p.Unpaged), "item")), "each item on one page", quote(faults.Lost[0])+" on no page")
		for _, item := range faults.Lost {
			j = j.About(Subject{Name: "item " + quote(item), Label: labels[len(labels)-1], Expected: "on a page", Got: "on no page"})
		}
		return j.bounded().Seen(labels...)
	}
	if faults.Reordered {
		return Warned("the pages come in another order than the whole list, so whether an item is lost is not known", "the order of the list", "another order").
			Hinting("sort lists by a unique member, such as the id, with and without paging").Seen(labels...)
	}
	return Passed(labels...)
}

// unlessUndeclared makes a failure a warning if the document does not declare the page parameter of the call: then the node promises nothing.
func unlessUndeclared(c evidence.Case, check func(Evidence) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		j := check(e)
		if x := e.exchange(evidence.ListOperation.With(c)); j.Outcome == Fail && !declaresQuery(e, x.Given["parameter"]) {
			j.Outcome = Warn
		}
		return j
	}
}

// judgePageBeyondEnd judges a page by number that is far beyond the end of the list.
func judgePageBeyondEnd(e Evidence) Judgement {
	x := e.exchange(evidence.ListOperation.With("beyond-end"))
	p, _ := walkOf(e, evidence.FirstWalk)
	call := clip(x.Given["parameter"] + "=" + x.Given["value"])
	switch ignored := p.Meaning() == openapi.Ignored; {
	case !declaresQuery(e, x.Given["parameter"]) && (ignored || p.Oversized() || p.Meaning() == ""):
		return Inapplicable("paging is neither declared nor effective")
	case ignored:
		if j := e.judge("PAG-03"); j.Outcome == Fail { // in a list that grows, two pages may be alike by chance
			return Judgement{Outcome: Blocked, BlockedBy: "PAG-03", Reason: "needs PAG-03, which is fail: the page parameter has no effect"}
		}
	}
	want := expect(x, "200 with an empty list")
	if serverError(x) {
		return want.failed("a page beyond the end breaks the node", describe(x))
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	items, err := e.itemsOf(x)
	if size, errSize := strconv.Atoi(x.Given["size"]); errSize == nil && len(items) > size {
		if j, ok := e.passes("PAG-02"); !ok && j.Outcome == Blocked {
			return j // the paging parameters have no effect
		}
	}
	switch {
	case x.Status() == 204 && !e.isDescribedAsEmpty(x):
		return want.warned("a page beyond the end has no content", describe(x))
	case success(x) && err != nil:
		return want.failed("a page beyond the end is not a list", clip(err.Error()))
	case success(x) && len(items) > 0:
		return want.failed(fmt.Sprintf("%s, far beyond the end, gives %s: a client that asks for pages until one is empty never ends", call, evidence.Count(len(items), "item")), evidence.Count(len(items), "item"))
	case success(x):
		return Passed(x.Label)
	case x.Status() == 404 || x.Status() == 400 || x.Status() == 416 || x.Status() == 422:
		return want.warned("a page beyond the end is refused", describe(x))
	case clientError(x):
		return want.failed("a page beyond the end is refused to a good client", describe(x))
	}
	return want.unclear("the page beyond the end is redirected elsewhere", describe(x)).Hinting("answer an empty list, or 404: a client that follows the redirect reads a page twice")
}
