package described

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/rin-network/rin/sandbox/described/document"
)

// schema is the schema at a pointer, references followed, and where it is; of what is no object, none.
func (a *API) schema(pointer string) (map[string]any, string) {
	object, at, fault := a.document.Resolve(pointer)
	if fault != nil {
		return nil, pointer
	}
	return object, at
}

// same tells whether two pointers lead to one schema.
func (a *API) same(one, other string) bool {
	_, x := a.schema(one)
	_, y := a.schema(other)
	return x == y
}

// equal tells whether two pointers lead to one schema, or to two that say the same.
func (a *API) equal(one, other string) bool {
	x, at := a.schema(one)
	y, where := a.schema(other)
	return at == where || reflect.DeepEqual(x, y)
}

// members are the properties of a schema with the pointers of theirs, through references, the parts that it is made of, and what its discriminator leads to.
func (a *API) members(pointer string) map[string]string {
	all := map[string]string{}
	a.collect(pointer, all, map[string]bool{})
	return all
}

// maxParts bounds the parts that are looked at.
const maxParts = 200

func (a *API) collect(pointer string, all map[string]string, seen map[string]bool) {
	schema, at := a.schema(pointer)
	if seen[at] || len(seen) > maxParts {
		return
	}
	seen[at] = true
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		if _, there := all[name]; !there {
			all[name] = document.Child(at, "properties", name)
		}
	}
	for _, combination := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := schema[combination].([]any)
		for i := range parts {
			a.collect(document.Child(at, combination, strconv.Itoa(i)), all, seen)
		}
	}
	discriminator, _ := schema["discriminator"].(map[string]any)
	mapping, _ := discriminator["mapping"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(mapping)) {
		target, _ := mapping[name].(string)
		if pointer, ok := document.Local(target); ok {
			a.collect(pointer, all, seen)
		}
	}
}

// put gives members of an object other values, as many of them as leave it fitting its schema: all at once, else one by one in the order of
// names.
func (a *API) put(object map[string]any, schema string, names []string, values map[string]any) map[string]any {
	known := a.members(schema)
	whole, changed := maps.Clone(object), false
	for _, name := range names {
		if _, ok := known[name]; ok {
			whole[name], changed = values[name], true
		}
	}
	if !changed || a.fits(schema, whole) {
		return whole
	}
	current := object
	for _, name := range names[:min(len(names), maxParts)] {
		if _, ok := known[name]; !ok {
			continue
		}
		next := maps.Clone(current)
		next[name] = values[name]
		if a.fits(schema, next) {
			current = next
		}
	}
	return current
}

func (a *API) fits(schema string, value any) bool {
	if schema == "" {
		return true
	}
	violations, err := a.responses.Check(schema, value)
	return err == nil && len(violations) == 0
}
