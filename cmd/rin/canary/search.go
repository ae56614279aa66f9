// Package canary finds planted secrets in what a command wrote. Tests plant hundreds, in many forms each, and look through megabytes
// of reports and evidence: one pass over a text looks for all of them. Only tests import it.
package canary

import (
	"encoding/binary"
	"strings"
)

// start is how many bytes of a word are looked up at each place of a text.
const start = 8

// Search looks for many words at once.
type Search struct {
	longer  map[uint64][]string // by their start
	shorter []string
}

// For prepares a search for words; an empty one is in every text.
func For(words ...string) Search {
	s := Search{longer: make(map[uint64][]string, len(words))}
	for _, word := range words {
		if len(word) < start {
			s.shorter = append(s.shorter, word)
			continue
		}
		key := binary.LittleEndian.Uint64([]byte(word))
		s.longer[key] = append(s.longer[key], word)
	}
	return s
}

// In finds one of the words in a text, and where it begins.
func (s Search) In(text string) (word string, at int, found bool) {
	for _, word := range s.shorter {
		if at := strings.Index(text, word); at >= 0 {
			return word, at, true
		}
	}
	var key uint64 // the eight bytes up to the one that is looked at, the last one highest
	for i := range len(text) {
		key = key>>8 | uint64(text[i])<<56
		if i < start-1 {
			continue
		}
		for _, word := range s.longer[key] {
			if at := i - start + 1; strings.HasPrefix(text[at:], word) {
				return word, at, true
			}
		}
	}
	return "", 0, false
}
