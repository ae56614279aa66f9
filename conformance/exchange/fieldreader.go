package exchange

import (
	"fmt"
	"strings"
)

// fieldReader reads a field value by the rules that the fields share (RFC 9110 §5.6).
type fieldReader struct {
	text string
	pos  int
}

func (in *fieldReader) end() bool      { return in.pos >= len(in.text) }
func (in *fieldReader) at(c byte) bool { return !in.end() && in.text[in.pos] == c }

// expected says what was looked for at which offset, and what stood there.
func (in *fieldReader) expected(what string) error {
	if in.end() {
		return fmt.Errorf("offset %d: expected %s, got the end", in.pos, what)
	}
	return fmt.Errorf("offset %d: expected %s, got %q", in.pos, what, in.text[in.pos:in.pos+1])
}

// blanks skips blanks and tabs (OWS, BWS) and reports whether there were any.
func (in *fieldReader) blanks() bool {
	start := in.pos
	for in.at(' ') || in.at('\t') {
		in.pos++
	}
	return in.pos > start
}

// separators skips commas and blanks between list members and reports whether there was a comma.
func (in *fieldReader) separators() bool {
	comma := false
	for in.blanks(); in.at(','); in.blanks() {
		comma = true
		in.pos++
	}
	return comma
}

// token reads a token (§5.6.2); empty when there is none.
func (in *fieldReader) token() string {
	start := in.pos
	for !in.end() && tokenChar(in.text[in.pos]) {
		in.pos++
	}
	return in.text[start:in.pos]
}

// token68 reads a token68 (§11.2) that fills the list member; otherwise nothing is read.
func (in *fieldReader) token68() string {
	start := in.pos
	for !in.end() && (alphanumeric(in.text[in.pos]) || strings.IndexByte("-._~+/", in.text[in.pos]) >= 0) {
		in.pos++
	}
	if in.pos == start {
		return ""
	}
	for in.at('=') {
		in.pos++
	}
	found := in.text[start:in.pos]
	if in.blanks(); !in.end() && !in.at(',') {
		in.pos = start
		return ""
	}
	return found
}

// value reads a token or a quoted-string (§5.6.4) with its quoted-pairs undone.
func (in *fieldReader) value() (value string, quoted bool, err error) {
	if !in.at('"') {
		if value = in.token(); value == "" {
			return "", false, in.expected("a token or a quoted string")
		}
		return value, false, nil
	}
	in.pos++
	var b strings.Builder
	for !in.end() {
		c := in.text[in.pos]
		switch {
		case c == '"':
			in.pos++
			return b.String(), true, nil
		case c == '\\' && in.pos+1 < len(in.text):
			in.pos++
			c = in.text[in.pos]
		}
		if c < ' ' && c != '\t' || c == 0x7f {
			return "", true, in.expected("a printable character")
		}
		b.WriteByte(c)
		in.pos++
	}
	return "", true, in.expected("a closing quote")
}

// tokenChar reports a tchar (§5.6.2).
func tokenChar(c byte) bool {
	return alphanumeric(c) || c != 0 && strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
