package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/mockapi"
)

// pageSize is the requested page size if the pages of the node are smaller by default.
const pageSize = 100

// list reads a list to its end: it follows the links to the next page; without links it requests further pages until one is empty.
func (c *crawl) list(ctx context.Context, op mockapi.ReadOperation, request Request, key string) error {
	o := c.recording.operation(op.Operation)
	w := walk{crawl: c, op: op, list: &mockapi.RecordedList{}, seen: map[string]int{}}
	request = w.first(request)
	for page := 0; ; page++ {
		answer, err := c.fetch(ctx, request)
		if errors.Is(err, ErrOrigin) {
			w.cut(fmt.Sprintf("cut after %d records: %v (--allow-origin)", len(w.list.Items), err))
			break
		}
		if errors.Is(err, ErrBudget) && page > 0 {
			w.cut(fmt.Sprintf("cut at %d records: %s", len(w.list.Items), err))
			c.exhausted = true
			break
		}
		if err != nil {
			return err
		}
		value, reason := read(op, answer)
		if reason != "" {
			if page > 0 && w.isPastEnd(answer.Status) {
				break
			}
			if page > 0 {
				w.cut(fmt.Sprintf("cut at %d records: on page %d %s", len(w.list.Items), page+1, reason))
				break
			}
			c.recording.note(op.Operation, "not recorded: "+reason)
			return nil
		}
		items, member, rest, ok := op.Split(value)
		if page == 0 {
			c.keepHeader(op, key, answer.Header)
		}
		if !ok {
			if page == 0 {
				o.Answers[key] = value
				c.check(op, op.Check(value))
				c.recording.note(op.Operation, "the answer is not a list in JSON: it is replayed as it was, without further pages")
				return nil
			}
			w.cut(fmt.Sprintf("cut at %d records: page %d is not a list", len(w.list.Items), page+1))
			break
		}
		if page == 0 {
			w.list.Member, w.list.Rest = member, rest
		}
		fresh := w.add(items)
		c.progress(op.Operation, o.Records()+len(w.list.Items))
		if len(w.list.Items) >= c.recording.Limits.Records {
			w.list.Items = w.list.Items[:c.recording.Limits.Records]
			w.cut(fmt.Sprintf("cut at %d records (--max-records)", c.recording.Limits.Records))
			break
		}
		next, hasNext := w.next(request, answer, value, items, fresh)
		if !hasNext {
			break
		}
		if page+1 >= c.recording.Limits.Pages {
			w.cut(fmt.Sprintf("cut at %d records: %d pages were read", len(w.list.Items), page+1))
			break
		}
		request = next
	}
	w.clean()
	o.Lists[key] = w.list
	return nil
}

// walk reads one list page by page.
type walk struct {
	crawl *crawl
	op    mockapi.ReadOperation
	list  *mockapi.RecordedList
	seen  map[string]int // the indexes of the items in the list, by their identity
	// firstLen is the number of items of the first page, pages the number of pages that were read.
	firstLen, pages int
	// size is the requested size of a page; 0 if none was requested. sizeRequired reports that the document requires one.
	size         int
	sizeRequired bool
	// value is the requested value of the parameter that looks like the number of a page; 0 if none was requested. offset reports that the parameter
	// counts records, as page[page] does in the network. restarts reports that the requested page may begin with the first record again.
	value            int
	restarts, offset bool
	links            bool // the node names the next page
}

// first returns the request for the first page, with only those paging parameters that the document requires.
func (w *walk) first(r Request) Request {
	pages, more := w.op.Pages, map[string]string{}
	for _, p := range w.op.Required {
		switch {
		case p.In != "query":
		case p.Name == pages.Size:
			w.size, w.sizeRequired = w.largest(), true
			more[pages.Size] = strconv.Itoa(w.size)
		case p.Name == pages.Offset:
			more[p.Name] = "0"
		case p.Name == pages.Number:
			w.value = pages.First
			more[p.Name] = strconv.Itoa(pages.First)
		}
	}
	r.Query = query(r.Query, more)
	return r
}

// largest returns the largest page size, up to pageSize, that the document allows.
func (w *walk) largest() int {
	if most := w.op.Pages.MaxSize; most > 0 {
		return min(pageSize, most)
	}
	return pageSize
}

// add adds the items that earlier pages did not have, and returns their number.
func (w *walk) add(items []any) int {
	fresh := 0
	for _, item := range items {
		text := identity(w.op, item)
		if _, known := w.seen[text]; known && w.pages > 0 {
			continue
		}
		w.seen[text] = len(w.list.Items)
		w.list.Items = append(w.list.Items, mockapi.RecordedItem{Value: item})
		w.crawl.check(w.op, w.op.CheckItem(item))
		fresh++
	}
	if w.pages == 0 {
		w.firstLen = len(items)
	}
	w.pages++
	return fresh
}

// identity returns the id of an item, or its text.
func identity(op mockapi.ReadOperation, item any) string {
	if id := op.ID(item); id != "" {
		return "id " + id
	}
	text, _ := json.Marshal(item)
	return string(text)
}

// next returns the request for the next page; ok is false at the end of the list.
func (w *walk) next(request Request, answer Answer, value any, items []any, fresh int) (next Request, ok bool) {
	if w.links && len(items) > 0 && fresh == 0 {
		w.cut(fmt.Sprintf("cut at %d records: the links lead to records that were read already", len(w.list.Items)))
		return request, false
	}
	if link := linkNext(answer.Header); link != "" {
		w.list.Paging.Link = true
		return w.follow(request, answer, link)
	}
	if path, text := bodyNext(value); text != "" {
		isURL := strings.Contains(text, "/") || strings.HasPrefix(text, "?")
		cursor := w.op.Pages.Cursor
		if isURL || cursor != "" {
			w.list.Paging.Next, w.list.Paging.Cursor = path, !isURL
		}
		if isURL {
			return w.follow(request, answer, text)
		}
		if cursor != "" {
			w.links = true
			w.list.Paging.Parameter, w.list.Paging.Size = cursor, w.defaultSize()
			request.URL, request.Query = "", query(request.Query, map[string]string{cursor: text})
			return request, true
		}
	}
	if w.links || len(items) == 0 || fresh == 0 && !w.restarts {
		w.list.Paging.Null = hasMember(value, w.list.Paging.Next)
		return request, false
	}
	return w.nextPage(request, items)
}

// defaultSize returns the size of the pages if a request does not choose one.
func (w *walk) defaultSize() int {
	if w.sizeRequired {
		return 0 // it is not known
	}
	return w.firstLen
}

// follow returns the request for a link to the next page. ok is false if the link is not a URL or leads to the same page.
func (w *walk) follow(request Request, answer Answer, link string) (next Request, ok bool) {
	w.links = true
	from, err := url.Parse(answer.URL)
	if err != nil {
		return request, false
	}
	to, err := from.Parse(link)
	if err != nil || to.String() == from.String() {
		w.cut("cut: the link to the next page leads to the same page")
		return request, false
	}
	w.list.Paging.Size = w.defaultSize()
	w.nameParameter(from.Query(), to.Query())
	request.URL = to.String()
	return request, true
}

// nameParameter finds the parameter that chooses the page, unless the document describes it as a number.
func (w *walk) nameParameter(before, after url.Values) {
	pages := w.op.Pages
	for name := range after {
		if name == pages.Offset || name == pages.Number {
			return
		}
	}
	for _, name := range sortedKeys(after) {
		if name != pages.Size && after.Get(name) != before.Get(name) {
			w.list.Paging.Parameter = name
			return
		}
	}
	if w.list.Paging.Parameter == "" {
		w.list.Paging.Parameter = "cursor" // the page is in the path of the link
	}
}

// nextPage returns the request for the next page of a list without links. ok is false if no parameter chooses the page.
func (w *walk) nextPage(request Request, items []any) (next Request, ok bool) {
	pages, more := w.op.Pages, map[string]string{}
	if pages.Offset == "" && pages.Number == "" {
		return request, false
	}
	if w.pages > 1 && !w.sizeRequired {
		w.list.Paging.Size = w.firstLen // more than the first page exists
	}
	if w.pages == 1 && w.size == 0 && pages.Size != "" && w.firstLen < w.largest() {
		w.size, w.restarts = w.largest(), pages.Offset == ""
	} else {
		w.restarts = false
	}
	if w.size > 0 && pages.Size != "" {
		more[pages.Size] = strconv.Itoa(w.size)
	}
	if pages.Offset != "" {
		more[pages.Offset] = strconv.Itoa(len(w.list.Items))
		request.Query = query(request.Query, more)
		return request, true
	}
	// The first record of the page shows what the parameter counts. If its index in the list is the value, and the page with that number would begin
	// elsewhere, the parameter counts records.
	if place := w.seen[identity(w.op, items[0])]; w.pages > 1 && place == w.value && place != (w.value-pages.First)*max(w.size, w.firstLen) {
		w.offset = true
	}
	switch {
	case w.offset:
		w.list.Paging.Counts = mockapi.CountsRecords
	case w.value > pages.First:
		w.list.Paging.Counts = mockapi.CountsPages
	}
	switch {
	case w.offset:
		w.value = len(w.list.Items)
	case w.pages == 1 && w.restarts:
		w.value = pages.First
	case w.pages == 1:
		w.value = pages.First + 1
	default:
		w.value++
	}
	more[pages.Number] = strconv.Itoa(w.value)
	request.Query = query(request.Query, more)
	return request, true
}

// isPastEnd reports whether a status says that a page is past the end: some nodes refuse such a page.
func (w *walk) isPastEnd(status int) bool {
	return !w.links && slices.Contains([]int{http.StatusNotFound, http.StatusBadRequest, http.StatusRequestedRangeNotSatisfiable, http.StatusUnprocessableEntity, http.StatusNoContent}, status)
}

// cut marks the list as incomplete. The text says why.
func (w *walk) cut(text string) {
	w.list.Cut = true
	w.crawl.recording.note(w.op.Operation, text)
}

// clean removes the links to other pages of the node from the rest of an envelope.
func (w *walk) clean() {
	if w.list.Rest == nil {
		return
	}
	for path, text := bodyNext(w.list.Rest); text != ""; path, text = bodyNext(w.list.Rest) {
		removeMember(w.list.Rest, path)
	}
	for _, object := range []any{w.list.Rest, w.list.Rest["links"], w.list.Rest["_links"]} {
		links, _ := object.(map[string]any)
		for name, value := range links {
			_, isText := value.(string)
			_, isObject := value.(map[string]any)
			if (isText || isObject) && slices.Contains([]string{"prev", "previous", "previouspage", "prevcursor", "previouscursor", "first", "last"}, canonical(name)) {
				delete(links, name)
			}
		}
	}
}

// hasMember reports whether an answer has the member at a path.
func hasMember(value any, path []string) bool {
	for _, name := range path {
		object, ok := value.(map[string]any)
		if !ok {
			return false
		}
		if value, ok = object[name]; !ok {
			return false
		}
	}
	return len(path) > 0
}

func removeMember(object map[string]any, path []string) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			return
		}
		object = inner
	}
	delete(object, path[len(path)-1])
}

// linkNext returns the target of the link to the next page in the Link fields of an answer (RFC 8288); "" without one.
func linkNext(header http.Header) (next string) {
	eachLink(header, func(_, target string, relations []string) {
		if next == "" && isNamed(relations, "next") {
			next = target
		}
	})
	return next
}

// otherLinks returns the links of an answer that do not lead to pages of its list.
func otherLinks(header http.Header) []string {
	var others []string
	eachLink(header, func(link, _ string, relations []string) {
		if !isNamed(relations, "next", "prev", "previous", "first", "last", "self") {
			others = append(others, link)
		}
	})
	return others
}

func isNamed(relations []string, names ...string) bool {
	return slices.ContainsFunc(relations, func(r string) bool { return slices.Contains(names, strings.ToLower(r)) })
}

// eachLink visits the links of an answer: the text of the link, its target and its relations.
func eachLink(header http.Header, visit func(link, target string, relations []string)) {
	const limit = 100
	links := 0
	for _, field := range header.Values("Link") {
		for field != "" && links < limit {
			links++
			_, rest, found := strings.Cut(field, "<")
			target, after, closed := strings.Cut(rest, ">")
			if !found || !closed {
				break
			}
			parameters, following := after, ""
			if i := strings.Index(after, ",<"); i >= 0 {
				parameters, following = after[:i], after[i+1:]
			} else if i := strings.Index(after, ", <"); i >= 0 {
				parameters, following = after[:i], after[i+2:]
			}
			var relations []string
			for parameter := range strings.SplitSeq(parameters, ";") {
				if name, value, _ := strings.Cut(strings.TrimSpace(parameter), "="); strings.EqualFold(strings.TrimSpace(name), "rel") {
					relations = append(relations, strings.Fields(strings.Trim(strings.TrimSpace(value), `"`))...)
				}
			}
			visit("<"+target+">"+parameters, target, relations)
			field = following
		}
	}
}

// bodyNext finds the member of an answer that names the next page, by a URL or a cursor: next, nextCursor, links.next, _links.next.href.
func bodyNext(value any) (path []string, text string) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, ""
	}
	for _, name := range sortedKeys(object) {
		switch canonical(name) {
		case "next", "nextpage", "nextlink", "nexturl", "@odatanextlink", "nextcursor", "nextpagetoken", "nexttoken", "continuationtoken":
			switch v := object[name].(type) {
			case string:
				if v != "" {
					return []string{name}, v
				}
			case map[string]any:
				if href, _ := v["href"].(string); href != "" {
					return []string{name, "href"}, href
				}
			}
		case "links", "_links", "paging", "pagination", "page", "meta", "metadata", "cursors", "responsemetadata":
			if inner, text := bodyNext(object[name]); text != "" {
				return append([]string{name}, inner...), text
			}
		}
	}
	return nil, ""
}

// canonical removes case and separators from a name: nextCursor and next_cursor are the same. Leading underscores stay.
func canonical(name string) string {
	start := len(name) - len(strings.TrimLeft(name, "_"))
	rest := name[start:]
	if strings.ContainsAny(rest, "_-. ") {
		rest = strings.Map(func(r rune) rune {
			if strings.ContainsRune("_-. ", r) {
				return -1
			}
			return r
		}, rest)
	}
	return name[:start] + strings.ToLower(rest)
}
