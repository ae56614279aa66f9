package mockapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/content"
)

// Recorded holds what a real node answered to GET requests. An API with recorded answers gives them instead of generated ones, even if they do not fit
// the document.
type Recorded struct {
	// Lists and Answers have a [RecordedPath] as key; the details of the items of Lists are not among Answers.
	Lists   map[string]*RecordedList
	Answers map[string]any
	// Headers are the header fields of the answers, of the details, and of the first pages of the lists, with the same keys.
	Headers map[string]http.Header
	// Bases are the URLs at which the node served the paths of the document. Links that begin with one lead to the sandbox.
	Bases []string
	// Document is the path of the document below its server; "" to choose one.
	Document string
}

// RecordedList is a list with all its pages.
type RecordedList struct {
	Items []RecordedItem
	// Member is the member of the answer that holds the items, "" if the answer is an array. Rest has the other members of the first page.
	Member string
	Rest   map[string]any
	Paging RecordedPaging
	// Cut reports that the node has more items.
	Cut bool
}

// RecordedContent is an answer that is not JSON, as the node gave it.
type RecordedContent struct {
	Type string
	Text []byte
}

// RecordedItem is an item of a list. Detail is the answer of the detail operation; nil if it was not recorded.
type RecordedItem struct{ Value, Detail any }

// RecordedPaging is how the node led from one page to the next.
type RecordedPaging struct {
	// Size is the size of a page if a request does not choose one; 0 for the whole list.
	Size int
	// Parameter is the query parameter that holds the cursor of a page; "" if there is none. A page number that the document describes is not a cursor.
	Parameter string
	// Link reports that a Link field names the next page.
	Link bool
	// Next is the path of the member of the answer that names the next page; Cursor reports that it holds a cursor and not a URL.
	Next   []string
	Cursor bool
	// Null reports that this member is null on the last page, and not absent.
	Null bool
	// Counts says whether the parameter that looks like the number of a page counts records or pages; "" if that is not known.
	Counts string
}

// The values of [RecordedPaging.Counts].
const (
	CountsRecords = "records"
	CountsPages   = "pages"
)

// notRecordedError says that a recording has no answer.
type notRecordedError struct{}

func (*notRecordedError) Error() string { return "the recording has no answer for this path" }

// recordedRefusal returns the 501 for a request that the recording has no answer to.
func recordedRefusal(err error) *content.Problem {
	p := content.NotImplemented(err.Error())
	p.Hint = "rin sandbox record said what it left out; the lists of the recording name the records that it has"
	return &p
}

// isRecorded reports whether a request is answered from the recording.
func (a *API) isRecorded(o *operation) bool {
	return a.options.Recorded != nil && o.Method == http.MethodGet
}

// recordedPath returns the key of a request in the recording.
func recordedPath(o *operation, path []string) string {
	n := len(strings.Split(strings.Trim(o.Path, "/"), "/"))
	return RecordedPath(path[max(0, len(path)-n):])
}

// recordedList returns the recorded list for a concrete path; nil without one.
func (a *API) recordedList(o *operation, path []string) *RecordedList {
	if o.list == nil || a.options.Recorded == nil {
		return nil
	}
	return a.options.Recorded.Lists[recordedPath(o, path)]
}

// recordedAt returns the records of a recorded list.
func (a *API) recordedAt(l *list, path []string) (*records, error) {
	key := recordedPath(l.operation, path)
	if known, ok := a.recordedLists.Load(key); ok {
		return known.(*records), nil
	}
	list := a.options.Recorded.Lists[key]
	if list == nil {
		return nil, &notRecordedError{}
	}
	all := &records{byID: make(map[string]int, len(list.Items))}
	for i, item := range list.Items {
		r := record{key: key + "#" + strconv.Itoa(i), value: item.Value, full: item.Detail, recorded: true}
		if l.id != "" {
			r.id = plainText(memberOf(item.Value, l.id))
		}
		var err error
		if r.encoded, err = json.Marshal(item.Value); err != nil {
			return nil, err
		}
		if _, known := all.byID[r.id]; !known && r.id != "" {
			all.byID[r.id] = i
		}
		all.size += len(r.encoded)
		all.items = append(all.items, r)
	}
	kept, _ := a.recordedLists.LoadOrStore(key, all)
	return kept.(*records), nil
}

// recordedValue returns the recorded content of an answer. It returns an error if the request asks for another media type than the recording has.
func (a *API) recordedValue(q request) (value any, total int, err error) {
	if value, total, err = a.recordedAnswer(q); err != nil {
		return value, total, err
	}
	_, isContent := value.(RecordedContent)
	if form := FormOf(q.media.Type); !isContent && form != FormJSON && form != FormXML {
		return nil, -1, &notRecordedError{}
	}
	return value, total, nil
}

// recordedAnswer returns the recorded page of a list, detail, or other answer. total counts the items of a list; it is -1 for other answers.
func (a *API) recordedAnswer(q request) (value any, total int, err error) {
	if l := q.operation.list; l != nil {
		if list := a.recordedList(q.operation, q.path); list != nil {
			return a.recordedPage(l, list, q)
		}
	}
	if r := q.operation.resource; r.parent != nil {
		all, err := a.recordsAt(r.parent, q.path[:len(q.path)-1])
		if err != nil {
			return nil, -1, err
		}
		value, err := a.recordAs(r.parent, all.items[all.byID[q.path[len(q.path)-1]]], q.media)
		return value, -1, err
	}
	value, ok := a.options.Recorded.Answers[recordedPath(q.operation, q.path)]
	if !ok {
		return nil, -1, &notRecordedError{}
	}
	return value, -1, nil
}

// recordedHeaders sets the header fields of a recorded answer: those that the node gave, and those without which the document does not allow the answer.
func (a *API) recordedHeaders(to http.Header, q request, total int) error {
	recorded := a.options.Recorded.Headers[recordedPath(q.operation, q.path)]
	for name, values := range recorded {
		if name != "Etag" || a.state.version() == 0 { // a changed representation has another ETag
			to[name] = values
		}
	}
	for _, h := range q.operation.headers {
		if isTotal(h.Name) && total >= 0 && (h.Required || recorded.Get(h.Name) != "") {
			to.Set(h.Name, strconv.Itoa(total))
			continue
		}
		if canonical(h.Name) == "link" && q.operation.list != nil {
			// The recording may have read the list in one page. A replay cuts it, and links its pages as the document says.
			if text := q.linkField(total); text != "" && (q.recorded == nil || !q.recorded.Link) && a.fits(h.Schema, text) {
				to["Link"] = append([]string{text}, to["Link"]...)
			}
			continue
		}
		if !h.Required || to.Get(h.Name) != "" {
			continue
		}
		value, err := a.headerValue(h, q.drawKey())
		if err != nil {
			return err
		}
		if text, ok := headerField(h, value); ok {
			to.Set(h.Name, text)
		}
	}
	return nil
}

// recordedDetail returns the detail of a record, or the record itself if its detail was not recorded and it fits as a detail.
func (a *API) recordedDetail(r record, m Media) (any, error) {
	if r.full != nil {
		return r.full, nil
	}
	if a.fits(m.Schema, r.value) {
		return r.value, nil
	}
	return nil, &notRecordedError{}
}

// recordedPage makes the page of a recorded list that a request asks for.
func (a *API) recordedPage(l *list, list *RecordedList, q request) (any, int, error) {
	chosen, err := a.selectRecords(l, q)
	if err != nil {
		return nil, -1, err
	}
	total := len(chosen)
	if list.Member == SingleItem {
		if total == 0 {
			return nil, 0, &noItemError{}
		}
		return json.RawMessage(chosen[0].encoded), total, nil
	}
	from, to, size := q.pageBounds(total)
	w := window{items: chosen[from:to], from: from, to: to, total: total, size: size, first: l.paging.first}
	if list.Member == "" {
		return w.array(), total, nil
	}
	object := deepClone(list.Rest).(map[string]any)
	w.setNumbers(object, list)
	for _, inner := range object {
		if nested, ok := inner.(map[string]any); ok {
			w.setNumbers(nested, list)
		}
	}
	if len(list.Paging.Next) > 0 {
		next := any(nil)
		if link, ok := q.pageLinks(total)["next"]; ok && !list.Paging.Cursor {
			next = link
		} else if ok {
			next = cursorOf(to)
		}
		setMember(object, list.Paging.Next, next, list.Paging.Null)
	}
	object[list.Member] = w.array()
	return object, total, nil
}

// setNumbers sets those members of an envelope that describe the window.
func (w window) setNumbers(object map[string]any, list *RecordedList) {
	for member, value := range w.numbers(object) {
		before, isNumber := object[member].(json.Number)
		_, isBool := object[member].(bool)
		if !isNumber && !isBool {
			continue
		}
		if isNumber && canonical(member) == "count" && before.String() == strconv.Itoa(len(list.Items)) {
			value = w.total // this node counts all items, and not those of the page
		}
		object[member] = value
	}
}

// setMember sets the member at a path of an object. For nil it removes the member, unless keepNull asks to keep it.
func setMember(object map[string]any, path []string, value any, keepNull bool) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			if value == nil && !keepNull {
				return
			}
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	last := path[len(path)-1]
	if value == nil && !keepNull {
		delete(object, last)
		return
	}
	object[last] = value
}

// deepClone copies a JSON value with all objects and arrays in it.
func deepClone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		copied := maps.Clone(v)
		if copied == nil {
			copied = map[string]any{}
		}
		for name, inner := range copied {
			copied[name] = deepClone(inner)
		}
		return copied
	case []any:
		copied := slices.Clone(v)
		for i, inner := range copied {
			copied[i] = deepClone(inner)
		}
		return copied
	}
	return value
}

// cursorPrefix marks the cursors of a replayed list.
const cursorPrefix = "rin-"

// cursorOf returns the cursor of the page that begins after a number of items.
func cursorOf(from int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + strconv.Itoa(from)))
}

// readCursor returns the number of items before the page of a cursor.
func readCursor(text string) (int, error) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	number, ours := strings.CutPrefix(string(decoded), cursorPrefix)
	from, numberErr := strconv.Atoi(number)
	if err != nil || !ours || numberErr != nil || from < 0 {
		return 0, errors.New("it is not the cursor of a page of this list")
	}
	return from, nil
}

// readCursorParameter sets the page that a request for a recorded list chooses by a cursor. It returns the query parameters that have no effect.
func (a *API) readCursorParameter(q *request, pairs []queryPair, ignored []string) ([]string, *content.Problem) {
	list := a.recordedList(q.operation, q.path)
	if list == nil {
		return ignored, nil
	}
	q.recorded = &list.Paging
	name := list.Paging.Parameter
	if name == "" {
		return ignored, nil
	}
	for _, pair := range pairs {
		if plain, err := url.QueryUnescape(pair.Value); pair.Name == name && err == nil && plain != "" {
			if q.from, err = readCursor(plain); err != nil {
				return ignored, refuse(content.BadRequest("the query parameter "+name+" has a value that is not allowed: "+err.Error(), "begin without it, and follow the links or cursors of the answers"))
			}
		}
	}
	return slices.DeleteFunc(ignored, func(other string) bool { return other == name }), nil
}

// paging returns how the list of the request is paged: by its document, and as the node did it.
func (q request) paging() paging {
	p := q.operation.list.paging
	if q.recorded == nil {
		return p
	}
	if p.defaultSize == 0 {
		p.defaultSize = q.recorded.Size
	}
	switch {
	case q.recorded.Counts == CountsRecords && p.offset.parameter == "":
		p.offset, p.number = p.number, pageParameter{}
	case q.recorded.Counts == CountsPages && p.number.parameter == "":
		p.offset, p.number = pageParameter{}, p.offset
	}
	return p
}

// pageBounds returns the indexes of the requested items, from:to of n, and the page size; a size of 0 means the whole list.
func (q request) pageBounds(n int) (from, to, size int) {
	paging := q.paging()
	if q.recorded == nil || q.recorded.Parameter == "" {
		return paging.pageBounds(q.values, n)
	}
	if _, _, size = paging.pageBounds(q.values, n); size <= 0 {
		return min(q.from, n), n, 0
	}
	from = min(q.from, n)
	return from, min(n, from+size), size
}
