package conduct

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

// placing tells whether a parameter of the name chooses a page, the network's own name first.
func placing(name string) bool {
	switch name {
	case "page[page]", "page[number]", "page[offset]", "page", "offset", "skip", "start", "pageNumber", "cursor":
		return true
	}
	return false
}

// sizing tells whether a parameter of the name says how many items a page has.
func sizing(name string) bool {
	switch name {
	case "page[size]", "page[limit]", "limit", "size", "pageSize", "per_page", "count", "top":
		return true
	}
	return false
}

// paged tells whether a request asks for one page of a list.
func paged(e *journal.Entry) bool {
	return !e.TryOut && e.Operation == journal.List && (parameter(e, placing) != "" || parameter(e, sizing) != "")
}

// placeOf is what chooses the page; empty for the first.
func placeOf(e *journal.Entry) string { return parameter(e, placing) }

// walks are the ways of a client through its lists, page by page: a walk has one node, the same filters and size of pages, and begins
// anew where the client goes back to the first page.
func walks(all requests) []requests {
	var found []requests
	for _, list := range all.where(paged).by(filters) {
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

// filters are what a list request asks for, without the place of the page.
func filters(e *journal.Entry) string {
	kept := []string{e.Node, e.Path}
	for part := range strings.SplitSeq(e.Query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if !placing(unescaped(name)) {
			kept = append(kept, part)
		}
	}
	slices.Sort(kept[2:])
	return strings.Join(kept, "&")
}

// beyond tells whether a page lies behind the end of its list.
func beyond(e *journal.Entry) bool { return e.Page != nil && e.Page.Items == 0 && e.Page.Start > 0 }
