package clientrules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

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
			Fix:     "stop when the Link header has no rel=\"next\", or when a page has fewer items than requested",
			check:   overruns,
		},
		{
			ID: "CLT-25", Level: Fault, Title: "Reading a list comes to an end",
			Sources: []Source{practice("a node that ignores paging sends its client into an endless loop")},
			Why:     "A client that waits for an empty page reads the same items again and again when the node ignores page[page], and imports each item many times.",
			Fix:     "stop when a page has no new ids, and never read past an empty page",
			check:   endlessReads,
		},
		{
			ID: "CLT-26", Level: Note, Title: "A list is read to its end",
			Sources: []Source{rfc(8288, "3")},
			Why:     "There were more pages, and nothing had failed. This is right if the client shows a part on purpose.",
			Fix:     "follow rel=\"next\" of the Link header until it is absent; an empty or short page does not prove the end",
			check:   unfinishedReads,
		},
	}
}

// isTemporary reports whether a request failed in a way that a retry may mend.
func isTemporary(e *journal.Entry) bool {
	return e.Status == 429 || e.Status >= 500 || e.Cut || isTokenRefused(e)
}

// lostPages finds requests that failed in the middle of a list, and that the client did not repeat with success.
func lostPages(all requests) []Sighting {
	var seen []Sighting
	for _, walk := range walks(all) {
		begun := false
		for i, e := range walk {
			if begun && isTemporary(e) && !walk[i+1:].hasServedRetry(e) {
				seen = append(seen, Sighting{fmt.Sprintf("%s failed (%s) in the middle of a list and was not read again", call(e), failure(e)), []*journal.Entry{e}})
				break
			}
			begun = begun || isServed(e)
		}
	}
	return seen
}

// hasServedRetry reports whether one of the requests, which are later than e, repeats e and was served.
func (all requests) hasServedRetry(e *journal.Entry) bool {
	for _, later := range all {
		if subject(e) == subject(later) && isServed(later) {
			return true
		}
	}
	return false
}

// failure returns the status of a failed request, or says that its answer was incomplete.
func failure(e *journal.Entry) string {
	if e.Cut {
		return "the answer was cut off"
	}
	return fmt.Sprint(e.Status)
}

// overruns finds requests for a page past the end that the client sent although the page before it had no rel="next".
func overruns(all requests) []Sighting {
	var seen []Sighting
	for _, walk := range walks(all) {
		for i, e := range walk[:max(len(walk)-1, 0)] {
			next := walk[i+1]
			// A deviation may have hidden the end of the list from the client.
			ended := isServed(e) && e.Page != nil && !e.Page.Next && len(e.Deviations) == 0
			if ended && isServed(next) && isPastEnd(next) && after(e, next) {
				seen = append(seen, Sighting{call(next) + " is past the end; the page before it had no rel=\"next\"", []*journal.Entry{next, e}})
			}
		}
	}
	return seen
}

// endlessReads finds rows of pages that brought nothing new: empty ones past the end, or the same page again and again.
func endlessReads(all requests) []Sighting {
	var seen []Sighting
	for _, walk := range walks(all) {
		bringsNothing := func(before, e *journal.Entry) bool {
			if isPastEnd(e) {
				return isPastEnd(before)
			}
			samePage := *before.Page == *e.Page
			if placeOf(before) == placeOf(e) { // after a longer pause, the client polls the page
				return samePage && after(before, e) && e.Time.Sub(before.Ended) < time.Second
			}
			return samePage
		}
		for _, row := range walk.runs(func(e *journal.Entry) bool { return isServed(e) && e.Page != nil && e.Method == "GET" }, bringsNothing) {
			if len(row) > habitual {
				seen = append(seen, Sighting{fmt.Sprintf("%d pages in a row brought nothing new, from %s on", len(row), call(row[0])), row})
			}
		}
	}
	return seen
}

// unfinishedReads finds lists of which the client read several pages, but not the last.
func unfinishedReads(all requests) []Sighting {
	var seen []Sighting
	for _, walk := range walks(all) {
		last := walk[len(walk)-1]
		pages := walk.where(func(e *journal.Entry) bool { return isServed(e) && e.Page != nil }).by(placeOf)
		if len(pages) > 1 && isServed(last) && last.Page != nil && last.Page.Next && last.Page.Items > 0 {
			seen = append(seen, Sighting{fmt.Sprintf("%d pages were read, the last had a rel=\"next\"", len(pages)), []*journal.Entry{last}})
		}
	}
	return seen
}

// isPlaceParameter reports whether a query parameter of this name chooses a page. The network's own name comes first.
func isPlaceParameter(name string) bool {
	return slices.Contains([]string{"page[page]", "page[number]", "page[offset]", "page", "offset", "skip", "start", "pageNumber", "cursor"}, name)
}

// isSizeParameter reports whether a query parameter of this name sets the page size.
func isSizeParameter(name string) bool {
	return slices.Contains([]string{"page[size]", "page[limit]", "limit", "size", "pageSize", "per_page", "count", "top"}, name)
}

// isPaged reports whether a request asks for one page of a list.
func isPaged(e *journal.Entry) bool {
	return !e.TryOut && e.Operation == journal.List && (parameter(e, isPlaceParameter) != "" || parameter(e, isSizeParameter) != "")
}

// placeOf returns the value of the parameter that chooses the page; "" means the first page.
func placeOf(e *journal.Entry) string { return parameter(e, isPlaceParameter) }

// walks groups the list requests into walks. A walk reads one list page by page: its requests have the same node, filters and page size. It ends where
// the client goes back to the first page.
func walks(all requests) []requests {
	var found []requests
	for _, list := range all.where(isPaged).by(listKey) {
		var walk requests
		for _, e := range list {
			if len(walk) > 0 && isFirstPage(e) && !isFirstPage(walk[len(walk)-1]) {
				found = append(found, walk)
				walk = nil
			}
			walk = append(walk, e)
		}
		found = append(found, walk)
	}
	return found
}

// isFirstPage reports whether a request was for the first page of its list.
func isFirstPage(e *journal.Entry) bool {
	if e.Page != nil {
		return e.Page.Start == 0
	}
	place := placeOf(e)
	return place == "" || place == "0"
}

// listKey identifies what a list request reads: its node, path and query, without the place of the page.
func listKey(e *journal.Entry) string {
	kept := []string{e.Node, e.Path}
	for part := range strings.SplitSeq(e.Query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if !isPlaceParameter(unescaped(name)) {
			kept = append(kept, part)
		}
	}
	slices.Sort(kept[2:])
	return strings.Join(kept, "&")
}

// isPastEnd reports whether a page is past the end of its list.
func isPastEnd(e *journal.Entry) bool { return e.Page != nil && e.Page.Items == 0 && e.Page.Start > 0 }
