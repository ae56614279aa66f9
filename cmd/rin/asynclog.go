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

// operationFlags hold the rate limit and the log settings of a sandbox.
type operationFlags struct {
	rate, format string
	verbose      bool
}

func (o *operationFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.rate, "rate-limit", "", "how often each client may ask, and each address without a good token, such as 20/s or 60/m: requests beyond that are answered 429 with Retry-After")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log each request on stderr, without its query and headers")
	f.StringVar(&o.format, "log-format", logText, "text or json")
}

// limit parses the rate. The zero value means no limit.
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

// The log formats.
const logText, logJSON = "text", "json"

// log starts the log of a sandbox. Its owner must close it.
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
		return nil, usage(fmt.Errorf("--log-format: expected text or json, got %q", o.format), "json writes one object per line")
	}
	handler := newAsyncLog(out, format)
	return &sandboxLog{slog.New(handler), handler}, nil
}

// sandboxLog is a logger that never blocks a request.
type sandboxLog struct {
	*slog.Logger
	handler *asyncLog
}

// logTimeout is how long a sandbox waits at its end for the last log records.
const logTimeout = 2 * time.Second

// close writes the waiting records. A write error is ignored: the only place to report it would be this log.
func (l *sandboxLog) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logTimeout)
	defer cancel()
	_ = l.handler.Close(ctx)
}

// logCapacity is the number of records that may wait: a few tenths of a second of a busy sandbox.
const logCapacity = 8192

// asyncLog is a slog.Handler that logs in the background, so that requests never wait for a slow disk, a full pipe or a stopped terminal.
// Its queue is bounded: records that do not fit are dropped and counted, and the count is logged when there is room again.
type asyncLog struct {
	slog.Handler
	*logQueue
}

// logQueue is shared by an asyncLog and the handlers that With and WithGroup derive from it.
type logQueue struct {
	mu      sync.RWMutex // locked for writing while waiting is closed
	closed  bool
	waiting chan logEntry
	ended   chan struct{} // closed when the last record is written
	dropped atomic.Uint64 // since the last record about dropped records
	out     *bufio.Writer
	err     error // the error of out; read after ended is closed
}

type logEntry struct {
	to     slog.Handler
	record slog.Record
}

// newAsyncLog starts a log. format makes the handler for a writer, such as slog.NewJSONHandler.
func newAsyncLog(out io.Writer, format func(io.Writer) slog.Handler) *asyncLog {
	q := &logQueue{waiting: make(chan logEntry, logCapacity), ended: make(chan struct{}), out: bufio.NewWriterSize(out, 32<<10)}
	l := &asyncLog{format(q.out), q}
	go q.write(l.Handler)
	return l
}

// Handle implements slog.Handler. It never blocks. It clones the record, as slog requires of handlers that keep one.
func (l *asyncLog) Handle(_ context.Context, record slog.Record) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return errors.New("the log is closed")
	}
	select {
	case l.waiting <- logEntry{l.Handler, record.Clone()}:
	default:
		l.dropped.Add(1)
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

// Close writes the waiting records until ctx ends. Later records are refused.
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

// write writes records until the queue is closed and empty. It flushes when the queue is empty. plain is the handler without attributes and groups.
func (q *logQueue) write(plain slog.Handler) {
	defer close(q.ended)
	for next := range q.waiting {
		// The buffer keeps its first error and returns it from Flush.
		_ = next.to.Handle(context.Background(), next.record)
		if len(q.waiting) > 0 {
			continue
		}
		q.logDropped(plain)
		_ = q.out.Flush()
	}
	q.logDropped(plain)
	q.err = q.out.Flush()
}

// logDropped logs how many records were dropped.
func (q *logQueue) logDropped(plain slog.Handler) {
	dropped := q.dropped.Swap(0)
	if dropped == 0 {
		return
	}
	record := slog.NewRecord(time.Now(), slog.LevelWarn, "log records were dropped: they came faster than they could be written", 0)
	record.AddAttrs(slog.Uint64("records", dropped))
	_ = plain.Handle(context.Background(), record)
}
