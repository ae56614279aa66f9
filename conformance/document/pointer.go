package document

import (
	"net/url"
	"strconv"
	"strings"
)

// Escape makes one reference token of an RFC 6901 pointer.
func Escape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

func unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// Lookup finds the value that an RFC 6901 pointer names in decoded JSON; "" names the value itself.
func Lookup(value any, pointer string) (any, bool) {
	if pointer == "" {
		return value, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		next, ok := member(value, unescape(token))
		if !ok {
			return nil, false
		}
		value = next
	}
	return value, true
}

func member(value any, token string) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		next, ok := v[token]
		return next, ok
	case []any:
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != token {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

// Fragment turns a local reference ("#/components/schemas/A~1B%20C") into its RFC 6901 pointer. ok is false for a reference to
// another document and for a fragment that is no pointer (RFC 6901 §6).
func Fragment(ref string) (pointer string, ok bool) {
	fragment, local := strings.CutPrefix(ref, "#")
	if !local {
		return "", false
	}
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	return fragment, fragment == "" || fragment[0] == '/'
}

// Raw returns the decoded JSON value at an RFC 6901 pointer: nil, bool, string, json.Number, []any or map[string]any.
// The value belongs to the document and must not be changed.
func (d *Document) Raw(pointer string) (any, bool) { return Lookup(d.root, pointer) }

// maxHops bounds a chain of references that name one another.
const maxHops = 32

// resolve follows $ref until something else stands there; dangling is the reference that led nowhere.
func (d *Document) resolve(value any) (object map[string]any, dangling string) {
	for range maxHops {
		object, _ = value.(map[string]any)
		ref, ok := object["$ref"].(string)
		if !ok {
			return object, ""
		}
		if _, value, ok = d.Follow(ref); !ok {
			return nil, ref
		}
	}
	ref, _ := object["$ref"].(string)
	return nil, ref
}

// Follow finds what one local reference names, by pointer or by $anchor, without following references found there.
func (d *Document) Follow(ref string) (pointer string, value any, ok bool) {
	pointer, isPointer := Fragment(ref)
	if !isPointer {
		if pointer, ok = d.anchors[strings.TrimPrefix(ref, "#")]; !ok || !strings.HasPrefix(ref, "#") {
			return "", nil, false
		}
	}
	value, ok = Lookup(d.root, pointer)
	return pointer, value, ok
}
