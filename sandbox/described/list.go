package described

import (
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/described/content"
	"github.com/rin-network/rin/sandbox/described/route"
)

// list is an operation that answers with items.
type list struct {
	operation *operation
	shape     shape
	// schema is the pointer of the answer's schema; member is the one of an envelope that has the items.
	schema, member string
	// item is the pointer of the items' schema.
	item string
	// id is the member of an item that tells it from the others, idSchema the pointer of its schema; empty for none.
	id, idSchema string
	// detail is the operation for one item, parameter the one of its path; nil for none.
	detail    *operation
	parameter string
	filters   []filter
	paging    paging
}

// shape is how a list holds its items.
type shape int

const (
	inArray    shape = iota
	inEnvelope       // an object with one array
	inSingle         // an object that stands for a list
)

// findLists tells which operations are lists, and where their details are.
func (a *API) findLists() {
	details := a.details()
	for _, r := range a.all {
		o := r.operations[http.MethodGet]
		if o == nil || o.fault != nil || len(o.media) == 0 || content.FormOf(o.media[0].Type) != content.JSON || o.media[0].Schema == "" {
			continue
		}
		l := &list{operation: o, schema: o.media[0].Schema}
		if l.detail = details[strings.TrimSuffix(r.path, "/")]; l.detail != nil {
			l.parameter = strings.Trim(last(l.detail.resource.segments), "{}")
		}
		if !a.recognise(l) {
			continue
		}
		l.id, l.idSchema = a.identify(l)
		l.paging = a.pagingOf(o)
		l.filters = a.filters(l)
		o.list = l
		if l.detail != nil && l.id != "" {
			l.detail.resource.list = l
		}
	}
	leading := slices.DeleteFunc(slices.Clone(a.all), func(r *resource) bool { return r.list == nil })
	for _, r := range a.all {
		for _, detail := range leading {
			if above(detail.segments, r.segments) {
				r.above = append(r.above, detail)
			}
		}
		slices.SortFunc(r.above, func(x, y *resource) int { return len(x.segments) - len(y.segments) })
	}
}

// above tells whether a path leads to another one, or is the same; how their parameters are called does not matter.
func above(path, other []string) bool {
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

// isParameter tells a segment that is one parameter and nothing else.
func isParameter(segment string) bool {
	names := route.Parameters("/" + segment)
	return len(names) == 1 && segment == "{"+names[0]+"}"
}

// details are the operations at paths that end in a parameter alone, by the path before it.
func (a *API) details() map[string]*operation {
	all := map[string]*operation{}
	for _, r := range a.all {
		end := last(r.segments)
		o := r.operations[http.MethodGet]
		if isParameter(end) && o != nil && o.fault == nil {
			all[strings.TrimSuffix(r.path, "/"+end)] = o
		}
	}
	return all
}

// recognise finds out where the items are.
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
	if len(a.members(l.schema)) > 0 && a.meansMany(l) {
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

// wraps tells whether an object with one array is only around it: the array is called as such arrays are, or as the path, or the operation
// has a detail or pages.
func (a *API) wraps(l *list, member string) bool {
	name := canonical(member)
	if l.detail != nil || name == canonical(last(l.operation.resource.segments)) || a.pagingOf(l.operation).size.parameter != "" {
		return true
	}
	return slices.Contains([]string{"items", "data", "results", "content", "entries", "records", "list", "values", "elements", "hits", "rows", "member", "value"}, name)
}

// meansMany tells whether an operation that declares a single object is meant as a list: its detail has the same schema, or its
// operationId says so.
func (a *API) meansMany(l *list) bool {
	if l.detail != nil && len(l.detail.media) > 0 && a.same(l.detail.media[0].Schema, l.schema) {
		return true
	}
	id := strings.ToLower(l.operation.ID)
	return slices.ContainsFunc([]string{"findall", "getall", "list", "fetchall", "readall"}, func(word string) bool { return strings.HasPrefix(id, word) })
}

// identify finds the member that tells items apart.
func (a *API) identify(l *list) (member, schema string) {
	members := a.members(l.item)
	byName := map[string]string{}
	for name, at := range members {
		if object, _ := a.schema(at); object["properties"] == nil && object["items"] == nil {
			byName[canonical(name)] = name
		}
	}
	wanted := []string{"id", "uuid", "identifier", "key", "code"}
	if l.parameter != "" {
		name := canonical(l.parameter)
		wanted = append([]string{name}, slices.DeleteFunc(wanted, func(w string) bool { return w != "id" && !strings.HasSuffix(name, w) })...)
	}
	for _, w := range wanted {
		if name, ok := byName[w]; ok {
			return name, members[name]
		}
	}
	return "", ""
}

// canonical makes names alike that differ in case and separators alone: petId, pet_id, pet-id.
func canonical(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
}
