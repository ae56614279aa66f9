package report

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Columns counts the terminal columns that a text takes: combining marks none, East Asian wide characters two (UAX #11).
func Columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Wrap breaks a text into lines of at most max columns, at blanks where there are some, inside a word where it must.
func Wrap(text string, max int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
		case Columns(line)+1+Columns(word) <= max:
			line += " " + word
			continue
		default:
			lines = append(lines, line)
		}
		for Columns(word) > max {
			head, tail := split(word, max)
			lines = append(lines, head)
			word = tail
		}
		line = word
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// split cuts a word after at most max columns; the head holds one character at least.
func split(word string, max int) (head, tail string) {
	n := 0
	for i, r := range word {
		if n += columnsOf(r); n > max && i > 0 {
			return word[:i], word[i:]
		}
	}
	return word, ""
}

// pad fills a text with blanks up to n columns.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-Columns(s)))
}
