package recorder

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// This file sends a few requests at the same time, because some faults show only then: a node that keeps the caller in a variable that all requests share.
// A burst waits until the rate allows all of its requests, so that the mean rate stays as it is.

const (
	// limitedBurst is how many requests are sent at the same time if the rate is limited, freeBurst if it is not.
	limitedBurst, freeBurst = 4, 7
	// burstRate is the lowest limit, in requests a second, with which bursts are sent. An operator who chooses a lower one wants to spare the node.
	burstRate = 2
)

// Burst returns how many requests may be sent at the same time, see [Request.Beside]. It is 1 if the operator wants to spare the node, or if the node refused
// a request for load.
func (r *Recorder) Burst() int {
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	return r.gate.burst()
}

// burst is [Recorder.Burst]. The caller holds the lock.
func (g *gate) burst() int {
	switch {
	case g.pace.refusals > 0:
		return 1
	case g.pace.maxRate == 0: // the rate is not limited
		return freeBurst
	case g.pace.maxRate < burstRate, g.width == 1: // a width of 1: one request at a time
		return 1
	}
	return limitedBurst
}

var errNoBurst = errors.New("the run sends no requests at the same time any more, because the node refused some for load")

// sendTogether sends a request and those beside it at the same time, or the request alone if that is not possible.
func (r *Recorder) sendTogether(ctx context.Context, req Request) Answer {
	tickets, err := r.gate.enterTogether(ctx, 1+len(req.Beside))
	why := errNoBurst // of the requests beside it, if they are not sent
	if err != nil {
		why = endedFirst(err)
		tickets = make([]func(), 1) // send finds the same error, and records it
	}
	beside := make([]Answer, len(req.Beside))
	var group sync.WaitGroup
	for i, q := range req.Beside {
		if len(tickets) == 1 {
			beside[i] = r.record(q, outcome{unsent: why, failure: unsentFailure(why)})
			continue
		}
		group.Go(func() {
			defer func() { _ = recover() }() // an answer of the node must not end the run
			beside[i] = r.send(ctx, q, tickets[1+i])
		})
	}
	defer group.Wait() // if send panics
	answer := r.send(ctx, req, tickets[0])
	group.Wait()
	if len(tickets) > 1 {
		answer.Beside = beside
	}
	return answer
}

// enterTogether waits for a slot and until the rate allows n requests at once. It returns a ticket for each request that may be sent: n, or 1 if there are no
// bursts any more. The requests share the slot; each calls its ticket to leave. A nil ticket means that the request has to enter by itself.
func (g *gate) enterTogether(ctx context.Context, n int) ([]func(), error) {
	g.mu.Lock()
	possible := n <= g.burst()
	g.mu.Unlock()
	if !possible {
		n = 1
	}
	if g.pace.maxRate == 0 {
		return make([]func(), n), nil
	}
	n, err := g.enter(ctx, n)
	if err != nil {
		return nil, err
	}
	var left atomic.Int64
	left.Store(int64(n))
	tickets := make([]func(), n)
	for i := range tickets {
		tickets[i] = sync.OnceFunc(func() {
			if left.Add(-1) == 0 {
				g.leave()
			}
		})
	}
	return tickets, nil
}
