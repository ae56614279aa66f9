package document

import (
	"slices"
	"strconv"
	"strings"
)

// Bounds of a walk through JSON text.
const (
	maxVisited  = 10_000
	maxNesting  = 32
	maxRepeated = 20
)

// EachMember calls visit with the members of every object inside a JSON text in their order, repeated ones included, up to a bound:
// the member's RFC 6901 pointer, its name and its value as it is written.
func EachMember(text []byte, visit func(pointer, name string, value []byte)) {
	left := maxVisited
	var walk func(text []byte, at string, depth int)
	walk = func(text []byte, at string, depth int) {
		if depth == 0 {
			return
		}
		switch begins(text) {
		case '{':
			for name, value := range members(text) {
				if left--; left < 0 {
					return
				}
				pointer := at + "/" + Escape(name)
				visit(pointer, name, value)
				walk(value, pointer, depth-1)
			}
		case '[':
			items, _ := elements(text)
			for i, item := range items {
				if left--; left < 0 {
					return
				}
				walk(item, at+"/"+strconv.Itoa(i), depth-1)
			}
		}
	}
	walk(text, "", maxNesting)
}

// Repeated lists, as pointers, the members that an object inside the text holds more than once (RFC 8259 §4), up to a bound. What lies
// inside a repeated member is not looked at again.
func Repeated(text []byte) []string {
	var out []string
	seen := map[string]bool{}
	EachMember(text, func(pointer, _ string, _ []byte) {
		inside := slices.ContainsFunc(out, func(p string) bool { return strings.HasPrefix(pointer, p+"/") })
		if seen[pointer] && !inside && !slices.Contains(out, pointer) && len(out) < maxRepeated {
			out = append(out, pointer)
		}
		seen[pointer] = true
	})
	return out
}
