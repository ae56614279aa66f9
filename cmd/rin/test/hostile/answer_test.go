package hostile_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// before is what an attack puts before a good node.
type before = func(trap string) func(http.Handler) http.Handler

// at answers one path itself and leaves the rest to the good node.
func at(path string, answer http.HandlerFunc) before {
	return func(string) func(http.Handler) http.Handler { return answering(path, answer) }
}

// trapping is [at] for an answer that names the trap.
func trapping(path string, answer func(trap string) http.HandlerFunc) before {
	return func(trap string) func(http.Handler) http.Handler { return answering(path, answer(trap)) }
}

// bulky is [at] for JSON that is too large to keep before it is asked for.
func bulky(path string, body func() string) before {
	return func(string) func(http.Handler) http.Handler { return answering(path, asJSON(body())) }
}

func answering(path string, answer http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				_, _ = io.Copy(io.Discard, r.Body)
				answer(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// text answers with a body.
func text(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

// asJSON answers with JSON.
func asJSON(body string) http.HandlerFunc { return text("application/json", body) }

// raw answers with bytes on the connection itself, and closes it.
func raw(speak func(conn net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		speak(conn)
	}
}

// says answers with these bytes and nothing else.
func says(bytes string) http.HandlerFunc {
	return raw(func(conn net.Conn) { _, _ = io.WriteString(conn, bytes) })
}

// flood answers with a beginning and then the same again until the caller goes.
func flood(beginning, again string) http.HandlerFunc {
	return raw(func(conn net.Conn) { pour(conn, beginning, again) })
}

// pour writes a beginning and then the same again until nobody reads it.
func pour(to io.Writer, beginning, again string) {
	_, err := io.WriteString(to, beginning)
	for err == nil {
		_, err = io.WriteString(to, again)
	}
}

// tick is the pace of a drip: every byte comes soon enough to keep a connection from being idle.
const tick = 20 * time.Millisecond

// drip answers with a beginning and then one byte a tick, over and over, until the caller goes.
func drip(beginning, again string) http.HandlerFunc {
	return raw(func(conn net.Conn) {
		_, err := io.WriteString(conn, beginning)
		pace := time.NewTicker(tick)
		defer pace.Stop()
		for i := 0; err == nil; i = (i + 1) % len(again) {
			<-pace.C
			_, err = io.WriteString(conn, again[i:i+1])
		}
	})
}

// head is the beginning of an answer with JSON; more header lines end with CRLF.
func head(status int, more string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nConnection: close\r\n%s", status, http.StatusText(status), more)
}
