package route

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// template is a path with parameters, cut at its slashes.
type template struct {
	text     string
	segments []segment
}

// segment is text and parameters in turns: "report-{year}.{format}" has the texts "report-", "." and "" around its two parameters.
type segment struct {
	texts      []string
	parameters []string
}

// parse reads a template; a parameter stands within one segment.
func parse(text string) (template, error) {
	t := template{text: text}
	for part := range strings.SplitSeq(trimmed(text), "/") {
		s := segment{}
		rest := part
		for {
			before, behind, found := strings.Cut(rest, "{")
			s.texts = append(s.texts, before)
			if !found {
				break
			}
			name, next, closed := strings.Cut(behind, "}")
			if !closed || name == "" {
				return t, fmt.Errorf("%q is no path template: a parameter is written {name}, within one segment", text)
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

// trimmed is a path without its outer slashes: both forms of a path are served (NET G18: both occur).
func trimmed(path string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
}

// parameters names those of the template in their order.
func (t template) parameters() []string {
	var names []string
	for _, s := range t.segments {
		names = append(names, s.parameters...)
	}
	return names
}

// match gives the values of the parameters, still escaped, when the segments of a path are of the template.
func (t template) match(path []string) (values map[string]string, ok bool) {
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

// match takes a segment apart. A parameter ends where the text behind it occurs first, and is never empty.
func (s segment) match(text string, values map[string]string) bool {
	rest, ok := strings.CutPrefix(text, s.texts[0])
	if !ok {
		return false
	}
	last := len(s.parameters) - 1
	for i, name := range s.parameters {
		behind := s.texts[i+1]
		if i == last {
			value, ok := strings.CutSuffix(rest, behind)
			values[name] = value
			return ok && value != ""
		}
		at := -1
		if len(rest) > 1 {
			at = strings.Index(rest[1:], behind)
		}
		if at < 0 {
			return false
		}
		values[name], rest = rest[:at+1], rest[at+1+len(behind):]
	}
	return true
}

// same tells whether two templates match the same paths: only the names of their parameters differ.
func (t template) same(other template) bool {
	return slices.EqualFunc(t.segments, other.segments, func(a, b segment) bool { return slices.Equal(a.texts, b.texts) })
}

// compare orders templates: the more that is written out, the earlier.
func compare(a, b template) int {
	return cmp.Or(
		slices.CompareFunc(a.segments, b.segments, func(x, y segment) int {
			return cmp.Or(cmp.Compare(min(len(x.parameters), 1), min(len(y.parameters), 1)), cmp.Compare(y.length(), x.length()))
		}),
		cmp.Compare(a.text, b.text))
}

// length is how much of a segment is written out.
func (s segment) length() int { return len(strings.Join(s.texts, "")) }
