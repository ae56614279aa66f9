package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/content"
)

// answer is an answer in memory, which a fault changes before it is sent. Its body is not compressed, unless a fault compresses it.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
	// request is the request that is answered; form is its content if it is a token request.
	request *http.Request
	form    tokenRequest
	// node gave the answer, and env is its environment; both are empty for an answer that a fault makes itself.
	node http.Handler
	env  Env
}

// capture records the answer of next to r. It removes Accept-Encoding and If-None-Match from the request, so that the body is complete and not compressed.
func capture(next http.Handler, r *http.Request) *answer {
	plain := r.Clone(r.Context())
	plain.Header.Del("Accept-Encoding")
	plain.Header.Del("If-None-Match")
	w := &recorder{answer: newAnswer(r)}
	next.ServeHTTP(w, plain)
	w.finish()
	if r.Method == http.MethodHead { // the fault may give the body of a GET another length
		w.answer.Header.Del("Content-Length")
	}
	w.answer.node = next
	return w.answer
}

// ask returns the node's answer to another request.
func (a *answer) ask(r *http.Request) *answer { return capture(a.node, r) }

// newAnswer makes an answer to r without status and body.
func newAnswer(r *http.Request) *answer { return &answer{Header: http.Header{}, request: r} }

// send writes the answer to r, with Content-Length and ETag of the changed body.
func (a *answer) send(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	maps.Copy(header, a.Header)
	if tag := header.Get("ETag"); tag != "" {
		weak, _, _ := strings.Cut(tag, `"`)
		header.Set("ETag", weak+content.ETag(a.Body))
	}
	if r.Method != http.MethodHead {
		header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.Body) // fails only if the caller is gone
	}
}

// start sends status and header, and leaves the body to the caller.
func (a *answer) start(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
}

func (a *answer) ok() bool { return a.Status >= 200 && a.Status < 300 }

// clone copies the answer. The copies share the body, which is replaced and never written into.
func (a *answer) clone() *answer {
	copied := *a
	copied.Header = a.Header.Clone()
	return &copied
}

// replaceBy replaces the answer by the answer to another request, and keeps the environment.
func (a *answer) replaceBy(other *answer) {
	env := a.env
	*a = *other
	a.env = env
}

// become replaces status, header and body.
func (a *answer) become(status int, mediaType, body string) {
	a.Status, a.Header, a.Body = status, http.Header{"Cache-Control": {"no-store"}}, []byte(body)
	if mediaType != "" {
		a.Header.Set("Content-Type", mediaType)
	}
}

// set sets a header field, or removes it if the value is empty.
func (a *answer) set(name, value string) {
	a.Header.Del(name)
	if value != "" {
		a.Header.Set(name, value)
	}
}

// appendTo adds a member to a header field that is a list.
func (a *answer) appendTo(name, member string) {
	a.set(name, strings.Join(append(a.Header.Values(name), member), ", "))
}

// edit decodes the JSON body, passes it to change, and encodes the result. Numbers keep their notation. A body that is not JSON stays as it is.
func (a *answer) edit(change func(value any) any) {
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

// editObject edits a body that is a JSON object.
func (a *answer) editObject(change func(object map[string]any)) {
	a.edit(func(value any) any {
		if object, ok := value.(map[string]any); ok {
			change(object)
		}
		return value
	})
}

// editItems edits each object of a body that is a JSON array; n counts from 0.
func (a *answer) editItems(change func(n int, item map[string]any)) {
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

// items returns the objects of a body that is a JSON array, with nil for null. Other bodies have no items.
func (a *answer) items() []map[string]any {
	var items []map[string]any
	_ = json.Unmarshal(a.Body, &items)
	return items
}

// add appends an item to a body that is a JSON array; nil is ignored.
func (a *answer) add(item map[string]any) {
	if item == nil {
		return
	}
	if encoded, err := json.Marshal(append(a.items(), item)); err == nil {
		a.Body = encoded
	}
}

// keep leaves only the objects that fit in a body that is a JSON array.
func (a *answer) keep(fits func(item map[string]any) bool) {
	a.edit(func(value any) any {
		items, _ := value.([]any)
		return slices.DeleteFunc(items, func(i any) bool {
			item, ok := i.(map[string]any)
			return ok && !fits(item)
		})
	})
}

// recorder is the http.ResponseWriter behind [capture] and [rewriteRefusals].
type recorder struct {
	answer  *answer
	started bool
	// to receives answers below status 400 while they are written; passing is true during such an answer. If to is nil, all answers are recorded.
	to      http.ResponseWriter
	passing bool
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header {
	if w.passing {
		return w.to.Header()
	}
	return w.answer.Header
}

// WriteHeader implements http.ResponseWriter. Informational statuses such as 103 are not recorded.
func (w *recorder) WriteHeader(status int) {
	if w.started {
		return
	}
	if status >= http.StatusOK {
		w.started, w.answer.Status = true, status
	}
	if w.to != nil && status < http.StatusBadRequest {
		maps.Copy(w.to.Header(), w.answer.Header)
		w.passing = w.started
		w.to.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.passing {
		return w.to.Write(b)
	}
	w.answer.Body = append(w.answer.Body, b...)
	return len(b), nil
}

// Unwrap lets http.ResponseController reach the connection of an answer that is passed on.
func (w *recorder) Unwrap() http.ResponseWriter { return w.to }

// finish completes the recorded answer. It makes its header names canonical, as [http.Header.Get] needs them.
func (w *recorder) finish() {
	w.WriteHeader(http.StatusOK)
	canonical := make(http.Header, len(w.answer.Header))
	for name, values := range w.answer.Header {
		name = http.CanonicalHeaderKey(name)
		canonical[name] = append(canonical[name], values...)
	}
	w.answer.Header = canonical
}

// change alters an answer of the node.
type change func(a *answer)

// inOrder makes several changes one after the other.
func inOrder(changes ...change) change {
	return func(a *answer) {
		for _, alter := range changes {
			alter(a)
		}
	}
}

// setHeader sets a header field, or removes it if the value is empty.
func setHeader(name, value string) change { return func(a *answer) { a.set(name, value) } }

// challenge sets WWW-Authenticate, or removes it if the value is empty.
func challenge(value string) change { return setHeader("WWW-Authenticate", value) }

// setStatus sets the status of the answer, and also the member status in the body of a problem document (RFC 9457 §3.1.2).
func setStatus(code int) change {
	return func(a *answer) {
		a.Status = code
		if a.Header.Get("Content-Type") == "application/problem+json" {
			a.editObject(put("status", code))
		}
	}
}

// replaceBody replaces media type and body, and leaves status and header as they are.
func replaceBody(mediaType, text string) change {
	return func(a *answer) {
		a.set("Content-Type", mediaType)
		a.Body = []byte(text)
	}
}

// prepend puts text before the body.
func prepend(text string) change { return func(a *answer) { a.Body = append([]byte(text), a.Body...) } }

// replaceText replaces the first occurrence of a text in the body.
func replaceText(old, replacement string) change {
	return func(a *answer) { a.Body = bytes.Replace(a.Body, []byte(old), []byte(replacement), 1) }
}

// become replaces status, header and body.
func become(status int, mediaType, body string) change {
	return func(a *answer) { a.become(status, mediaType, body) }
}

// unauthorized replaces the answer by a refusal with a challenge and without a body.
func unauthorized(a *answer) {
	a.become(http.StatusUnauthorized, "", "")
	a.set("WWW-Authenticate", `Bearer realm="ris"`)
}

// problem replaces the answer by a problem document (RFC 9457).
func problem(status int, detail string) change {
	return become(status, "application/problem+json",
		fmt.Sprintf(`{"type":"about:blank","title":%q,"status":%d,"detail":%q}`, http.StatusText(status), status, detail))
}

// tokenError replaces the answer by an error of the token endpoint (RFC 6749 §5.2).
func tokenError(status int, code string) change {
	return become(status, "application/json", `{"error":"`+code+`"}`)
}

// crash replaces the answer by a 500.
func crash(a *answer) { problem(http.StatusInternalServerError, "something went wrong")(a) }

// edit edits the JSON object in the body.
func edit(change func(object map[string]any)) change {
	return func(a *answer) { a.editObject(change) }
}

// wrapIn makes the body a member of a new JSON object.
func wrapIn(name string) change {
	return func(a *answer) { a.edit(func(value any) any { return map[string]any{name: value} }) }
}

// put sets a member of a JSON object.
func put(name string, value any) func(map[string]any) {
	return func(object map[string]any) { object[name] = value }
}

// drop removes a member of a JSON object.
func drop(name string) func(map[string]any) {
	return func(object map[string]any) { delete(object, name) }
}

// update replaces a member of a JSON object that is of type T.
func update[T any](name string, replace func(T) T) func(map[string]any) {
	return func(object map[string]any) {
		if value, ok := object[name].(T); ok {
			object[name] = replace(value)
		}
	}
}

// member returns the object at a path of member names. If there is none, it returns a new empty object.
func member(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	if object == nil {
		return map[string]any{}
	}
	return object
}

// objects returns the objects in the array that is a member of an object.
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

// text returns a value that is a string, and "" for any other.
func text(value any) string {
	s, _ := value.(string)
	return s
}

// loginPage is the web page that faults send in place of JSON.
const loginPage = "<!doctype html><html><head><title>Sign in</title></head><body><form><input name=\"user\"></form></body></html>"
