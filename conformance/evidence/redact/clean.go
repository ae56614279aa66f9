package redact

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
)

// This file remembers texts in which no secret was found. A node sends the same records in many lists, and a run learns a secret with almost every
// request: most texts need not be searched for the new one, because they lack pieces of it.

// content identifies a text by its hash and its length. A node does not know the seed of the hash, so it cannot make two texts look equal.
type content struct {
	hash   uint64
	length int
}

func (r *Redactor) contentOf(text []byte) content {
	return content{maphash.Bytes(r.seed, text), len(text)}
}

// cleanTexts are texts without any known secret, and the pieces that they are made of.
type cleanTexts struct {
	blank bool // '+' was searched as a blank, too
	texts map[content]bool
	// pieces has a bit for every four bytes at an offset divisible by four in these texts, with escapes and without. It may have more bits.
	pieces [1 << 20 / 64]atomic.Uint64
}

const pieceBytes = 4

// maxClean bounds the texts that are remembered.
const maxClean = 50_000

func newCleanTexts(blank bool) *cleanTexts {
	return &cleanTexts{blank: blank, texts: map[content]bool{}}
}

// add adds the pieces of a text. A nil set ignores them.
func (c *cleanTexts) add(text string) {
	if c == nil {
		return
	}
	for ; len(text) >= pieceBytes; text = text[pieceBytes:] {
		word, bit := pieceOf(text)
		if w := &c.pieces[word]; w.Load()&bit == 0 {
			w.Or(bit)
		}
	}
}

// pieceOf returns the place of the bit for the first four bytes of a text.
func pieceOf(text string) (word uint32, bit uint64) {
	const golden = 0x9e3779b1
	four := uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24
	h := four * golden >> 12
	return h / 64, 1 << (h % 64)
}

// mayHold reports whether one of the texts may hold a secret. It returns false only if each form of the secret has a piece that the texts lack, wherever
// the form begins.
func (c *cleanTexts) mayHold(s *secret) bool {
	if !c.blank && strings.Contains(s.value, " ") || spansParts(s.value) {
		return true
	}
	return slices.ContainsFunc(s.needles, func(n needle) bool {
		if len(n.text) < 2*pieceBytes-1 { // its pieces may straddle places divisible by four
			return true
		}
		for at := range pieceBytes {
			if c.hasPieces(n.text[at:]) {
				return true
			}
		}
		return false
	})
}

// hasPieces reports whether all consecutive pieces of a text are known.
func (c *cleanTexts) hasPieces(text string) bool {
	for ; len(text) >= pieceBytes; text = text[pieceBytes:] {
		if word, bit := pieceOf(text); c.pieces[word].Load()&bit == 0 {
			return false
		}
	}
	return true
}

// forgetUnclean forgets the clean texts if one of them may hold a new secret. The caller holds the lock.
func (r *Redactor) forgetUnclean(s *secret) {
	if r.clean != nil && r.clean.mayHold(s) {
		r.clean = nil
	}
}

// isClean reports whether a text holds no secret. It returns the search for secrets, and where to add the pieces of a text that is searched.
func (r *Redactor) isClean(text content) (clean bool, search *search, texts *cleanTexts) {
	search = r.current()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clean == nil {
		r.clean = newCleanTexts(search.blank)
	}
	return r.clean.texts[text], search, r.clean
}

// setClean remembers that a search found nothing in the texts, unless a secret was added since that they may hold.
func (r *Redactor) setClean(search *search, texts *cleanTexts, clean ...content) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clean != texts || len(search.known) == 0 || search.blank != texts.blank || slices.ContainsFunc(r.secrets[len(search.known):], texts.mayHold) {
		return
	}
	for _, text := range clean {
		if len(texts.texts) < maxClean {
			texts.texts[text] = true
		}
	}
}

// Parted is [Redactor.Bytes] for a body that is a list. cut cuts it before the comma after each item, or returns nil. Items that were found clean
// in another list are not searched again.
func (r *Redactor) Parted(b []byte, cut func() [][]byte) []byte {
	whole := r.contentOf(b)
	clean, search, texts := r.isClean(whole)
	if clean {
		return b
	}
	if parts := cut(); len(parts) > 1 && !search.parts && !slices.ContainsFunc(parts, endsInReference) {
		for _, part := range parts {
			if !r.isWithoutSecrets(part) {
				return r.Bytes(b)
			}
		}
		r.setClean(search, texts, whole)
		return b
	}
	return r.Bytes(b)
}

// isWithoutSecrets reports whether a text contains no secret.
func (r *Redactor) isWithoutSecrets(text []byte) bool {
	c := r.contentOf(text)
	clean, search, texts := r.isClean(c)
	if clean {
		return true
	}
	if len(hits(search, text, texts)) > 0 {
		return false
	}
	r.setClean(search, texts, c)
	return true
}

// spansParts reports whether a secret may begin in one item of a list and end in the next: it contains a comma.
func spansParts(value string) bool { return strings.ContainsRune(value, ',') }

// endsInReference reports whether a character reference may begin at the end of an item, and end after the comma.
func endsInReference(part []byte) bool {
	const widest = 6 // bytes that a character of the reference may take: "\u0026"
	end := part[max(0, len(part)-widest*longestReference):]
	return bytes.IndexByte(end, '&') >= 0 || bytes.Contains(end, []byte("0026")) || bytes.Contains(end, []byte("%26"))
}
