// Package test finds planted secrets in what a command wrote. Tests plant hundreds, in many forms each, and look through megabytes
// of reports and evidence: one pass over a text looks for all of them. Only tests import it.
package test

import (
	"encoding/binary"
	"strings"
)

// prefixLength is how many bytes of a word are looked up at each place of a text.
const prefixLength = 8

// SecretScan looks for many words at once.
type SecretScan struct {
	longer  map[uint64][]string // by their start
	shorter []string
}

// NewSecretScan prepares a search for words; an empty one is in every text.
func NewSecretScan(words ...string) SecretScan {
	s := SecretScan{longer: make(map[uint64][]string, len(words))}
	for _, word := range words {
		if len(word) < prefixLength {
			s.shorter = append(s.shorter, word)
			continue
		}
		key := binary.LittleEndian.Uint64([]byte(word))
		s.longer[key] = append(s.longer[key], word)
	}
	return s
}

// In finds one of the words in a text, and where it begins.
func (s SecretScan) In(text string) (word string, at int, found bool) {
	for _, word := range s.shorter {
		if at := strings.Index(text, word); at >= 0 {
			return word, at, true
		}
	}
	var key uint64 // the eight bytes up to the one that is looked at, the last one highest
	for i := range len(text) {
		key = key>>8 | uint64(text[i])<<56
		if i < prefixLength-1 {
			continue
		}
		for _, word := range s.longer[key] {
			if at := i - prefixLength + 1; strings.HasPrefix(text[at:], word) {
				return word, at, true
			}
		}
	}
	return "", 0, false
}
