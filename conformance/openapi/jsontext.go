package openapi

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// This file walks JSON text without building values, because answers may be large and hostile. Parts are slices of the text.

// blanks is the white space between JSON tokens (RFC 8259 §2).
const blanks = " \t\r\n"

// valueLength returns the length of the JSON value at the start of the text: -1 if the text ends inside it, 0 if no value starts there. It does not check the
// syntax inside the value.
func valueLength(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	switch text[0] {
	case ' ', '\t', '\r', '\n', ']', '}', ',', ':':
		return 0
	case '"':
		return stringLength(text)
	case '[', '{':
		return containerLength(text)
	}
	return bytes.IndexAny(text, blanks+"]},:")
}

// stringLength returns the length of the string at the start of the text, or -1.
func stringLength(text []byte) int {
	const short = 24 // bytes; calling a search costs more than reading so many
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
		if i >= short {
			return longStringLength(text, i+1)
		}
	}
	return -1
}

// longStringLength is [stringLength] for a string that was read up to i, where no escape is open.
func longStringLength(text []byte, i int) int {
	quote := 0 // the next quote, kept while escapes before it are skipped, so that no text is searched twice
	for i < len(text) {
		if quote < i {
			n := bytes.IndexByte(text[i:], '"')
			if n < 0 {
				return -1
			}
			quote = i + n
		}
		escape := bytes.IndexByte(text[i:quote], '\\')
		if escape < 0 {
			return quote + 1
		}
		i += escape + 2
	}
	return -1
}

// containerLength returns the length of the array or object at the start of the text, or -1.
func containerLength(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			n := stringLength(text[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// members iterates over the members of a JSON object in order; other values have no members. The value of the last one may be incomplete.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for name, value := range rawMembers(object) {
			if !yield(unquote(name), value) {
				return
			}
		}
	}
}

// rawMembers iterates over the members with their names as written, in quotes and with escapes.
func rawMembers(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(object, blanks), []byte("{"))
		for ok { // other values have no members
			rest = bytes.TrimLeft(rest, blanks+",")
			n := valueLength(rest)
			if n <= 0 || rest[0] != '"' {
				return
			}
			name := rest[:n]
			rest = bytes.TrimLeft(rest[n:], blanks+":")
			switch n = valueLength(rest); {
			case n == 0:
				return
			case n < 0:
				yield(name, rest)
				return
			}
			if !yield(name, rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// unquote decodes a JSON string; it returns an invalid one as written, without its quotes.
func unquote(s []byte) string {
	plain := string(s[1 : len(s)-1])
	if bytes.IndexByte(s, '\\') < 0 {
		return plain
	}
	var out string
	if json.Unmarshal(s, &out) != nil {
		return plain
	}
	return out
}

// elements returns the values of a JSON array up to the first malformed one, at most MaxItems; complete reports whether these are all values.
func elements(array []byte) (out [][]byte, complete bool) {
	rest := bytes.TrimPrefix(bytes.TrimLeft(array, blanks), []byte("["))
	for {
		rest = bytes.TrimLeft(rest, blanks+",")
		if len(rest) > 0 && rest[0] == ']' {
			return out, true
		}
		n := valueLength(rest)
		if n <= 0 || len(out) == MaxItems || !json.Valid(rest[:n]) {
			return out, false
		}
		out = append(out, rest[:n])
		rest = rest[n:]
	}
}

// Split cuts a JSON array into the texts of its values, up to [MaxItems]. It does not check the syntax inside them, and so is much faster than
// decoding. complete reports whether these are all values, separated by single commas, with nothing after the array.
func Split(array []byte) (values [][]byte, complete bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(array, blanks), []byte("["))
	rest = bytes.TrimLeft(rest, blanks)
	if end, empty := bytes.CutPrefix(rest, []byte("]")); ok && empty {
		return nil, FirstByte(end) == 0
	}
	for ok {
		n := valueLength(rest)
		if n <= 0 || len(values) == MaxItems {
			break
		}
		values = append(values, rest[:n])
		rest = bytes.TrimLeft(rest[n:], blanks)
		if end, ended := bytes.CutPrefix(rest, []byte("]")); ended {
			return values, FirstByte(end) == 0
		}
		rest, ok = bytes.CutPrefix(rest, []byte(","))
		rest = bytes.TrimLeft(rest, blanks)
	}
	return values, false
}

// FirstByte returns the first character of a JSON text, which shows the type of the value, or 0 for a blank text.
func FirstByte(text []byte) byte {
	if text = bytes.TrimLeft(text, blanks); len(text) > 0 {
		return text[0]
	}
	return 0
}

// Bounds of a walk through JSON text.
const (
	maxVisited  = 10_000 // members and items
	maxNesting  = 32
	maxRepeated = 20 // repeated members that are returned
)

// EachMember calls visit for each member of every object inside a JSON text, in order and up to a bound. Repeated members are included. visit
// gets the RFC 6901 pointer, the name and the text of the value.
func EachMember(text []byte, visit func(pointer, name string, value []byte)) {
	visitsLeft := maxVisited
	var walk func(text []byte, at string, levelsLeft int)
	walk = func(text []byte, at string, levelsLeft int) {
		if levelsLeft == 0 {
			return
		}
		switch FirstByte(text) {
		case '{':
			for name, value := range members(text) {
				if visitsLeft--; visitsLeft < 0 {
					return
				}
				pointer := at + "/" + Escape(name)
				visit(pointer, name, value)
				walk(value, pointer, levelsLeft-1)
			}
		case '[':
			items, _ := Split(text)
			for i, item := range items {
				if visitsLeft--; visitsLeft < 0 {
					return
				}
				walk(item, at+"/"+strconv.Itoa(i), levelsLeft-1)
			}
		}
	}
	walk(text, "", maxNesting)
}

// RepeatedMembers returns pointers to the members that an object inside the text contains more than once (RFC 8259 §4), up to a bound. It
// skips the inside of repeated members.
func RepeatedMembers(text []byte) []string {
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
