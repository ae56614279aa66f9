package mockapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// list describes an operation that answers with a list of items.
type list struct {
	operation *operation
	shape     shape
	// schema is the pointer of the answer's schema; member is the member of an envelope that holds the items.
	schema, member string
	// item is the pointer of the items' schema.
	item string
	// id is the member that identifies an item, idSchema the pointer of its schema; "" if items have no id.
	id, idSchema string
	// detail is the operation for one item, and parameter the last parameter of its path; nil if the list has no detail.
	detail    *operation
	parameter string
	filters   []filter
	paging    paging
	// examples are the items that the document's examples show.
	examples []any
}

// shape is how a list holds its items.
type shape int

const (
	inArray    shape = iota // an array
	inEnvelope              // an object with one array
	inSingle                // a single object, although the document seems to mean a list
)

// findLists finds the operations that are lists, and their details.
func (a *API) findLists() {
	details := a.details()
	for _, r := range a.all {
		o := r.operations[http.MethodGet]
		if o == nil || o.fault != nil || len(o.media) == 0 || FormOf(o.media[0].Type) != FormJSON || o.media[0].Schema == "" {
			continue
		}
		l := &list{operation: o, schema: o.media[0].Schema}
		if l.detail = details[strings.TrimSuffix(r.path, "/")]; l.detail != nil {
			l.parameter = strings.Trim(lastSegment(l.detail.resource.segments), "{}")
		}
		if !a.recognise(l) {
			continue
		}
		l.id, l.idSchema = a.identify(l)
		l.paging = a.pagingOf(o)
		l.filters = a.filters(l)
		a.readExamples(l)
		o.list = l
		if l.detail != nil && l.id != "" {
			l.detail.resource.parent = l
		}
	}
	a.linkDetails()
}

// linkDetails finds, for each resource, the details whose paths are a beginning of its path.
func (a *API) linkDetails() {
	detailPaths := slices.DeleteFunc(slices.Clone(a.all), func(r *resource) bool { return r.parent == nil })
	for _, r := range a.all {
		for _, detail := range detailPaths {
			if isPrefix(detail.segments, r.segments) {
				r.above = append(r.above, detail)
			}
		}
		slices.SortFunc(r.above, func(x, y *resource) int { return len(x.segments) - len(y.segments) })
	}
}

// isPrefix reports whether a path is a beginning of another one, or the same; the names of parameters do not matter.
func isPrefix(path, other []string) bool {
	if len(path) > len(other) {
		return false
	}
	for i, segment := range path {
		if segment != other[i] && !(isParameter(segment) && isParameter(other[i])) {
			return false
		}
	}
	return true
}

// isParameter reports whether a segment consists of one parameter.
func isParameter(segment string) bool {
	names := PathParameters("/" + segment)
	return len(names) == 1 && segment == "{"+names[0]+"}"
}

// details returns the operations at paths whose last segment is a parameter, by the path before it.
func (a *API) details() map[string]*operation {
	all := map[string]*operation{}
	for _, r := range a.all {
		end := lastSegment(r.segments)
		o := r.operations[http.MethodGet]
		if isParameter(end) && o != nil && o.fault == nil {
			all[strings.TrimSuffix(r.path, "/"+end)] = o
		}
	}
	return all
}

// recognise reports whether an operation is a list, and records how its answer holds the items.
func (a *API) recognise(l *list) bool {
	schema, at := a.schema(l.schema)
	switch {
	case schema["items"] != nil:
		l.shape, l.item = inArray, at+"/items"
		return true
	case strings.HasSuffix(l.operation.Path, "}"):
		return false
	}
	if member, items, ok := a.onlyArray(l.schema); ok && a.wraps(l, member) {
		l.shape, l.member, l.item = inEnvelope, member, items
		return true
	}
	if len(a.members(l.schema)) > 0 && a.isMeantAsList(l) {
		l.shape, l.item = inSingle, l.schema
		return true
	}
	return false
}

// onlyArray finds the one member of an object that is an array of objects.
func (a *API) onlyArray(pointer string) (name, items string, ok bool) {
	for member, at := range a.members(pointer) {
		schema, at := a.schema(at)
		if schema["items"] == nil || len(a.members(at+"/items")) == 0 {
			continue
		}
		if name != "" {
			return "", "", false
		}
		name, items = member, at+"/items"
	}
	return name, items, name != ""
}

// wraps reports whether an object is only an envelope of its one array: the array has a usual name or that of the path, or the operation
// has a detail or pages.
func (a *API) wraps(l *list, member string) bool {
	name := canonical(member)
	if l.detail != nil || name == canonical(lastSegment(l.operation.resource.segments)) || a.pagingOf(l.operation).size.parameter != "" {
		return true
	}
	return slices.Contains([]string{"items", "data", "results", "content", "entries", "records", "list", "values", "elements", "hits", "rows", "member", "value"}, name)
}

// isMeantAsList reports whether an operation that declares a single object is meant as a list: its detail has the same schema, or its
// operationId says so.
func (a *API) isMeantAsList(l *list) bool {
	if l.detail != nil && len(l.detail.media) > 0 && a.same(l.detail.media[0].Schema, l.schema) {
		return true
	}
	id := strings.ToLower(l.operation.ID)
	return slices.ContainsFunc([]string{"findall", "getall", "list", "fetchall", "readall"}, func(word string) bool { return strings.HasPrefix(id, word) })
}

// identify returns the member that identifies items, and the pointer of its schema; "" without one.
func (a *API) identify(l *list) (member, schema string) {
	members := a.members(l.item)
	byName := map[string]string{}
	for name, at := range members {
		if object, _ := a.schema(at); object["properties"] == nil && object["items"] == nil {
			byName[canonical(name)] = name
		}
	}
	names := []string{"id", "uuid", "identifier", "key", "code"}
	if l.parameter != "" {
		// For the parameter petUuid the candidates are petuuid, then id, then uuid, the usual name with which it ends.
		name := canonical(l.parameter)
		names = append([]string{name}, slices.DeleteFunc(names, func(w string) bool { return w != "id" && !strings.HasSuffix(name, w) })...)
	}
	for _, w := range names {
		if name, ok := byName[w]; ok {
			return name, members[name]
		}
	}
	return "", ""
}

// canonical removes case and separators from a name: petId, pet_id and pet-id are the same.
func canonical(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
}

// paging has the query parameters that choose a page of a list. The field of a parameter that the operation does not have is empty.
type paging struct {
	size, offset, number pageParameter
	// first is the number of the first page.
	first int
	// defaultSize is the size of a page if a request gives none; 0 means the whole list.
	defaultSize int
}

// pageParameter is a parameter of the query (page), or a member of one that is an object (page[size]).
type pageParameter struct{ parameter, member string }

// has reports whether a parameter belongs to paging.
func (p paging) has(name string) bool {
	return name == p.size.parameter || name == p.offset.parameter || name == p.number.parameter
}

// pagingOf recognises the paging parameters of an operation. Only numeric parameters count.
func (a *API) pagingOf(o *operation) paging {
	found := paging{first: 1}
	for _, p := range o.parameters {
		if p.In != "query" {
			continue
		}
		if p.Style == "deepObject" {
			for member, at := range a.members(p.Schema) {
				a.addPaging(&found, pageParameter{p.Name, member}, p.Name+"["+member+"]", at)
			}
			continue
		}
		a.addPaging(&found, pageParameter{parameter: p.Name}, p.Name, p.Schema)
	}
	return found
}

// addPaging adds a numeric parameter to found if it has one of the usual names of paging.
func (a *API) addPaging(found *paging, k pageParameter, name, at string) {
	schema, _ := a.schema(at)
	if kind := schema["type"]; at == "" || kind != "integer" && kind != "number" {
		return
	}
	name = canonical(name)
	if name == "page[page]" && a.options.PageIsOffset {
		name = "page[offset]"
	}
	switch name {
	case "page[size]", "page[limit]", "limit", "size", "pagesize", "perpage", "$top", "top", "maxresults", "count", "take":
		if found.size.parameter == "" {
			found.size, found.defaultSize = k, intOr(schema["default"], 0)
		}
	case "page[offset]", "offset", "skip", "$skip", "start", "startindex", "from":
		found.offset = k
	case "page[number]", "page[page]", "page", "pagenumber", "pageno", "pageindex", "p":
		found.number = k
		first := schema["default"] // a default is the first page; without one the minimum is
		if first == nil {
			first = schema["minimum"]
		}
		if intOr(first, 1) == 0 {
			found.first = 0
		}
	}
}

// intOr returns a JSON number as an int, or the fallback for other values.
func intOr(value any, fallback int) int {
	if number, ok := value.(json.Number); ok {
		if n, err := strconv.Atoi(number.String()); err == nil {
			return n
		}
	}
	return fallback
}

// pageBounds returns the indexes of the requested items, from:to of n, and the page size; a size of 0 means the whole list.
func (p paging) pageBounds(values map[string]any, n int) (from, to, size int) {
	size, hasSize := p.size.read(values)
	offset, hasOffset := p.offset.read(values)
	number, hasNumber := p.number.read(values)
	if !hasSize {
		size = p.defaultSize
		if size == 0 && (hasOffset || hasNumber) {
			size = DefaultItems
		}
	}
	switch {
	case hasOffset:
		from = offset
	case hasNumber:
		from = saturatingProduct(number-p.first, size)
	}
	from = max(0, min(from, n))
	if size <= 0 && !hasSize {
		return from, n, 0
	}
	return from, min(n, from+max(0, min(size, n))), size
}

// saturatingProduct multiplies without overflow; it is 0 for negative numbers.
func saturatingProduct(a, b int) int {
	const limit = 1 << 30
	if a <= 0 || b <= 0 {
		return 0
	}
	return min(a, limit) * min(b, limit)
}

// read returns the number in a parameter of a request; ok is false without one.
func (k pageParameter) read(values map[string]any) (int, bool) {
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
