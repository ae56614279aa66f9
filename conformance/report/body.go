package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// deepest bounds the indentation of a printed JSON value; what lies deeper stays on one line.
const deepest = 24

// pretty makes a body readable: JSON is indented, anything else is left as it is. At most limit bytes come back; whole says whether that
// is everything. The work is bounded by limit, and by one pass over a body of nothing but blanks.
func pretty(body []byte, limit int) (text string, whole bool) {
	if beginsAsJSON(body, limit) {
		return indent(body, limit)
	}
	return head(body, limit)
}

// beginsAsJSON reports a JSON value; of a long text only what may be shown is looked at.
func beginsAsJSON(body []byte, limit int) bool {
	if len(body) <= 4*limit {
		return json.Valid(body)
	}
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) == 0 || first[0] != '{' && first[0] != '[' {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	for d.InputOffset() <= int64(limit) {
		if _, err := d.Token(); err != nil {
			return false
		}
	}
	return true
}

// head returns the beginning of a text, ending at a character boundary.
func head(text []byte, limit int) (string, bool) {
	if len(text) <= limit {
		return string(text), true
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return string(text[:limit]), false
}

// indent prints a JSON value over several lines until limit is reached.
func indent(doc []byte, limit int) (string, bool) {
	var b strings.Builder
	depth, inString := 0, false
	newline := func() {
		if depth <= deepest {
			b.WriteString("\n" + strings.Repeat("  ", max(0, depth)))
		}
	}
	for i := 0; i < len(doc); i++ {
		if b.Len() > limit {
			text, _ := head([]byte(b.String()), limit)
			return text, false
		}
		c := doc[i]
		if inString {
			b.WriteByte(c)
			if c == '\\' && i+1 < len(doc) {
				i++
				b.WriteByte(doc[i])
			}
			inString = c != '"'
			continue
		}
		switch c {
		case ' ', '\t', '\r', '\n':
		case '"':
			inString = true
			b.WriteByte(c)
		case '{', '[':
			b.WriteByte(c)
			if next := bytes.TrimLeft(doc[i+1:min(len(doc), i+64)], " \t\r\n"); len(next) > 0 && (next[0] == '}' || next[0] == ']') {
				i += bytes.IndexByte(doc[i:], next[0])
				b.WriteByte(next[0])
				continue
			}
			depth++
			newline()
		case '}', ']':
			depth--
			newline()
			b.WriteByte(c)
		case ',':
			b.WriteByte(c)
			newline()
		case ':':
			b.WriteString(": ")
		default:
			b.WriteByte(c)
		}
	}
	return head([]byte(b.String()), limit)
}

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
