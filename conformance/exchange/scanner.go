package exchange

import "strings"

// scanner finds many needles in one pass (Wu and Manber, "A fast algorithm for multi-pattern searching", 1994): a table
// tells from three bytes how far the window may move, so that the time does not grow with the number of needles.
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

// scan reports every needle at every place.
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
