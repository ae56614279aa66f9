package openapi

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// This file walks JSON text without building values: answers may be large and hostile, and little of them is looked at. Parts are
// slices of the text itself.

// blanks are the characters that may stand between JSON tokens (RFC 8259 §2).
const blanks = " \t\r\n"

// span is the length of the JSON value at the start of the text: -1 when it breaks off, 0 when there is none. Whether the value is
// well-formed inside is not looked at.
func span(text []byte) int {
	if len(text) == 0 || bytes.IndexByte([]byte(blanks+"]},:"), text[0]) >= 0 {
		return 0
	}
	switch text[0] {
	case '"':
		return quoted(text)
	case '[', '{':
		return bracketed(text)
	}
	return bytes.IndexAny(text, blanks+"]},:")
}

// quoted is the length of the string at the start of the text, or -1.
func quoted(text []byte) int {
	quote := 0 // the next one that was found
	for i := 1; i < len(text); {
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

// bracketed is the length of the array or object at the start of the text, or -1.
func bracketed(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			n := quoted(text[i:])
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

// members goes through the members of a JSON object in order; anything else has none. The last one may break off.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for name, value := range rawMembers(object) {
			if !yield(unquoted(name), value) {
				return
			}
		}
	}
}

// rawMembers are the members with their names as they are written, in quotes.
func rawMembers(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(object, blanks), []byte("{"))
		for ok { // an object at all
			rest = bytes.TrimLeft(rest, blanks+",")
			n := span(rest)
			if n <= 0 || rest[0] != '"' {
				return
			}
			name := rest[:n]
			rest = bytes.TrimLeft(rest[n:], blanks+":")
			switch n = span(rest); {
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

// unquoted is the text of a JSON string; what cannot be decoded stays as it is written.
func unquoted(s []byte) string {
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

// elements are the well-formed values of a JSON array, up to MaxItems; whole says that those are all.
func elements(array []byte) (out [][]byte, whole bool) {
	rest := bytes.TrimPrefix(bytes.TrimLeft(array, blanks), []byte("["))
	for {
		rest = bytes.TrimLeft(rest, blanks+",")
		if len(rest) > 0 && rest[0] == ']' {
			return out, true
		}
		n := span(rest)
		if n <= 0 || len(out) == MaxItems || !json.Valid(rest[:n]) {
			return out, false
		}
		out = append(out, rest[:n])
		rest = rest[n:]
	}
}

// Split cuts a JSON array in the texts of its values, up to [MaxItems], without a look into them: whether they are well-formed shows when
// they are read. whole says that those are all, with nothing but a comma between two of them and nothing behind the array. It is much
// faster than reading.
func Split(array []byte) (values [][]byte, whole bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(array, blanks), []byte("["))
	rest = bytes.TrimLeft(rest, blanks)
	if end, empty := bytes.CutPrefix(rest, []byte("]")); ok && empty {
		return nil, firstByte(end) == 0
	}
	for ok {
		n := span(rest)
		if n <= 0 || len(values) == MaxItems {
			break
		}
		values = append(values, rest[:n])
		rest = bytes.TrimLeft(rest[n:], blanks)
		if end, ended := bytes.CutPrefix(rest, []byte("]")); ended {
			return values, firstByte(end) == 0
		}
		rest, ok = bytes.CutPrefix(rest, []byte(","))
		rest = bytes.TrimLeft(rest, blanks)
	}
	return values, false
}

// firstByte is the first character of a JSON value, which tells its type; 0 for nothing.
func firstByte(text []byte) byte {
	if text = bytes.TrimLeft(text, blanks); len(text) > 0 {
		return text[0]
	}
	return 0
}

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
		switch firstByte(text) {
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

// RepeatedMembers lists, as pointers, the members that an object inside the text holds more than once (RFC 8259 §4), up to a bound. What lies
// inside a repeated member is not looked at again.
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
