package hostile_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
)

// crowded are headers that are too much.
func crowded() []attack {
	fields := func(n int, name, value string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, name+"\r\n", i, value)
		}
		return b.String()
	}
	many := func(n int, name, value string) http.HandlerFunc {
		return says(head(200, fields(n, name+": %s", value)) + "\r\n{}")
	}
	tooLarge := []string{"header"}
	return []attack{
		{name: "a header field of 60 KB", before: at(infoPath, says(head(200, "X-A: "+strings.Repeat("a", 60<<10)+"\r\n\r\n{}")))},
		{name: "a header field of 70 KB", typical: true, before: at(infoPath, says(head(200, "X-A: "+strings.Repeat("a", 70<<10)+"\r\n\r\n{}"))), says: tooLarge},
		{name: "a header field without an end", before: at(infoPath, flood(head(200, "X-A: "), megabyte())), says: tooLarge},
		{name: "a header without an end", before: at(infoPath, flood(head(200, ""), "X-A: b\r\n")), says: tooLarge},
		{name: "a header of a token answer without an end", before: at(tokenPath, flood(head(200, ""), "X-A: b\r\n")), says: tooLarge},
		{name: "a header field that is folded without an end", before: at(infoPath, flood(head(200, "X-A: b\r\n"), " c\r\n")), says: tooLarge},
		{name: "six thousand header fields", before: at(infoPath, many(6000, "X%d", ""))},
		{name: "five thousand header fields of one name", before: at(infoPath, many(5000, "X%.0d", "b"))},
		{name: "a thousand challenges", before: at(infoPath, says(head(401, fields(1000, "WWW-Authenticate: Bearer realm=\"%d\", a=\"%s\"", "\\\\"))+"\r\n"))},
		{name: "a challenge that never closes its quotes", before: at(infoPath, says(head(401, "WWW-Authenticate: Bearer realm=\""+strings.Repeat(`\"`, 20_000)+"\r\n\r\n")))},
		{name: "a thousand cookies", before: at(infoPath, says(head(200, fields(1000, "Set-Cookie: c%d=%s; Path=/; Domain=.example", "x"))+"\r\n{}")), harmless: true},
		{name: "links without an end", profile: "funding", before: at(listPath, trapless(fields(700, "Link: </%d%s>; rel=\"next next next\"", strings.Repeat("x", 40))))},
		{name: "a link that never closes", profile: "funding", before: at(listPath, trapless("Link: "+strings.Repeat("<", 30_000)+"\r\n"))},
		{name: "a header with a NUL", before: at(infoPath, says(head(200, "X-A: a\x00b\r\n\r\n{}")))},
		{name: "a header name that is none", before: at(infoPath, says(head(200, "X A\x1b[2J"+marked+": b\r\n\r\n{}")))},
		{name: "informational answers without an end", before: at(infoPath, flood("", "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n")), says: []string{"connection broken"}},
		{name: "informational answers to a token request", before: at(tokenPath, flood("", "HTTP/1.1 102 Processing\r\n\r\n")), says: []string{"no answer"}},
		{name: "an answer before the question", before: at(infoPath, raw(func(conn net.Conn) { pour(conn, "", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") }))},
	}
}

// trapless is an empty list with more header lines.
func trapless(more string) http.HandlerFunc { return says(head(200, more) + "\r\n[]") }
