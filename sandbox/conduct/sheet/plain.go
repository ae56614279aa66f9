package sheet

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain makes characters visible that move a cursor, hide or reorder text, as escapes: \x1b, \u202e.
func plain(text string) string {
	if strings.IndexFunc(text, strange) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < 0x80 && strange(r):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case strange(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// strange tells whether a character is not what a person sees as one: control and format characters, blanks other than the usual,
// and marks that pile up on others.
func strange(r rune) bool { return !unicode.IsPrint(r) || unicode.In(r, unicode.Me, unicode.Mn) }
