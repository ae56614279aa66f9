package described

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// noItemError tells that nothing is left of a list that may not be empty.
type noItemError struct{}

func (*noItemError) Error() string {
	return "no item has what the filters ask for, and the document allows no empty answer here"
}

// listed makes the content of a list.
func (a *API) listed(l *list, q asked) (value any, total int, err error) {
	all, err := a.recordsAt(l, q.path)
	if err != nil {
		return nil, -1, err
	}
	chosen := all.items
	if l.filtering(q.values) {
		chosen = slices.DeleteFunc(slices.Clone(chosen), func(r record) bool { return !l.keep(r, q.values) })
	}
	total = len(chosen)
	if l.shape == inSingle && a.options.Lists == ListsAsDeclared {
		if total == 0 {
			return nil, 0, &noItemError{}
		}
		return json.RawMessage(chosen[0].encoded), total, nil
	}
	from, to, size := l.paging.cut(q.values, total)
	window := window{items: chosen[from:to], from: from, to: to, total: total, size: size, first: l.paging.first}
	if l.shape == inEnvelope {
		value, err := a.envelope(l, q, window)
		return value, total, err
	}
	if l.shape == inArray && !a.plainArray(l.schema) {
		if violations, err := a.responses.Check(l.schema, window.values()); err != nil || len(violations) > 0 {
			if l.filtering(q.values) || len(window.items) < total {
				return nil, total, errors.Join(err, &noItemError{})
			}
			value, err := a.samples.Value(l.schema, q.drawn())
			return value, total, err
		}
	}
	return window.array(), total, nil
}

// plainArray tells whether an array of items fits its schema because each of the items does.
func (a *API) plainArray(pointer string) bool {
	schema, _ := a.schema(pointer)
	for name := range schema {
		switch name {
		case "type", "items", "maxItems", "description", "title", "example", "examples", "default", "nullable", "deprecated", "xml", "externalDocs", "$comment":
		default:
			return false
		}
	}
	return true
}

// window is a part of a list.
type window struct {
	items []record
	// from and to are where it is among the total; size is that of the pages, 0 for none.
	from, to, total, size, first int
}

func (w window) values() []any {
	all := make([]any, len(w.items))
	for i, r := range w.items {
		all[i] = r.value
	}
	return all
}

// array joins what was encoded before.
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

// envelope puts items into the object around them, with numbers that agree with them.
func (a *API) envelope(l *list, q asked, w window) (any, error) {
	base, err := a.samples.Value(l.schema, q.drawn())
	if err != nil {
		return nil, err
	}
	object, ok := base.(map[string]any)
	if !ok {
		return base, nil
	}
	object = maps.Clone(object)
	for member := range object {
		if endsPaging(member) {
			without := maps.Clone(object)
			delete(without, member)
			if a.fits(l.schema, without) {
				object = without
			}
		}
	}
	filled := a.put(object, l.schema, []string{l.member}, map[string]any{l.member: w.values()})
	if plainItems, _ := filled[l.member].([]any); len(plainItems) != len(w.items) && (l.filtering(q.values) || w.size > 0) {
		return nil, &noItemError{}
	}
	numbers := w.numbers(filled)
	return a.put(filled, l.schema, slices.Sorted(maps.Keys(numbers)), numbers), nil
}

// endsPaging tells members that would lead a client on to pages that do not exist.
func endsPaging(member string) bool {
	name := canonical(member)
	return slices.Contains([]string{"next", "nextpage", "nextcursor", "nextpagetoken", "nexttoken", "pagetoken", "nextlink", "nexturl", "cursor", "continuationtoken",
		"prev", "previous", "previouspage", "links", "_links", "@odata.nextlink"}, name)
}

// numbers are the members of an envelope that count, as they are for this part of the list.
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
