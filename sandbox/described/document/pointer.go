package document

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/schema"
)

// Child is the pointer of a member or item (RFC 6901 §3).
func Child(pointer string, names ...string) string {
	for _, name := range names {
		pointer += "/" + schema.Escape(name)
	}
	return pointer
}

func segments(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, p := range parts {
		if strings.Contains(p, "~") {
			parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
		}
	}
	return parts
}

// At is the value that a pointer leads to.
func (d *Document) At(pointer string) (any, bool) {
	var value any = d.Tree()
	for _, segment := range segments(pointer) {
		switch v := value.(type) {
		case map[string]any:
			member, ok := v[segment]
			if !ok {
				return nil, false
			}
			value = member
		case []any:
			i, err := strconv.Atoi(segment)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// Resolve gives the object at a pointer, references followed, and where it really is.
func (d *Document) Resolve(pointer string) (object map[string]any, at string, fault *Fault) {
	at = pointer
	for range maxReferences {
		value, ok := d.At(at)
		if !ok {
			return nil, at, d.Fault(pointer, "it refers to #%s, which is not in the document", clip(at))
		}
		object, ok = value.(map[string]any)
		if !ok {
			return nil, at, d.Fault(at, "expected an object, got %s", kind(value))
		}
		reference, ok := object["$ref"].(string)
		if !ok {
			return object, at, nil
		}
		next, ok := Local(reference)
		if !ok {
			return nil, at, d.Fault(at, "it refers to %q, outside of the document: only references within it are followed", clip(reference))
		}
		at = next
	}
	return nil, at, d.Fault(pointer, "it refers to itself, or through more than %d references", maxReferences)
}

// Local is the pointer of a reference within the document, "#/components/schemas/Text".
func Local(reference string) (pointer string, ok bool) {
	fragment, ok := strings.CutPrefix(reference, "#")
	if !ok || fragment != "" && fragment[0] != '/' {
		return "", false
	}
	pointer, err := url.PathUnescape(fragment)
	return pointer, err == nil
}
