package worker

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite"
)

// errOrphaned ends a child whose parent is gone.
var errOrphaned = errors.New("the parent closed the worker's input")

// Serve does the work of the child process: it reads one job from stdin, gathers and judges evidence, and writes events. It returns when the
// suite, ctx or stdin ends. Nothing else in the process may write to events.
func Serve(ctx context.Context, stdin io.Reader, events io.Writer) error {
	job, err := readJob(stdin)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel(errOrphaned)
	}()

	out := &eventWriter{to: events}
	go watchMemory(ctx, cmp.Or(job.Memory, DefaultMemory), func(cause string) {
		// Nothing needs saving here, because the parent has the evidence. The process ends even if the parent does not read the event.
		time.AfterFunc(time.Second, func() { os.Exit(1) })
		out.emit(Event{Kind: Exhausted, Cause: cause})
		os.Exit(1)
	})

	file, err := os.OpenFile(job.Evidence, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("create the evidence file: %w", err)
	}
	job.OnEvent = out.emit
	session, err := NewSession(job, file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	suite.Run(ctx, session, suite.Options{
		Profile: requirement.Profile(job.Target.Profile),
		Only:    requirement.IDs(job.Target.Only),
		Judged:  func(id requirement.ID, j requirement.Judgement) { out.emit(Event{Kind: Judged, ID: id, Judgement: &j}) },
	})
	if err := errors.Join(session.Err(), file.Close()); err != nil {
		return fmt.Errorf("write evidence: %w", err)
	}
	if p := session.Problem(); p != nil {
		out.emit(Event{Kind: Rejected, Problem: p})
		return out.err()
	}
	if session.Log().Ended == nil {
		return errors.New("the evidence is not complete: the suite was interrupted before it sent a request")
	}
	out.emit(Event{Kind: Finished})
	return out.err()
}

// readJob reads the job from the first line. No error quotes the line, because it holds secrets.
func readJob(input io.Reader) (Options, error) {
	line, err := bufio.NewReader(io.LimitReader(input, maxJob)).ReadBytes('\n')
	switch {
	case errors.Is(err, io.EOF) && len(line) == maxJob:
		return Options{}, fmt.Errorf("read the job from stdin: the line is longer than %d bytes", maxJob)
	case err != nil:
		return Options{}, fmt.Errorf("read the job from stdin: expected one line: %w (hint: rin starts its worker itself)", err)
	}
	var job Options
	if json.Unmarshal(line, &job) != nil {
		return Options{}, errors.New("read the job from stdin: it is not a job of this version (hint: rin starts its worker itself)")
	}
	return job, nil
}

// eventWriter writes whole lines from several goroutines.
type eventWriter struct {
	mu      sync.Mutex
	to      io.Writer
	failure error
}

func (w *eventWriter) emit(e Event) {
	line, err := json.Marshal(e)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		_, err = w.to.Write(append(line, '\n'))
	}
	w.failure = errors.Join(w.failure, err)
}

func (w *eventWriter) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure
}

// DefaultMemory is the child's memory limit in bytes: parent and child together stay under 512 MB.
const DefaultMemory = 400 << 20

// The garbage collector runs seldom while the process takes less than leastLimit, because the process is short-lived. It runs often while a run holds
// large bodies: they leave little garbage beside them, and a heap that may grow in proportion would take as much again.
const (
	leastLimit = 64 << 20 // bytes
	heapRoom   = 16 << 20 // bytes beside the live heap
	heapGrowth = 300      // percent
)

// softLimit returns the memory in bytes from which the collector works harder, for a live heap in a process with a limit.
func softLimit(live, limit int64) int64 {
	return min(max(leastLimit, live+heapRoom), limit-limit/8)
}

// watchMemory makes the garbage collector keep the process under the limit until ctx ends. It calls exhausted, once, when the process exceeds
// the limit nevertheless.
func watchMemory(ctx context.Context, limit int64, exhausted func(cause string)) {
	soft := softLimit(0, limit)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(soft))
	defer debug.SetGCPercent(debug.SetGCPercent(heapGrowth))
	sample := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			metrics.Read(sample)
			if next := softLimit(int64(sample[2].Value.Uint64()), limit); next != soft {
				soft = next
				debug.SetMemoryLimit(soft)
			}
			if used := sample[0].Value.Uint64() - sample[1].Value.Uint64(); used > uint64(limit) {
				exhausted(fmt.Sprintf("reading the node took more than %d MB of memory; the run was stopped there", limit>>20))
				return
			}
		}
	}
}
