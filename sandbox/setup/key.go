package setup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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
