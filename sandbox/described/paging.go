package described

import (
	"encoding/json"
	"slices"
	"strconv"
)

// paging are the parameters of a list that cut it; empty names for none.
type paging struct {
	size, offset, number key
	// first is the number of the first page.
	first int
	// usual is the size of a page when a request has none; 0 for the whole list.
	usual int
}

// key is a parameter of the query, and the member of it when it is an object: page, or page[size].
type key struct{ parameter, member string }

// has tells whether a parameter is one of paging.
func (p paging) has(name string) bool {
	return name == p.size.parameter || name == p.offset.parameter || name == p.number.parameter
}

// Names under which paging is usual, without case and separators.
func sizes() []string {
	return []string{"page[size]", "page[limit]", "limit", "size", "pagesize", "perpage", "$top", "top", "maxresults", "count", "take"}
}
func offsets() []string {
	return []string{"page[offset]", "offset", "skip", "$skip", "start", "startindex", "from"}
}
func numbers() []string {
	return []string{"page[number]", "page[page]", "page", "pagenumber", "pageno", "pageindex", "p"}
}

// pagingOf recognises the paging of an operation. Only whole numbers count.
func (a *API) pagingOf(o *operation) paging {
	found := paging{first: 1}
	for _, p := range o.parameters {
		if p.In != "query" {
			continue
		}
		if p.Style == "deepObject" {
			for member, at := range a.members(p.Schema) {
				a.pagingBy(&found, key{p.Name, member}, p.Name+"["+member+"]", at)
			}
			continue
		}
		a.pagingBy(&found, key{parameter: p.Name}, p.Name, p.Schema)
	}
	return found
}

func (a *API) pagingBy(found *paging, k key, name, at string) {
	schema, _ := a.schema(at)
	if kind := schema["type"]; at == "" || kind != "integer" && kind != "number" {
		return
	}
	name = canonical(name)
	switch {
	case slices.Contains(sizes(), name) && found.size.parameter == "":
		found.size, found.usual = k, whole(schema["default"], 0)
	case name == "page[page]" && a.options.PageIsOffset, slices.Contains(offsets(), name):
		found.offset = k
	case slices.Contains(numbers(), name):
		found.number = k
		if whole(schema["default"], 1) == 0 || schema["minimum"] != nil && whole(schema["minimum"], 1) == 0 && schema["default"] == nil {
			found.first = 0
		}
	}
}

func whole(value any, otherwise int) int {
	if number, ok := value.(json.Number); ok {
		if n, err := strconv.Atoi(number.String()); err == nil {
			return n
		}
	}
	return otherwise
}

// cut is the part of n items that a request asks for, and the size of its pages; size 0 is the whole list.
func (p paging) cut(values map[string]any, n int) (from, to, size int) {
	size, hasSize := p.size.read(values)
	offset, hasOffset := p.offset.read(values)
	number, hasNumber := p.number.read(values)
	if !hasSize {
		size = p.usual
		if size == 0 && (hasOffset || hasNumber) {
			size = DefaultItems
		}
	}
	switch {
	case hasOffset:
		from = offset
	case hasNumber:
		from = saturated(number-p.first, size)
	}
	from = max(0, min(from, n))
	if size <= 0 && !hasSize {
		return from, n, 0
	}
	return from, min(n, from+max(0, min(size, n))), size
}

// saturated multiplies without overflow.
func saturated(a, b int) int {
	const limit = 1 << 30
	if a <= 0 || b <= 0 {
		return 0
	}
	return min(a, limit) * min(b, limit)
}

func (k key) read(values map[string]any) (int, bool) {
	value, given := values["query:"+k.parameter]
	if k.parameter == "" || !given {
		return 0, false
	}
	if k.member != "" {
		object, _ := value.(map[string]any)
		if value, given = object[k.member]; !given {
			return 0, false
		}
	}
	number, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(number.String(), 64)
	return int(max(-1<<30, min(f, 1<<30))), err == nil
}
