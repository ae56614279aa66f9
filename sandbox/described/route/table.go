package route

import (
	"fmt"
	"slices"
	"strings"
)

// Table finds templates. The zero value has none. It is safe for concurrent use once it is filled.
type Table[T any] struct {
	bySize map[int][]row[T] // by number of segments
}

type row[T any] struct {
	template
	value T
}

// Add puts a template with what belongs to it into the table; it is refused when it matches the same paths as another one.
func (t *Table[T]) Add(text string, value T) error {
	parsed, err := parse(text)
	if err != nil {
		return err
	}
	if t.bySize == nil {
		t.bySize = map[int][]row[T]{}
	}
	size := len(parsed.segments)
	at, _ := slices.BinarySearchFunc(t.bySize[size], parsed, func(r row[T], p template) int { return compare(r.template, p) })
	for _, other := range t.bySize[size] {
		if other.same(parsed) {
			return fmt.Errorf("%q matches the same requests as %q, which comes first", text, other.text)
		}
	}
	t.bySize[size] = slices.Insert(t.bySize[size], at, row[T]{parsed, value})
	return nil
}

// Find gives what belongs to the template of an escaped path, and the values of its parameters, still escaped.
func (t *Table[T]) Find(path string) (value T, values map[string]string, ok bool) {
	segments := strings.Split(trimmed(path), "/")
	for _, r := range t.bySize[len(segments)] {
		if values, ok := r.match(segments); ok {
			return r.value, values, true
		}
	}
	return value, nil, false
}

// Parameters names the parameters of a template; nil for what is none.
func Parameters(text string) []string {
	parsed, err := parse(text)
	if err != nil {
		return nil
	}
	return parsed.parameters()
}
