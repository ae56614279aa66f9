package openapi

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Escape escapes one reference token of an RFC 6901 pointer.
func Escape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// Join extends an RFC 6901 pointer by reference tokens.
func Join(pointer string, tokens ...string) string {
	for _, t := range tokens {
		pointer += "/" + Escape(t)
	}
	return pointer
}

// unescape reverses [Escape].
func unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// Lookup returns the value at an RFC 6901 pointer in decoded JSON; "" is the value itself.
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

// member returns the member of an object or the item of an array that a reference token names.
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

// Fragment turns a local reference ("#/components/schemas/A~1B%20C") into its RFC 6901 pointer. ok is false for a reference to another
// document and for a fragment that is not a pointer (RFC 6901 §6).
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

// maxHops bounds a chain of references, which may be a loop.
const maxHops = 32

// resolve follows a chain of $ref to an object without one; nil if the value is not an object. dangling is the reference that leads nowhere or
// into a loop, or "".
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

// Follow returns the target of one local reference, by pointer or $anchor. It does not follow references found there.
func (d *Document) Follow(ref string) (pointer string, value any, ok bool) {
	pointer, isPointer := Fragment(ref)
	if !isPointer {
		name, local := strings.CutPrefix(ref, "#")
		pointer, ok = d.anchors[name]
		if !ok || !local {
			return "", nil, false
		}
	}
	value, ok = Lookup(d.root, pointer)
	return pointer, value, ok
}

// Ref is one $ref of the document.
type Ref struct {
	Pointer  string // RFC 6901, ends in "/$ref"
	Target   string // as written
	Resolves bool   // a local reference that names something in this document
}

// Refs lists the references of the document in the order of [Walk]. A member "$ref" is not a reference if the author named it, as under
// properties, or if it is part of data, such as an example.
func (d *Document) Refs() []Ref { return slices.Clone(d.refs) }

// Visit is called by [Walk] for each object that is not data. names reports whether the author named its members, as in properties; such members
// are not keywords.
type Visit func(pointer string, object map[string]any, names bool)

// Walk visits the objects of a decoded document in the order of their sorted keys. It skips example, examples, enum, const, default and x- data.
func Walk(root any, visit Visit) { walk(root, "", false, visit) }

func walk(value any, pointer string, names bool, visit Visit) {
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			walk(item, pointer+"/"+strconv.Itoa(i), false, visit)
		}
	case map[string]any:
		visit(pointer, v, names)
		for _, key := range sortedKeys(v) {
			if !names && HoldsData(key) {
				continue
			}
			walk(v[key], pointer+"/"+Escape(key), !names && HoldsNames(key), visit)
		}
	}
}

// index collects all references and anchors in one walk. References are resolved at the end, since they may name anchors.
func (d *Document) index() {
	d.anchors = map[string]string{}
	Walk(d.root, func(pointer string, object map[string]any, names bool) {
		if names {
			return
		}
		for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
			if name, ok := object[keyword].(string); ok && name != "" {
				d.anchors[name] = pointer
			}
		}
		if ref, ok := object["$ref"].(string); ok {
			d.refs = append(d.refs, Ref{Pointer: pointer + "/$ref", Target: ref})
		}
	})
	for i, ref := range d.refs {
		_, _, d.refs[i].Resolves = d.Follow(ref.Target)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// HoldsNames reports whether the author of a document names the members of a keyword, such as properties or schemas. A member called "example"
// or "$ref" below it is a name, not a keyword (OAS 3.0.3 §4.7, Swagger 2.0).
func HoldsNames(keyword string) bool {
	switch keyword {
	case "properties", "patternProperties", "dependentSchemas", "$defs", "definitions",
		"schemas", "responses", "parameters", "requestBodies", "headers", "securitySchemes", "securityDefinitions",
		"links", "callbacks", "pathItems", "paths", "webhooks", "content", "encoding", "variables", "mapping", "scopes":
		return true
	}
	return false
}

// HoldsData reports whether the value of a keyword is plain data, in which "$ref" is not a reference.
func HoldsData(keyword string) bool {
	switch keyword {
	case "example", "examples", "enum", "const", "default":
		return true
	}
	return strings.HasPrefix(keyword, "x-")
}

// Lines reads the source of a document, JSON or YAML, and returns the line of each path and operation, from 1, by its JSON Pointer (RFC 6901).
// It does not follow references into other files.
func Lines(source []byte) (map[string]int, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(source, &root); err != nil {
		return nil, fmt.Errorf("expected an OpenAPI document: %w", err)
	}
	if root.Kind != yaml.DocumentNode || root.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("expected an OpenAPI document: its root is not an object")
	}
	lines := map[string]int{}
	for name, paths := range entries(root.Content[0]) {
		if name.Value != "paths" {
			continue
		}
		lines["/paths"] = name.Line
		for path, item := range entries(paths) {
			at := Join("/paths", path.Value)
			lines[at] = path.Line
			for method := range entries(item) {
				lines[Join(at, method.Value)] = method.Line
			}
		}
	}
	return lines, nil
}

// entries yields the names and values of an object; none for anything else.
func entries(object *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(name, value *yaml.Node) bool) {
		if object.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(object.Content); i += 2 {
			if !yield(object.Content[i], object.Content[i+1]) {
				return
			}
		}
	}
}
