package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// printer makes fingerprints: a hash under a key that never leaves the process, so that a guessed secret can't be compared with one.
type printer struct{ key [32]byte }

func newPrinter(random io.Reader) (*printer, error) {
	p := &printer{}
	if _, err := io.ReadFull(random, p.key[:]); err != nil {
		return nil, fmt.Errorf("make the key of the journal's fingerprints: %w", err)
	}
	return p, nil
}

// longest is how much of a value counts; no good credential is longer.
const longest = 8 << 10

// of returns the fingerprint of a value, the same for the same value.
func (p *printer) of(value string) string {
	value = value[:min(len(value), longest)]
	// The usual token fits the array, which stays on the stack. The length of the key is fixed, and only a part of the sum is shown.
	var fixed [1200]byte
	sum := sha256.Sum256(append(append(fixed[:0], p.key[:]...), value...))
	return hex.EncodeToString(sum[:6])
}
