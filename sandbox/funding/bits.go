package funding

import (
	"iter"
	"math/bits"
)

// set is a set of records by index, one bit for each.
type set []uint64

func newSet(size int) set { return make(set, (size+63)/64) }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

// and keeps what other has, too.
func (s set) and(other set) {
	for w := range s {
		s[w] &= other[w]
	}
}

// without drops what other has.
func (s set) without(other set) {
	for w := range s {
		s[w] &^= other[w]
	}
}

func (s set) len() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// from lists the members in their order, without the first skip.
func (s set) from(skip int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for w, word := range s {
			if n := bits.OnesCount64(word); n <= skip {
				skip -= n
				continue
			}
			for ; word != 0; word &= word - 1 {
				if skip > 0 {
					skip--
					continue
				}
				if !yield(w*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
