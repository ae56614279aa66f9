package answer

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/representation"
)

// Answer is a captured answer of the node, to be changed and sent. Its body is never compressed.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Capture lets next answer r into memory. Compression and conditions are left out of the request, so that the body
// is whole and plain.
func Capture(next http.Handler, r *http.Request) *Answer {
	plain := r.Clone(r.Context())
	for _, field := range []string{"Accept-Encoding", "If-None-Match"} {
		plain.Header.Del(field)
	}
	w := &writer{answer: Answer{Header: http.Header{}}}
	next.ServeHTTP(w, plain)
	w.WriteHeader(http.StatusOK)
	w.answer.Header = Canonical(w.answer.Header)
	if r.Method == http.MethodHead { // the length of a body that is changed for GET
		w.answer.Header.Del("Content-Length")
	}
	return &w.answer
}

// Send writes the answer; length and validator follow the body.
func (a *Answer) Send(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	for name, values := range a.Header {
		header[name] = values
	}
	if tag := header.Get("ETag"); tag != "" {
		weak, _, _ := strings.Cut(tag, `"`)
		header.Set("ETag", weak+representation.Tag(a.Body))
	}
	if r.Method != http.MethodHead {
		header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	if r.Method != http.MethodHead {
		// A failed write means that the caller is gone; nobody is left to tell.
		_, _ = w.Write(a.Body)
	}
}

// Canonical spells the names of a header the way that Get and Set look for them.
func Canonical(h http.Header) http.Header {
	spelled := make(http.Header, len(h))
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		spelled[name] = append(spelled[name], values...)
	}
	return spelled
}

// OK tells whether the answer is a success.
func (a *Answer) OK() bool { return a.Status >= 200 && a.Status < 300 }

// Clone is a copy that can be changed on its own, with the body of the original, which is replaced and never written into.
func (a *Answer) Clone() *Answer {
	return &Answer{Status: a.Status, Header: a.Header.Clone(), Body: a.Body}
}

// Become replaces the answer as a whole.
func (a *Answer) Become(status int, mediaType, body string) {
	a.Status, a.Header, a.Body = status, http.Header{"Cache-Control": {"no-store"}}, []byte(body)
	if mediaType != "" {
		a.Header.Set("Content-Type", mediaType)
	}
}

// Set sets a header field; an empty value removes it.
func (a *Answer) Set(name, value string) {
	a.Header.Del(name)
	if value != "" {
		a.Header.Set(name, value)
	}
}

// writer is the http.ResponseWriter behind Capture.
type writer struct {
	answer  Answer
	started bool
}

func (w *writer) Header() http.Header { return w.answer.Header }

// WriteHeader implements http.ResponseWriter. What comes before the answer itself, such as 103, is left out.
func (w *writer) WriteHeader(status int) {
	if !w.started && status >= http.StatusOK {
		w.started, w.answer.Status = true, status
	}
}

func (w *writer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.answer.Body = append(w.answer.Body, b...)
	return len(b), nil
}
