package hostile_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
)

// headerAttacks returns nodes with headers that are too large, too many or malformed.
func headerAttacks() []attack {
	fields := func(n int, name, value string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, name+"\r\n", i, value)
		}
		return b.String()
	}
	many := func(n int, name, value string) http.HandlerFunc {
		return answerRaw(head(200, fields(n, name+": %s", value)) + "\r\n{}")
	}
	tooLarge := []string{"header"}
	return []attack{
		{name: "a header field of 60 KB", wrap: answerAt(infoPath, answerRaw(head(200, "X-A: "+strings.Repeat("a", 60<<10)+"\r\n\r\n{}")))},
		{name: "a header field of 70 KB", typical: true, wrap: answerAt(infoPath, answerRaw(head(200, "X-A: "+strings.Repeat("a", 70<<10)+"\r\n\r\n{}"))), says: tooLarge},
		{name: "a header field without an end", wrap: answerAt(infoPath, flood(head(200, "X-A: "), megabyte())), says: tooLarge},
		{name: "a header without an end", wrap: answerAt(infoPath, flood(head(200, ""), "X-A: b\r\n")), says: tooLarge},
		{name: "a header of a token answer without an end", wrap: answerAt(tokenPath, flood(head(200, ""), "X-A: b\r\n")), says: tooLarge},
		{name: "a header field that is folded without an end", wrap: answerAt(infoPath, flood(head(200, "X-A: b\r\n"), " c\r\n")), says: tooLarge},
		{name: "six thousand header fields", wrap: answerAt(infoPath, many(6000, "X%d", ""))},
		{name: "five thousand header fields of one name", wrap: answerAt(infoPath, many(5000, "X%.0d", "b"))},
		{name: "a thousand challenges", wrap: answerAt(infoPath, answerRaw(head(401, fields(1000, "WWW-Authenticate: Bearer realm=\"%d\", a=\"%s\"", "\\\\"))+"\r\n"))},
		{name: "a challenge that never closes its quotes", wrap: answerAt(infoPath, answerRaw(head(401, "WWW-Authenticate: Bearer realm=\""+strings.Repeat(`\"`, 20_000)+"\r\n\r\n")))},
		{name: "a thousand cookies", wrap: answerAt(infoPath, answerRaw(head(200, fields(1000, "Set-Cookie: c%d=%s; Path=/; Domain=.example", "x"))+"\r\n{}")), harmless: true},
		{name: "links without an end", profile: "funding", wrap: answerAt(listPath, answerWithHeader(fields(700, "Link: </%d%s>; rel=\"next next next\"", strings.Repeat("x", 40))))},
		{name: "a link that never closes", profile: "funding", wrap: answerAt(listPath, answerWithHeader("Link: "+strings.Repeat("<", 30_000)+"\r\n"))},
		{name: "a header with a NUL", wrap: answerAt(infoPath, answerRaw(head(200, "X-A: a\x00b\r\n\r\n{}")))},
		{name: "an invalid header name", wrap: answerAt(infoPath, answerRaw(head(200, "X A\x1b[2J"+marker+": b\r\n\r\n{}")))},
		{name: "informational answers without an end", wrap: answerAt(infoPath, flood("", "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n")), says: []string{"connection broken"}},
		{name: "informational answers to a token request", wrap: answerAt(tokenPath, flood("", "HTTP/1.1 102 Processing\r\n\r\n")), says: []string{"no answer"}},
		{name: "an answer before the question", wrap: answerAt(infoPath, hijack(func(conn net.Conn) { writeForever(conn, "", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") }))},
	}
}

// answerWithHeader answers with an empty list and more header lines.
func answerWithHeader(more string) http.HandlerFunc { return answerRaw(head(200, more) + "\r\n[]") }
