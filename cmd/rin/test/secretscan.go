package test

import (
	"encoding/binary"
	"strings"
)

// prefixLength is the number of bytes of a word that are looked up at each position of a text.
const prefixLength = 8

// SecretScan searches a text for many words in one pass: tests plant hundreds of secrets, in many forms each, and search megabytes of reports
// and evidence for them.
type SecretScan struct {
	longer  map[uint64][]string // by their first bytes
	shorter []string
}

// NewSecretScan prepares a search for words. An empty word is found in every text.
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

// In returns one of the words that the text contains, and its position.
func (s SecretScan) In(text string) (word string, at int, found bool) {
	for _, word := range s.shorter {
		if at := strings.Index(text, word); at >= 0 {
			return word, at, true
		}
	}
	var key uint64 // the last eight bytes, the newest one highest
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
