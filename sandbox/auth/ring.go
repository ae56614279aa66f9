package auth

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxFormer is the number of former keys that stay good beside the present one.
const maxFormer = 8

// minting is what tokens are made with: a key pair for JWTs, or the key of opaque ones.
type minting struct {
	keys   keySource
	sealer *sealer
}

func newMinting(format Format, random io.Reader) (m minting, err error) {
	if format == Opaque {
		m.sealer, err = newSealer(random)
	} else {
		m.keys, err = newKeySource(format, random)
	}
	return m, err
}

// former is what tokens were made with until a rotation, good for what is left of its overlap.
type former struct {
	minting
	until time.Time
}

// turn is what an issuer mints with between two rotations, and what it still takes. It does not change.
type turn struct {
	minting
	former []former // the latest first
	// number tells turns apart: what was verified in another one is verified again.
	number uint64
}

// good lists what verifies tokens at a time: the present first, which has no end.
func (t *turn) good(now time.Time) []former {
	all := []former{{minting: t.minting}}
	for _, f := range t.former {
		if now.Before(f.until) {
			all = append(all, f)
		}
	}
	return all
}

// ring is the keys of an issuer through time.
type ring struct {
	rotating sync.Mutex
	first    minting
	present  atomic.Pointer[turn]
}

func (r *ring) begin(m minting) {
	r.first = m
	r.present.Store(&turn{minting: m})
}

// Rotate makes new keys, which all tokens are made with from now on. Tokens of the keys before are good, and their public keys published,
// until the overlap has passed; without one they are refused at once.
func (i *Issuer) Rotate(overlap time.Duration) error {
	i.ring.rotating.Lock()
	defer i.ring.rotating.Unlock()
	fresh, err := newMinting(i.format, i.random)
	if err != nil {
		return fmt.Errorf("rotate the keys: %w", err)
	}
	before, now := i.ring.present.Load(), i.now()
	next := &turn{minting: fresh, number: before.number + 1}
	if overlap > 0 {
		next.former = append(next.former, former{before.minting, now.Add(overlap)})
	}
	next.former = append(next.former, slices.Clone(before.former)...)
	next.former = next.former[:min(len(next.former), maxFormer)]
	i.ring.present.Store(next)
	return nil
}

// Restore brings back the keys that the issuer began with, and drops all others.
func (i *Issuer) Restore() {
	i.ring.rotating.Lock()
	defer i.ring.rotating.Unlock()
	if before := i.ring.present.Load(); before.number > 0 {
		i.ring.present.Store(&turn{minting: i.ring.first, number: before.number + 1})
	}
}
