package clientrules

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// pagingRules returns the rules about reading a list page by page.
func pagingRules() []Rule {
	return []Rule{
		{
			ID: "CLT-23", Level: Fault, Title: "A page that failed is not the end of the list",
			Sources: []Source{practice("its client swallows errors, so that a failed page looks like the end of the list"), rfc(9110, "15.6.4")},
			Why:     "All later items are missing, and nobody notices: the import looks complete.",
			Fix:     "repeat the page after a pause (or with a new token after 401); if that fails, too, treat the whole read as failed",
			check:   lostPages,
		},
		{
			ID: "CLT-24", Level: Waste, Title: "Reading ends with the last page",
			Sources: []Source{rfc(8288, "3"), practice("its client asks for pages until one is empty")},
			Why:     "A page past the end costs a request each time; a node that ignores paging never has an empty page, so that reading never ends.",
			Fix:     "follow rel=\"next\" until it is absent; only at a node without links request further pages until one is empty, because a short page does not prove the end",
			check:   overruns,
		},
		{
			ID: "CLT-25", Level: Fault, Title: "A client stops when pages bring nothing new",
			Sources: []Source{practice("a node that ignores paging sends its client into an endless loop")},
			Why:     "A client that waits for an empty page reads the same items again and again when the node ignores page[page], and imports each item many times.",
			Fix:     "stop when a page has no new ids; without links stop at the first empty page, with links at the page without rel=\"next\"",
			check:   endlessReads,
		},
		{
			ID: "CLT-26", Level: Fault, Title: "A list is read to its end",
			Sources: []Source{rfc(8288, "3")},
			Why:     "There were more pages, and nothing had failed: all later items are missing, and nobody notices.",
			Fix:     "follow rel=\"next\" of the Link header until it is absent; an empty or short page with a rel=\"next\" is not the end; a client that wants only the first records follows it until it has them",
			check:   unfinishedReads,
		},
	}
}

// isTemporary reports whether a request failed and a retry may succeed.
func isTemporary(e *request) bool {
	return e.Status == 429 || e.Status >= 500 || e.Cut || e.Spoilt || isTokenRefused(e)
}

// lostPages finds requests that failed in the middle of a list, and that the client did not repeat with success.
func lostPages(all history) []Sighting {
	var seen []Sighting
	for i, walk := range all.walks {
		if e := walk.lostPage(); e != nil && !walk.isGivenUp(e) && !all.isRestarted(i) {
			seen = append(seen, Sighting{fmt.Sprintf("%s failed (%s) in the middle of a list and was not read again", requestLine(e), failure(e)), []*request{e}})
		}
	}
	return seen
}

// isGivenUp reports whether the client ended a list at a page that had failed several times. Such a client may have reported the failure; the journal does
// not show whether it did.
func (walk requests) isGivenUp(failed *request) bool {
	attempts := 0
	for _, e := range walk {
		switch {
		case e.subject == failed.subject:
			attempts++
		case follows(failed, e):
			return false
		}
	}
	return attempts >= habitLength
}

// isRestarted reports whether the walk at index i ended with a failure, and the client then, within a minute, read the list again from its beginning to
// a place after the failed page. Such a client did not take the failure for the end of the list.
func (all history) isRestarted(i int) bool {
	if i+1 == len(all.walks) {
		return false
	}
	walk, again := all.walks[i], all.walks[i+1] // the walks of a list are in a row
	last, first := walk[len(walk)-1], again[0]
	return isTemporary(last) && first.list == last.list && first.Time.Sub(last.Ended) < time.Minute && append(requests{last}, again...).isReadAgain(0)
}

// lostPage returns the first request of a walk that failed and was not read again; nil without one.
func (walk requests) lostPage() *request {
	lastServed := -1 // the index of the last page other than the first one
	for i, e := range walk {
		if isServed(e) && !isFirstPage(e) {
			lastServed = i
		}
	}
	begun := false
	for i, e := range walk {
		// The first page is in the middle, too, when the client went on to others.
		if isTemporary(e) && (begun || i < lastServed) && !walk.isReadAgain(i) {
			return e
		}
		begun = begun || isServed(e)
	}
	return nil
}

// isReadAgain reports whether later requests of the walk brought the records of the failed request at index i, in one page or in several smaller ones.
func (walk requests) isReadAgain(i int) bool {
	failed := walk[i]
	if slices.ContainsFunc(walk[i+1:], func(e *request) bool { return e.subject == failed.subject && isServed(e) }) {
		return true
	}
	start, known := walk.startOf(failed)
	size, err := strconv.Atoi(cmp.Or(failed.size, strconv.Itoa(wholeList)))
	if !known || err != nil {
		return false
	}
	read := start
	for _, e := range walk[i+1:].sortedPages(isServedPage) {
		if e.Page.Start > read {
			return false
		}
		read = max(read, e.Page.Start+e.Page.Items)
		if read >= start+size || !e.Page.Next {
			return true
		}
	}
	return false
}

// wholeList is the page size of a request without one: its records are read again when the end of the list is read.
const wholeList = math.MaxInt32

// startOf returns the number of items before the page that a request asked for; known is false if it cannot be found. If the request failed, the other
// pages of the walk show whether the parameter counts items or pages.
func (walk requests) startOf(e *request) (start int, known bool) {
	if e.Page != nil {
		return e.Page.Start, true
	}
	number, err := strconv.Atoi(cmp.Or(e.position, "0"))
	if err != nil {
		return 0, false
	}
	size, _ := strconv.Atoi(e.size)
	for _, other := range walk {
		at, err := strconv.Atoi(other.position)
		if other.Page == nil || err != nil || other.Page.Start == 0 {
			continue
		}
		switch other.Page.Start {
		case at: // the parameter counts items
			return number, true
		case at * other.Page.Size: // it counts pages from 0
			return number * size, true
		case (at - 1) * other.Page.Size: // it counts pages from 1
			return (number - 1) * size, true
		}
	}
	return 0, number == 0
}

// UnreadRequests describes the requests for records that failed or were redirected, and whose records no later request read. A client that ends with
// success in spite of them has lost records.
func UnreadRequests(record journal.Record) []string {
	out := lostRedirects(record)
	for _, all := range attribute(record.Entries) {
		for _, list := range groupBy(all.filter(readsRecords), listOf) {
			for i, e := range list {
				got := slices.ContainsFunc(list, func(other *request) bool {
					isGone := (other.Status == 404 || other.Status == 410) && follows(e, other) // the resource was deleted
					return other.subject == e.subject && (isServed(other) || isGone)
				})
				if isTemporary(e) && !got && !list.isReadAgain(i) {
					out = append(out, fmt.Sprintf("%s failed (%s) and was not read again", requestLine(e), failure(e)))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// readsRecords reports whether a request reads a list, one record, or another resource of a described API.
func readsRecords(e *request) bool {
	return e.Method == "GET" && slices.Contains([]journal.Operation{journal.List, journal.Detail, journal.Call}, e.Operation)
}

// failure returns the status of a failed request, or says that its answer was incomplete.
func failure(e *request) string {
	if e.Cut {
		return "the answer was cut off"
	}
	if e.Spoilt {
		return "the body was not complete JSON"
	}
	return fmt.Sprint(e.Status)
}

// overruns finds requests for a page past the end that the client sent although the page before it had no rel="next", and the requests of a program that
// reads far more pages at a time than the list has.
func overruns(all history) []Sighting {
	seen := all.guessedPages(isFarTooMany)
	for _, walk := range all.walks {
		// A node without links shows its end only by an empty page.
		if !slices.ContainsFunc(walk, func(e *request) bool { return isServedPage(e) && e.Page.Next && len(e.Deviations) == 0 }) {
			continue
		}
		for i, e := range walk[:max(len(walk)-1, 0)] {
			next := walk[i+1]
			// A deviation may have hidden the end of the list from the client.
			ended := isServedPage(e) && !e.Page.Next && len(e.Deviations) == 0
			if ended && isServed(next) && isPastEnd(next) && mayReact(e, next) {
				seen = append(seen, Sighting{requestLine(next) + " is past the end; the page before it had no rel=\"next\"", []*request{next, e}})
			}
		}
	}
	return seen
}

// endlessReads finds runs of requests that brought nothing new: empty pages past the end, or the same page again and again.
func endlessReads(all history) []Sighting {
	var seen []Sighting
	for _, walk := range all.walks {
		for run := range walk.runs(func(e *request) bool { return isServedPage(e) && e.Method == "GET" }, bringsNothingNew) {
			if len(run) > habitLength {
				seen = append(seen, Sighting{fmt.Sprintf("%d pages in a row brought nothing new, from %s on", len(run), requestLine(run[0])), run})
			}
		}
	}
	return seen
}

// bringsNothingNew reports whether a page repeats the page before it.
func bringsNothingNew(before, e *request) bool {
	if !mayReact(before, e) {
		return false
	}
	if isPastEnd(e) {
		return isPastEnd(before)
	}
	samePage := *before.Page == *e.Page
	if before.position == e.position { // the same request again: answered 304, or after a longer pause, it is polling, which is allowed
		return samePage && e.Status != http.StatusNotModified && e.Time.Sub(before.Ended) < time.Second
	}
	return samePage
}

// unfinishedReads finds lists of which the client read several pages, but not the last, and lists that it left at a page with fewer records than it asked
// for. A client that always reads only the first page, even when that page is full, wants only the beginning of the list; so does one with a quota.
func unfinishedReads(all history) []Sighting {
	var seen []Sighting
	previewed := all.previewedLists()
	for i, walk := range all.walks {
		last := walk[len(walk)-1]
		if previewed[last.list] || walk.hasEnough(all.aims.previews[listName(last)]) || walk.hasEnough(all.aims.quotas[movedListName(last)]) {
			continue
		}
		// Pages that are read in parallel come in any order, so that each may be the one without a link.
		ended := walk.has(isLastPage)
		if ended || !isServed(last) || last.Page == nil || walk.lostPage() != nil {
			continue
		}
		switch pages := groupBy(walk.filter(isServedPage), positionOf); {
		case last.Page.Items > 0 && last.Page.Items < last.Page.Size && len(last.Deviations) > 0:
			seen = append(seen, Sighting{fmt.Sprintf("%s brought %d of %d records and had a rel=\"next\", and nothing was read after it", requestLine(last),
				last.Page.Items, last.Page.Size), []*request{last}})
		case last.Page.Items == 0:
			seen = append(seen, Sighting{requestLine(last) + " was empty and had a rel=\"next\", and nothing was read after it", []*request{last}})
		case len(pages) > 1 && !all.isReadLater(i):
			seen = append(seen, Sighting{fmt.Sprintf("%d pages were read, the last had a rel=\"next\"", len(pages)), []*request{last}})
		case all.aims.fullLists[listName(last)] && !all.isReadLater(i):
			seen = append(seen, Sighting{requestLine(last) + " had a rel=\"next\", and nothing was read after it, although the program reads the whole list at a node without faults", []*request{last}})
		}
	}
	return seen
}

// isReadLater reports whether a client began the list of the walk at index i again within a minute and read it to its end. That is another process with
// the same credentials, or a process that was started again.
func (all history) isReadLater(i int) bool {
	walk := all.walks[i]
	for _, later := range all.walks[i+1:] {
		if later[0].list != walk[0].list || later[0].Time.Sub(walk[len(walk)-1].Ended) >= time.Minute {
			return false // the walks of a list are in a row
		}
		if later.has(isLastPage) {
			return true
		}
	}
	return false
}

// isPositionParameter reports whether a query parameter of this name chooses a page. The network's own name comes first.
func isPositionParameter(name string) bool {
	return slices.Contains([]string{"page[page]", "page[number]", "page[offset]", "page", "offset", "skip", "start", "pageNumber", "cursor"}, name)
}

// isSizeParameter reports whether a query parameter of this name sets the page size.
func isSizeParameter(name string) bool {
	return slices.Contains([]string{"page[size]", "page[limit]", "limit", "size", "pageSize", "per_page", "count", "top"}, name)
}

// isPaged reports whether a request asks for one page of a list.
func isPaged(e *request) bool {
	return !e.TryOut && e.Operation == journal.List && (e.position != "" || e.size != "")
}

// walks groups the list requests into walks. A walk reads one list page by page. Its requests have the same node and filters; the page size may
// change, because a client may read a failed page again in smaller parts. A new walk begins when the client goes back to the first page.
func walks(all requests) []requests {
	var found []requests
	for _, list := range groupBy(all.filter(isPaged), listOf) {
		first := 0
		for i, e := range list {
			if list[first:i].isRestartedBy(e) {
				found = append(found, list[first:i:i])
				first = i
			}
		}
		found = append(found, list[first:])
	}
	return found
}

// isRestartedBy reports whether a request goes back to the first page.
func (walk requests) isRestartedBy(e *request) bool {
	if len(walk) == 0 {
		return false
	}
	last := walk[len(walk)-1]
	return isFirstPage(e) && !isFirstPage(last) && mayReact(last, e) && walk.hasServedFirstPage()
}

// hasServedFirstPage reports whether the first page is among the pages that the client got. Pages that are read in parallel come in any order.
func (all requests) hasServedFirstPage() bool {
	return slices.ContainsFunc(all, func(e *request) bool { return isServed(e) && isFirstPage(e) })
}

// isServedPage reports whether a request got a page of a list.
func isServedPage(e *request) bool { return isServed(e) && e.Page != nil }

// isLastPage reports whether a request got the last page of its list.
func isLastPage(e *request) bool { return isServedPage(e) && !e.Page.Next }

// isFirstPage reports whether a request was for the first page of its list.
func isFirstPage(e *request) bool {
	if e.Page != nil {
		return e.Page.Start == 0
	}
	return e.position == "" || e.position == "0"
}

// isPastEnd reports whether a page is past the end of its list.
func isPastEnd(e *request) bool {
	return e.Page != nil && e.Page.Items == 0 && e.Page.Start > 0 && !e.Page.Next
}
