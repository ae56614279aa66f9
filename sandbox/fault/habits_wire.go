package fault

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/devtls"
)

// connectionHabits are unusual ways to offer TLS.
func connectionHabits() []Deviation {
	return []Deviation{
		{Name: "tls-1-3-alone",
			Why:       "TLS 1.3 is offered and nothing older, as by hardened servers for programs only.",
			Transport: func(s *devtls.Settings) { s.Oldest, s.Newest = tls.VersionTLS13, tls.VersionTLS13 }},
		{Name: "tls-1-2-alone",
			Why:       "TLS 1.2 is the newest version that is offered, as by older load balancers of institutions.",
			Transport: func(s *devtls.Settings) { s.Oldest, s.Newest = tls.VersionTLS12, tls.VersionTLS12 }},
		{Name: "certificate-for-a-year",
			Why: "The server certificate is valid for a year, as commercial authorities sold them, and for many names.",
			Transport: func(s *devtls.Settings) {
				s.Age, s.Lifetime = 100*24*time.Hour, 365*24*time.Hour
				s.Hosts = []string{"www.node.example", "*.node.example", "localhost", "127.0.0.1", "::1"}
			}},
	}
}

// wireHabits are unusual ways to send an answer over the connection.
func wireHabits() []Deviation {
	return []Deviation{
		{Name: "http-1-0-closing",
			Why:  "Answers have the status line of HTTP/1.0 and no length, and end with the connection, as from uWSGI and old proxies.",
			Wrap: sendBy(sendHTTP10)},
		{Name: "connections-not-kept",
			Why:  "Each connection is closed after one answer, as by Apache with KeepAlive Off and many PHP hosts.",
			Wrap: rewrite(setHeader("Connection", "close"), everyKind()...)},
		{Name: "body-in-chunks",
			Why:  "Bodies are sent in small chunks with a trailer, as by streaming frameworks and Envoy.",
			Wrap: sendBy(sendChunks)},
		{Name: "gzip-everything",
			Why: "Every answer to a caller that accepts gzip is compressed, even the shortest error, as by nginx with gzip_min_length 0.",
			Wrap: rewrite(func(a *answer) {
				if content.AcceptsGzip(a.request.Header.Values("Accept-Encoding")) && a.compress() {
					a.appendTo("Vary", "Accept-Encoding")
				}
			}, everyKind()...)},
		{Name: "early-hints",
			Why: "An informational 103 comes before each answer, as from Apache and Cloudflare.",
			Wrap: sendBy(func(a *answer, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Link", "</docs/style.css>; rel=preload; as=style")
				w.WriteHeader(http.StatusEarlyHints)
				w.Header().Del("Link")
				a.send(w, r)
			})},
		{Name: "header-names-in-lower-case",
			Why:  "Header names are sent in lower case, as by proxies that translate from HTTP/2.",
			Wrap: sendBy(respellHeader(strings.ToLower))},
		{Name: "header-names-in-capitals",
			Why:  "Header names are sent in capitals, as some load balancers rewrite them.",
			Wrap: sendBy(respellHeader(strings.ToUpper))},
		{Name: "cold-start",
			Why:  "The first token and the first list take a second, while a Java process or a serverless function starts.",
			Wrap: stateful(coldStart)},
		{Name: "answers-after-a-second",
			Why: "Every answer takes a second, behind several proxies and a database that is queried for each request: slow, and correct.",
			Wrap: intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				if env.Pause(r.Context(), time.Second) == nil { // an error means that the caller is gone
					next.ServeHTTP(w, r)
				}
			}, everyKind()...)},
	}
}

// sendBy makes a wrap that sends all answers with the function send.
func sendBy(send func(a *answer, w http.ResponseWriter, r *http.Request)) wrap {
	return intercept(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		send(capture(next, r), w, r)
	}, everyKind()...)
}

// sendHTTP10 sends an answer as HTTP/1.0 and closes the connection. Over HTTP/2, where requests share a
// connection, it sends the answer as usual.
func sendHTTP10(a *answer, w http.ResponseWriter, r *http.Request) {
	// Unread bytes of the request would reset the connection, and the client would lose the answer (RFC 9112 §9.6).
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20))
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		a.set("Connection", "close")
		a.send(w, r)
		return
	}
	defer connection.Close()
	a.set("Content-Length", "")
	a.set("Connection", "close")
	a.set("Date", cmp.Or(a.Header.Get("Date"), w.Header().Get("Date"))) // middleware sets it in w
	// A failed write means that the caller is gone.
	_, _ = fmt.Fprintf(buffered, "HTTP/1.0 %d %s\r\n", a.Status, http.StatusText(a.Status))
	_ = a.Header.Write(buffered)
	_, _ = buffered.WriteString("\r\n")
	if !isHead(r) {
		_, _ = buffered.Write(a.Body)
	}
	_ = buffered.Flush()
}

// sendChunks sends the body in chunks, with a trailer.
func sendChunks(a *answer, w http.ResponseWriter, r *http.Request) {
	if isHead(r) || len(a.Body) == 0 {
		a.send(w, r)
		return
	}
	a.set("Content-Length", "")
	a.set("Trailer", "Server-Timing")
	a.start(w)
	const chunkSize = 1000
	for body := a.Body; len(body) > 0; body = body[min(chunkSize, len(body)):] {
		_, _ = w.Write(body[:min(chunkSize, len(body))]) // fails only if the caller is gone
		_ = http.NewResponseController(w).Flush()
	}
	w.Header().Set("Server-Timing", "db;dur=53")
}

// respellHeader returns a function that sends an answer with respelled header names. It cannot change the names that net/http writes.
func respellHeader(respell func(string) string) func(a *answer, w http.ResponseWriter, r *http.Request) {
	return func(a *answer, w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		for name, values := range a.Header {
			if name != "Content-Length" {
				header[respell(name)] = values
			}
		}
		if _, hasType := a.Header["Content-Type"]; hasType {
			header["Content-Type"] = nil // otherwise net/http adds one that it guesses
		}
		if !isHead(r) {
			header["Content-Length"] = []string{strconv.Itoa(len(a.Body))}
		}
		w.WriteHeader(a.Status)
		if !isHead(r) {
			_, _ = w.Write(a.Body) // fails only if the caller is gone
		}
	}
}

// coldStart makes a wrap that delays the first good answer of the token endpoint and of the list by a second.
func coldStart() wrap {
	var warm memory[bool]
	return rewriteSuccess(func(a *answer) {
		if warm.has(a.request.URL.Path) {
			return
		}
		warm.put(a.request.URL.Path, true)
		a.set("Server-Timing", "init;dur=1000")
		_ = a.env.Pause(a.request.Context(), time.Second) // ends early if the caller is gone
	}, Token, List)
}

// notationHabits are unusual ways to write JSON and its media type.
func notationHabits() []Deviation {
	return []Deviation{
		{Name: "media-type-with-charset",
			Why: "The media type has a charset parameter, as from Spring, Express and ASP.NET. JSON defines none, and it is harmless.",
			Wrap: rewrite(func(a *answer) {
				if mediaType := a.Header.Get("Content-Type"); strings.HasSuffix(mediaType, "json") {
					a.set("Content-Type", mediaType+"; charset=utf-8")
				}
			}, everyKind()...)},
		{Name: "media-type-respelled",
			Why: "The media type is spelled in capitals, with a quoted parameter and no blank; its names are case-insensitive.",
			Wrap: rewrite(func(a *answer) {
				if mediaType, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";"); strings.HasSuffix(mediaType, "json") {
					a.set("Content-Type", strings.Replace(strings.ToUpper(mediaType), "JSON", "Json", 1)+`;Charset="UTF-8"`)
				}
			}, everyKind()...)},
		{Name: "json-indented",
			Why: "JSON is indented and ends with a line break, as Rails and Django REST write it for readers.",
			Wrap: editJSONText(func(body []byte) []byte {
				var out bytes.Buffer
				if json.Indent(&out, body, "\t", "\t") != nil {
					return body
				}
				return []byte("\r\n" + out.String() + "\r\n")
			})},
		{Name: "json-escaped",
			Why:  "Slashes and all characters outside ASCII are escaped in JSON, the default of PHP's json_encode.",
			Wrap: editJSONText(escapeLikePHP)},
		{Name: "charset-of-plain-ascii",
			Why: "JSON in plain ASCII is called ISO-8859-1, as from old servlets that escape all other characters: the bytes are the same in UTF-8.",
			Wrap: both(
				rewrite(func(a *answer) {
					if mediaType := a.Header.Get("Content-Type"); strings.HasSuffix(mediaType, "json") {
						a.set("Content-Type", mediaType+";charset=ISO-8859-1")
					}
				}, everyKind()...),
				editJSONText(escapeLikePHP))},
	}
}

// editJSONText makes a wrap that rewrites JSON bodies. replace must keep their meaning.
func editJSONText(replace func(body []byte) []byte) wrap {
	return rewrite(func(a *answer) {
		if json.Valid(a.Body) {
			a.Body = replace(a.Body)
		}
	}, everyKind()...)
}

// escapeLikePHP escapes slashes and everything outside ASCII. In JSON, both occur only in strings.
func escapeLikePHP(body []byte) []byte {
	var out bytes.Buffer
	escaped := false // whether a backslash escapes the next character
	for _, c := range string(body) {
		switch {
		case c == '/' && !escaped:
			out.WriteString(`\/`)
		case c > 0x7e:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
		default:
			out.WriteRune(c)
		}
		escaped = c == '\\' && !escaped
	}
	return out.Bytes()
}
