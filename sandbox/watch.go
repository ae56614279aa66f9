package sandbox

import (
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/rin-network/rin/sandbox/problem"
)

// watch dates answers by the node's clock, logs requests at level Debug and turns a panic into a 500 and a log entry. Queries and
// headers are not logged: they may hold credentials.
func watch(next http.Handler, log *slog.Logger, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			fault := recover()
			if fault == nil {
				return
			}
			if fault == http.ErrAbortHandler {
				panic(fault)
			}
			log.Error("handler panicked", "method", r.Method, "path", r.URL.Path, "panic", fault, "stack", string(debug.Stack()))
			problem.Internal().Write(w, r)
		}()
		w.Header().Set("Date", now().UTC().Format(http.TimeFormat))
		if !log.Enabled(r.Context(), slog.LevelDebug) {
			next.ServeHTTP(w, r)
			return
		}
		started := now()
		recorded := &statusWriter{ResponseWriter: w}
		next.ServeHTTP(recorded, r)
		log.Debug("answered", "method", r.Method, "path", r.URL.Path, "status", recorded.status, "took", now().Sub(started))
	})
}

// statusWriter remembers the status that was written.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (s *statusWriter) WriteHeader(status int) {
	if s.status == 0 {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func health(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	// A failed write means that the caller is gone; nobody is left to tell.
	_, _ = w.Write([]byte(`{"status":"ok"}`))
}
