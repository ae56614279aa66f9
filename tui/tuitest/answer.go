package tuitest

import (
	"io"
	"net/http"
	"strings"
)

// Instead lets something else answer where a path ends in this, and the node everywhere else.
func Instead(end string, answer http.HandlerFunc) func(http.Handler) http.Handler {
	return func(node http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, end) {
				answer(w, r)
				return
			}
			node.ServeHTTP(w, r)
		})
	}
}

// Answer is always the same, at the time at which the clock begins unless the header has another.
func Answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if w.Header().Get("Date") == "" {
			w.Header().Set("Date", new(Clock).Now().Format(http.TimeFormat))
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}
