package probe

import (
	"context"
	"slices"
	"sync"
)

// rank orders requests that wait for their turn: those that others build on go first, or the end of the run would be one long
// lane with most of the concurrency unused.
type rank int

const (
	awaited  rank = iota // the rest of the run builds on it
	followed             // something short follows it
	last                 // nothing builds on it
	ranks
)

// queue hands out turns to ask, by rank and then by time.
type queue struct {
	mu      sync.Mutex
	free    int
	waiting [ranks][]chan struct{}
}

// newQueue allows that many turns at a time, at least one.
func newQueue(turns int) *queue {
	return &queue{free: max(1, turns)}
}

// take waits for a turn; in its rank; it reports false, without a turn, when ctx ends first.
func (q *queue) take(ctx context.Context, of rank) bool {
	mine := make(chan struct{}, 1)
	q.stand(mine, of)
	select {
	case <-mine:
		if ctx.Err() == nil {
			return true
		}
		q.give()
		return false
	case <-ctx.Done():
	}
	q.step(mine)
	select {
	case <-mine: // the turn came at the same moment
		q.give()
	default:
	}
	return false
}

func (q *queue) stand(mine chan struct{}, of rank) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.free > 0 {
		q.free--
		mine <- struct{}{}
		return
	}
	q.waiting[of] = append(q.waiting[of], mine)
}

// step leaves the line.
func (q *queue) step(mine chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, line := range q.waiting {
		q.waiting[i] = slices.DeleteFunc(line, func(c chan struct{}) bool { return c == mine })
	}
}

// give hands a turn on.
func (q *queue) give() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, line := range q.waiting {
		if len(line) > 0 {
			line[0] <- struct{}{}
			q.waiting[i] = line[1:]
			return
		}
	}
	q.free++
}
