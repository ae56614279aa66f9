package mockapi

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// PathTable finds the path template that matches a request. Of several templates, literal segments take precedence over parameters (OAS 3.0.3
// §4.7.8.2), and longer literal texts over shorter ones. The zero value is empty. It is safe for concurrent use after the last Add.
type PathTable[T any] struct {
	bySize map[int][]pathRow[T] // by the number of segments
}

// pathRow is a template with its value.
type pathRow[T any] struct {
	pathTemplate
	value T
}

// Add adds a template with a value. It refuses a template that matches the same paths as another one.
func (t *PathTable[T]) Add(text string, value T) error {
	parsed, err := parseTemplate(text)
	if err != nil {
		return err
	}
	if t.bySize == nil {
		t.bySize = map[int][]pathRow[T]{}
	}
	size := len(parsed.segments)
	i, _ := slices.BinarySearchFunc(t.bySize[size], parsed, func(r pathRow[T], p pathTemplate) int { return compareTemplates(r.pathTemplate, p) })
	for _, other := range t.bySize[size] {
		if other.same(parsed) {
			return fmt.Errorf("%q matches the same requests as %q, which comes first", text, other.text)
		}
	}
	t.bySize[size] = slices.Insert(t.bySize[size], i, pathRow[T]{parsed, value})
	return nil
}

// Find returns the value of the template that matches an escaped path, and the values of its parameters, escaped.
func (t *PathTable[T]) Find(path string) (value T, values map[string]string, ok bool) {
	segments := strings.Split(trimSlashes(path), "/")
	for _, r := range t.bySize[len(segments)] {
		if values, ok := r.match(segments); ok {
			return r.value, values, true
		}
	}
	return value, nil, false
}

// PathParameters lists the names of the parameters of a template; nil if the text is not a template.
func PathParameters(text string) []string {
	parsed, err := parseTemplate(text)
	if err != nil {
		return nil
	}
	return parsed.parameters()
}

// pathTemplate is a path with parameters, split at its slashes.
type pathTemplate struct {
	text     string
	segments []pathSegment
}

// pathSegment has texts and parameters in turn: "report-{year}.{format}" has the texts "report-", "." and "" around its two parameters.
type pathSegment struct {
	texts      []string
	parameters []string
}

// parseTemplate reads a template; a parameter is within one segment.
func parseTemplate(text string) (pathTemplate, error) {
	t := pathTemplate{text: text}
	for part := range strings.SplitSeq(trimSlashes(text), "/") {
		s := pathSegment{}
		rest := part
		for {
			before, after, found := strings.Cut(rest, "{")
			s.texts = append(s.texts, before)
			if !found {
				break
			}
			name, next, closed := strings.Cut(after, "}")
			if !closed || name == "" {
				return t, fmt.Errorf("%q is not a path template: a parameter is written {name}, within one segment", text)
			}
			if slices.Contains(t.parameters(), name) || slices.Contains(s.parameters, name) {
				return t, fmt.Errorf("%q has the parameter %s twice", text, name)
			}
			s.parameters = append(s.parameters, name)
			rest = next
		}
		t.segments = append(t.segments, s)
	}
	return t, nil
}

// trimSlashes removes the outer slashes of a path: paths with and without a slash at the end are the same, because clients send both.
func trimSlashes(path string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
}

// parameters lists the names of the parameters of a template in order.
func (t pathTemplate) parameters() []string {
	var names []string
	for _, s := range t.segments {
		names = append(names, s.parameters...)
	}
	return names
}

// match returns the values of the parameters, escaped, if the segments of a path match the template.
func (t pathTemplate) match(path []string) (values map[string]string, ok bool) {
	for i, s := range t.segments {
		if len(s.parameters) == 0 {
			plain, err := url.PathUnescape(path[i])
			if err != nil || plain != s.texts[0] {
				return nil, false
			}
			continue
		}
		if values == nil {
			values = make(map[string]string, len(s.parameters))
		}
		if !s.match(path[i], values) {
			return nil, false
		}
	}
	return values, true
}

// match reads the parameters of a segment. A parameter ends where the text after it first occurs, and is never empty.
func (s pathSegment) match(text string, values map[string]string) bool {
	rest, ok := strings.CutPrefix(text, s.texts[0])
	if !ok {
		return false
	}
	last := len(s.parameters) - 1
	for i, name := range s.parameters {
		after := s.texts[i+1]
		if i == last {
			value, ok := strings.CutSuffix(rest, after)
			values[name] = value
			return ok && value != ""
		}
		at := -1 // in rest[1:], because the value has at least one byte
		if len(rest) > 1 {
			at = strings.Index(rest[1:], after)
		}
		if at < 0 {
			return false
		}
		values[name], rest = rest[:at+1], rest[at+1+len(after):]
	}
	return true
}

// same reports whether two templates match the same paths: they differ only in the names of parameters.
func (t pathTemplate) same(other pathTemplate) bool {
	return slices.EqualFunc(t.segments, other.segments, func(a, b pathSegment) bool { return slices.Equal(a.texts, b.texts) })
}

// compareTemplates orders templates by their segments: one without parameters comes before one with some, then a longer text before a shorter one.
func compareTemplates(a, b pathTemplate) int {
	return cmp.Or(
		slices.CompareFunc(a.segments, b.segments, func(x, y pathSegment) int {
			return cmp.Or(cmp.Compare(min(len(x.parameters), 1), min(len(y.parameters), 1)), cmp.Compare(y.length(), x.length()))
		}),
		cmp.Compare(a.text, b.text))
}

// length returns the length of the texts of a segment.
func (s pathSegment) length() int { return len(strings.Join(s.texts, "")) }
