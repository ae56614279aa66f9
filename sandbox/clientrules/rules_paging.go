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
			Sources: []Source{practice("a node that ignores paging sends its client round for ever")},
			Why:     "A client that waits for an empty page reads the same items again and again when the node ignores page[page], and imports each item many times.",
			Fix:     "stop when a page has no new ids, and never read past an empty page",
			check:   endless,
		},
		{
			ID: "CLT-26", Level: Note, Title: "A list is read to its end",
			Sources: []Source{rfc(8288, "3")},
			Why:     "There were more pages, and nothing had failed. This is right if the client shows a part on purpose.",
			Fix:     "follow rel=\"next\" of the Link header until it is absent; an empty or short page does not prove the end",
			check:   unfinished,
		},
	}
}

// isTemporary reports whether a request failed in a way that a repetition may not.
func isTemporary(e *journal.Entry) bool {
	return e.Status == 429 || e.Status >= 500 || e.Cut || isExpired(e)
}

func lostPages(all requests) []Sighting {
	var seen []Sighting
	for _, walk := range walks(all) {
		begun := false
		for i, e := range walk {
			if begun && isTemporary(e) && !walk[i+1:].answers(e) {
				seen = append(seen, Sighting{fmt.Sprintf("%s failed (%s) in the middle of a list and was not read again", call(e), failure(e)), []*journal.Entry{e}})
				break
			}
			begun = begun || isServed(e)
		}
	}
	return seen
}

// answers reports whether a later request for the same thing was served.
func (all requests) answers(e *journal.Entry) bool {
	for _, later := range all {
		if subject(e) == subject(later) && isServed(later) {
			return true
		}
	}
	return false
}

func failure(e *journal.Entry) string {
	if e.Cut {
		return "the answer was cut"
	}
	return fmt.Sprint(e.Status)
}

func overruns(all requests) []Sighting {
	var seen []Sighting
	for _, walk := range walks(all) {
		for i, e := range walk[:max(len(walk)-1, 0)] {
			next := walk[i+1]
			// A deviation may have hidden the end of the list from the client.
			ended := isServed(e) && e.Page != nil && !e.Page.Next && len(e.Deviations) == 0
			if ended && isServed(next) && isPastEnd(next) && after(e, next) {
				seen = append(seen, Sighting{call(next) + " lies behind the end; the page before had no rel=\"next\"", []*journal.Entry{next, e}})
			}
		}
	}
	return seen
}

func endless(all requests) []Sighting {
	var seen []Sighting
	for _, walk := range walks(all) {
		onwards := func(before, e *journal.Entry) bool {
			if isPastEnd(e) {
				return isPastEnd(before)
			}
			same := *before.Page == *e.Page
			if placeOf(before) == placeOf(e) {
				return same && after(before, e) && e.Time.Sub(before.Ended) < time.Second
			}
			return same
		}
		for _, row := range walk.runs(func(e *journal.Entry) bool { return isServed(e) && e.Page != nil && e.Method == "GET" }, onwards) {
			if len(row) > enough {
				seen = append(seen, Sighting{fmt.Sprintf("%d pages in a row brought nothing new, from %s on", len(row), call(row[0])), row})
			}
		}
	}
	return seen
}

func unfinished(all requests) []Sighting {
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

// isPlaceParameter reports whether a parameter of the name chooses a page, the network's own name first.
func isPlaceParameter(name string) bool {
	switch name {
	case "page[page]", "page[number]", "page[offset]", "page", "offset", "skip", "start", "pageNumber", "cursor":
		return true
	}
	return false
}

// isSizeParameter reports whether a parameter of the name sets the size of pages.
func isSizeParameter(name string) bool {
	switch name {
	case "page[size]", "page[limit]", "limit", "size", "pageSize", "per_page", "count", "top":
		return true
	}
	return false
}

// isPaged reports whether a request asks for one page of a list.
func isPaged(e *journal.Entry) bool {
	return !e.TryOut && e.Operation == journal.List && (parameter(e, isPlaceParameter) != "" || parameter(e, isSizeParameter) != "")
}

// placeOf returns the parameter that chooses the page; "" for the first.
func placeOf(e *journal.Entry) string { return parameter(e, isPlaceParameter) }

// walks divides the list requests into walks through a list, page by page: a walk has one node, the same filters and page size, and ends where the
// client goes back to the first page.
func walks(all requests) []requests {
	var found []requests
	for _, list := range all.where(isPaged).by(filters) {
		var walk requests
		for _, e := range list {
			if len(walk) > 0 && first(e) && !first(walk[len(walk)-1]) {
				found = append(found, walk)
				walk = nil
			}
			walk = append(walk, e)
		}
		found = append(found, walk)
	}
	return found
}

func first(e *journal.Entry) bool {
	if e.Page != nil {
		return e.Page.Start == 0
	}
	place := placeOf(e)
	return place == "" || place == "0"
}

// filters returns the query of a list request without the place of the page.
func filters(e *journal.Entry) string {
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
