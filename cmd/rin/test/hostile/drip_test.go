package hostile_test

import (
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"time"
)

// slowAnswers returns nodes that hang, or send one byte after the other without an end.
func slowAnswers() []attack {
	hang := func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil { // the server notices that the caller hung up only if the body was read
			<-r.Context().Done()
		}
	}
	brief := []string{"--timeout", "200ms"}
	late := []string{"no complete answer"}
	const patience = 3 * time.Second
	patient := []string{"--timeout", patience.String(), "--deadline", "20m"}
	// everything returns an attack in which every answer hangs or drips. The run must end long before its deadline.
	everything := func(name, profile string, answers http.HandlerFunc) attack {
		return attack{name: name, profile: profile, flags: patient, within: longestHang(patience) + besideHangs, wrap: func(string) func(http.Handler) http.Handler {
			return func(http.Handler) http.Handler { return answers }
		}}
	}
	return []attack{
		everything("everything hangs, for the time of a few requests", "auth", hang),
		everything("everything hangs under the profile funding, for the time of a few requests", "funding", hang),
		everything("everything hangs under the profile full, for the time of a few requests", "full", hang),
		everything("every header drips, for the time of a few requests", "funding", drip("HTTP/1.1 200 OK\r\n", "X-A: b\r\n")),
		everything("every body drips, for the time of a few requests", "funding", drip(head(200, "\r\n{"), " ")),
		{name: "silence on the port, for the time of a few requests", wire: silent, profile: "funding", flags: patient, within: longestHang(patience) + besideHangs},
		{name: "a token that never comes", wrap: answerAt(tokenPath, hang), flags: brief, says: late},
		{name: "an info that never comes", wrap: answerAt(infoPath, hang), flags: brief, says: late},
		{name: "a document that never comes", profile: "funding", wrap: answerAt(specPath, hang), flags: brief, says: late},
		{name: "a list that never comes", profile: "funding", wrap: answerAt(listPath, hang), flags: brief, says: late},
		{name: "a status line that drips", wrap: answerAt(infoPath, drip("", "HTTP/1.1 200 OK       ")), flags: brief, says: late},
		{name: "a header that drips", wrap: answerAt(infoPath, drip("HTTP/1.1 200 OK\r\n", "X-A: b\r\n")), flags: brief, says: late},
		{name: "a header line that drips", wrap: answerAt(infoPath, drip("HTTP/1.1 200 OK\r\nX-A: ", "b")), flags: brief, says: late},
		{name: "a body that drips", typical: true, wrap: answerAt(infoPath, drip(head(200, "Content-Length: 100000\r\n\r\n"), " ")), flags: brief, says: late},
		{name: "a chunk size that drips", wrap: answerAt(infoPath, drip(head(200, "Transfer-Encoding: chunked\r\n\r\n"), "0")), flags: brief, says: late},
		{name: "chunks that drip", wrap: answerAt(infoPath, drip(head(200, "Transfer-Encoding: chunked\r\n\r\n"), "1\r\n \r\n")), flags: brief, says: late},
		{name: "a trailer that drips", wrap: answerAt(infoPath, drip(head(200, "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"), "X-A: b\r\n")), flags: brief, says: late},
		{name: "a document that drips until the deadline", profile: "funding", wrap: answerAt(specPath, drip(head(200, "\r\n{"), " ")), flags: []string{"--deadline", "2s"}, says: []string{"deadline"}},
		{name: "everything drips until the deadline", typical: true, wrap: func(string) func(http.Handler) http.Handler {
			return func(http.Handler) http.Handler { return drip(head(200, "\r\n"), " ") }
		}, flags: []string{"--deadline", "2s"}, says: []string{"deadline"}},
		{name: "everything hangs", wrap: func(string) func(http.Handler) http.Handler {
			return func(http.Handler) http.Handler { return http.HandlerFunc(hang) }
		}, flags: brief, says: []string{"stopped answering"}},
		{name: "a gateway that refuses at once, before a service that hangs", profile: "funding", wrap: func(string) func(http.Handler) http.Handler {
			return func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					answer := httptest.NewRecorder()
					next.ServeHTTP(answer, r)
					if answer.Code == http.StatusOK && r.Header.Get("Authorization") != "" {
						hang(w, r)
						return
					}
					maps.Copy(w.Header(), answer.Header())
					w.WriteHeader(answer.Code)
					_, _ = answer.Body.WriteTo(w)
				})
			}
		}, flags: brief, says: []string{"stopped answering requests with credentials"}},
		{name: "silence on the port", wire: silent, flags: brief, says: []string{"stopped answering"}},
		{name: "silence on the port until the deadline", wire: silent, flags: []string{"--deadline", "2s"}},
	}
}

// silent reads a connection, and sends nothing.
func silent(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
