package mockapi

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// filter is a query parameter that chooses among items by one member of theirs, or by one within it.
type filter struct {
	parameter string
	way       []string
}

// filters finds those of a list, whose paging is known: page=2 asks for no items with 2 pages.
func (a *API) filters(l *list) []filter {
	members := a.members(l.item)
	var all []filter
	for _, p := range l.operation.parameters {
		if p.In != "query" || p.Schema == "" || l.paging.has(p.Name) || endsPaging(p.Name) {
			continue
		}
		if member := a.filtered(p.Name, p.Schema, members); member != "" {
			all = append(all, filter{p.Name, []string{member}})
		} else if way := a.within(l.item, canonical(p.Name), "", maxFilterDepth); way != nil {
			all = append(all, filter{p.Name, way})
		}
	}
	return all
}

// maxFilterDepth bounds how deep a member is looked for.
const maxFilterDepth = 3

// within finds the plain member whose name, behind those of the members around it, is that of a parameter: funderId is funder.id. The
// same name twice in a row counts once.
func (a *API) within(pointer, name, before string, left int) []string {
	members := a.members(pointer)
	for _, member := range slices.Sorted(maps.Keys(members)) {
		rest, begins := strings.CutPrefix(name, canonical(member))
		if !begins && canonical(member) != before {
			continue
		}
		if !begins {
			rest = name
		}
		schema, at := a.schema(members[member])
		if schema["items"] != nil {
			schema, at = a.schema(at + "/items")
		}
		nested := len(a.members(at)) > 0
		if rest == "" && !nested && schema["items"] == nil {
			return []string{member}
		}
		if nested && left > 1 && rest != "" {
			if way := a.within(at, rest, canonical(member), left-1); way != nil {
				return append([]string{member}, way...)
			}
		}
	}
	return nil
}

// filtered finds the member that a parameter filters by: of its name, of its plural, of which its name is the end, or with the same
// referenced schema as no other.
func (a *API) filtered(parameter, schema string, members map[string]string) string {
	var plural, ends, alike []string
	for member := range members {
		switch {
		case canonical(member) == canonical(parameter):
			return member
		case canonical(member) == canonical(parameter)+"s":
			plural = append(plural, member)
		case endsWith(parameter, member):
			ends = append(ends, member)
		case a.sameComponent(schema, members[member]):
			alike = append(alike, member)
		}
	}
	// A word at the end says little, unless the values are of one kind: a funderId is not the id of a funding.
	ends = slices.DeleteFunc(ends, func(member string) bool { return !a.sameComponent(schema, members[member]) })
	for _, found := range [][]string{plural, ends, alike} {
		if len(found) == 1 {
			return found[0]
		}
	}
	return ""
}

// endsWith tells whether a name in camel case ends with a word: fundingType with type.
func endsWith(name, word string) bool {
	if word == "" || len(name) <= len(word) {
		return false
	}
	first := []rune(word)
	first[0] = unicode.ToUpper(first[0])
	return strings.HasSuffix(name, string(first)) || strings.HasSuffix(name, "_"+word)
}

// sameComponent tells whether a parameter and a member, or its items, have one schema by reference.
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

// keep tells whether an item passes all filters that a request uses.
func (l *list) keep(r record, values map[string]any) bool {
	for _, f := range l.filters {
		wanted, given := values["query:"+f.parameter]
		if given && !matches(memberAt(r.value, f.way), wanted) {
			return false
		}
	}
	return true
}

// filtering tells whether a request uses a filter.
func (l *list) filtering(values map[string]any) bool {
	return slices.ContainsFunc(l.filters, func(f filter) bool { _, given := values["query:"+f.parameter]; return given })
}

// memberAt is what is at the end of a way; of arrays on it, all that their items have there.
func memberAt(value any, way []string) any {
	if several, ok := value.([]any); ok && len(way) > 0 {
		var all []any
		for _, one := range several {
			all = append(all, memberAt(one, way))
		}
		return all
	}
	object, ok := value.(map[string]any)
	if !ok || len(way) == 0 {
		return value
	}
	return memberAt(object[way[0]], way[1:])
}

// matches compares plain values as texts; of a list, one is enough.
func matches(has, wanted any) bool {
	if several, ok := wanted.([]any); ok {
		return slices.ContainsFunc(several, func(one any) bool { return matches(has, one) })
	}
	if several, ok := has.([]any); ok {
		return slices.ContainsFunc(several, func(one any) bool { return matches(one, wanted) })
	}
	return has != nil && plainText(has) != "" && plainText(has) == plainText(wanted)
}
