package view

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
)

// Secrets puts the value in the place of a marker; nil hides values.
type Secrets func(marker string) string

// span is a part of a row in one style. Its text is harmless.
type span struct {
	text   string
	style  lipgloss.Style
	secret bool
}

// spans are a text of a message in a style, its secrets between ‹ and ›: their names, or their values in a style of their own.
func (t Theme) spans(source string, style lipgloss.Style, secrets Secrets) []span {
	var out []span
	for _, p := range exchange.Pieces(source) {
		if !p.Marker {
			out = append(out, span{text: report.Plain(p.Text), style: style})
			continue
		}
		shown, shownIn := report.Plain(exchange.Masked(p.Text)), style
		if secrets != nil {
			if value := secrets(p.Text); value != p.Text {
				shown, shownIn = "‹"+report.Plain(value)+"›", t.Secret
			}
		}
		out = append(out, span{shown, shownIn, true})
	}
	return out
}

// readable writes the characters out that JSON has escaped for no need; what would act on a terminal stays escaped.
func readable(source []byte) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		if source[i] != '\\' || i+1 >= len(source) {
			b.WriteByte(source[i])
			continue
		}
		r, size := escaped(source[i:])
		switch {
		case size == 0 || exchange.Deceptive(r) || r == '"' || r == '\\':
			b.Write(source[i : i+2])
			i++
		default:
			b.WriteRune(r)
			i += size - 1
		}
	}
	return b.String()
}

// escaped is the character of an escape of JSON and how many bytes it takes; 0 for those that stay as they are.
func escaped(source []byte) (rune, int) {
	switch {
	case source[1] == '/':
		return '/', 2
	case source[1] != 'u' || len(source) < 6 || !hex4(source[2:6]):
		return 0, 0
	}
	r := unhex(source[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(source) >= 12 && source[6] == '\\' && source[7] == 'u' && hex4(source[8:12]) {
		if r = utf16.DecodeRune(r, unhex(source[8:12])); r != utf8.RuneError {
			return r, 12
		}
	}
	return 0, 0
}

func unhex(digits []byte) rune {
	var r rune
	for _, c := range digits {
		switch {
		case c <= '9':
			r = r<<4 | rune(c-'0')
		default:
			r = r<<4 | rune(c|' '-'a'+10)
		}
	}
	return r
}

// windowed is the beginning of some bytes, not cut within a character or a marker; cut tells that there are more.
func windowed(source []byte, limit int) (part []byte, cut bool) {
	if len(source) <= limit {
		return source, false
	}
	return source[:whole(source, limit)], true
}

// longestMarker is more than any marker takes.
const longestMarker = 200

// whole is a place near limit, and not behind it, where bytes may be cut.
func whole(source []byte, limit int) int {
	if from := max(0, limit-longestMarker); limit > 0 {
		near := string(source[from:min(len(source), limit+longestMarker)])
		at := from
		for _, p := range exchange.Pieces(near) {
			if p.Marker && at < limit && at+len(p.Text) > limit && at > 0 {
				return at
			}
			at += len(p.Text)
		}
	}
	for back := 0; back < utf8.UTFMax && limit-back > 0; back++ {
		if utf8.RuneStart(source[limit-back]) {
			return limit - back
		}
	}
	return limit
}
