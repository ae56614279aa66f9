package document

import (
	"slices"
	"strings"
)

// reader reads one operation, and keeps the first fault.
type reader struct {
	document *Document
	fault    *Fault
}

func (r *reader) fail(pointer, format string, values ...any) {
	if r.fault == nil {
		r.fault = r.document.Fault(pointer, format, values...)
	}
}

// object is the object at a pointer, references followed; nil after a fault.
func (r *reader) object(pointer string) (map[string]any, string) {
	object, at, fault := r.document.Resolve(pointer)
	if fault != nil {
		if r.fault == nil {
			r.fault = fault
		}
		return nil, at
	}
	return object, at
}

func (r *reader) operation(o *Operation, item map[string]any, itemAt string) {
	operation, at := r.object(o.Pointer)
	if operation == nil {
		return
	}
	o.ID, _ = operation["operationId"].(string)
	r.security(o, operation)
	o.Server = ServerPath(operation, item, r.document.Tree())
	r.parameters(o, Child(itemAt, "parameters"), item["parameters"])
	r.parameters(o, Child(at, "parameters"), operation["parameters"])
	if operation["requestBody"] != nil {
		o.Body = r.body(Child(at, "requestBody"))
	}
	r.responses(o, Child(at, "responses"), operation["responses"])
}

func (r *reader) security(o *Operation, operation map[string]any) {
	requirements, declared := operation["security"].([]any)
	if !declared {
		requirements, declared = r.document.Tree()["security"].([]any)
	}
	o.Declared = declared
	o.Open = declared && len(requirements) == 0 || slices.ContainsFunc(requirements, func(one any) bool {
		names, ok := one.(map[string]any)
		return ok && len(names) == 0
	})
}

func (r *reader) body(pointer string) *Body {
	body, at := r.object(pointer)
	required, _ := body["required"].(bool)
	return &Body{Required: required, Content: r.content(Child(at, "content"), body["content"])}
}

// content reads media types in the order of preference: JSON first, then by name.
func (r *reader) content(pointer string, value any) []Media {
	content, ok := value.(map[string]any)
	if !ok {
		if value != nil {
			r.fail(pointer, "expected an object with a member for each media type, got %s", kind(value))
		}
		return nil
	}
	var all []Media
	for _, name := range sortedKeys(content) {
		media, at := r.object(Child(pointer, name))
		m := Media{Type: strings.ToLower(name)}
		if media["schema"] != nil {
			m.Schema = Child(at, "schema")
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b Media) int { return preference(a.Type) - preference(b.Type) })
	return all
}

// preference orders media types by how well their content can be made.
func preference(mediaType string) int {
	essence, _, _ := strings.Cut(mediaType, ";")
	switch essence = strings.TrimSpace(essence); {
	case essence == "application/json":
		return 0
	case strings.HasSuffix(essence, "+json") && essence != "application/problem+json":
		return 1
	case strings.HasSuffix(essence, "json"), essence == "*/*", essence == "application/*":
		return 2
	case essence == "text/plain":
		return 3
	case strings.HasPrefix(essence, "text/"):
		return 4
	}
	return 5
}
