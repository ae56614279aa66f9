// Package main writes log records behind the back of whoever logs: a request that is logged never waits for a slow disk, a full pipe or
// a terminal that somebody has stopped. The backlog is bounded; what does not fit is dropped, counted, and told as soon as there is
// room again.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox/edge"
)

// operationFlags say how a sandbox is operated: how often it may be asked, and what it logs.
type operationFlags struct {
	rate, format string
	verbose      bool
}

func (o *operationFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.rate, "rate-limit", "", "how often each client may ask, and each address without a good token, such as 20/s or 60/m: more is answered 429 with Retry-After")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log each request on stderr, without its query and headers")
	f.StringVar(&o.format, "log-format", logText, "text or json")
}

// limit reads the rate; the zero value without one.
func (o *operationFlags) limit() (edge.Rate, error) {
	if o.rate == "" {
		return edge.Rate{}, nil
	}
	rate, err := edge.ParseRate(o.rate)
	if err != nil {
		return edge.Rate{}, usage(fmt.Errorf("--rate-limit: %w", err), "20/s admits 20 requests at once and then one each 50 ms")
	}
	return rate, nil
}

// The formats of the log.
const logText, logJSON = "text", "json"

// log starts the log of a sandbox, which ends with it.
func (o *operationFlags) log(out io.Writer) (*sandboxLog, error) {
	options := &slog.HandlerOptions{Level: slog.LevelWarn}
	if o.verbose {
		options.Level = slog.LevelDebug
	}
	format := map[string]func(io.Writer) slog.Handler{
		logText: func(out io.Writer) slog.Handler { return slog.NewTextHandler(out, options) },
		logJSON: func(out io.Writer) slog.Handler { return slog.NewJSONHandler(out, options) },
	}[o.format]
	if format == nil {
		return nil, usage(fmt.Errorf("--log-format: expected text or json, got %q", o.format), "json has one object a line")
	}
	written := newAsyncLog(out, format)
	return &sandboxLog{slog.New(written), written}, nil
}

// sandboxLog is a log that no request waits for.
type sandboxLog struct {
	*slog.Logger
	written *asyncLog
}

// logPatience is how long the end of a sandbox waits for its last log records.
const logPatience = 2 * time.Second

// end writes what was logged until then. That it can't be written is told nobody: there it would have stood.
func (l *sandboxLog) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logPatience)
	defer cancel()
	_ = l.written.Close(ctx)
}

// logCapacity is the number of records that may wait: some tenths of a second of a busy sandbox.
const logCapacity = 8192

// asyncLog is a slog.Handler whose records are written by a goroutine of its own, which Close ends.
type asyncLog struct {
	slog.Handler
	*logQueue
}

// logQueue is what a Log shares with the ones made from it by With and WithGroup.
type logQueue struct {
	mu      sync.RWMutex // held for writing to close waiting
	closed  bool
	waiting chan logEntry
	ended   chan struct{}
	missed  atomic.Uint64 // since it was last told
	out     *bufio.Writer
	err     error // of out; read after ended is closed
}

type logEntry struct {
	to     slog.Handler
	record slog.Record
}

// newAsyncLog starts a log. format makes the handler that writes to a writer, such as slog.NewJSONHandler.
func newAsyncLog(out io.Writer, format func(io.Writer) slog.Handler) *asyncLog {
	q := &logQueue{waiting: make(chan logEntry, logCapacity), ended: make(chan struct{}), out: bufio.NewWriterSize(out, 32<<10)}
	l := &asyncLog{format(q.out), q}
	go q.write(l.Handler)
	return l
}

// Handle implements slog.Handler. It never waits. The record is cloned, as slog asks of whoever keeps one.
func (l *asyncLog) Handle(_ context.Context, record slog.Record) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return errors.New("the log is closed")
	}
	select {
	case l.waiting <- logEntry{l.Handler, record.Clone()}:
	default:
		l.missed.Add(1)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (l *asyncLog) WithAttrs(attributes []slog.Attr) slog.Handler {
	return &asyncLog{l.Handler.WithAttrs(attributes), l.logQueue}
}

// WithGroup implements slog.Handler.
func (l *asyncLog) WithGroup(name string) slog.Handler {
	return &asyncLog{l.Handler.WithGroup(name), l.logQueue}
}

// Close writes what waits, for as long as ctx lasts. Nothing is logged after it.
func (l *asyncLog) Close(ctx context.Context) error {
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
func (q *logQueue) write(plain slog.Handler) {
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
func (q *logQueue) tell(plain slog.Handler) {
	missed := q.missed.Swap(0)
	if missed == 0 {
		return
	}
	record := slog.NewRecord(time.Now(), slog.LevelWarn, "log records were dropped: they came faster than they could be written", 0)
	record.AddAttrs(slog.Uint64("records", missed))
	_ = plain.Handle(context.Background(), record)
}
