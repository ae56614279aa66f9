package redact

import (
	"html"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// layer is one way of escaping; it is undone before a text is searched.
type layer struct {
	form       string
	triggers   string // bytes that begin an escape
	needsBlank bool
	// unit appends the decoded escape at s[i:] and returns its length, 0 without an escape.
	unit func(dst []byte, s string, i int) ([]byte, int)
}

var layers = [...]layer{
	{form: formJSON, triggers: `\`, unit: jsonUnit},
	{form: formPercent, triggers: "%", unit: percentUnit},
	{form: formPercent, triggers: "%+", needsBlank: true, unit: formUnit},
	{form: formHTML, triggers: "&", unit: htmlUnit},
}

// undo decodes the text and records where each byte came from; changed is false without an escape.
func (l layer) undo(s string, outer *offsets) (plain string, back *offsets, changed bool) {
	at := l.first(s)
	if at < 0 {
		return s, outer, false
	}
	back = &offsets{outer: outer}
	dst := make([]byte, 0, len(s))
	for done := 0; ; {
		dst = back.literal(dst, s[done:at], done)
		start := len(dst)
		var n int
		if dst, n = l.unit(dst, s, at); n == 0 {
			dst, n = back.literal(dst, s[at:at+1], at), 1
		} else {
			back.add(start, at, len(dst)-start, n)
			changed = true
		}
		done = at + n
		next := strings.IndexAny(s[done:], l.triggers)
		if next < 0 {
			dst = back.literal(dst, s[done:], done)
			back.end, back.endSource = len(dst), len(s)
			return string(dst), back, changed
		}
		at = done + next
	}
}

// first returns the index of the first escape, or -1. Most texts have none and need no copy.
func (l layer) first(s string) int {
	for done := 0; ; {
		at := strings.IndexAny(s[done:], l.triggers)
		if at < 0 {
			return -1
		}
		if _, n := l.unit(nil, s, done+at); n > 0 {
			return done + at
		}
		done += at + 1
	}
}

// offsets map a decoded text to its source: runs of units of equal size, on top of the map of the outer text.
type offsets struct {
	outer          *offsets
	runs           []run
	end, endSource int
}

// run is a sequence of units; each has out decoded bytes from in source bytes.
type run struct {
	at, source int
	out, in    int
}

func (o *offsets) literal(dst []byte, s string, source int) []byte {
	if s != "" {
		o.add(len(dst), source, 1, 1)
	}
	return append(dst, s...)
}

func (o *offsets) add(at, source, out, in int) {
	if out == 0 {
		return
	}
	if n := len(o.runs); n > 0 && o.runs[n-1].out == out && o.runs[n-1].in == in {
		return // the run continues
	}
	o.runs = append(o.runs, run{at, source, out, in})
}

// start returns where the unit of decoded byte i begins in the outermost text.
func (o *offsets) start(i int) int {
	if o == nil {
		return i
	}
	k := sort.Search(len(o.runs), func(k int) bool { return o.runs[k].at > i }) - 1
	r := o.runs[k]
	return o.outer.start(r.source + (i-r.at)/r.out*r.in)
}

// stop returns where the unit of the last byte before i ends in the outermost text.
func (o *offsets) stop(i int) int {
	if o == nil {
		return i
	}
	k := sort.Search(len(o.runs), func(k int) bool { return o.runs[k].at >= i }) - 1
	r := o.runs[k]
	return o.outer.stop(r.source + (i-1-r.at)/r.out*r.in + r.in)
}

func percentUnit(dst []byte, s string, i int) ([]byte, int) {
	if i+2 >= len(s) {
		return dst, 0
	}
	v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
	if err != nil {
		return dst, 0
	}
	return append(dst, byte(v)), 3
}

func formUnit(dst []byte, s string, i int) ([]byte, int) {
	if s[i] == '+' {
		return append(dst, ' '), 1
	}
	return percentUnit(dst, s, i)
}

func jsonUnit(dst []byte, s string, i int) ([]byte, int) {
	if i+1 >= len(s) {
		return dst, 0
	}
	if k := strings.IndexByte(`"\/bfnrt`, s[i+1]); k >= 0 {
		return append(dst, "\"\\/\b\f\n\r\t"[k]), 2
	}
	u, ok := hex4(s, i)
	if !ok {
		return dst, 0
	}
	if utf16.IsSurrogate(u) {
		if low, ok := hex4(s, i+6); ok {
			if r := utf16.DecodeRune(u, low); r != utf8.RuneError {
				return utf8.AppendRune(dst, r), 12
			}
		}
	}
	return utf8.AppendRune(dst, u), 6
}

func hex4(s string, i int) (rune, bool) {
	if i+6 > len(s) || s[i] != '\\' || s[i+1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
	return rune(v), err == nil
}

// longestReference is the length in bytes of the longest character reference that is decoded.
const longestReference = 12

func htmlUnit(dst []byte, s string, i int) ([]byte, int) {
	n := strings.IndexByte(s[i:min(len(s), i+longestReference)], ';') + 1
	if n < 3 {
		return dst, 0
	}
	text := html.UnescapeString(s[i : i+n])
	if text == s[i:i+n] {
		return dst, 0
	}
	return append(dst, text...), n
}
