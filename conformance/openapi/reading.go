package openapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
)

// A ListPage is one page of a list with what it says about the rest of the list.
type ListPage struct {
	Listed bool // the answer was a list
	Items  []string
	// Cursor and Link lead to the next page: a cursor of the envelope or a header field, and the target of a link as written.
	Cursor, Link string
	Total        int // the number of items that the list says it has, or -1
	// Partial reports that more items may follow: under an unknown name the envelope has a number larger than that of its items, or a link with a query.
	Partial bool
}

// Next returns the link, cursor or number of the next page, or "".
func (s ListPage) Next() string { return cmp.Or(s.Cursor, s.Link) }

// ReadListPage reads an answer; ok reports whether its status was 2xx.
func ReadListPage(header http.Header, body []byte, ok bool) ListPage {
	list, listed := ReadList(body)
	if !ok || !listed {
		return ListPage{Total: -1}
	}
	return ListPageOf(header, body, list.Items, Identities(list.Items))
}

// ListPageOf is [ReadListPage] for a list whose items and their identities were read before.
func ListPageOf(header http.Header, body []byte, items [][]byte, identities []string) ListPage {
	s := ListPage{Listed: true, Items: identities, Total: -1}
	if total, _, named := Total(header, body); named {
		s.Total = total
	}
	s.Cursor, s.Link = nextCursor(header, body), nextLink(header, body, items)
	s.Partial = s.Total < 0 && s.Next() == "" && hintsAtMore(body, len(items))
	return s
}

// hintsAtMore reports whether an envelope with so many items holds a larger number, or a link with a query, that is not one of the known relations.
func hintsAtMore(body []byte, items int) bool {
	if FirstByte(body) != '{' || items == 0 {
		return false
	}
	for name, value := range Object(body) {
		if slices.Contains(relations(), pagingName(name)) {
			continue
		}
		switch FirstByte(value) {
		case '"':
			if text := stringOf(value); isReference(text) && strings.Contains(text, "?") {
				return true
			}
		case '[', '{', 't', 'f', 'n':
		default:
			if n, err := strconv.Atoi(strings.TrimSpace(string(value))); err == nil && n > items {
				return true
			}
		}
	}
	return false
}

// A Reading is a list that is read page by page to its end.
type Reading struct {
	// Numbered reports that pages are asked for by number, so that no page needs to name the next one.
	Numbered bool
	Pages    []ListPage
}

// More reports whether a further page must be asked for.
func (r Reading) More() bool {
	n := len(r.Pages)
	if n == 0 {
		return true
	}
	last := r.Pages[n-1]
	switch {
	case !last.Listed || r.Circles():
		return false
	case slices.ContainsFunc(r.Pages, func(s ListPage) bool { return s.Next() != "" }):
		return last.Next() != ""
	case !r.Numbered || len(last.Items) == 0 || n > 1 && len(last.Items) < len(r.Pages[0].Items):
		return false
	}
	most := -1 // what one page says of the total may be wrong, and must not end the reading
	for _, s := range r.Pages {
		most = max(most, s.Total)
	}
	return most < 0 || len(r.Items()) < most
}

// Circles reports whether the last page is one that came before, or names as next what an earlier one named: the reading would never end.
func (r Reading) Circles() bool {
	n := len(r.Pages)
	if n < 2 {
		return false
	}
	last := r.Pages[n-1]
	return slices.ContainsFunc(r.Pages[:n-1], func(s ListPage) bool {
		same := s.Next() != "" && s.Next() == last.Next() && !strings.Contains(s.Next(), redact.MarkerStart) // in evidence, markers of secrets are alike
		return same || len(s.Items) > 0 && slices.Equal(s.Items, last.Items)
	})
}

// Ended reports whether the last page is the end of the list.
func (r Reading) Ended() bool {
	n := len(r.Pages)
	return n > 0 && r.Pages[n-1].Listed && !r.More() && !r.Circles() && (n > 1 || r.Numbered || !r.Pages[0].Partial)
}

// Items lists the items of all pages.
func (r Reading) Items() []string {
	var out []string
	for _, s := range r.Pages {
		out = append(out, s.Items...)
	}
	return out
}

// Repeated lists the items that are on more than one page, each once.
func (r Reading) Repeated() []string {
	pageOf := map[string]int{}
	var out []string
	listPages := r.Pages
	if r.Circles() {
		listPages = listPages[:len(listPages)-1] // the repetition of a whole page is another fault
	}
	for n, s := range listPages {
		for _, item := range s.Items {
			if before, known := pageOf[item]; known && before != n && !slices.Contains(out, item) {
				out = append(out, item)
			}
			pageOf[item] = n
		}
	}
	return out
}

// nextCursor returns the cursor with which an answer names its next page, or "".
func nextCursor(header http.Header, body []byte) string {
	for _, name := range []string{"X-Next-Cursor", "Next-Cursor", "X-Next-Page-Token", "X-Continuation-Token"} {
		if value := header.Get(name); value != "" {
			return value
		}
	}
	if FirstByte(body) != '{' {
		return ""
	}
	envelope := Object(body)
	holders := []map[string][]byte{envelope}
	for name, value := range envelope {
		switch pagingName(name) {
		case "meta", "metadata", "pagination", "paging", "page", "pageinfo", "links", "cursor", "cursors", "responsemetadata":
			if FirstByte(value) == '{' {
				inner := Object(value)
				holders = append(holders, inner)
				if FirstByte(inner["cursors"]) == '{' {
					holders = append(holders, Object(inner["cursors"]))
				}
			}
		}
	}
	for _, holder := range holders {
		for _, name := range sortedKeys(holder) {
			switch pagingName(name) {
			case "hasmore", "hasnext", "hasnextpage", "more":
				if string(holder[name]) == "false" {
					return ""
				}
			}
		}
		for _, name := range sortedKeys(holder) {
			switch pagingName(name) {
			case "nextcursor", "next", "nextpagetoken", "nexttoken", "continuation", "continuationtoken", "endcursor", "cursornext", "nextpagecursor", "scrollid", "after", "nextmarker", "nextafter":
				if text, ok := scalar(holder[name]); ok && text != "" && text != "false" && text != "true" && (!isReference(text) || isOpaqueCursor(name, text)) {
					return text
				}
			}
		}
	}
	return ""
}

// isOpaqueCursor reports whether a text is a cursor that only resembles a path: base64 begins with a slash once in 64 times.
func isOpaqueCursor(name, text string) bool {
	joined := pagingName(name)
	named := strings.Contains(joined, "cursor") || strings.Contains(joined, "token")
	return named && !strings.ContainsAny(text, "?:#&%.")
}

// nextLink returns the target of the relation next in an answer with these items, or "".
func nextLink(header http.Header, body []byte, items [][]byte) string {
	links, _ := evidence.ParseLinks(header.Values("Link")) // links before a fault count
	for _, l := range links {
		if slices.Contains(l.Relations(), "next") && !l.IsPage() {
			return l.Target
		}
	}
	for _, l := range References(body, items) {
		if l.Relation == "next" {
			return l.Target
		}
	}
	return ""
}

// Total returns the number of items that a list says it has, in a header field or in its envelope, and where it says so. Counts of the page alone
// are left out.
func Total(header http.Header, text []byte) (total int, place string, ok bool) {
	for _, name := range []string{"X-Total-Count", "X-Total", "Total-Count", "X-Total-Items", "X-Total-Results", "X-Pagination-Total-Count"} {
		if values := header.Values(name); len(values) == 1 {
			if n, err := strconv.Atoi(strings.TrimSpace(values[0])); err == nil {
				return n, name, true
			}
		}
	}
	if unit, rest, _ := strings.Cut(header.Get("Content-Range"), " "); unit != "" && unit != "bytes" { // items 0-9/97
		if _, all, is := strings.Cut(rest, "/"); is {
			if n, err := strconv.Atoi(strings.TrimSpace(all)); err == nil {
				return n, "Content-Range", true
			}
		}
	}
	if FirstByte(text) != '{' {
		return 0, "", false
	}
	envelope := Object(text)
	holders := append([]string{""}, pageHolders()...)
	for _, holder := range holders {
		object, path := envelope, "$"
		if holder != "" {
			object, path = Object(envelope[holder]), "$."+holder
		}
		names := []string{"totalelements", "totalitems", "totalcount", "totalresults", "total", "totalrecords", "totalhits", "recordstotal", "hydratotalitems", "numbermatched"}
		if _, django := object["results"]; django {
			names = append(names, "count")
		}
		for _, wanted := range names {
			for _, name := range sortedKeys(object) {
				if pagingName(name) != wanted {
					continue // the error of Atoi would copy a whole list
				}
				if n, err := strconv.Atoi(string(object[name])); err == nil && n >= 0 {
					return n, path + "." + name, true
				}
			}
		}
	}
	return 0, "", false
}

// ReadingFaults are the differences between two readings of one list.
type ReadingFaults struct {
	Repeated []string // on more than one page of the second
	Lost     []string // in the first only, although both came to the end
	Extra    []string // in the second only, likewise
}

// Empty reports whether the readings agree.
func (f ReadingFaults) Empty() bool { return len(f.Repeated)+len(f.Lost)+len(f.Extra) == 0 }

// Against compares another reading of the same list with this one.
func (r Reading) Against(other Reading) ReadingFaults {
	f := ReadingFaults{Repeated: other.Repeated()}
	if r.Ended() && other.Ended() {
		f.Lost, f.Extra = Missing(r.Items(), other.Items()), Missing(other.Items(), r.Items())
	}
	return f
}

// Missing lists the items that the others lack, each once.
func Missing(items, others []string) []string {
	known := map[string]bool{}
	for _, item := range others {
		known[item] = true
	}
	var out []string
	for _, item := range items {
		if !known[item] {
			known[item] = true
			out = append(out, item)
		}
	}
	return out
}
