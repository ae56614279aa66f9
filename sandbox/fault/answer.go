package fault

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/content"
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
		header.Set("ETag", weak+content.ETag(a.Body))
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

// Edit decodes the JSON body, lets change alter it and encodes what it returns. A body that is no JSON stays.
// Numbers keep their spelling.
func (a *Answer) Edit(change func(value any) any) {
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

// EditObject edits a body that is a JSON object; others stay.
func (a *Answer) EditObject(change func(object map[string]any)) {
	a.Edit(func(value any) any {
		if object, ok := value.(map[string]any); ok {
			change(object)
		}
		return value
	})
}

// EditItems edits each object of a body that is a JSON array; n counts from 0.
func (a *Answer) EditItems(change func(n int, item map[string]any)) {
	a.Edit(func(value any) any {
		items, _ := value.([]any)
		for n, item := range items {
			if object, ok := item.(map[string]any); ok {
				change(n, object)
			}
		}
		return value
	})
}

// Items are the objects of a body that is a JSON array; nil stands for an element that is none.
func (a *Answer) Items() []map[string]any {
	var items []map[string]any
	// What is no such array has no items.
	_ = json.Unmarshal(a.Body, &items)
	return items
}

// editableAnswer is a captured answer of the node, and what deviations do with it.
type editableAnswer struct{ Answer }

// capture lets next answer r into memory.
func capture(next http.Handler, r *http.Request) *editableAnswer {
	return &editableAnswer{*Capture(next, r)}
}

func (a *editableAnswer) send(w http.ResponseWriter, r *http.Request) { a.Send(w, r) }

func (a *editableAnswer) ok() bool { return a.OK() }

func (a *editableAnswer) clone() *editableAnswer { return &editableAnswer{*a.Clone()} }

func (a *editableAnswer) become(status int, mediaType, body string) {
	a.Become(status, mediaType, body)
}

func (a *editableAnswer) set(name, value string) { a.Set(name, value) }

func (a *editableAnswer) edit(change func(value any) any) { a.Edit(change) }

func (a *editableAnswer) editObject(change func(object map[string]any)) { a.EditObject(change) }

func (a *editableAnswer) editItems(change func(n int, item map[string]any)) { a.EditItems(change) }

func (a *editableAnswer) items() []map[string]any { return a.Items() }

// refuse makes the answer an error of the token endpoint (RFC 6749 §5.2).
func (a *editableAnswer) refuse(status int, code string) {
	a.become(status, "application/json", `{"error":"`+code+`"}`)
}

// challenge sets the challenge; empty for none.
func (a *editableAnswer) challenge(value string) { a.set("WWW-Authenticate", value) }

// page is what a person sees where a program expected JSON.
const page = "<!doctype html><html><head><title>Sign in</title></head><body><form><input name=\"user\"></form></body></html>"

// member is the object at a path of names; a new one, which belongs to nothing, when there is none.
func member(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	if object == nil {
		return map[string]any{}
	}
	return object
}

// objects are the objects of the array that is the member of an object.
func objects(object map[string]any, name string) []map[string]any {
	array, _ := object[name].([]any)
	var found []map[string]any
	for _, element := range array {
		if o, ok := element.(map[string]any); ok {
			found = append(found, o)
		}
	}
	return found
}

// put sets a member.
func put(name string, value any) func(map[string]any) {
	return func(object map[string]any) { object[name] = value }
}

// drop removes a member.
func drop(name string) func(map[string]any) {
	return func(object map[string]any) { delete(object, name) }
}

// field sets a header field of an answer; an empty value removes it.
func field(name, value string) change {
	return func(_ *http.Request, a *editableAnswer) { a.set(name, value) }
}

// status sets the status of an answer.
func status(code int) change {
	return func(_ *http.Request, a *editableAnswer) { a.restate(code) }
}

// object edits answers that are a JSON object.
func object(edit func(map[string]any)) change {
	return func(_ *http.Request, a *editableAnswer) { a.editObject(edit) }
}

// restate sets the status of an answer, and that in a problem document, which says the same (RFC 9457 §3.1.2).
func (a *editableAnswer) restate(code int) {
	a.Status = code
	if a.Header.Get("Content-Type") == "application/problem+json" {
		a.editObject(put("status", code))
	}
}
