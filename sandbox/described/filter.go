package described

import (
	"slices"
	"strings"
	"unicode"
)

// filter is a query parameter that chooses among items by one member of theirs.
type filter struct{ parameter, member string }

// filters finds those of a list.
func (a *API) filters(l *list) []filter {
	members := a.members(l.item)
	var all []filter
	for _, p := range l.operation.parameters {
		if p.In != "query" || p.Schema == "" {
			continue
		}
		if member := a.filtered(p.Name, p.Schema, members); member != "" {
			all = append(all, filter{p.Name, member})
		}
	}
	return all
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
	object, _ := r.value.(map[string]any)
	for _, f := range l.filters {
		wanted, given := values["query:"+f.parameter]
		if given && !meets(object[f.member], wanted) {
			return false
		}
	}
	return true
}

// filtering tells whether a request uses a filter.
func (l *list) filtering(values map[string]any) bool {
	return slices.ContainsFunc(l.filters, func(f filter) bool { _, given := values["query:"+f.parameter]; return given })
}

// meets compares plain values as texts; of a list, one is enough.
func meets(has, wanted any) bool {
	if several, ok := wanted.([]any); ok {
		return slices.ContainsFunc(several, func(one any) bool { return meets(has, one) })
	}
	if several, ok := has.([]any); ok {
		return slices.ContainsFunc(several, func(one any) bool { return meets(one, wanted) })
	}
	return has != nil && plain(has) != "" && plain(has) == plain(wanted)
}
