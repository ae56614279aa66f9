package hostile_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// wrapper makes a handler that wraps a good node and attacks. trap is the URL of a server that must never be called.
type wrapper = func(trap string) func(http.Handler) http.Handler

// answerAt answers one path itself and leaves the rest to the good node.
func answerAt(path string, answer http.HandlerFunc) wrapper {
	return func(string) func(http.Handler) http.Handler { return replaceAnswer(path, answer) }
}

// answerWithTrapAt is [answerAt] for an answer that contains the URL of the trap.
func answerWithTrapAt(path string, answer func(trap string) http.HandlerFunc) wrapper {
	return func(trap string) func(http.Handler) http.Handler { return replaceAnswer(path, answer(trap)) }
}

// largeAnswerAt is [answerAt] for large JSON, which is made only when the attack runs.
func largeAnswerAt(path string, body func() string) wrapper {
	return func(string) func(http.Handler) http.Handler { return replaceAnswer(path, answerJSON(body())) }
}

// replaceAnswer answers requests of one path; the wrapped handler answers the others.
func replaceAnswer(path string, answer http.HandlerFunc) func(http.Handler) http.Handler {
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

// answerText answers with a body.
func answerText(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

// answerJSON answers with JSON.
func answerJSON(body string) http.HandlerFunc { return answerText("application/json", body) }

// hijack answers with bytes on the connection itself, and closes it.
func hijack(speak func(conn net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		speak(conn)
	}
}

// answerRaw answers with these bytes and nothing else.
func answerRaw(bytes string) http.HandlerFunc {
	return hijack(func(conn net.Conn) { _, _ = io.WriteString(conn, bytes) })
}

// flood answers with a beginning, and then repeats a text until the caller hangs up.
func flood(beginning, repeated string) http.HandlerFunc {
	return hijack(func(conn net.Conn) { writeForever(conn, beginning, repeated) })
}

// writeForever writes a beginning, and then repeats a text until writing fails.
func writeForever(to io.Writer, beginning, repeated string) {
	_, err := io.WriteString(to, beginning)
	for err == nil {
		_, err = io.WriteString(to, repeated)
	}
}

// tick is the time between two bytes of a drip. It is short, so that no connection is idle.
const tick = 20 * time.Millisecond

// drip answers with a beginning, and then repeats a text, one byte a tick, until the caller hangs up.
func drip(beginning, repeated string) http.HandlerFunc {
	return hijack(func(conn net.Conn) {
		_, err := io.WriteString(conn, beginning)
		pace := time.NewTicker(tick)
		defer pace.Stop()
		for i := 0; err == nil; i = (i + 1) % len(repeated) {
			<-pace.C
			_, err = io.WriteString(conn, repeated[i:i+1])
		}
	})
}

// head returns the beginning of an answer with JSON; the header lines in more end with CRLF.
func head(status int, more string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nConnection: close\r\n%s", status, http.StatusText(status), more)
}
