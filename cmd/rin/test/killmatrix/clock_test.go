package killmatrix_test

import (
	"context"
	"sync"
	"time"
)

// now is the time at which every run begins.
func now() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }

// clock is the time of a node and of its run. Only pauses of the node move it, so that they take no real time.
type clock struct {
	mu     sync.Mutex
	paused time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return now().Add(c.paused)
}

func (c *clock) pause(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused += d
	return ctx.Err()
}
