package view

import "bytes"

// piece is how many bytes of a line stand in one row of the raw view at most.
const piece = 1000

// maxLines bounds the rows of the raw view; only a text of almost nothing but line ends has more.
const maxLines = 4 << 20

// raw is a text as it came, in rows: a line each, very long ones in pieces.
type raw struct {
	text []byte
	from []uint32 // where each row begins
}

// newRaw finds the rows of a text; in a form each parameter has one.
func newRaw(text []byte, form bool) *raw {
	r := &raw{text: text, from: make([]uint32, 0, min(maxLines, bytes.Count(text, []byte("\n"))+len(text)/piece+1))}
	for at := 0; at < len(text) && len(r.from) < maxLines; {
		r.from = append(r.from, uint32(at))
		length := min(len(text)-at, piece)
		if end := bytes.IndexByte(text[at:at+length], '\n'); end >= 0 {
			length = end + 1
		} else if next := bytes.IndexByte(text[at+1:at+length], '&'); form && next >= 0 {
			length = next + 1
		} else if at+length < len(text) {
			length = whole(text[at:], piece)
		}
		at += length
	}
	return r
}

// line is the text of a row, without its line end.
func (r *raw) line(row int) []byte {
	end := len(r.text)
	if row+1 < len(r.from) {
		end = int(r.from[row+1])
	}
	line := r.text[r.from[row]:min(end, int(r.from[row])+piece+longestMarker)]
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// row writes a row; tabs take four columns.
func (r *raw) row(row int, theme Theme, secrets Secrets) []span {
	line := bytes.ReplaceAll(r.line(row), []byte("\t"), []byte("    "))
	return theme.spans(string(line), theme.Renderer.NewStyle(), secrets)
}

// rowOf is the row that a place of the text is in.
func (r *raw) rowOf(offset int) int {
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
