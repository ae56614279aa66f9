package conduct

import (
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

// The parameters that choose a page, as the network's client sends them.
const pageParameter, sizeParameter = "page[page]", "page[size]"

// paged tells whether a request asks for one page of a list.
func paged(e journal.Entry) bool {
	return !e.TryOut && e.Operation == journal.List && (parameter(e, pageParameter) != "" || parameter(e, sizeParameter) != "")
}

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

func first(e journal.Entry) bool {
	page := parameter(e, pageParameter)
	return page == "" || page == "0"
}

// filters are what a list request asks for, without the place of the page.
func filters(e journal.Entry) string {
	kept := []string{e.Node, e.Path}
	for part := range strings.SplitSeq(e.Query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err != nil || plain != pageParameter {
			kept = append(kept, part)
		}
	}
	slices.Sort(kept[2:])
	return strings.Join(kept, "&")
}

// beyond tells whether a page lies behind the end of its list.
func beyond(e journal.Entry) bool { return e.Page != nil && e.Page.Items == 0 && e.Page.Start > 0 }
