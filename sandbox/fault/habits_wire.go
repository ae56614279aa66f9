package fault

import (
	"bytes"
	"cmp"
	"compress/gzip"
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

// connectionHabits are unusual and right ways to offer TLS.
func connectionHabits() []Deviation {
	return []Deviation{
		{
			Name:      "tls-1-3-alone",
			Why:       "TLS 1.3 is offered and nothing older, as hardened fronts are set up that serve programs only.",
			Transport: func(s *devtls.Settings) { s.Oldest, s.Newest = tls.VersionTLS13, tls.VersionTLS13 },
		},
		{
			Name:      "tls-1-2-alone",
			Why:       "TLS 1.2 is the newest that is offered, as older load balancers of institutions have it.",
			Transport: func(s *devtls.Settings) { s.Oldest, s.Newest = tls.VersionTLS12, tls.VersionTLS12 },
		},
		{
			Name: "certificate-for-a-year",
			Why:  "The server certificate is valid for a year, as commercial authorities sold them, and for many names.",
			Transport: func(s *devtls.Settings) {
				s.Issued, s.Lifetime = 100*24*time.Hour, 365*24*time.Hour
				s.Hosts = []string{"www.node.example", "*.node.example", "localhost", "127.0.0.1", "::1"}
			},
		},
	}
}

// wireHabits are ways to bring an answer over the connection.
func wireHabits() []Deviation {
	return []Deviation{
		{
			Name: "http-1-0-closing",
			Why:  "Answers have the status line of HTTP/1.0 and no length, and end with the connection, as those of uWSGI and of old proxies do.",
			Wrap: sent(closing),
		},
		{
			Name: "connections-not-kept",
			Why:  "Each connection is closed after one answer, as Apache with KeepAlive Off and many PHP hosts do.",
			Wrap: rewrite(field("Connection", "close"), everywhere()...),
		},
		{
			Name: "body-in-chunks",
			Why:  "Bodies are sent in small chunks with a trailer after them, as streaming frameworks and Envoy do.",
			Wrap: sent(chunked),
		},
		{
			Name: "gzip-everything",
			Why:  "Every answer to a caller who takes gzip is compressed, the shortest error among them, as nginx does with gzip_min_length 0.",
			Wrap: compressed,
		},
		{
			Name: "early-hints",
			Why:  "An informational 103 comes before each answer, as Apache and Cloudflare send it.",
			Wrap: around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				w.Header().Set("Link", "</docs/style.css>; rel=preload; as=style")
				w.WriteHeader(http.StatusEarlyHints)
				w.Header().Del("Link")
				a.send(w, r)
			}, everywhere()...),
		},
		{
			Name: "header-names-in-lower-case",
			Why:  "Header names are sent in lower case, as proxies do that translate from HTTP/2.",
			Wrap: sent(func(a *editableAnswer, w http.ResponseWriter, r *http.Request) { a.spell(w, r, strings.ToLower) }),
		},
		{
			Name: "header-names-in-capitals",
			Why:  "Header names are sent in capitals, as some load balancers rewrite them.",
			Wrap: sent(func(a *editableAnswer, w http.ResponseWriter, r *http.Request) { a.spell(w, r, strings.ToUpper) }),
		},
		{
			Name: "cold-start",
			Why:  "The first token and the first list take a second, while a Java process or a serverless function warms up.",
			Wrap: coldStart,
		},
	}
}

// sent makes a Wrap with a way of its own to send answers.
func sent(send func(a *editableAnswer, w http.ResponseWriter, r *http.Request)) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		send(capture(next, r), w, r)
	}, everywhere()...)
}

// closing sends an answer as HTTP/1.0 does, on a connection that is then closed. Where the connection is not to be had, as in
// HTTP/2, the answer is sent as usual.
func closing(a *editableAnswer, w http.ResponseWriter, r *http.Request) {
	// What is left unread of a request resets the connection when it is closed, and takes the answer with it (RFC 9112 §9.6).
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
	a.set("Date", cmp.Or(a.Header.Get("Date"), w.Header().Get("Date"))) // which the server set before
	// A failed write means that the caller is gone; nobody is left to tell.
	_, _ = fmt.Fprintf(buffered, "HTTP/1.0 %d %s\r\n", a.Status, http.StatusText(a.Status))
	_ = a.Header.Write(buffered)
	_, _ = buffered.WriteString("\r\n")
	if r.Method != http.MethodHead {
		_, _ = buffered.Write(a.Body)
	}
	_ = buffered.Flush()
}

// chunked sends the body in pieces, with a trailer.
func chunked(a *editableAnswer, w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead || len(a.Body) == 0 {
		a.send(w, r)
		return
	}
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.Header().Del("Content-Length")
	w.Header().Set("Trailer", "Server-Timing")
	w.WriteHeader(a.Status)
	const piece = 1000
	for body := a.Body; len(body) > 0; body = body[min(piece, len(body)):] {
		// A failed write means that the caller is gone; nobody is left to tell.
		_, _ = w.Write(body[:min(piece, len(body))])
		_ = http.NewResponseController(w).Flush()
	}
	w.Header().Set("Server-Timing", "db;dur=53")
}

// compressed compresses all answers for callers who take gzip.
func compressed(next http.Handler, env Env) http.Handler {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if !content.AcceptsGzip(r.Header.Values("Accept-Encoding")) || len(a.Body) == 0 {
			a.send(w, r)
			return
		}
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		// Writing to a buffer cannot fail.
		_, _ = z.Write(a.Body)
		_ = z.Close()
		a.Body = out.Bytes()
		a.set("Content-Encoding", "gzip")
		a.list("Vary", "Accept-Encoding")
		a.send(w, r)
	}, everywhere()...)(next, env)
}

// spell sends an answer with the names of its header in another spelling. The names that the server itself writes stay.
func (a *editableAnswer) spell(w http.ResponseWriter, r *http.Request, respell func(string) string) {
	header := w.Header()
	for name, values := range a.Header {
		if name == "Content-Length" {
			continue
		}
		header[respell(name)] = values
	}
	if _, typed := a.Header["Content-Type"]; typed {
		header["Content-Type"] = nil // or the server guesses one
	}
	if r.Method != http.MethodHead {
		header["Content-Length"] = []string{strconv.Itoa(len(a.Body))}
	}
	w.WriteHeader(a.Status)
	if r.Method != http.MethodHead {
		// A failed write means that the caller is gone; nobody is left to tell.
		_, _ = io.Copy(w, bytes.NewReader(a.Body))
	}
}

// coldStart lets the first good answer of token endpoint and list wait.
func coldStart(next http.Handler, env Env) http.Handler {
	var warm memory[bool]
	const delay = time.Second
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if _, known := warm.get(r.URL.Path); a.ok() && !known {
			warm.put(r.URL.Path, true)
			a.set("Server-Timing", "init;dur=1000")
			select {
			case <-time.After(delay):
			case <-r.Context().Done():
			}
		}
		a.send(w, r)
	}, Token, FundingList)(next, env)
}

// notationHabits are ways to write JSON and to name its media type.
func notationHabits() []Deviation {
	return []Deviation{
		{
			Name: "media-type-with-charset",
			Why:  "The media type has a charset parameter, as Spring, Express and ASP.NET write it, and an RFC that knows none calls it harmless.",
			Wrap: typed("; charset=utf-8"),
		},
		{
			Name: "media-type-respelled",
			Why:  "The media type is spelled in capitals, with a quoted parameter and no blank; names in it have no case.",
			Wrap: rewrite(func(_ *http.Request, a *editableAnswer) {
				if kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";"); strings.HasSuffix(kind, "json") {
					a.set("Content-Type", strings.Replace(strings.ToUpper(kind), "JSON", "Json", 1)+`;Charset="UTF-8"`)
				}
			}, everywhere()...),
		},
		{
			Name: "json-indented",
			Why:  "JSON is indented and ends with a line break, as Rails and Django REST write it for readers.",
			Wrap: rewritten(func(body []byte) []byte {
				var out bytes.Buffer
				if json.Indent(&out, body, "\t", "\t") != nil {
					return body
				}
				return []byte("\r\n" + out.String() + "\r\n")
			}),
		},
		{
			Name: "json-escaped",
			Why:  "Slashes and everything that is not ASCII are escaped in JSON, the default of PHP's json_encode.",
			Wrap: rewritten(asciiOnly),
		},
	}
}

// typed makes a Wrap that adds a parameter to the media types of JSON.
func typed(parameter string) wrap {
	return rewrite(func(_ *http.Request, a *editableAnswer) {
		if kind := a.Header.Get("Content-Type"); strings.HasSuffix(kind, "json") {
			a.set("Content-Type", kind+parameter)
		}
	}, everywhere()...)
}

// rewritten makes a Wrap that writes JSON bodies in another notation.
func rewritten(write func(body []byte) []byte) wrap {
	return rewrite(func(_ *http.Request, a *editableAnswer) {
		if json.Valid(a.Body) {
			a.Body = write(a.Body)
		}
	}, everywhere()...)
}

// asciiOnly escapes what PHP escapes. A slash occurs in strings alone, and so does everything beyond ASCII.
func asciiOnly(body []byte) []byte {
	var out bytes.Buffer
	escaped := false // by a backslash before
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
