// Package clock is the time of a sandbox: the time that it was given, moved by whoever controls it. Tokens expire and calls close by it.
package clock

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Furthest is how far a clock may be moved from the time that it was given, either way.
const Furthest = 10 * 365 * 24 * time.Hour

// Clock tells the time. It is safe for concurrent use.
type Clock struct {
	base   func() time.Time
	offset atomic.Int64 // nanoseconds
}

// New makes a clock that tells the time of base, which is time.Now when nil.
func New(base func() time.Time) *Clock {
	if base == nil {
		base = time.Now
	}
	return &Clock{base: base}
}

// Now tells the time.
func (c *Clock) Now() time.Time { return c.base().Add(c.Offset()) }

// Offset is how far the clock has been moved.
func (c *Clock) Offset() time.Duration { return time.Duration(c.offset.Load()) }

// Move moves the clock by d, forward or back, no further than [Furthest] in all.
func (c *Clock) Move(d time.Duration) error {
	for {
		from := c.offset.Load()
		to := time.Duration(from) + d
		if d > 2*Furthest || d < -2*Furthest || to > Furthest || to < -Furthest {
			return fmt.Errorf("move the clock by %s: it would be further than %s from the present", d, Furthest)
		}
		if c.offset.CompareAndSwap(from, int64(to)) {
			return nil
		}
	}
}

// Reset takes back all moves.
func (c *Clock) Reset() { c.offset.Store(0) }
