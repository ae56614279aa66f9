package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// search finds the secrets that were known when it was made.
type search struct {
	long  scanner   // long values and their fixed encodings
	short []needle  // values that count as whole words only
	known []*secret // for their markers
	blank bool      // a secret contains a space, which forms write as '+'
	lines bool      // a secret contains a line feed
	parts bool      // a secret may lie across the end of an item
	reach int       // bytes that the longest secret may take in its widest form
}

const (
	// pieceSize bounds the memory for decoded escapes; pieces overlap by reach.
	pieceSize = 1 << 20
	// maxHits bounds the separate replacements in a piece. Beyond it the whole piece is replaced: a node may repeat a short token so often that
	// its markers would fill the memory.
	maxHits = 4096
	// widest is the number of bytes that one byte of a secret takes at most: percent-encoded, as "%41", with each of these three characters
	// escaped in JSON, as "\u0025".
	widest = 18
)

// hit is one occurrence of a secret as a range of the text.
type hit struct {
	from, to int
	secret   *secret
	form     string
}

func newSearch(secrets []*secret) *search {
	s := &search{known: secrets}
	var long []needle
	for _, sec := range secrets {
		for _, n := range sec.needles {
			if len(sec.value) < ShortSecret {
				s.short = append(s.short, n)
			} else {
				long = append(long, n)
			}
			if n.form == FormPlain {
				s.reach = max(s.reach, widest*len(n.text)+longestReference)
			}
		}
		s.lines = s.lines || spansLines(sec.value)
		s.parts = s.parts || spansParts(sec.value)
		s.blank = s.blank || strings.Contains(sec.value, " ")
	}
	s.long = newScanner(long)
	return s
}

// find returns the ranges to replace, in order and without overlap.
func (s *search) find(text string) []hit {
	return s.settle(text, hits(s, text, nil))
}

// hits returns all occurrences, piece by piece: a body may be large, and is never copied whole. It adds everything that it searches to texts.
func hits[Text string | []byte](s *search, text Text, texts *cleanTexts) (found []hit) {
	if len(s.known) == 0 || len(text) == 0 {
		return nil
	}
	for at := 0; at < len(text); at += pieceSize {
		before, piece := len(found), string(text[at:min(len(text), at+pieceSize+s.reach)])
		s.explore(piece, nil, "", 0, texts, func(h hit) {
			h.from, h.to = h.from+at, h.to+at
			if len(found) == before+maxHits {
				found = append(found[:before], hit{at, at + len(piece), h.secret, h.form})
				before++ // this hit stays; count the later ones of the piece from 0, because maxHits of them may come again
				return
			}
			found = append(found, h)
		})
	}
	return found
}

// settle returns the hits to replace: outside markers, and joined where they overlap.
func (s *search) settle(text string, hits []hit) []hit {
	if len(hits) == 0 {
		return nil
	}
	return merge(s.outsideMarkers(text, hits))
}

// explore searches the text, and the text with up to two layers of escapes undone. back maps offsets to the original text. form is the outermost layer
// that was undone, or "".
func (s *search) explore(text string, back *offsets, form string, depth int, texts *cleanTexts, found func(hit)) {
	texts.add(text)
	s.scan(text, func(h hit) {
		if form != "" && h.form == FormPlain {
			h.form = form
		}
		h.from, h.to = back.start(h.from), back.stop(h.to)
		found(h)
	})
	if depth == 2 {
		return
	}
	for _, l := range layers {
		if l.needsBlank && !s.blank {
			continue
		}
		if plain, inner, changed := l.undo(text, back); changed {
			outer := form
			if outer == "" {
				outer = l.form
			}
			s.explore(plain, inner, outer, depth+1, texts, found)
		}
	}
}

// scan searches the text as it is.
func (s *search) scan(text string, found func(hit)) {
	s.long.scan(text, func(n *needle, at int) {
		from, to := n.extend(text, at)
		found(hit{from, to, n.secret, n.form})
	})
	for i := range s.short {
		n := &s.short[i]
		for at := 0; ; {
			k := strings.Index(text[at:], n.text)
			if k < 0 {
				break
			}
			at += k
			if from, to := n.extend(text, at); n.isWholeWord(text, from, to) {
				found(hit{from, to, n.secret, n.form})
			}
			at++
		}
	}
}

// outsideMarkers drops hits inside a marker of a known secret, because a text may be redacted twice. Hits inside unknown markers
// stay, since a node could hide a secret inside an invented marker.
func (s *search) outsideMarkers(text string, hits []hit) []hit {
	if !strings.Contains(text, MarkerStart) {
		return hits
	}
	var inside []hit
	for _, sec := range s.known {
		for _, form := range forms {
			m := sec.marker(form)
			for at := 0; ; at += len(m) {
				k := strings.Index(text[at:], m)
				if k < 0 {
					break
				}
				at += k
				inside = append(inside, hit{from: at, to: at + len(m)})
			}
		}
	}
	return slices.DeleteFunc(hits, func(h hit) bool {
		return slices.ContainsFunc(inside, func(m hit) bool { return h.from < m.to && m.from < h.to })
	})
}

// merge joins overlapping hits; the result has the secret and form of the longest one.
func merge(hits []hit) []hit {
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(formRank(a.form), formRank(b.form)))
	})
	out := hits[:0]
	longest := 0
	for _, h := range hits {
		if len(out) == 0 || h.from >= out[len(out)-1].to {
			out, longest = append(out, h), h.to-h.from
			continue
		}
		last := &out[len(out)-1]
		if h.to-h.from > longest {
			last.secret, last.form, longest = h.secret, h.form, h.to-h.from
		}
		last.to = max(last.to, h.to)
	}
	return out
}

// scanner finds many needles in one pass (Wu and Manber, "A fast algorithm for multi-pattern searching", 1994). A table gives for each
// three bytes how far the window may move, so that the time does not depend on the number of needles.
type scanner struct {
	needles []needle
	window  int // length of the shortest needle, bounded
	shift   []uint8
	bucket  map[uint16][]int
}

const (
	blockSize  = 3
	maxWindow  = 32
	shiftTable = 1 << 16
)

// newScanner expects needles of at least blockSize bytes.
func newScanner(needles []needle) scanner {
	s := scanner{needles: needles, window: maxWindow}
	if len(needles) == 0 {
		return s
	}
	for _, n := range needles {
		s.window = min(s.window, len(n.text))
	}
	s.shift = make([]uint8, shiftTable)
	for i := range s.shift {
		s.shift[i] = uint8(s.window - blockSize + 1)
	}
	s.bucket = map[uint16][]int{}
	for i, n := range needles {
		for end := blockSize; end <= s.window; end++ {
			h := hashBlock(n.text, end)
			s.shift[h] = min(s.shift[h], uint8(s.window-end))
		}
		last := hashBlock(n.text, s.window)
		s.bucket[last] = append(s.bucket[last], i)
	}
	return s
}

// hashBlock hashes the blockSize bytes before end.
func hashBlock(s string, end int) uint16 {
	return uint16(s[end-3])<<10 ^ uint16(s[end-2])<<5 ^ uint16(s[end-1])
}

// scan calls found for each needle at each of its places.
func (s scanner) scan(text string, found func(n *needle, at int)) {
	if len(s.needles) == 0 {
		return
	}
	for end := s.window; end <= len(text); {
		h := hashBlock(text, end)
		if step := s.shift[h]; step > 0 {
			end += int(step)
			continue
		}
		at := end - s.window
		for _, i := range s.bucket[h] {
			if n := &s.needles[i]; strings.HasPrefix(text[at:], n.text) {
				found(n, at)
			}
		}
		end++
	}
}

// needle is one text to search for.
type needle struct {
	text   string
	secret *secret
	form   string
	// before and after report that the base64 character before or after the needle also holds bits of the secret.
	before, after bool
}

// newNeedles lists the value and those of its encodings that layers do not undo.
func newNeedles(s *secret) []needle {
	out := []needle{{text: s.value, secret: s, form: FormPlain}}
	for _, t := range misread(s.value) {
		out = append(out, needle{text: t, secret: s, form: FormPlain})
	}
	low := hex.EncodeToString([]byte(s.value))
	for _, t := range distinct(low, strings.ToUpper(low)) {
		out = append(out, needle{text: t, secret: s, form: formHex})
	}
	// HTTP Basic carries form-encoded credentials (RFC 6749 §2.3.1), so their encodings count, too.
	query, path := url.QueryEscape(s.value), url.PathEscape(s.value)
	for _, v := range distinct(s.value, query, path, lowerEscapes(query), lowerEscapes(path)) {
		for offset := range 3 {
			out = append(out, base64Needles(s, v, offset)...)
		}
	}
	return out
}

// misread returns what a value outside ASCII becomes if each byte of its UTF-8 is read as a character of ISO 8859-1, or of windows-1252 as in character
// references (HTML §13.2.5.80).
func misread(value string) []string {
	if !strings.ContainsFunc(value, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return nil
	}
	var latin, windows strings.Builder
	for _, b := range []byte(value) {
		latin.WriteRune(rune(b))
		if b < utf8.RuneSelf {
			windows.WriteByte(b)
			continue
		}
		windows.WriteString(html.UnescapeString(fmt.Sprintf("&#%d;", b)))
	}
	return distinct(latin.String(), windows.String())
}

// base64Needles encode the value at an offset within a group of three bytes. A needle has only the characters that depend on the value alone.
func base64Needles(s *secret, value string, offset int) []needle {
	padded := append(make([]byte, offset), value...)
	skip := (offset*8 + 5) / 6
	keep := len(padded) * 8 / 6
	std := base64.RawStdEncoding.EncodeToString(padded)
	alt := base64.RawURLEncoding.EncodeToString(padded)
	if keep-skip < 2 {
		return nil
	}
	var out []needle
	for _, t := range distinct(std[skip:keep], alt[skip:keep]) {
		out = append(out, needle{text: t, secret: s, form: formBase64, before: offset > 0, after: len(padded)%3 != 0})
	}
	return out
}

// extend widens a base64 hit to the whole encoded value, so that no part of it stays readable.
func (n *needle) extend(text string, at int) (from, to int) {
	from, to = at, at+len(n.text)
	if n.form != formBase64 {
		return from, to
	}
	if n.before && from > 0 && isBase64Char(text[from-1]) {
		from--
	}
	for from > 0 && isBase64Char(text[from-1]) && text[from-1] != '/' { // a slash may separate path segments
		from--
	}
	if n.after && to < len(text) && isBase64Char(text[to]) {
		to++
	}
	for to < len(text) && isBase64Char(text[to]) && text[to] != '/' {
		to++
	}
	for range 2 {
		if to < len(text) && text[to] == '=' {
			to++
		}
	}
	return from, to
}

// lowerEscapes writes %2B as %2b and keeps the letters between escapes.
func lowerEscapes(escaped string) string {
	b := []byte(escaped)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

func isBase64Char(c byte) bool {
	return IsAlphanumeric(c) || c == '+' || c == '/' || c == '-' || c == '_'
}

// isWholeWord reports whether a short secret is a whole word in text[from:to]; for base64, in the decoded text.
func (n *needle) isWholeWord(text string, from, to int) bool {
	if n.form == formBase64 {
		std := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text[from:to], "="))
		raw, err := base64.RawStdEncoding.DecodeString(std)
		if err != nil {
			return false
		}
		k := strings.Index(string(raw), n.secret.value)
		return k >= 0 && isIsolated(string(raw), k, k+len(n.secret.value))
	}
	return isIsolated(text, from, to)
}

// isIsolated reports whether text[from:to] has no word character next to it.
func isIsolated(text string, from, to int) bool {
	return (from == 0 || !isWordChar(text[from-1])) && (to == len(text) || !isWordChar(text[to]))
}

func isWordChar(c byte) bool { return IsAlphanumeric(c) || c == '_' || c == '-' }

func distinct(list ...string) []string {
	var out []string
	for _, s := range list {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// IsAlphanumeric reports whether a byte is a letter or a digit of ASCII.
func IsAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
