package deviation

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
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
	w.answer.Body = w.body.Bytes()
	return &w.answer
}

// send writes the answer; the length follows the body, the validator is dropped because the body may differ.
func (a *Answer) send(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	for name, values := range a.Header {
		header[name] = values
	}
	header.Del("ETag")
	if r.Method != http.MethodHead {
		header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	if r.Method != http.MethodHead {
		// A failed write means that the caller is gone; nobody is left to tell.
		_, _ = w.Write(a.Body)
	}
}

// ok tells whether the answer is a success.
func (a *Answer) ok() bool { return a.Status >= 200 && a.Status < 300 }

// edit decodes the JSON body, lets change alter it and encodes what it returns. A body that is no JSON stays.
// Numbers keep their spelling.
func (a *Answer) edit(change func(value any) any) {
	decoder := json.NewDecoder(bytes.NewReader(a.Body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return
	}
	if encoded, err := json.Marshal(change(value)); err == nil {
		a.Body = encoded
	}
}

// editObject edits a body that is a JSON object; others stay.
func (a *Answer) editObject(change func(object map[string]any)) {
	a.edit(func(value any) any {
		if object, ok := value.(map[string]any); ok {
			change(object)
		}
		return value
	})
}

// editItems edits each object of a body that is a JSON array; n counts from 0.
func (a *Answer) editItems(change func(n int, item map[string]any)) {
	a.edit(func(value any) any {
		items, _ := value.([]any)
		for n, item := range items {
			if object, ok := item.(map[string]any); ok {
				change(n, object)
			}
		}
		return value
	})
}

// answerWriter is the http.ResponseWriter behind capture.
type answerWriter struct {
	answer  Answer
	body    bytes.Buffer
	started bool
}

func (w *answerWriter) Header() http.Header { return w.answer.Header }

func (w *answerWriter) WriteHeader(status int) {
	if !w.started {
		w.started, w.answer.Status = true, status
	}
}

func (w *answerWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// rewrite makes a Wrap that changes the answers to requests of the kinds.
func rewrite(change func(r *http.Request, a *Answer), kinds ...Kind) func(http.Handler, Env) http.Handler {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			kind := env.Classify(r)
			for _, wanted := range kinds {
				if kind == wanted {
					answer := capture(next, r)
					change(r, answer)
					answer.send(w, r)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// readmit makes a Wrap that lets change replace requests of the kinds before the node sees them.
func readmit(change func(r *http.Request, env Env) *http.Request, kinds ...Kind) func(http.Handler, Env) http.Handler {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			kind := env.Classify(r)
			for _, wanted := range kinds {
				if kind == wanted {
					r = change(r, env)
					break
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}
