package openapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// Limits bound what [Guard] reads. A zero field means the default.
type Limits struct {
	Size  int // bytes; default 8 MiB, at most 30 MiB
	Depth int // nested objects and arrays; default and at most 200
}

const (
	defaultSize = 8 << 20
	MaxSize     = 30 << 20
	maxDepth    = 200
	maxRemoved  = 500 // entries kept in Document.Removed
)

// DefaultLimits returns 8 MiB and 200 levels.
func DefaultLimits() Limits { return Limits{}.effective() }

func (l Limits) effective() Limits {
	if l.Size <= 0 {
		l.Size = defaultSize
	}
	if l.Depth <= 0 {
		l.Depth = maxDepth
	}
	return Limits{Size: min(l.Size, MaxSize), Depth: min(l.Depth, maxDepth)}
}

// Guard reads an API document from a node and returns a reduced copy of it. It refuses a text that is not a JSON object, is too big or too deep, or
// has references that lead only to one another: then the result says why.
//
// Guard removes examples (except short ones of parameters), extensions ("x-", unless a reference leads into one and none leads on), $schema, $id, jsonSchemaDialect and dynamic references. It also
// removes every reference that leaves the document, with its siblings where OpenAPI ignores them. It keeps members whose names the author of the
// document chose, such as schemas and properties, data under enum, const and default, and dangling local references, which a requirement looks for.
// It ignores a byte order mark (RFC 8259 §8.1); if a member name is repeated, the last member counts. Guarding a reduced copy changes nothing.
func Guard(body []byte, limits Limits) evidence.Document {
	limits = limits.effective()
	if len(body) > limits.Size {
		return refuse("the document has %d bytes, more than the limit of %d; describe one API per document, without embedded examples", len(body), limits.Size)
	}
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	tree, err := decodeTree(body, limits.Depth)
	switch {
	case errors.Is(err, errDepth):
		return refuse("the document is nested deeper than %d levels; move inline schemas to components and refer to them", limits.Depth)
	case err != nil:
		return evidence.Document{Refused: notJSON(body, err)}
	}
	root, ok := tree.(*object)
	if !ok {
		return evidence.Document{Refused: notObject(tree)}
	}
	r := reducer{siblings: allowsSiblings(root), targets: map[string]bool{}, around: map[string]bool{}}
	r.addTargets(root)
	r.object(root, "", false)
	reduced, err := encodeTree(root)
	if err != nil {
		return refuse("%v", err)
	}
	if chain := referenceCycle(reduced); chain != "" {
		return refuse("the references %s refer only to one another; put a schema at one of them", chain)
	}
	slices.SortFunc(r.removals, func(a, b evidence.Removed) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword))
	})
	return evidence.Document{Reduced: reduced, Removed: r.removals[:min(len(r.removals), maxRemoved)]}
}

func refuse(format string, args ...any) evidence.Document {
	return evidence.Document{Refused: fmt.Sprintf(format, args...)}
}

// referenceCycle returns the first chain of references that lead back to themselves without reaching a schema, or "".
func referenceCycle(reduced []byte) string {
	d, err := Parse(reduced)
	if err != nil {
		return ""
	}
	next := map[string]string{} // pointer of an object with $ref -> pointer of its target
	refs := d.Refs()
	for _, ref := range refs {
		if target, _, ok := d.Follow(ref.Target); ok {
			next[strings.TrimSuffix(ref.Pointer, "/$ref")] = target
		}
	}
	start := map[string]int{} // pointer -> index of the reference from which it was first reached
	for i, ref := range refs {
		at := strings.TrimSuffix(ref.Pointer, "/$ref")
		for target, more := next[at]; more; target, more = next[at] {
			if first, seen := start[at]; seen {
				if first == i {
					return evidence.Clip("#"+at, 120) + " and " + evidence.Clip("#"+target, 120)
				}
				break
			}
			start[at] = i
			at = target
		}
	}
	return ""
}

// reducer removes what no requirement needs and what refers to something outside the document.
type reducer struct {
	siblings bool // keywords beside $ref count (OpenAPI 3.1 and later)
	// targets are pointers into extensions, to which local references lead; around are the pointers of the objects around them.
	targets, around map[string]bool
	removals        []evidence.Removed
}

// maxExtensions bounds the references into extensions that are followed.
const maxExtensions = 100

// addTargets adds the pointers of local references that lead into an extension ("#/x-shared/Stage"), and those of the objects around their targets.
func (r *reducer) addTargets(value any) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			r.addTargets(item)
		}
	case *object:
		ref, _ := v.values["$ref"].(string)
		if pointer, ok := Fragment(ref); ok && strings.Contains(pointer, "/x-") && len(r.targets) < maxExtensions {
			r.targets[pointer] = true
			for at := pointer; strings.Contains(at, "/x-") && len(r.around) < maxExtensions; {
				at = at[:strings.LastIndexByte(at, '/')]
				r.around[at] = true
			}
		}
		for _, key := range v.keys {
			r.addTargets(v.values[key])
		}
	}
}

// refers reports whether a value has a reference.
func refers(value any) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, refers)
	case *object:
		_, has := v.values["$ref"]
		return has || slices.ContainsFunc(v.keys, func(key string) bool { return refers(v.values[key]) })
	}
	return false
}

// allowsSiblings reports whether the version of the document lets keywords beside $ref count.
func allowsSiblings(root *object) bool {
	version, _ := root.values["openapi"].(string)
	return strings.HasPrefix(version, "3.") && !strings.HasPrefix(version, "3.0")
}

// value reduces a decoded value. names reports that the author of the document chose the names of its members, as in "schemas": they are not keywords.
func (r *reducer) value(value any, pointer string, names bool) {
	switch v := value.(type) {
	case *object:
		r.object(v, pointer, names)
	case []any:
		for i, item := range v {
			r.value(item, pointer+"/"+strconv.Itoa(i), false)
		}
	}
}

// object reduces an object in place; names is as in [reducer.value].
func (r *reducer) object(o *object, pointer string, names bool) {
	if !names && r.removeForeignReference(o, pointer) {
		return
	}
	o.keys = slices.DeleteFunc(o.keys, func(key string) bool {
		remove := false
		switch {
		case !names:
			remove = r.removes(key, o.values[key], pointer)
		case pointer == "/paths": // the author chose these names, but a path begins with a slash
			remove = strings.HasPrefix(key, "x-")
		case strings.HasSuffix(pointer, "/discriminator/mapping"):
			remove = r.isForeignMapping(o.values[key], pointer+"/"+Escape(key))
		}
		if remove {
			delete(o.values, key)
		}
		return remove
	})
	for _, key := range o.keys {
		at := pointer + "/" + Escape(key)
		switch {
		case names || !HoldsData(key):
			r.value(o.values[key], at, !names && HoldsNames(key))
		case strings.HasPrefix(key, "x-"): // the author chose the names above the target of a reference
			r.value(o.values[key], at, !r.targets[at])
		}
	}
}

// removeForeignReference removes a $ref that leaves the document. It returns true if it emptied the whole object: without the reference,
// siblings that OpenAPI 3.0 ignores would begin to count. A path item keeps its operations.
func (r *reducer) removeForeignReference(o *object, pointer string) bool {
	ref, ok := o.values["$ref"].(string)
	if !ok || strings.HasPrefix(ref, "#") {
		return false
	}
	r.record(pointer, "$ref", ref)
	isPathItem := strings.HasPrefix(pointer, "/paths/") && strings.Count(pointer, "/") == 2
	if r.siblings || isPathItem {
		delete(o.values, "$ref")
		o.keys = slices.DeleteFunc(o.keys, func(key string) bool { return key == "$ref" })
		return false
	}
	o.keys, o.values = nil, map[string]any{}
	return true
}

// removes reports whether a keyword is removed, and records it if it could refer to another document.
func (r *reducer) removes(key string, value any, pointer string) bool {
	switch key {
	case "$schema", "$id", "jsonSchemaDialect", "$dynamicRef", "$recursiveRef":
		r.record(pointer, key, value)
		return true
	case "$dynamicAnchor", "$recursiveAnchor", "$vocabulary":
		return true
	case "example", "examples":
		return !strings.Contains(pointer, "/parameters/") || !isShort(value)
	}
	return strings.HasPrefix(key, "x-") && (!r.targets[pointer+"/"+Escape(key)] && !r.around[pointer+"/"+Escape(key)] || refers(value))
}

// Limits of the examples of a parameter that are kept.
const (
	maxExample  = 100 // bytes of one example
	maxExamples = 20  // examples of one parameter
)

// isShort reports whether an example is short, or a list or an object of few short examples. Examples of a parameter are kept, because they are values
// to call an operation with.
func isShort(value any) bool {
	switch v := value.(type) {
	case string:
		return len(v) <= maxExample
	case []any:
		return len(v) <= maxExamples && !slices.ContainsFunc(v, func(inner any) bool { return JSONType(inner) == "array" || !isShort(inner) })
	case *object:
		if _, refers := v.values["$ref"]; refers || len(v.keys) > maxExamples {
			return false
		}
		for _, inner := range v.values {
			if !isShort(inner) {
				return false
			}
		}
	}
	return true
}

// isForeignMapping reports whether a discriminator value is mapped to another document, and records it.
func (r *reducer) isForeignMapping(value any, pointer string) bool {
	target, _ := value.(string)
	if strings.HasPrefix(target, "#") || !strings.ContainsAny(target, "/:#") {
		return false
	}
	r.removals = append(r.removals, evidence.Removed{Pointer: pointer, Keyword: "mapping", Value: evidence.Clip(target, 200)})
	return true
}

// record notes the removal of a keyword.
func (r *reducer) record(pointer, keyword string, value any) {
	text, ok := value.(string)
	if !ok {
		text = fmt.Sprintf("(%s)", JSONType(value))
	}
	r.removals = append(r.removals, evidence.Removed{Pointer: pointer + "/" + keyword, Keyword: keyword, Value: evidence.Clip(text, 200)})
}

// JSONType names the JSON type of a decoded value.
func JSONType(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case *object, map[string]any:
		return "object"
	}
	return "number"
}

// notJSON says what the text is instead of JSON, as far as its beginning shows, and what to do.
func notJSON(body []byte, cause error) string {
	head := bytes.TrimSpace(body[:min(len(body), 4096)])
	lower := strings.ToLower(string(head))
	switch {
	case len(head) == 0:
		return "the document is empty; serve the OpenAPI document as JSON at this URL"
	case strings.HasPrefix(string(body), "\xff\xfe"), strings.HasPrefix(string(body), "\xfe\xff"):
		return "the document is in UTF-16; JSON is exchanged in UTF-8 (RFC 8259 section 8.1)"
	case head[0] == '<' && strings.Contains(lower, "swagger-ui"):
		return "the URL serves the Swagger UI page, not the document; give the URL that the page loads (springdoc: /v3/api-docs)"
	case head[0] == '<':
		return "the URL serves an HTML or XML page, not a JSON document; give the URL of the document itself"
	case isLikeYAML(lower):
		return "the document is YAML; serve it as JSON too (the network's document is JSON), and answer Accept: application/json with it"
	case errors.Is(cause, io.ErrUnexpectedEOF), errors.Is(cause, io.EOF):
		return fmt.Sprintf("the JSON ends in the middle, after %d bytes; the answer was cut off or never complete", len(body))
	}
	return "the document is not JSON: " + evidence.Clip(cause.Error(), 160)
}

func isLikeYAML(head string) bool {
	for line := range strings.Lines(head) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, start := range []string{"%yaml", "---", "openapi:", "swagger:", "info:"} {
			if strings.HasPrefix(line, start) {
				return true
			}
		}
		return false
	}
	return false
}

// notObject says which JSON value the document is instead of an object.
func notObject(tree any) string {
	if text, ok := tree.(string); ok {
		if strings.HasPrefix(strings.TrimSpace(text), "{") {
			return "the document is a JSON string that holds JSON: it was encoded twice; serve the object itself"
		}
		return "the document is a JSON string, not an object (springdoc with a changed message converter sends it in base64); serve the object itself"
	}
	return fmt.Sprintf("the document is JSON %s, not an object", map[string]string{
		"null": "null", "boolean": "true or false", "array": "with a list at the top", "number": "with a number at the top",
	}[JSONType(tree)])
}
