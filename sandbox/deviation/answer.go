package deviation

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

// capture lets next answer r into memory. Compression and conditions are left out of the request, so that the body
// is whole and plain.
func capture(next http.Handler, r *http.Request) *Answer {
	plain := r.Clone(r.Context())
	for _, field := range []string{"Accept-Encoding", "If-None-Match"} {
		plain.Header.Del(field)
	}
	w := &answerWriter{answer: Answer{Header: http.Header{}}}
	next.ServeHTTP(w, plain)
	w.WriteHeader(http.StatusOK)
	w.answer.Header = canonical(w.answer.Header)
	if r.Method == http.MethodHead { // the length of a body that is changed for GET
		w.answer.Header.Del("Content-Length")
	}
	return &w.answer
}

// send writes the answer; length and validator follow the body.
func (a *Answer) send(w http.ResponseWriter, r *http.Request) {
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

// canonical spells the names of a header the way that Get and Set look for them.
func canonical(h http.Header) http.Header {
	spelled := make(http.Header, len(h))
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		spelled[name] = append(spelled[name], values...)
	}
	return spelled
}

// ok tells whether the answer is a success.
func (a *Answer) ok() bool { return a.Status >= 200 && a.Status < 300 }

// clone is a copy that can be changed on its own.
func (a *Answer) clone() *Answer {
	return &Answer{Status: a.Status, Header: a.Header.Clone(), Body: a.Body}
}

// become replaces the answer as a whole.
func (a *Answer) become(status int, mediaType, body string) {
	a.Status, a.Header, a.Body = status, http.Header{"Cache-Control": {"no-store"}}, []byte(body)
	if mediaType != "" {
		a.Header.Set("Content-Type", mediaType)
	}
}

// refuse makes the answer an error of the token endpoint (RFC 6749 §5.2).
func (a *Answer) refuse(status int, code string) {
	a.become(status, "application/json", `{"error":"`+code+`"}`)
}

// challenge sets the challenge; empty for none.
func (a *Answer) challenge(value string) { a.set("WWW-Authenticate", value) }

// set sets a header field; an empty value removes it.
func (a *Answer) set(name, value string) {
	a.Header.Del(name)
	if value != "" {
		a.Header.Set(name, value)
	}
}

// page is what a person sees where a program expected JSON.
const page = "<!doctype html><html><head><title>Sign in</title></head><body><form><input name=\"user\"></form></body></html>"

// answerWriter is the http.ResponseWriter behind capture.
type answerWriter struct {
	answer  Answer
	started bool
}

func (w *answerWriter) Header() http.Header { return w.answer.Header }

// WriteHeader implements http.ResponseWriter. What comes before the answer itself, such as 103, is left out.
func (w *answerWriter) WriteHeader(status int) {
	if !w.started && status >= http.StatusOK {
		w.started, w.answer.Status = true, status
	}
}

func (w *answerWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.answer.Body = append(w.answer.Body, b...)
	return len(b), nil
}
