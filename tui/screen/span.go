package screen

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
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
	for _, p := range redact.Split(source) {
		if !p.Marker {
			out = append(out, span{text: report.Plain(p.Text), style: style})
			continue
		}
		shown, shownIn := report.Plain(redact.Mask(p.Text)), style
		if secrets != nil {
			if value := secrets(p.Text); value != p.Text {
				shown, shownIn = "‹"+report.Plain(value)+"›", t.Secret
			}
		}
		out = append(out, span{shown, shownIn, true})
	}
	return out
}

// unescapeJSON writes the characters out that JSON has escaped for no need; what would act on a terminal stays escaped.
func unescapeJSON(source []byte) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		if source[i] != '\\' || i+1 >= len(source) {
			b.WriteByte(source[i])
			continue
		}
		r, size := decodeEscape(source[i:])
		switch {
		case size == 0 || evidence.Deceptive(r) || r == '"' || r == '\\':
			b.Write(source[i : i+2])
			i++
		default:
			b.WriteRune(r)
			i += size - 1
		}
	}
	return b.String()
}

// decodeEscape is the character of an escape of JSON and how many bytes it takes; 0 for those that stay as they are.
func decodeEscape(source []byte) (rune, int) {
	switch {
	case source[1] == '/':
		return '/', 2
	case source[1] != 'u' || len(source) < 6 || !isHex4(source[2:6]):
		return 0, 0
	}
	r := unhex(source[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(source) >= 12 && source[6] == '\\' && source[7] == 'u' && isHex4(source[8:12]) {
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

// truncateBytes is the beginning of some bytes, not cut within a character or a marker; cut tells that there are more.
func truncateBytes(source []byte, limit int) (part []byte, cut bool) {
	if len(source) <= limit {
		return source, false
	}
	return source[:cutPosition(source, limit)], true
}

// longestMarker is more than any marker takes.
const longestMarker = 200

// cutPosition is a place near limit, and not behind it, where bytes may be cut.
func cutPosition(source []byte, limit int) int {
	if from := max(0, limit-longestMarker); limit > 0 {
		near := string(source[from:min(len(source), limit+longestMarker)])
		at := from
		for _, p := range redact.Split(near) {
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

// maxRowBytes is how many bytes of a line stand in one row of the raw view at most.
const maxRowBytes = 1000

// maxLines bounds the rows of the raw view; only a text of almost nothing but line ends has more.
const maxLines = 4 << 20

// rawText is a text as it came, in rows: a line each, very long ones in pieces.
type rawText struct {
	text []byte
	from []uint32 // where each row begins
}

// newRawText finds the rows of a text; in a form each parameter has one.
func newRawText(text []byte, form bool) *rawText {
	r := &rawText{text: text, from: make([]uint32, 0, min(maxLines, bytes.Count(text, []byte("\n"))+len(text)/maxRowBytes+1))}
	for at := 0; at < len(text) && len(r.from) < maxLines; {
		r.from = append(r.from, uint32(at))
		length := min(len(text)-at, maxRowBytes)
		if end := bytes.IndexByte(text[at:at+length], '\n'); end >= 0 {
			length = end + 1
		} else if next := bytes.IndexByte(text[at+1:at+length], '&'); form && next >= 0 {
			length = next + 1
		} else if at+length < len(text) {
			length = cutPosition(text[at:], maxRowBytes)
		}
		at += length
	}
	return r
}

// line is the text of a row, without its line end.
func (r *rawText) line(row int) []byte {
	end := len(r.text)
	if row+1 < len(r.from) {
		end = int(r.from[row+1])
	}
	line := r.text[r.from[row]:min(end, int(r.from[row])+maxRowBytes+longestMarker)]
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// row writes a row; tabs take four columns.
func (r *rawText) row(row int, theme Theme, secrets Secrets) []span {
	line := bytes.ReplaceAll(r.line(row), []byte("\t"), []byte("    "))
	return theme.spans(string(line), theme.Renderer.NewStyle(), secrets)
}

// rowOf is the row that a place of the text is in.
func (r *rawText) rowOf(offset int) int {
	low, high := 0, len(r.from)
	for low < high {
		if mid := (low + high) / 2; int(r.from[mid]) > offset {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return max(0, low-1)
}
