package configfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/sandbox/fault"
)

// value is a value of the file with the keys that lead to it.
type value struct {
	// at is where it stands, node what stands there: another one for an alias.
	at, node *yaml.Node
	path     string
}

// reader reads a file and collects its faults, so that all are told at once.
type reader struct {
	source  Source
	faults  Faults
	visited int
}

func (r *reader) fault(v value, expected, got, hint string) {
	r.faults = append(r.faults, Fault{Line: v.at.Line, Column: v.at.Column, Path: v.path, Expected: expected, Got: got, Hint: hint})
}

// follow makes a value of a node, which an alias has somewhere else. It is false when there were too many.
func (r *reader) follow(n *yaml.Node, path string) (value, bool) {
	v := value{at: n, node: n, path: path}
	if n.Kind == yaml.AliasNode {
		v.node = n.Alias
	}
	r.visited++
	if r.visited == maxValues+1 {
		r.fault(v, fmt.Sprintf("at most %d values", maxValues), "more, those counted that aliases stand for", "use fewer aliases")
	}
	return v, r.visited <= maxValues
}

// list reads each value of a sequence, of which there may be so many.
func (r *reader) list(v value, of string, most int, read func(item value, index int)) {
	if v.node.Kind != yaml.SequenceNode {
		r.fault(v, "a list of "+of, got(v.node), "")
		return
	}
	if len(v.node.Content) > most {
		r.fault(v, fmt.Sprintf("at most %d %s", most, of), strconv.Itoa(len(v.node.Content)), "")
		return
	}
	for i, n := range v.node.Content {
		item, ok := r.follow(n, v.path+"["+strconv.Itoa(i)+"]")
		if !ok {
			return
		}
		read(item, i)
	}
}

// oneOrMore reads a list, or the one value that stands in its place.
func (r *reader) oneOrMore(v value, of string, read func(item value, index int)) {
	if v.node.Kind == yaml.SequenceNode {
		r.list(v, of, maxList, read)
		return
	}
	read(v, 0)
}

// text is a scalar as it is written. It is false, and a fault, for anything else.
func (r *reader) text(v value, expected string) (string, bool) {
	if v.node.Kind != yaml.ScalarNode || v.node.Tag == "!!null" {
		r.fault(v, expected, got(v.node), "")
		return "", false
	}
	text := v.node.Value
	switch {
	case len(text) > maxText:
		r.fault(v, expected, fmt.Sprintf("a text of %d bytes", len(text)), "")
	case strings.ContainsFunc(text, unicode.IsControl):
		r.fault(v, expected, "a text with control characters", "")
	default:
		return text, true
	}
	return "", false
}

// got says what stands at a node, without showing what it holds.
func got(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys with values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	}
	return "a single value"
}

// quoted shows a text that is no secret.
func quoted(text string) string { return strconv.Quote(shortened(text)) }

// shortened is a text of at most 60 characters.
func shortened(text string) string {
	if short := []rune(text); len(short) > 60 {
		return string(short[:59]) + "…"
	}
	return text
}

// joined is a path with a name at its end.
func joined(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// suggestion names what may have been meant, empty when nothing is near.
func suggestion(name string, known []string) string {
	if len(fault.Near(name, known)) == 0 {
		return ""
	}
	return fault.Suggest(name, known)
}

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

// into reads a text that is not empty.
func (r *reader) into(name, expected string, to *string) key {
	return key{name: name, expected: expected, read: func(v value) {
		text, ok := r.text(v, expected)
		if ok && strings.TrimSpace(text) == "" {
			r.fault(v, expected, "an empty text", "")
			return
		}
		*to = text
	}}
}

func (r *reader) required(name, expected string, to *string) key {
	k := r.into(name, expected, to)
	k.required = true
	return k
}

// number reads a whole number within bounds.
func (r *reader) number(name string, least, most int, to *int) key {
	expected := fmt.Sprintf("a number from %d to %d", least, most)
	return key{name: name, read: func(v value) {
		text, ok := r.text(v, expected)
		if !ok {
			return
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			r.fault(v, expected, quoted(text), "")
			return
		}
		*to = n
	}}
}

// oneOf reads one of several names.
func (r *reader) oneOf(name string, allowed []string, chosen func(string)) key {
	expected := "one of " + strings.Join(allowed, ", ")
	return key{name: name, read: func(v value) {
		text, ok := r.text(v, expected)
		switch {
		case !ok:
		case !slices.Contains(allowed, text):
			r.fault(v, expected, quoted(text), suggestion(text, allowed))
		default:
			chosen(text)
		}
	}}
}
