package setup

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/sandbox/spelling"
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
	if len(spelling.Near(name, known)) == 0 {
		return ""
	}
	return spelling.Suggest(name, known)
}
