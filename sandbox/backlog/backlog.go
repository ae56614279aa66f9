// Package backlog writes log records behind the back of whoever logs: a request that is logged never waits for a slow disk, a full pipe or
// a terminal that somebody has stopped. The backlog is bounded; what does not fit is dropped, counted, and told as soon as there is
// room again.
package backlog

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// room is the number of records that may wait: some tenths of a second of a busy sandbox.
const room = 8192

// Log is a slog.Handler whose records are written by a goroutine of its own, which Close ends.
type Log struct {
	slog.Handler
	*queue
}

// queue is what a Log shares with the ones made from it by With and WithGroup.
type queue struct {
	mu      sync.RWMutex // held for writing to close waiting
	closed  bool
	waiting chan entry
	ended   chan struct{}
	missed  atomic.Uint64 // since it was last told
	out     *bufio.Writer
	err     error // of out; read after ended is closed
}

type entry struct {
	to     slog.Handler
	record slog.Record
}

// New starts a log. format makes the handler that writes to a writer, such as slog.NewJSONHandler.
func New(out io.Writer, format func(io.Writer) slog.Handler) *Log {
	q := &queue{waiting: make(chan entry, room), ended: make(chan struct{}), out: bufio.NewWriterSize(out, 32<<10)}
	l := &Log{format(q.out), q}
	go q.write(l.Handler)
	return l
}

// Handle implements slog.Handler. It never waits. The record is cloned, as slog asks of whoever keeps one.
func (l *Log) Handle(_ context.Context, record slog.Record) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return errors.New("the log is closed")
	}
	select {
	case l.waiting <- entry{l.Handler, record.Clone()}:
	default:
		l.missed.Add(1)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (l *Log) WithAttrs(attributes []slog.Attr) slog.Handler {
	return &Log{l.Handler.WithAttrs(attributes), l.queue}
}

// WithGroup implements slog.Handler.
func (l *Log) WithGroup(name string) slog.Handler { return &Log{l.Handler.WithGroup(name), l.queue} }

// Close writes what waits, for as long as ctx lasts. Nothing is logged after it.
func (l *Log) Close(ctx context.Context) error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.waiting)
	}
	l.mu.Unlock()
	select {
	case <-l.ended:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write writes records until the queue is closed and empty; a pause in the stream flushes them.
func (q *queue) write(plain slog.Handler) {
	defer close(q.ended)
	for next := range q.waiting {
		// The buffer keeps the first error and gives it back when it is flushed.
		_ = next.to.Handle(context.Background(), next.record)
		if len(q.waiting) > 0 {
			continue
		}
		q.tell(plain)
		_ = q.out.Flush()
	}
	q.tell(plain)
	q.err = q.out.Flush()
}

// tell writes how many records are missing.
func (q *queue) tell(plain slog.Handler) {
	missed := q.missed.Swap(0)
	if missed == 0 {
		return
	}
	record := slog.NewRecord(time.Now(), slog.LevelWarn, "log records were dropped: they came faster than they could be written", 0)
	record.AddAttrs(slog.Uint64("records", missed))
	_ = plain.Handle(context.Background(), record)
}
