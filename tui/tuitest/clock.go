package tuitest

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock is noon of a day in March until a test moves it. Requests that were answered may still look at it meanwhile.
type Clock struct{ after atomic.Int64 }

// Now is the time.
func (c *Clock) Now() time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(c.after.Load()))
}

// Add lets time pass.
func (c *Clock) Add(d time.Duration) { c.after.Add(int64(d)) }

// pause lets the time pass that somebody waits for.
func (c *Clock) pause(ctx context.Context, d time.Duration) error {
	c.Add(d)
	return context.Cause(ctx)
}
