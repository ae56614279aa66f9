package evidence

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Deceptive reports characters that act instead of being seen: control characters (Cc), format characters (Cf) such as the
// bidirectional overrides and zero-width blanks, line and paragraph separators, and characters that belong to no text.
func Deceptive(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f, r > '\u00ad' && r < '\u0600':
		return false // ASCII, and the alphabets of Europe: no need to look them up
	case r == '\u200c' || r == '\u200d':
		return false // joiners: they spell words in Persian and Indic scripts, and emoji
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs):
		return true
	}
	return r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe
}

// EscapeDeceptive writes the deceptive characters that JSON lets stand inside strings as escapes, so that a document that is printed does not act
// on the terminal. Its values stay the same. Those within ASCII are either white space of the document itself or escaped already,
// but for DEL.
func EscapeDeceptive(doc []byte) []byte {
	clean := 0 // everything before it needs no change
	var b bytes.Buffer
	for i := 0; i < len(doc); {
		if doc[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(doc[i:])
		if Deceptive(r) {
			b.Write(doc[clean:i])
			clean = i + size
			if r < 0x10000 {
				fmt.Fprintf(&b, `\u%04x`, r)
			} else {
				high, low := utf16.EncodeRune(r)
				fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
			}
		}
		i += size
	}
	if clean == 0 {
		return doc
	}
	b.Write(doc[clean:])
	return b.Bytes()
}

// Count writes a number with its noun: "1 item", "2 items", "3 entries".
func Count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "entry"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
