package sandbox

import (
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
	"github.com/rin-network/rin/sandbox/metrics"
	"github.com/rin-network/rin/sandbox/problem"
)

// watch stands before everything else: it dates answers by the node's clock, counts requests and logs each at level Debug, and turns a panic
// into a 500 and a log entry. Queries and headers are not logged: they may hold credentials.
type watch struct {
	next     http.Handler
	node     string
	log      *slog.Logger
	now      func() time.Time
	classify func(path string) (journal.Operation, bool)
	requests *metrics.Requests
	// api is the path below which the node's APIs are, with a slash at its end.
	api string
}

// ServeHTTP implements http.Handler.
func (o *watch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := o.now()
	w.Header().Set("Date", started.UTC().Format(http.TimeFormat))
	sent := &answerWatch{ResponseWriter: w}
	defer func() {
		fault := recover()
		if fault != nil && fault != http.ErrAbortHandler {
			o.log.Error("handler panicked", "node", o.node, "method", r.Method, "path", logged(r.URL.Path), "panic", fault, "stack", string(debug.Stack()))
			problem.Internal().Write(sent, r)
		}
		if fault == nil && sent.status == 0 {
			sent.status = http.StatusOK // net/http sends it for a handler that wrote nothing
		}
		o.answered(r, sent, o.now().Sub(started))
		if fault == http.ErrAbortHandler {
			panic(fault)
		}
	}()
	o.next.ServeHTTP(sent, r)
}

// answered counts and logs a request that has ended.
func (o *watch) answered(r *http.Request, sent *answerWatch, took time.Duration) {
	operation, _ := o.classify(r.URL.Path)
	if operation == journal.Other && strings.HasPrefix(r.URL.Path, o.api) {
		operation = fromDocument
	}
	o.requests.Count(string(operation), r.Method, sent.status, took)
	if !o.log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	o.log.LogAttrs(r.Context(), slog.LevelDebug, "answered", slog.String("node", o.node), slog.String("method", cut(r.Method, 20)), slog.String("path", logged(r.URL.Path)),
		slog.Int("status", sent.status), slog.Int64("bytes", sent.bytes), slog.Float64("ms", float64(took.Microseconds())/1000))
}

// The bounds of what is logged of a path. No segment of a node's own paths is as long as a secret or a token, which a client may have
// put there by mistake.
const (
	maxLoggedPath    = 256
	maxLoggedSegment = 40
)

// logged is a path as it is logged.
func logged(path string) string {
	if len(path) <= maxLoggedSegment {
		return path
	}
	segments := strings.Split(cut(path, maxLoggedPath), "/")
	for i, segment := range segments {
		if len(segment) > maxLoggedSegment {
			segments[i] = "..."
		}
	}
	return strings.Join(segments, "/")
}

func cut(text string, length int) string {
	if len(text) > length {
		return text[:length] + "..."
	}
	return text
}

// answerWatch remembers status and size of an answer. It holds nothing back.
type answerWatch struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader implements http.ResponseWriter. A status below 200 announces another one.
func (a *answerWatch) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (a *answerWatch) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answerWatch) Unwrap() http.ResponseWriter { return a.ResponseWriter }
