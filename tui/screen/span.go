package screen

import (
	"bytes"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/report"
)

// Secrets returns the secret that a marker of redacted text replaces, or the marker itself if it is unknown. A nil function hides secrets.
type Secrets func(marker string) string

// span is a part of a row with one style. Its text is safe for the terminal.
type span struct {
	text   string
	style  lipgloss.Style
	secret bool
}

// spans splits a text at its markers. A marker is shown between ‹ and ›, as the name of the secret or as the secret itself.
func (t Theme) spans(source string, style lipgloss.Style, secrets Secrets) []span {
	var out []span
	for _, p := range redact.Split(source) {
		if !p.Marker {
			out = append(out, span{text: report.Plain(p.Text), style: style})
			continue
		}
		shown, shownStyle := report.Plain(redact.Mask(p.Text)), style
		if secrets != nil {
			if value := secrets(p.Text); value != p.Text {
				shown, shownStyle = "‹"+report.Plain(value)+"›", t.Secret
			}
		}
		out = append(out, span{shown, shownStyle, true})
	}
	return out
}

// unescapeJSON decodes the escapes of JSON that make text hard to read, such as \u00fc. Quotes, backslashes and characters that could control
// or deceive a terminal stay escaped.
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

// decodeEscape returns the character of a JSON escape and the size of the escape in bytes; size is 0 for escapes that stay as they are.
func decodeEscape(source []byte) (r rune, size int) {
	if source[1] == '/' {
		return '/', 2
	}
	r, ok := unicodeEscape(source)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if low, ok := unicodeEscape(source[6:]); ok {
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			return r, 12
		}
	}
	return 0, 0
}

// unicodeEscape decodes an escape such as \u00fc at the beginning of the source; ok is false if there is none.
func unicodeEscape(source []byte) (r rune, ok bool) {
	if len(source) < 6 || source[0] != '\\' || source[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(source[2:6]), 16, 32)
	return rune(n), err == nil
}

// truncateBytes returns about the first limit bytes without cutting a character or a marker; cut reports whether bytes were left out.
func truncateBytes(source []byte, limit int) (part []byte, cut bool) {
	if len(source) <= limit {
		return source, false
	}
	return source[:cutPosition(source, limit)], true
}

// longestMarker is an upper bound for the length of a marker, in bytes.
const longestMarker = 200

// cutPosition returns a position at or shortly before limit that is not inside a character or a marker.
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

// maxRowBytes is the size limit of a row of text; longer lines are split.
const maxRowBytes = 1000

// maxRows is the largest number of rows of a text; only a text that consists almost entirely of line ends exceeds it.
const maxRows = 4 << 20

// rawText is a body as text, in rows. A row is a line or a part of a long line.
type rawText struct {
	text   []byte
	starts []uint32 // the offset of each row
}

// newRawText splits a body into rows; in a form, each parameter has its own row.
func newRawText(text []byte, form bool) *rawText {
	r := &rawText{text: text, starts: make([]uint32, 0, min(maxRows, bytes.Count(text, []byte("\n"))+len(text)/maxRowBytes+1))}
	for at := 0; at < len(text) && len(r.starts) < maxRows; {
		r.starts = append(r.starts, uint32(at))
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

// line returns the text of a row without its line end.
func (r *rawText) line(row int) []byte {
	end := len(r.text)
	if row+1 < len(r.starts) {
		end = int(r.starts[row+1])
	}
	line := r.text[r.starts[row]:min(end, int(r.starts[row])+maxRowBytes+longestMarker)]
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// row draws a row. A tab takes four columns.
func (r *rawText) row(row int, theme Theme, secrets Secrets) []span {
	line := bytes.ReplaceAll(r.line(row), []byte("\t"), []byte("    "))
	return theme.spans(string(line), theme.Renderer.NewStyle(), secrets)
}

// rowOf returns the row that contains an offset.
func (r *rawText) rowOf(offset int) int {
	after := sort.Search(len(r.starts), func(row int) bool { return int(r.starts[row]) > offset })
	return max(0, after-1)
}
