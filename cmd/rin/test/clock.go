package test

import (
	"context"
	"sync"
	"time"
)

// Clock is the time of a node and of its run. Only their pauses move it, so that they take no real time.
type Clock struct {
	begin time.Time

	mu     sync.Mutex
	paused time.Duration
}

// NewClock returns a clock that stands at begin.
func NewClock(begin time.Time) *Clock { return &Clock{begin: begin} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begin.Add(c.paused)
}

// Pause moves the clock by d.
func (c *Clock) Pause(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused += d
	return ctx.Err()
}
