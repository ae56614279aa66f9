package mockapi

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// filter is a query parameter that selects items by one of their members; path leads to that member.
type filter struct {
	parameter string
	path      []string
}

// filters finds the filters of a list. Paging parameters are not among them: page=2 does not select items with 2 pages.
func (a *API) filters(l *list) []filter {
	members := a.members(l.item)
	var all []filter
	for _, p := range l.operation.parameters {
		if p.In != "query" || p.Schema == "" || l.paging.has(p.Name) || isPageLink(p.Name) {
			continue
		}
		if member := a.filterMember(p.Name, p.Schema, members); member != "" {
			all = append(all, filter{p.Name, []string{member}})
		} else if path := a.memberPath(l.item, canonical(p.Name), "", maxFilterDepth); path != nil {
			all = append(all, filter{p.Name, path})
		}
	}
	return all
}

// maxFilterDepth limits how deep memberPath searches.
const maxFilterDepth = 3

// memberPath finds the path to a plain member whose joined names are the name of a parameter: funder.id for funderId. parent is the canonical name of
// the member that has this schema; a member with the name of its parent may be left out, so that funderId also finds funder.funder.id. depth is the
// number of levels to search.
func (a *API) memberPath(pointer, name, parent string, depth int) []string {
	members := a.members(pointer)
	for _, member := range slices.Sorted(maps.Keys(members)) {
		rest, isPrefix := strings.CutPrefix(name, canonical(member)) // rest is name unless isPrefix
		if !isPrefix && canonical(member) != parent {
			continue
		}
		schema, at := a.schema(members[member])
		if schema["items"] != nil {
			schema, at = a.schema(at + "/items")
		}
		nested := len(a.members(at)) > 0
		if rest == "" && !nested && schema["items"] == nil {
			return []string{member}
		}
		if nested && depth > 1 && rest != "" {
			if path := a.memberPath(at, rest, canonical(member), depth-1); path != nil {
				return append([]string{member}, path...)
			}
		}
	}
	return nil
}

// filterMember finds the member that a parameter filters by: the one with its name, with its plural, with the end of its name, or the only one
// with the same referenced schema.
func (a *API) filterMember(parameter, schema string, members map[string]string) string {
	var plural, suffix, sameSchema []string
	for _, member := range slices.Sorted(maps.Keys(members)) {
		switch {
		case canonical(member) == canonical(parameter):
			return member
		case canonical(member) == canonical(parameter)+"s":
			plural = append(plural, member)
		case endsWith(parameter, member):
			suffix = append(suffix, member)
		case a.sameComponent(schema, members[member]):
			sameSchema = append(sameSchema, member)
		}
	}
	// The end of a name counts only if both have the same schema: a funderId is not the id of a funding.
	suffix = slices.DeleteFunc(suffix, func(member string) bool { return !a.sameComponent(schema, members[member]) })
	for _, found := range [][]string{plural, suffix, sameSchema} {
		if len(found) == 1 {
			return found[0]
		}
	}
	return ""
}

// endsWith reports whether a name in camel case ends with a word: fundingType with type.
func endsWith(name, word string) bool {
	if word == "" || len(name) <= len(word) {
		return false
	}
	first := []rune(word)
	first[0] = unicode.ToUpper(first[0])
	return strings.HasSuffix(name, string(first)) || strings.HasSuffix(name, "_"+word)
}

// sameComponent reports whether a parameter and a member, or the items of the member, refer to the same component schema.
func (a *API) sameComponent(parameter, member string) bool {
	_, wanted := a.schema(parameter)
	if !strings.HasPrefix(wanted, "/components/") {
		return false
	}
	schema, at := a.schema(member)
	if at == wanted {
		return true
	}
	return schema["items"] != nil && a.same(at+"/items", wanted)
}

// passes reports whether an item passes all filters of a request.
func (l *list) passes(r record, values map[string]any) bool {
	for _, f := range l.filters {
		wanted, given := values["query:"+f.parameter]
		if given && !matches(memberAt(r.value, f.path), wanted) {
			return false
		}
	}
	return true
}

// isFiltered reports whether a request uses a filter.
func (l *list) isFiltered(values map[string]any) bool {
	return slices.ContainsFunc(l.filters, func(f filter) bool {
		_, given := values["query:"+f.parameter]
		return given
	})
}

// memberAt returns the value at a path of members; for an array on the path, the values of all its items.
func memberAt(value any, path []string) any {
	if several, ok := value.([]any); ok && len(path) > 0 {
		var all []any
		for _, item := range several {
			all = append(all, memberAt(item, path))
		}
		return all
	}
	object, ok := value.(map[string]any)
	if !ok || len(path) == 0 {
		return value
	}
	return memberAt(object[path[0]], path[1:])
}

// matches compares plain values as texts. If one or both are lists, a single common item is enough.
func matches(value, wanted any) bool {
	if several, ok := wanted.([]any); ok {
		return slices.ContainsFunc(several, func(item any) bool { return matches(value, item) })
	}
	if several, ok := value.([]any); ok {
		return slices.ContainsFunc(several, func(item any) bool { return matches(item, wanted) })
	}
	return value != nil && plainText(value) != "" && plainText(value) == plainText(wanted)
}
