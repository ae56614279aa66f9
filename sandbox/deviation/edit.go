package deviation

import (
	"net/http"
)

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
	return func(_ *http.Request, a *Answer) { a.set(name, value) }
}

// status sets the status of an answer.
func status(code int) change {
	return func(_ *http.Request, a *Answer) { a.restate(code) }
}

// object edits answers that are a JSON object.
func object(edit func(map[string]any)) change {
	return func(_ *http.Request, a *Answer) { a.editObject(edit) }
}

// restate sets the status of an answer, and that in a problem document, which says the same (RFC 9457 §3.1.2).
func (a *Answer) restate(code int) {
	a.Status = code
	if a.Header.Get("Content-Type") == "application/problem+json" {
		a.editObject(put("status", code))
	}
}
