package mockapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/sample"
)

// noItemError says that filters or paging leave no item of a list that must not be empty.
type noItemError struct{}

func (*noItemError) Error() string {
	return "no item passes the filters, and the document does not allow an empty answer here"
}

// selectRecords returns the records of a list that pass the filters of a request.
func (a *API) selectRecords(l *list, q request) ([]record, error) {
	all, err := a.recordsAt(l, q.path)
	if err != nil {
		return nil, err
	}
	if !l.isFiltered(q.values) {
		return all.items, nil
	}
	return slices.DeleteFunc(slices.Clone(all.items), func(r record) bool { return !l.passes(r, q.values) }), nil
}

// listContent makes the content of an answer that is a list.
func (a *API) listContent(l *list, q request) (value any, total int, err error) {
	chosen, err := a.selectRecords(l, q)
	if err != nil {
		return nil, -1, err
	}
	total = len(chosen)
	if l.shape == inSingle && a.options.Lists == ListsAsDeclared {
		if total == 0 {
			return nil, 0, &noItemError{}
		}
		return json.RawMessage(chosen[0].encoded), total, nil
	}
	from, to, size := q.pageBounds(total)
	window := window{items: chosen[from:to], from: from, to: to, total: total, size: size, first: l.paging.first}
	if l.shape == inEnvelope {
		value, err := a.envelope(l, q, window)
		return value, total, err
	}
	if l.shape == inArray && !a.isPlainArray(l.schema) {
		if violations, err := a.check(a.samples.Validator, l.schema, window.values()); err != nil || len(violations) > 0 {
			if l.isFiltered(q.values) || len(window.items) < total {
				return nil, total, errors.Join(err, &noItemError{})
			}
			value, err := a.samples.Value(l.schema, q.drawKey())
			return value, total, err
		}
	}
	return window.array(), total, nil
}

// isPlainArray reports whether an array fits its schema as soon as each of its items does.
func (a *API) isPlainArray(pointer string) bool {
	schema, _ := a.schema(pointer)
	return hasOnly(schema, "type", "items", "maxItems", "description", "title", "example", "examples", "default", "nullable", "deprecated", "xml",
		"externalDocs", "$comment")
}

// window is a part of a list.
type window struct {
	items []record
	// The window has the items from:to of total. size is the size of the pages, 0 without pages; first is the number of the first page.
	from, to, total, size, first int
}

func (w window) values() []any {
	all := make([]any, len(w.items))
	for i, r := range w.items {
		all[i] = r.value
	}
	return all
}

// array joins the encoded items.
func (w window) array() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, r := range w.items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(r.encoded)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// envelope makes the object around the items of a window: without links to other pages, and with the right counts.
func (a *API) envelope(l *list, q request, w window) (any, error) {
	base, err := a.mediaValue(q.media, q.drawKey())
	if err != nil {
		return nil, err
	}
	object, ok := base.(map[string]any)
	if !ok {
		return base, nil
	}
	object = maps.Clone(object)
	for _, member := range slices.Sorted(maps.Keys(object)) {
		if isPageLink(member) {
			without := maps.Clone(object)
			delete(without, member)
			if a.fits(l.schema, without) {
				object = without
			}
		}
	}
	filled := a.put(object, l.schema, []string{l.member}, map[string]any{l.member: w.values()})
	if plainItems, _ := filled[l.member].([]any); len(plainItems) != len(w.items) && (l.isFiltered(q.values) || w.size > 0) {
		return nil, &noItemError{}
	}
	filled = a.withNext(filled, l, q, w)
	numbers := w.numbers(filled)
	return a.put(filled, l.schema, slices.Sorted(maps.Keys(numbers)), numbers), nil
}

// withNext adds the URL of the next page to an envelope whose schema has a member for it.
func (a *API) withNext(object map[string]any, l *list, q request, w window) map[string]any {
	next, ok := q.pageLinks(w.total)["next"]
	if !ok {
		return object
	}
	members := a.members(l.schema)
	for _, member := range slices.Sorted(maps.Keys(members)) {
		schema, _ := a.schema(members[member])
		format, _ := schema["format"].(string)
		isURL := slices.Contains([]string{"uri", "url", "uri-reference"}, format)
		if name := canonical(member); name == "nextlink" || name == "nexturl" || name == "@odatanextlink" || isURL && (name == "next" || name == "nextpage") {
			object = a.put(object, l.schema, []string{member}, map[string]any{member: next})
		}
	}
	return object
}

// isPageLink reports whether a member leads to another page, by a URL or a cursor. A drawn value would lead clients to a page that does not exist.
func isPageLink(member string) bool {
	name := canonical(member)
	return slices.Contains([]string{"next", "nextpage", "nextcursor", "nextpagetoken", "nexttoken", "pagetoken", "nextlink", "nexturl", "cursor", "continuationtoken",
		"prev", "previous", "previouspage", "links", "_links", "@odata.nextlink"}, name)
}

// numbers returns the values of those members of an envelope that describe the window: counts, sizes, page numbers.
func (w window) numbers(object map[string]any) map[string]any {
	size := w.size
	if size == 0 {
		size = max(w.total, 1)
	}
	pages := (w.total + size - 1) / size
	known := map[string]any{
		"total": w.total, "totalcount": w.total, "totalitems": w.total, "totalelements": w.total, "totalresults": w.total, "totalhits": w.total,
		"count": len(w.items), "numberofelements": len(w.items), "returned": len(w.items),
		"limit": size, "size": size, "pagesize": size, "perpage": size, "itemsperpage": size,
		"offset": w.from, "skip": w.from, "startindex": w.from,
		"totalpages": pages, "pagecount": pages, "lastpage": pages,
		"page": w.first + w.from/size, "pagenumber": w.first + w.from/size, "currentpage": w.first + w.from/size,
		"hasmore": w.to < w.total, "hasnext": w.to < w.total, "last": w.to >= w.total, "first": w.from == 0, "empty": len(w.items) == 0,
	}
	numbers := map[string]any{}
	for member := range object {
		if value, ok := known[canonical(member)]; ok {
			numbers[member] = value
		}
	}
	return numbers
}

// records are the items of one list.
type records struct {
	items []record
	byID  map[string]int
	size  int
}

// record is one item.
type record struct {
	// key is the key with which the value was drawn.
	key string
	// id is "" for an item without an id; no path leads to it.
	id      string
	value   any
	encoded []byte
	// full is the detail of a record that a request made or changed; nil for others.
	full any
	// recorded reports that the record is from a recording.
	recorded bool
}

// Size implements content.Sized.
func (r *records) Size() int { return 3*r.size + 256 } // values take more room than text

// maxRecords limits the bytes of the items of one list.
const maxRecords = 24 << 20

// maxTries limits how often an item is drawn, because its id is taken already or cannot be in a path.
const maxTries = 20

// recordsAt returns the items of a list at a concrete path.
func (a *API) recordsAt(l *list, path []string) (*records, error) {
	at := concretePath(path)
	if changed := a.state.list(recordsKey(l, path)); changed != nil {
		return changed, nil
	}
	if a.options.Recorded != nil {
		return a.recordedAt(l, path)
	}
	return a.records.Get(recordsKey(l, path), func() (*records, error) {
		all := &records{byID: map[string]int{}}
		examples, err := a.exampleRecords(l, at, path)
		if err != nil {
			return nil, err
		}
		for i := range a.count(l) {
			var record record
			if i < len(examples) {
				record = examples[i]
			} else {
				var ok bool
				if record, ok, err = a.draw(l, at, i, path, all.byID); err != nil {
					return nil, err
				}
				if !ok {
					break // there are no more ids
				}
			}
			if all.size += len(record.encoded); all.size > maxRecords {
				break
			}
			if record.id != "" {
				all.byID[record.id] = len(all.items)
			}
			all.items = append(all.items, record)
		}
		return all, nil
	})
}

// recordsKey identifies the records of a list at a concrete path.
func recordsKey(l *list, path []string) string { return l.operation.Pointer + " " + concretePath(path) }

// count returns the number of items of a list: that of the options, or less if the schema has a lower maximum.
func (a *API) count(l *list) int {
	n := a.options.Items
	array := l.schema
	switch l.shape {
	case inEnvelope:
		array = a.members(l.schema)[l.member]
	case inSingle:
		return n
	}
	schema, _ := a.schema(array)
	if text, ok := schema["maxItems"].(json.Number); ok {
		if most, err := strconv.Atoi(text.String()); err == nil {
			n = min(n, most)
		}
	}
	return n
}

// draw makes item number i; ok is false if no id is left for it.
func (a *API) draw(l *list, at string, i int, path []string, taken map[string]int) (record, bool, error) {
	for try := range maxTries {
		key := fmt.Sprintf("%s#%d", at, i)
		if try > 0 {
			key += "." + strconv.Itoa(try)
		}
		value, err := a.samples.Value(l.item, key)
		if err != nil {
			return record{}, false, err
		}
		value = a.withPathValues(l, value, path)
		r := record{key: key}
		if l.id != "" {
			if value, r.id, err = a.withID(l, value, key); err != nil {
				return record{}, false, err
			}
			if _, twice := taken[r.id]; twice || r.id != "" && !a.isAddressable(l, value, r.id) {
				continue
			}
		}
		r.value = value
		r.encoded, err = json.Marshal(value)
		return r, true, err
	}
	return record{}, false, nil
}

// withID adds an id to an item without one, if its schema allows that.
func (a *API) withID(l *list, value any, key string) (any, string, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return value, "", nil
	}
	if id := plainText(object[l.id]); id != "" {
		return value, id, nil
	}
	id, err := a.samples.Value(l.idSchema, key+"#id")
	if err != nil {
		return nil, "", err
	}
	object = a.put(object, l.item, []string{l.id}, map[string]any{l.id: id})
	return object, plainText(object[l.id]), nil
}

// isAddressable reports whether an id is a valid value for the path of the detail operation.
func (a *API) isAddressable(l *list, value any, id string) bool {
	if id == "." || id == ".." || len(id) > 500 {
		return false
	}
	object, _ := value.(map[string]any)
	if l.detail == nil {
		return true
	}
	for _, p := range l.detail.parameters {
		if p.In == "path" && p.Name == l.parameter && p.Schema != "" {
			violations, err := a.check(a.requests, p.Schema, object[l.id])
			return err == nil && len(violations) == 0
		}
	}
	return true
}

// withPathValues copies the parameters of the list's path into the members with their names: ownerId of /owners/{ownerId}/pets.
func (a *API) withPathValues(l *list, value any, path []string) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for i, segment := range l.operation.resource.segments {
		name, isParameter := strings.CutPrefix(strings.TrimSuffix(segment, "}"), "{")
		if !isParameter || i >= len(path) {
			continue
		}
		for member := range object {
			if canonical(member) == canonical(name) && member != l.id {
				object = a.put(object, l.item, []string{member}, map[string]any{member: likeType(object[member], path[i])})
				break
			}
		}
	}
	return object
}

// likeType returns a text as a value of the type of like: a number if like is a number, else a string.
func likeType(like any, text string) any {
	if _, ok := like.(json.Number); ok && json.Valid([]byte(text)) {
		return json.Number(text)
	}
	return text
}

// plainText returns the text of a string, number or boolean; "" for other values.
func plainText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case float64, int, int64:
		return fmt.Sprint(v)
	}
	return ""
}

// concretePath joins the segments of a path; different segments give different texts.
func concretePath(segments []string) string { return sample.Join("", segments...) }
