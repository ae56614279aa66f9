package exchange

import (
	"cmp"
	"slices"
	"strings"
)

// search finds all secrets of one moment in a text.
type search struct {
	needles scanner   // long values and their fixed encodings
	short   []needle  // values that count as whole words only
	known   []*secret // for their markers
	blank   bool      // a secret holds a blank, which forms write as '+'
	lines   bool      // a secret holds a line feed
	reach   int       // bytes that the longest secret may need in its widest form
}

const (
	// pieceSize bounds the memory for undone escapes; pieces overlap by reach.
	pieceSize = 1 << 20
	// maxHits bounds what is replaced one by one in a piece. A node that repeats a token beyond that, to have every one of its few bytes
	// grow to a marker, loses the whole piece.
	maxHits = 4096
	// widest is the growth of a byte that is percent-encoded, with each character of that JSON-escaped: "%41".
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
		for _, n := range needlesOf(sec) {
			if len(sec.value) < ShortSecret {
				s.short = append(s.short, n)
			} else {
				long = append(long, n)
			}
		}
		s.reach = max(s.reach, widest*len(sec.value)+longestReference)
		s.lines = s.lines || spansLines(sec.value)
		s.blank = s.blank || strings.Contains(sec.value, " ")
	}
	s.needles = newScanner(long)
	return s
}

// find returns the ranges to replace, in order and without overlap.
func (s *search) find(text string) []hit {
	if len(s.known) == 0 || text == "" {
		return nil
	}
	var hits []hit
	for at := 0; at == 0 || at < len(text); at += pieceSize {
		before, piece := len(hits), text[at:min(len(text), at+pieceSize+s.reach)]
		s.explore(piece, nil, "", 0, func(h hit) {
			h.from, h.to = h.from+at, h.to+at
			if len(hits) == before+maxHits {
				hits = append(hits[:before], hit{at, at + len(piece), h.secret, h.form})
				before++ // it stays; what is found beside it counts anew
				return
			}
			hits = append(hits, h)
		})
	}
	if len(hits) == 0 {
		return nil
	}
	return merge(s.outsideMarkers(text, hits))
}

// explore searches the text and what it becomes when escapes are undone, up to two layers deep.
func (s *search) explore(text string, back *offsets, form string, depth int, found func(hit)) {
	s.scan(text, func(h hit) {
		if form != "" && h.form == formPlain {
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
			s.explore(plain, inner, outer, depth+1, found)
		}
	}
}

func (s *search) scan(text string, found func(hit)) {
	s.needles.scan(text, func(n *needle, at int) {
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
			if from, to := n.extend(text, at); n.wholeWord(text, from, to) {
				found(hit{from, to, n.secret, n.form})
			}
			at++
		}
	}
}

// outsideMarkers drops hits inside a marker of a known secret: a text may be redacted twice. Only known markers count, or a
// node could hide a secret inside an invented one.
func (s *search) outsideMarkers(text string, hits []hit) []hit {
	if !strings.Contains(text, "[[") {
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

// merge unites overlapping hits under the name of the longest one.
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
