package document

import (
	"slices"
	"strconv"
)

// Ref is one $ref of the document.
type Ref struct {
	Pointer  string // where it stands, RFC 6901, ending in "/$ref"
	Target   string // as written
	Resolves bool   // a local reference that names something in this document
}

// Refs lists every $ref that is a reference (not a name, not inside example, enum, const, default or x- data), by pointer.
func (d *Document) Refs() []Ref { return slices.Clone(d.refs) }

// Visit is called by [Walk] for each object that is not data: names tells that its members are named by the author.
type Visit func(pointer string, object map[string]any, names bool)

// Walk visits the objects of a decoded document in the order of their sorted keys, outside of example, enum, const, default and x- data.
func Walk(root any, visit Visit) { walk(root, "", false, visit) }

func walk(value any, pointer string, names bool, visit Visit) {
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			walk(item, pointer+"/"+strconv.Itoa(i), false, visit)
		}
	case map[string]any:
		visit(pointer, v, names)
		for _, key := range sortedKeys(v) {
			if !names && HoldsData(key) {
				continue
			}
			walk(v[key], pointer+"/"+Escape(key), !names && HoldsNames(key), visit)
		}
	}
}

// index notes all references and anchors in one walk; anchors come first, since references may name them.
func (d *Document) index() {
	d.anchors = map[string]string{}
	Walk(d.root, func(pointer string, object map[string]any, names bool) {
		if names {
			return
		}
		for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
			if name, ok := object[keyword].(string); ok && name != "" {
				d.anchors[name] = pointer
			}
		}
		if ref, ok := object["$ref"].(string); ok {
			d.refs = append(d.refs, Ref{Pointer: pointer + "/$ref", Target: ref})
		}
	})
	for i, ref := range d.refs {
		_, _, d.refs[i].Resolves = d.Follow(ref.Target)
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
