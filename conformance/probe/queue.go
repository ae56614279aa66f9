package probe

import (
	"context"
	"slices"
	"sync"

	"github.com/rin-network/rin/conformance/draw"
)

// This file decides who is next: a queue for the turns of requests, and stages that wait for one another.

// rank is the priority of a request. Requests that others wait for go first. Otherwise the run would end with one long lane, and most of the concurrency
// would be unused.
type rank int

const (
	awaited  rank = iota // the rest of the run builds on it
	followed             // a few requests follow it
	last                 // nothing builds on it
	ranks
)

// queue bounds how many requests are sent at a time. Waiting requests are taken by rank, and at random within a rank, so that a node cannot recognise rin by
// the order, and good calls come between bad ones.
type queue struct {
	mu      sync.Mutex
	random  draw.Source
	free    int
	waiting [ranks][]chan struct{}
}

// newQueue makes a queue with the number of turns at a time, at least one.
func newQueue(turns int, random draw.Source) *queue {
	return &queue{free: max(1, turns), random: random}
}

// take waits for a turn. It returns false if ctx ends first.
func (q *queue) take(ctx context.Context, priority rank) bool {
	turn := make(chan struct{}, 1)
	q.enqueue(turn, priority)
	select {
	case <-turn:
		if ctx.Err() == nil {
			return true
		}
		q.release()
		return false
	case <-ctx.Done():
	}
	q.dequeue(turn)
	select {
	case <-turn: // the turn came at the same moment
		q.release()
	default:
	}
	return false
}

func (q *queue) enqueue(turn chan struct{}, priority rank) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.free > 0 {
		q.free--
		turn <- struct{}{}
		return
	}
	q.waiting[priority] = append(q.waiting[priority], turn)
}

// dequeue stops waiting for a turn.
func (q *queue) dequeue(turn chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, line := range q.waiting {
		q.waiting[i] = slices.DeleteFunc(line, func(c chan struct{}) bool { return c == turn })
	}
}

// release passes the turn to the next request.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	rank := q.next()
	line := q.waiting[rank]
	if len(line) == 0 {
		q.free++
		return
	}
	next := q.random.Below(len(line))
	line[next] <- struct{}{}
	line[next] = line[len(line)-1]
	q.waiting[rank] = line[:len(line)-1]
}

// next returns the rank of the next turn. One in three turns takes a request of the last rank before a followed one, because most good calls are of the last
// rank.
func (q *queue) next() rank {
	switch {
	case len(q.waiting[awaited]) > 0:
		return awaited
	case len(q.waiting[followed]) > 0 && (len(q.waiting[last]) == 0 || q.random.Below(3) > 0):
		return followed
	}
	return last
}

// stages lets lanes wait for the stages before them.
type stages struct {
	mu      sync.Mutex
	running map[Stage]int
	ended   map[Stage]chan struct{}
}

func newStages() *stages {
	return &stages{running: map[Stage]int{}, ended: map[Stage]chan struct{}{}}
}

// enter counts lanes before any of them runs; otherwise a waiting lane could mistake a stage that has not begun for one that has ended.
func (s *stages) enter(lanes []Lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range lanes {
		if s.running[l.Stage] == 0 {
			s.ended[l.Stage] = make(chan struct{})
		}
		s.running[l.Stage]++
	}
}

// leave ends a lane.
func (s *stages) leave(stage Stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[stage]--
	if s.running[stage] == 0 {
		close(s.ended[stage])
	}
}

// wait returns when the stages or ctx have ended. A stage without lanes has ended.
func (s *stages) wait(ctx context.Context, list ...Stage) {
	for _, stage := range list {
		s.mu.Lock()
		ended := s.ended[stage]
		s.mu.Unlock()
		if ended == nil {
			continue
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}
