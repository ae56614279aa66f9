package configfile

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/fault"
)

// value is a value of the file. The zero value means that the file does not have it.
type value struct {
	// at is the node where the value is written, for the line of a fault; node is the value itself. They differ for an alias.
	at, node *yaml.Node
	// path has the keys that lead to the value: nodes[1].seed.
	path string
}

func (v value) isPresent() bool { return v.node != nil }

// reader reads a file and collects its faults, so that all are reported at once.
type reader struct {
	source  Source
	faults  Faults
	visited int // values so far, to limit them
}

// addFault adds a fault at the place of a value.
func (r *reader) addFault(v value, expected, got, hint string) {
	r.faults = append(r.faults, Fault{Line: v.at.Line, Column: v.at.Column, Path: v.path, Expected: expected, Got: got, Hint: hint})
}

// follow makes a value of a node and resolves an alias. It returns false when the file has too many values.
func (r *reader) follow(n *yaml.Node, path string) (value, bool) {
	v := value{at: n, node: n, path: path}
	if n.Kind == yaml.AliasNode {
		v.node = n.Alias
	}
	r.visited++
	if r.visited == maxValues+1 {
		r.addFault(v, fmt.Sprintf("at most %d values", maxValues), "more, with the values of aliases", "use fewer aliases")
	}
	return v, r.visited <= maxValues
}

// decode reads a mapping into a struct of values, whose tags are the keys. hintFor returns a hint for an unknown key, or "". The caller checks
// required keys after it has read the values, so that the faults of the values come first.
func (r *reader) decode(v value, into any, hintFor func(name string) string) {
	for _, m := range r.mapping(v, keysOf(into), hintFor) {
		setKey(into, m.name, m.value)
	}
}

// keysOf lists the keys of a struct of values.
func keysOf(into any) []string {
	var keys []string
	for field := range reflect.TypeOf(into).Elem().Fields() {
		keys = append(keys, field.Tag.Get("yaml"))
	}
	return keys
}

// setKey sets the field of a key; it returns false when the struct has none.
func setKey(into any, key string, v value) bool {
	i := slices.Index(keysOf(into), key)
	if i < 0 {
		return false
	}
	*reflect.ValueOf(into).Elem().Field(i).Addr().Interface().(*value) = v
	return true
}

// mapping returns the members of a mapping whose keys are known, and reports all others.
func (r *reader) mapping(v value, known []string, hintFor func(name string) string) []member {
	if v.node.Kind != yaml.MappingNode {
		r.addFault(v, "keys such as "+strings.Join(known[:min(3, len(known))], ", "), kindOf(v.node), "")
		return nil
	}
	return slices.DeleteFunc(r.members(v, maxMerges), func(m member) bool {
		if slices.Contains(known, m.name) {
			return false
		}
		hint := cmp.Or(hintFor(m.name), suggestion(m.name, known), "the keys are "+strings.Join(known, ", "))
		r.addFault(value{at: m.key, node: m.node, path: m.path}, "a key that is known here", quote(m.name), hint)
		return true
	})
}

// require reports a mapping without a key that it needs.
func (r *reader) require(mapping, v value, key, expected string) {
	if mapping.node.Kind == yaml.MappingNode && !v.isPresent() {
		r.addFault(mapping, key+", "+expected, "none", "")
	}
}

// member is a member of a mapping.
type member struct {
	name string
	key  *yaml.Node
	value
}

// members lists the members of a mapping: first its own, then those of its merges (<<) whose keys it does not have itself. It reports keys that occur
// twice.
func (r *reader) members(v value, merges int) []member {
	var own, merged []member
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		k := v.node.Content[i]
		if k.Tag == "!!merge" {
			merged = append(merged, r.mergedMembers(v, v.node.Content[i+1], merges)...)
			continue
		}
		if k.Kind != yaml.ScalarNode {
			r.addFault(value{at: k, node: k, path: v.path}, "a name as key", kindOf(k), "")
			continue
		}
		name := shorten(k.Value)
		below, ok := r.follow(v.node.Content[i+1], strings.TrimPrefix(v.path+"."+name, "."))
		if !ok {
			break
		}
		if first := slices.IndexFunc(own, func(m member) bool { return m.name == name }); first >= 0 {
			below.at = k
			r.addFault(below, "each key once", "a second one", fmt.Sprintf("line %d has it already: keep one", own[first].key.Line))
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

// mergedMembers lists the members that << merges in: those of one mapping, or of several, of which the first takes precedence.
func (r *reader) mergedMembers(into value, n *yaml.Node, merges int) []member {
	v, ok := r.follow(n, strings.TrimPrefix(into.path+".<<", "."))
	switch {
	case !ok:
		return nil
	case merges == 0:
		r.addFault(v, fmt.Sprintf("at most %d merges within each other", maxMerges), "more", "")
		return nil
	case v.node.Kind == yaml.MappingNode:
		v.path = into.path
		return r.members(v, merges-1)
	case v.node.Kind == yaml.SequenceNode:
		var all []member
		for _, item := range v.node.Content {
			all = append(all, r.mergedMembers(into, item, merges-1)...)
		}
		return all
	}
	r.addFault(v, "an alias of a mapping", kindOf(v.node), "")
	return nil
}

// list returns the items of a sequence. It reports a sequence with more than most items; what names the items in the
// fault.
func (r *reader) list(v value, what string, most int) []value {
	if v.node.Kind != yaml.SequenceNode {
		r.addFault(v, "a list of "+what, kindOf(v.node), "")
		return nil
	}
	if len(v.node.Content) > most {
		r.addFault(v, fmt.Sprintf("at most %d %s", most, what), strconv.Itoa(len(v.node.Content)), "")
		return nil
	}
	var items []value
	for i, n := range v.node.Content {
		item, ok := r.follow(n, v.path+"["+strconv.Itoa(i)+"]")
		if !ok {
			break
		}
		items = append(items, item)
	}
	return items
}

// oneOrMore returns the items of a list, or the single value that the file has instead of a list.
func (r *reader) oneOrMore(v value, what string) []value {
	if v.node.Kind == yaml.SequenceNode {
		return r.list(v, what, maxList)
	}
	return []value{v}
}

// text returns the text of a scalar. It returns false for an absent value. For a value that is not a text, it also reports a fault.
func (r *reader) text(v value, expected string) (string, bool) {
	if !v.isPresent() {
		return "", false
	}
	if v.node.Kind != yaml.ScalarNode || v.node.Tag == "!!null" {
		r.addFault(v, expected, kindOf(v.node), "")
		return "", false
	}
	text := v.node.Value
	switch {
	case len(text) > maxText:
		r.addFault(v, expected, fmt.Sprintf("a text of %d bytes", len(text)), "")
	case strings.ContainsFunc(text, unicode.IsControl):
		r.addFault(v, expected, "a text with control characters", "")
	default:
		return text, true
	}
	return "", false
}

// nonEmpty returns a text, and reports an empty one. It returns "" for an absent value.
func (r *reader) nonEmpty(v value, expected string) string {
	text, ok := r.text(v, expected)
	if ok && strings.TrimSpace(text) == "" {
		r.addFault(v, expected, "an empty text", "")
		return ""
	}
	return text
}

// parseText returns the result of parse for a text. If parse fails, parseText reports that and returns the zero value and false.
func parseText[T any](r *reader, v value, expected string, parse func(text string) (T, error)) (T, bool) {
	var zero T
	text, ok := r.text(v, expected)
	if !ok {
		return zero, false
	}
	result, err := parse(text)
	if err != nil {
		r.addFault(v, expected, quote(text), "")
		return zero, false
	}
	return result, true
}

// number returns a whole number from least to most, or 0 for an absent value.
func (r *reader) number(v value, least, most int) int {
	n, _ := parseText(r, v, fmt.Sprintf("a number from %d to %d", least, most), parseNumber(least, most))
	return n
}

// parseNumber returns a parser of whole numbers from least to most.
func parseNumber(least, most int) func(text string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err == nil && (n < least || n > most) {
			err = strconv.ErrRange
		}
		return n, err
	}
}

// oneOf returns a name, and reports a name that is not allowed.
func oneOf[T ~string](r *reader, v value, allowed []T) (T, bool) {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	expected := "one of " + strings.Join(names, ", ")
	text, ok := r.text(v, expected)
	if ok && !slices.Contains(names, text) {
		r.addFault(v, expected, quote(text), suggestion(text, names))
		return "", false
	}
	return T(text), ok
}

// kindOf says what kind of value a node is, without its content.
func kindOf(n *yaml.Node) string {
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

// quote shortens and quotes a text for a fault. The text must not be a secret.
func quote(text string) string { return strconv.Quote(shorten(text)) }

// shorten cuts a text to 60 characters.
func shorten(text string) string { return content.Clip(text, 60) }

// suggestion asks whether a similar known name was meant; "" if none is similar.
func suggestion(name string, known []string) string {
	if len(fault.Near(name, known)) == 0 {
		return ""
	}
	return fault.Suggest(name, known)
}
