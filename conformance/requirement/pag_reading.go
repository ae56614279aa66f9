package requirement

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file compares the readings of a list: in large pages, in small ones, filtered and sorted. A reading follows the pages of the list, one after the other.

// judgeListReadings judges the readings of the list for PAG-03.
func judgeListReadings(e Evidence) []Judgement {
	large, largeCalls := readingOf(e, "whole")
	small, smallCalls := readingOf(e, "small")
	if _, sorted := readingOf(e, "sorted-1"); len(largeCalls)+len(smallCalls)+len(sorted) == 0 {
		return nil
	}
	var parts []Judgement
	for _, calls := range [][]evidence.Exchange{largeCalls, smallCalls} {
		if j, broken := findBrokenPage(e, calls); broken {
			return append(parts, recheckReadings(e, j))
		}
	}
	reference, _, complete := wholeReading(e)
	faults := reference.Against(small)
	if !complete {
		faults.Lost, faults.Extra = nil, nil
	}
	faults.Repeated = append(large.Repeated(), faults.Repeated...)
	if !faults.Empty() {
		parts = append(parts, judgeReadings(e, faults, append(slices.Clone(largeCalls), smallCalls...)))
	} else if len(smallCalls)+len(largeCalls) > 0 && (small.Ended() || large.Ended()) {
		parts = append(parts, Passed(append(callLabels(largeCalls), callLabels(smallCalls)...)...))
	}
	return append(parts, judgeSortedReadings(e, reference, complete)...)
}

// callLabels returns the labels of calls.
func callLabels(calls []evidence.Exchange) []evidence.Label {
	var out []evidence.Label
	for _, x := range calls {
		out = append(out, x.Label)
	}
	return out
}

// findBrokenPage finds a page that the node named and does not serve, or that repeats the page before it.
func findBrokenPage(e Evidence, calls []evidence.Exchange) (j Judgement, found bool) {
	for n, x := range calls {
		switch {
		case n == 0:
			continue
		case rateLimited(x) || x.Status() == 503:
			j, _ := inconclusiveAnswer(x)
			return j, true
		case serverError(x):
			return expect(x, "2xx").failed("a page breaks the node", describe(x)), true
		case clientError(x) && x.Status() != 401 && x.Given["numbered"] == "":
			return expect(x, "2xx, since the page before names this one").failed("the next page that the node names is refused", describe(x)), true
		}
		before, this := listPageOf(e, calls[n-1]), listPageOf(e, x)
		if n == 1 && len(this.Items) > 0 && slices.Equal(before.Items, this.Items) && isFull(x, before) {
			return expect(x, "other items than on the page before").failed("every page is the same", "the items of the page before").
				Hinting("apply the cursor that the page before names: a client that asks for pages until none is named would never end"), true
		}
	}
	return Judgement{}, false
}

// isFull reports whether a page has as many items as were requested, so that a next page may follow.
func isFull(x evidence.Exchange, page openapi.ListPage) bool {
	size, err := strconv.Atoi(x.Given["size"])
	return err != nil || len(page.Items) >= size
}

// judgeReadings judges two readings that disagree. Repeated readings show whether the list changed meanwhile.
func judgeReadings(e Evidence, f openapi.ReadingFaults, calls []evidence.Exchange) Judgement {
	last := calls[len(calls)-1]
	size := clip(last.Given["sizeParameter"] + "=" + last.Given["size"])
	var j Judgement
	switch {
	case len(f.Repeated) > 0:
		j = Failed(fmt.Sprintf("%s on more than one page", evidence.Count(len(f.Repeated), "item")), "each item on one page", quote(f.Repeated[0])+" again")
	case len(f.Lost) > 0:
		j = Failed(fmt.Sprintf("%s of the list missing from its pages with %s", evidence.Count(len(f.Lost), "item"), size), "the same items in pages of every size", quote(f.Lost[0])+" on no page")
	default:
		j = Failed(fmt.Sprintf("%s on the pages with %s and not on larger ones", evidence.Count(len(f.Extra), "item"), size), "the same items in pages of every size", quote(f.Extra[0])+" on small pages only")
	}
	for _, fault := range []struct {
		items []string
		got   string
	}{{f.Repeated, "on several pages"}, {f.Lost, "on no page"}, {f.Extra, "on small pages only"}} {
		for _, item := range fault.items {
			j = j.About(Subject{Name: "item " + quote(item), Label: last.Label, Expected: "on one page, whatever its size", Got: fault.got})
		}
	}
	j = j.bounded().Seen(callLabels(calls)...)
	return recheckReadings(e, j)
}

// recheckReadings judges a failure by the repeated readings, as [recheckWalks] does for pages by number: a list that changes while it is read loses and
// repeats items.
func recheckReadings(e Evidence, j Judgement) Judgement {
	if j.Outcome != Fail {
		return j
	}
	pairs := readingPairs(e)
	label := func(n int) evidence.Label {
		return e.Roles.List.With(evidence.ReadingCase("whole"+repeatSuffixes()[n-1], 1))
	}
	changed, always := false, len(pairs) > 1
	for i := 1; i < len(pairs); i++ {
		large, small, word := pairs[i][0], pairs[i][1], []string{"second", "third"}[i-1]
		ended, moved := large.Ended() && small.Ended(), readingsDiffer(pairs[i-1], pairs[i])
		changed, always = changed || moved, always && ended && moved
		switch complete := ended && len(large.Repeated()) == 0 && large.Against(small).Empty(); {
		case complete && changed:
			return Passed(label(i)).Noting(fmt.Sprintf("the list changed while its pages were read; the %s time they were complete", word))
		case complete:
			return Warned(fmt.Sprintf("the pages were complete only the %s time that they were read, although the list did not change", word), j.Expected, j.Got).About(j.Subjects...)
		}
	}
	if always {
		return Inapplicable("the list changed each time that its pages were read, so they cannot show whether they add up").Seen(label(1))
	}
	return j
}

// repeatSuffixes returns the ends of the names of repeated readings.
func repeatSuffixes() []string { return []string{"-again", "-third"} }

// readingPairs lists the readings of the list in large and in small pages: the first ones, and those that repeat them.
func readingPairs(e Evidence) [][2]openapi.Reading {
	reference, _, _ := wholeReading(e)
	small, _ := readingOf(e, "small")
	out := [][2]openapi.Reading{{reference, small}}
	for _, suffix := range repeatSuffixes() {
		large, calls := readingOf(e, "whole"+suffix)
		small, smallCalls := readingOf(e, "small"+suffix)
		if len(calls) == 0 || len(smallCalls) == 0 {
			return out
		}
		out = append(out, [2]openapi.Reading{large, small})
	}
	return out
}

// recordsChanged reports whether records joined or left the list during the run.
func recordsChanged(e Evidence) bool {
	pairs := readingPairs(e)
	for i := 1; i < len(pairs); i++ {
		if readingsDiffer(pairs[i-1], pairs[i]) {
			return true
		}
	}
	return false
}

// readingsDiffer reports whether some record is missing from both readings of one pair and present in both readings of the other pair.
func readingsDiffer(before, after [2]openapi.Reading) bool {
	onlyIn := func(here, there [2]openapi.Reading) bool {
		fresh := openapi.Missing(here[0].Items(), append(there[0].Items(), there[1].Items()...))
		return len(openapi.Missing(fresh, here[1].Items())) < len(fresh)
	}
	return onlyIn(after, before) || onlyIn(before, after)
}

// judgeSortedReadings judges the list in each order that was requested: it must have the same records.
func judgeSortedReadings(e Evidence, reference openapi.Reading, complete bool) []Judgement {
	var parts []Judgement
	for k := 1; ; k++ {
		rd, calls := readingOf(e, "sorted-"+strconv.Itoa(k))
		if len(calls) == 0 {
			return parts
		}
		if j, broken := findBrokenPage(e, calls); broken {
			parts = append(parts, j)
			continue
		}
		if !rd.Ended() || !complete {
			continue
		}
		sorted := clip(calls[0].Given["parameter"] + "=" + calls[0].Given["value"])
		lost := withoutRemoved(e, openapi.Missing(reference.Items(), rd.Items()))
		repeated := rd.Repeated()
		switch {
		case len(lost) > 0:
			j := Failed(fmt.Sprintf("with %s, %s of the list missing from its pages", sorted, evidence.Count(len(lost), "item")), "the same items in every order", quote(lost[0])+" on no page").
				Hinting("end every order with a unique member, such as the id, and let the cursor or the page hold it, too: records with equal values are lost where a page ends between them")
			for _, item := range lost {
				j = j.About(Subject{Name: "item " + quote(item), Label: calls[len(calls)-1].Label, Expected: "on a page", Got: "on no page"})
			}
			parts = append(parts, j.bounded().Seen(callLabels(calls)...))
		case len(repeated) > 0 && len(rd.Items()) > 0:
			j := Failed(fmt.Sprintf("with %s, %s on more than one page", sorted, evidence.Count(len(repeated), "item")), "each item on one page", quote(repeated[0])+" again")
			if len(openapi.Missing(rd.Items(), reference.Items())) > 0 { // the list has grown meanwhile
				j.Outcome = Warn
			}
			parts = append(parts, j.About(Subject{Name: "item " + quote(repeated[0]), Label: calls[len(calls)-1].Label, Expected: "on one page", Got: "on several"}).Seen(callLabels(calls)...))
		default:
			parts = append(parts, Passed(callLabels(calls)...))
		}
	}
}

// judgeEndOfReadings judges for PAG-04 whether the pages of a list that names its next page come to an end.
func judgeEndOfReadings(e Evidence) (j Judgement, judged bool) {
	var ended []evidence.Label
	for _, name := range []string{"small", "whole"} {
		rd, calls := readingOf(e, name)
		n := len(calls)
		if n < 2 || rd.Numbered {
			continue
		}
		last := calls[n-1]
		// A full first page that comes again as the second one is judged by findBrokenPage.
		if rd.Circles() && (n > 2 || !isFull(last, rd.Pages[0])) {
			return recheckReadings(e, expect(last, "a last page that names no next one").failed("the pages come again from the start: a client that follows them never ends", "a page that came before")), true
		}
		if rd.Ended() {
			ended = append(ended, last.Label)
		}
	}
	return Passed(ended...), len(ended) > 0
}

// findNamedEmptyPage finds an empty page that the page before it names, although the document says that no page is empty.
func findNamedEmptyPage(e Evidence) (j Judgement, found bool) {
	o, described := operation(e, e.Roles.List)
	for _, name := range readingNames(e) {
		rd, calls := readingOf(e, name)
		n := len(calls)
		if n < 2 || !described {
			continue
		}
		before, last, x := rd.Pages[n-2], rd.Pages[n-1], calls[n-1]
		if !last.Listed || len(last.Items) > 0 || len(before.Items) == 0 || before.Next() == "" || e.anyPageChanged(x.Label) || !e.Spec.ExcludesEmptyPages(o) {
			continue
		}
		return expect(x, "no next page on the last one, or items").failed("the last page names a next one, which is empty, and the document says that no page is empty", "an empty list").
			Hinting("read one record more than the page holds: only if it is there, name a next page").Seen(calls[n-2].Label), true
	}
	return Judgement{}, false
}
