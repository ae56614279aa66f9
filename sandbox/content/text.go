package content

import "strings"

// ShellWord writes a text as one word of a POSIX shell, in single quotes if it needs them. It drops control characters: a terminal acts on them.
// Package evidence of conformance quotes its commands itself, because sandbox and conformance share no code.
func ShellWord(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	if text != "" && isBareWord(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Clip shortens a text to at most limit characters, for messages and logs; a text that is cut ends in "…". Bytes that are not UTF-8 become U+FFFD.
func Clip(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	last, n := 0, 0
	for i := range text {
		switch n++; n {
		case limit:
			last = i
		case limit + 1:
			return text[:last] + "…"
		}
	}
	return text
}

// isBareWord reports whether a shell takes a text literally without quotes. A leading "=" needs quotes: zsh replaces "=name" with the path of a command.
func isBareWord(s string) bool {
	return !strings.HasPrefix(s, "=") && strings.IndexFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !letter && !(r >= '0' && r <= '9') && !strings.ContainsRune("_-./:@%+=,", r)
	}) < 0
}
