package probe

import (
	"context"
	"sync"
)

// stages tells lanes when those that they build on have ended.
type stages struct {
	mu      sync.Mutex
	running map[Stage]int
	ended   map[Stage]chan struct{}
}

func newStages() *stages {
	return &stages{running: map[Stage]int{}, ended: map[Stage]chan struct{}{}}
}

// enter counts lanes in before any of them runs, so that none takes a stage for ended that is still to come.
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

// leave counts a lane out.
func (s *stages) leave(stage Stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[stage]--
	if s.running[stage] == 0 {
		close(s.ended[stage])
	}
}

// wait returns when the stages have ended, or ctx has; a stage that no lane entered has ended.
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
