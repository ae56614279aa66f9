package setup

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// key is one that a mapping may have.
type key struct {
	name string
	read func(v value)
	// required tells that the mapping is no good without it; expected then says what belongs there.
	required bool
	expected string
}

// mapping reads a mapping by its keys. belongs says of an unknown key where it belongs, empty when that is nowhere.
func (r *reader) mapping(v value, keys []key, belongs func(name string) string) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	if v.node.Kind != yaml.MappingNode {
		r.fault(v, "keys such as "+strings.Join(names[:min(3, len(names))], ", "), got(v.node), "")
		return
	}
	members := r.members(v, maxMerges)
	for _, m := range members {
		i := slices.Index(names, m.name)
		if i >= 0 {
			keys[i].read(m.value)
			continue
		}
		hint := belongs(m.name)
		if hint == "" {
			hint = suggestion(m.name, names)
		}
		if hint == "" {
			hint = "the keys are " + strings.Join(names, ", ")
		}
		key := m.value
		key.at = m.key
		r.fault(key, "a key that is known here", quoted(m.name), hint)
	}
	for _, k := range keys {
		if k.required && !slices.ContainsFunc(members, func(m member) bool { return m.name == k.name }) {
			r.fault(v, k.name+", "+k.expected, "none", "")
		}
	}
}

// member is a member of a mapping.
type member struct {
	name  string
	key   *yaml.Node
	value value
}

// members are those of a mapping, first its own, then those that it merges in and has not. A key that stands there twice is a fault.
func (r *reader) members(v value, merges int) []member {
	var own, merged []member
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		k := v.node.Content[i]
		if k.Tag == "!!merge" {
			merged = append(merged, r.merged(v, v.node.Content[i+1], merges)...)
			continue
		}
		if k.Kind != yaml.ScalarNode {
			r.fault(value{at: k, node: k, path: v.path}, "a name as key", got(k), "")
			continue
		}
		name := shortened(k.Value)
		below, ok := r.follow(v.node.Content[i+1], joined(v.path, name))
		if !ok {
			break
		}
		if first := slices.IndexFunc(own, func(m member) bool { return m.name == name }); first >= 0 {
			below.at = k
			r.fault(below, "a key once", "it twice", fmt.Sprintf("it stands in line %d already: keep one", own[first].key.Line))
			continue
		}
		own = append(own, member{name, k, below})
	}
	for _, m := range merged {
		if !slices.ContainsFunc(own, func(o member) bool { return o.name == m.name }) {
			own = append(own, m)
		}
	}
	return own
}

// merged are the members that << merges in: those of a mapping, or of several, of which the first wins.
func (r *reader) merged(into value, n *yaml.Node, merges int) []member {
	v, ok := r.follow(n, joined(into.path, "<<"))
	switch {
	case !ok:
		return nil
	case merges == 0:
		r.fault(v, fmt.Sprintf("at most %d merges within each other", maxMerges), "more", "")
		return nil
	case v.node.Kind == yaml.MappingNode:
		v.path = into.path
		return r.members(v, merges-1)
	case v.node.Kind == yaml.SequenceNode:
		var all []member
		for _, item := range v.node.Content {
			all = append(all, r.merged(into, item, merges-1)...)
		}
		return all
	}
	r.fault(v, "an alias of a mapping", got(v.node), "")
	return nil
}
