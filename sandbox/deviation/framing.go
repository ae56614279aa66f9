package deviation

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strconv"
)

// framingDeviations send bodies that are not what the header says of them.
func framingDeviations() []Deviation {
	return []Deviation{
		{
			Name: "length-too-large", Breaks: []string{"ROB-06"},
			Why: "The refusal of a missing role announces more bytes than come: a filter shortened the body and left Content-Length alone.",
			Wrap: around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if a.Status != http.StatusForbidden || r.Method == http.MethodHead {
					a.send(w, r)
					return
				}
				a.set("Content-Length", strconv.Itoa(len(a.Body)+7))
				a.start(w, r)
				// The server ends the connection, because the body is not complete; nobody is left to tell.
				_, _ = w.Write(a.Body)
			}, protected()...),
		},
		{
			Name: "head-with-body", Breaks: []string{"ROB-06"},
			Why: "HEAD is answered with the body of GET: a script writes its output, whatever the method.",
			Wrap: around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodHead {
					next.ServeHTTP(w, r)
					return
				}
				whole := r.Clone(r.Context())
				whole.Method = http.MethodGet
				capture(next, whole).sendAll(w)
			}, protected()...),
		},
		{
			Name: "gzip-checksum-wrong", Breaks: []string{"ROB-06"},
			Why:  "Compressed refusals end with a wrong checksum: two filters compress, one of them the other's trailer.",
			Wrap: rewrite(when(refusedAnonymous, compress(true)), protected()...),
		},
		{
			Name: "identity-encoded", Breaks: []string{"ROB-06"},
			Why:  "The info answer is compressed for everybody, also for clients that accept no coding: the cache holds one form only.",
			Wrap: rewrite(when(succeeded, compress(false)), Info),
		},
		{
			Name: "head-length-zero", Breaks: []string{"ROB-06"},
			Why: "HEAD says Content-Length: 0, the length of what it sends, where that of the answer to GET belongs.",
			Wrap: rewrite(when(succeeded, func(r *http.Request, a *Answer) {
				if r.Method == http.MethodHead {
					a.set("Content-Length", "0")
				}
			}), protected()...),
		},
	}
}

// start sends status and header.
func (a *Answer) start(w http.ResponseWriter, _ *http.Request) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
}

// sendAll writes the answer, its body too, to the connection of a HEAD request, and ends it.
func (a *Answer) sendAll(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // HTTP/2, and tests
		a.start(w, nil)
		_, _ = w.Write(a.Body) // as far as the writer lets it
		return
	}
	defer conn.Close()
	var text bytes.Buffer
	fmt.Fprintf(&text, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	head := w.Header().Clone()
	for name, values := range a.Header {
		head[name] = values
	}
	head.Set("Content-Length", strconv.Itoa(len(a.Body)))
	head.Set("Connection", "close")
	_ = head.Write(&text) // a buffer takes everything
	text.WriteString("\r\n")
	text.Write(a.Body)
	_, _ = conn.Write(text.Bytes()) // a failed write means that the caller is gone
}

// compress encodes bodies with gzip, whatever the client accepts; spoilt ends them with another checksum.
func compress(spoilt bool) change {
	return func(r *http.Request, a *Answer) {
		if len(a.Body) == 0 || r.Method == http.MethodHead {
			return
		}
		var encoded bytes.Buffer
		z := gzip.NewWriter(&encoded)
		_, _ = z.Write(a.Body) // a buffer takes everything
		_ = z.Close()
		a.Body = encoded.Bytes()
		if spoilt {
			a.Body[len(a.Body)-8] ^= 0xff // CRC-32 and length end the stream (RFC 1952 §2.3.1)
		}
		a.set("Content-Encoding", "gzip")
	}
}
