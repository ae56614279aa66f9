package hostile_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net"
	"net/http"
	"strings"
)

// megabyte returns a body of blanks, which JSON may have anywhere.
func megabyte() string { return strings.Repeat(" ", 1<<20) }

// endlessBodies returns nodes with bodies that never end or are far too large.
func endlessBodies() []attack {
	chunk := "100000\r\n" + megabyte() + "\r\n"
	return []attack{
		{name: "an endless token answer", wrap: answerAt(tokenPath, flood(head(200, "\r\n"), megabyte()))},
		{name: "an endless info", wrap: answerAt(infoPath, flood(head(200, "Transfer-Encoding: chunked\r\n\r\n"), chunk))},
		{name: "an endless document", profile: "funding", wrap: answerAt(specPath, flood(head(200, "\r\n"), megabyte()))},
		{name: "an endless list", profile: "funding", wrap: answerAt(listPath, flood(head(200, "\r\n["), `{"id":"x"},`+megabyte()))},
		{name: "an endless list of small items", profile: "funding", wrap: answerAt(listPath, flood(head(200, "\r\n["), strings.Repeat(`{},`, 1<<17)))},
		{name: "an endless list of numbers", profile: "funding", wrap: answerAt(listPath, flood(head(200, "\r\n["), strings.Repeat(`1,`, 1<<17)))},
		{name: "an endless error", wrap: answerAt(infoPath, flood(head(401, "WWW-Authenticate: Bearer\r\n\r\n"), megabyte()))},
		{name: "an endless body everywhere", wrap: func(string) func(http.Handler) http.Handler {
			return func(http.Handler) http.Handler { return flood(head(200, "\r\n"), megabyte()) }
		}},
		{name: "a body of 1 GB with its length", wrap: answerAt(infoPath, flood(head(200, "Content-Length: 1073741824\r\n\r\n"), megabyte()))},
		{name: "a trailer without an end", typical: true, wrap: answerAt(infoPath, flood(head(200, "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"), "X-A: "+strings.Repeat("a", 1000)+"\r\n"))},
	}
}

// zeros returns megabytes of zeros as a sequence of gzip members, which decoders read as one (RFC 1952 §2.2).
func zeros(megabytes int) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(make([]byte, 1<<20))
	_ = w.Close()
	return bytes.Repeat(b.Bytes(), megabytes)
}

// gzipped returns compressed data.
func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// compressedBodies returns nodes with bodies that grow when they are decoded.
func compressedBodies() []attack {
	coded := func(coding string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", coding)
			_, _ = w.Write(body)
		}
	}
	deflated := func(megabytes int) []byte {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		for range megabytes {
			_, _ = io.WriteString(w, megabyte())
		}
		_ = w.Close()
		return b.Bytes()
	}
	bomb := zeros(1 << 10)
	return []attack{
		{name: "a gzip bomb for an info", typical: true, wrap: answerAt(infoPath, coded("gzip", bomb))},
		{name: "a gzip bomb for a token", wrap: answerAt(tokenPath, coded("gzip", bomb))},
		{name: "a gzip bomb for a document", profile: "funding", wrap: answerAt(specPath, coded("gzip", bomb))},
		{name: "a gzip bomb for a list", profile: "funding", wrap: answerAt(listPath, coded("gzip", bomb))},
		{name: "a bomb in a bomb", wrap: answerAt(infoPath, coded("gzip, gzip", gzipped(bomb)))},
		{name: "a bomb in a bomb in a bomb", wrap: answerAt(infoPath, coded("gzip, gzip, gzip", gzipped(gzipped(bomb))))},
		{name: "a hundred codings", wrap: answerAt(infoPath, coded(strings.TrimSuffix(strings.Repeat("gzip, ", 100), ", "), bomb))},
		{name: "a deflate bomb", wrap: answerAt(infoPath, coded("deflate", deflated(64)))},
		{name: "a coding that nobody asked for", wrap: answerAt(infoPath, coded("br", []byte("\x8b\x00\x80{}\x03")))},
		{name: "an unspeakable coding", wrap: answerAt(infoPath, coded(inscription, []byte("{}")))},
		{name: "a gzip that breaks off", wrap: answerAt(infoPath, coded("gzip", bomb[:700]))},
		{name: "a body that is not gzip", wrap: answerAt(infoPath, coded("gzip", []byte("{}")))},
	}
}

// brokenBodies returns nodes with answers that end too soon, or state a wrong length or status.
func brokenBodies() []attack {
	reset := func(bytes string) http.HandlerFunc {
		return hijack(func(conn net.Conn) {
			_, _ = io.WriteString(conn, bytes)
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // an abort instead of an orderly end
			}
		})
	}
	return []attack{
		{name: "a reset within the body", wrap: answerAt(infoPath, reset(head(200, "Content-Length: 1000\r\n\r\n{\"a\":")))},
		{name: "a reset within the header", wrap: answerAt(infoPath, reset(head(200, "X-A: b")))},
		{name: "a reset before the answer", typical: true, wrap: answerAt(infoPath, reset(""))},
		{name: "a reset of every list", profile: "funding", wrap: answerAt(listPath, reset(head(200, "Content-Length: 1000\r\n\r\n[{")))},
		{name: "a reset of every token", wrap: answerAt(tokenPath, reset(head(200, "Content-Length: 1000\r\n\r\n{")))},
		{name: "a length that promises too much", wrap: answerAt(infoPath, answerRaw(head(200, "Content-Length: 100\r\n\r\n{}")))},
		{name: "a length that promises too little", wrap: answerAt(infoPath, answerRaw(head(200, "Content-Length: 1\r\n\r\n{}")))},
		{name: "a length beyond all numbers", wrap: answerAt(infoPath, answerRaw(head(200, "Content-Length: 99999999999999999999\r\n\r\n{}")))},
		{name: "a negative length", wrap: answerAt(infoPath, answerRaw(head(200, "Content-Length: -1\r\n\r\n{}")))},
		{name: "two lengths", wrap: answerAt(infoPath, answerRaw(head(200, "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}")))},
		{name: "a chunk beyond all numbers", wrap: answerAt(infoPath, answerRaw(head(200, "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}")))},
		{name: "a chunk whose extension never ends", wrap: answerAt(infoPath, flood(head(200, "Transfer-Encoding: chunked\r\n\r\n2;"), megabyte()))},
		{name: "chunks of one byte with long extensions", wrap: answerAt(infoPath, flood(head(200, "Transfer-Encoding: chunked\r\n\r\n"), "1;"+strings.Repeat("x", 4000)+"\r\n \r\n"))},
		{name: "garbage instead of HTTP", typical: true, wrap: answerAt(infoPath, answerRaw("\x00\xff\x1b[2J"+marker+"\r\n\r\n"))},
		{name: "a line of HTTP without an end", wrap: answerAt(infoPath, flood("HTTP/1.1 200 ", "OK"))},
		{name: "a status beyond all numbers", wrap: answerAt(infoPath, answerRaw("HTTP/1.1 99999999999 OK\r\n\r\n"))},
		{name: "the status 000", wrap: answerAt(infoPath, answerRaw("HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n"))},
		{name: "the status 999", wrap: answerAt(infoPath, answerRaw("HTTP/1.1 999 "+marker+"\r\nContent-Length: 0\r\n\r\n"))},
		{name: "an upgrade that nobody asked for", wrap: answerAt(infoPath, flood("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", megabyte()))},
	}
}
