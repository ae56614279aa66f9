package report

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/rin-network/rin/conformance/evidence"
)

// Plain makes a text from a node harmless and puts it on one line. Control characters, escape sequences, line breaks, characters that reorder
// or hide text, and invalid UTF-8 become visible escapes such as \x1b and \u202e.
func Plain(s string) string { return visible(s, "") }

// PlainLines is [Plain] for several lines: it keeps line feeds and tabs and turns CRLF into LF.
func PlainLines(s string) string {
	return visible(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t")
}

// visible escapes all deceptive characters of a text, except those in keep.
func visible(s, keep string) string {
	clean := strings.IndexFunc(s, func(r rune) bool {
		return r == utf8.RuneError || evidence.Deceptive(r) && !strings.ContainsRune(keep, r)
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
		case strings.ContainsRune(keep, r) || !evidence.Deceptive(r):
			b.WriteString(s[i : i+size])
		default:
			b.WriteString(escape(r))
		}
		i += size
	}
	return b.String()
}

// escape returns a character as an escape sequence of Go.
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

// cut shortens a text to at most n bytes at a character boundary and says how much is missing.
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

// Wrap breaks a text into lines of at most that many columns: at blanks, and inside words that are longer than a line.
func Wrap(text string, columns int) []string {
	return wrap(text, columns, func(string) bool { return true })
}

// maxAddress bounds the URLs that stay whole, in columns. A node may send longer ones.
const maxAddress = 200

// mayBreak reports whether a word may be broken. A URL stays whole, so that it can be copied and a terminal makes a link of it.
func mayBreak(word string) bool {
	return !strings.Contains(word, "://") || ansi.StringWidth(word) > maxAddress
}

// Hang wraps a text at width columns after a lead, and indents the further lines to the column where the text begins. It never breaks a word, so that URLs
// and names can be copied.
func Hang(lead, text string, width int) string {
	indent := ansi.StringWidth(lead)
	return lead + strings.Join(wrap(text, width-indent, func(string) bool { return false }), "\n"+strings.Repeat(" ", indent))
}

// wrap breaks a text at blanks into lines of at most that many columns. It also breaks a longer word, if breaks allows that.
func wrap(text string, columns int, breaks func(word string) bool) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
		case ansi.StringWidth(line)+1+ansi.StringWidth(word) <= columns:
			line += " " + word
			continue
		default:
			lines = append(lines, line)
		}
		for ansi.StringWidth(word) > columns && breaks(word) {
			head := cmp.Or(ansi.Truncate(word, columns, ""), ansi.Truncate(word, 2, "")) // at least one character
			lines, word = append(lines, head), word[len(head):]
		}
		line = word
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// pad appends blanks up to n columns.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-ansi.StringWidth(s)))
}
