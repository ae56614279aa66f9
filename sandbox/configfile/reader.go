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

	"github.com/rin-network/rin/sandbox/fault"
)

// value is a value of the file with the keys that lead to it. The zero value is an absent one.
type value struct {
	// at is where it is written, node what is written there: for an alias, what it refers to.
	at, node *yaml.Node
	path     string
}

func (v value) isPresent() bool { return v.node != nil }

// reader reads a file and collects its faults, so that all are reported at once.
type reader struct {
	source  Source
	faults  Faults
	visited int
}

func (r *reader) fault(v value, expected, got, hint string) {
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
		r.fault(v, fmt.Sprintf("at most %d values", maxValues), "more, with the values of aliases", "use fewer aliases")
	}
	return v, r.visited <= maxValues
}

// decode reads a mapping into a struct of values, whose tags are the keys. belongs returns a hint for an unknown key, or "". The caller checks for
// required keys after their values.
func (r *reader) decode(v value, into any, belongs func(name string) string) {
	for _, m := range r.mapping(v, keysOf(into), belongs) {
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
func (r *reader) mapping(v value, known []string, belongs func(name string) string) []member {
	if v.node.Kind != yaml.MappingNode {
		r.fault(v, "keys such as "+strings.Join(known[:min(3, len(known))], ", "), got(v.node), "")
		return nil
	}
	return slices.DeleteFunc(r.members(v, maxMerges), func(m member) bool {
		if slices.Contains(known, m.name) {
			return false
		}
		hint := cmp.Or(belongs(m.name), suggestion(m.name, known), "the keys are "+strings.Join(known, ", "))
		r.fault(value{at: m.key, node: m.node, path: m.path}, "a key that is known here", quoted(m.name), hint)
		return true
	})
}

// require reports a mapping without a key that it needs.
func (r *reader) require(mapping, v value, key, expected string) {
	if mapping.node.Kind == yaml.MappingNode && !v.isPresent() {
		r.fault(mapping, key+", "+expected, "none", "")
	}
}

// member is a member of a mapping.
type member struct {
	name string
	key  *yaml.Node
	value
}

// members lists the members of a mapping, first its own, then those that it merges in and does not have. It reports keys that are written twice.
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
		below, ok := r.follow(v.node.Content[i+1], strings.TrimPrefix(v.path+"."+name, "."))
		if !ok {
			break
		}
		if first := slices.IndexFunc(own, func(m member) bool { return m.name == name }); first >= 0 {
			below.at = k
			r.fault(below, "each key once", "a second one", fmt.Sprintf("line %d has it already: keep one", own[first].key.Line))
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

// merged lists the members that << merges in: those of one mapping, or of several, of which the first takes precedence.
func (r *reader) merged(into value, n *yaml.Node, merges int) []member {
	v, ok := r.follow(n, strings.TrimPrefix(into.path+".<<", "."))
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

// list returns the items of a sequence, which must not be longer than most.
func (r *reader) list(v value, of string, most int) []value {
	if v.node.Kind != yaml.SequenceNode {
		r.fault(v, "a list of "+of, got(v.node), "")
		return nil
	}
	if len(v.node.Content) > most {
		r.fault(v, fmt.Sprintf("at most %d %s", most, of), strconv.Itoa(len(v.node.Content)), "")
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

// oneOrMore returns the items of a list, or the one value that is written in its place.
func (r *reader) oneOrMore(v value, of string) []value {
	if v.node.Kind == yaml.SequenceNode {
		return r.list(v, of, maxList)
	}
	return []value{v}
}

// text returns a scalar as it is written. It returns false for an absent value and, with a fault, for anything else.
func (r *reader) text(v value, expected string) (string, bool) {
	if !v.isPresent() {
		return "", false
	}
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

// nonEmpty returns a text that is not empty, and "" with a fault for an empty one.
func (r *reader) nonEmpty(v value, expected string) string {
	text, ok := r.text(v, expected)
	if ok && strings.TrimSpace(text) == "" {
		r.fault(v, expected, "an empty text", "")
		return ""
	}
	return text
}

// parsed returns a text as parse reads it, and the zero value and false with a fault if it cannot.
func parsed[T any](r *reader, v value, expected string, parse func(text string) (T, error)) (T, bool) {
	var zero T
	text, ok := r.text(v, expected)
	if !ok {
		return zero, false
	}
	result, err := parse(text)
	if err != nil {
		r.fault(v, expected, quoted(text), "")
		return zero, false
	}
	return result, true
}

// number returns a whole number within bounds, 0 for an absent value.
func (r *reader) number(v value, least, most int) int {
	n, _ := parsed(r, v, fmt.Sprintf("a number from %d to %d", least, most), within(least, most))
	return n
}

// within parses a whole number within bounds.
func within(least, most int) func(text string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err == nil && (n < least || n > most) {
			err = strconv.ErrRange
		}
		return n, err
	}
}

// oneOf returns one of several names.
func oneOf[T ~string](r *reader, v value, allowed []T) (T, bool) {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	expected := "one of " + strings.Join(names, ", ")
	text, ok := r.text(v, expected)
	if ok && !slices.Contains(names, text) {
		r.fault(v, expected, quoted(text), suggestion(text, names))
		return "", false
	}
	return T(text), ok
}

// got describes what is written at a node, without its content.
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

// quoted quotes a text that holds no secret.
func quoted(text string) string { return strconv.Quote(shortened(text)) }

// shortened cuts a text after 60 characters.
func shortened(text string) string {
	if short := []rune(text); len(short) > 60 {
		return string(short[:59]) + "…"
	}
	return text
}

// suggestion names what may have been meant, "" when nothing is near.
func suggestion(name string, known []string) string {
	if len(fault.Near(name, known)) == 0 {
		return ""
	}
	return fault.Suggest(name, known)
}
