package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/exchange"
)

// Plain makes a text from a node harmless on one line: control characters, escape sequences, characters that reorder or hide
// text, and bytes that are no UTF-8 become visible escapes such as \x1b and \u202e. Line breaks and tabs do so, too. What is left cannot
// move a cursor, change a colour, or show another text than the one that is there.
func Plain(s string) string { return visible(s, "") }

// PlainLines is [Plain] for a text of several lines: line feeds and tabs are kept, a carriage return before a line feed is dropped.
func PlainLines(s string) string {
	return visible(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t")
}

func visible(s, keep string) string {
	clean := strings.IndexFunc(s, func(r rune) bool {
		return r == utf8.RuneError || exchange.Deceptive(r) && !strings.ContainsRune(keep, r)
	}) < 0
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case strings.ContainsRune(keep, r) || !exchange.Deceptive(r):
			b.WriteString(s[i : i+size])
		default:
			b.WriteString(escape(r))
		}
		i += size
	}
	return b.String()
}

// escape names a character as Go and most other languages do.
func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// cut shortens a text to at most n bytes, at a character boundary, and says how much is missing.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head := s[:n]
	for len(head) > 0 && !utf8.RuneStart(s[len(head)]) {
		head = head[:len(head)-1]
	}
	return fmt.Sprintf("%s … (%d more bytes)", head, len(s)-len(head))
}
