package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// reducer takes out of a document what no requirement needs and what could reach outside.
type reducer struct {
	siblings bool // keywords beside $ref count (OpenAPI 3.1 and later)
	removed  []exchange.Removed
}

func keepsSiblings(root *object) bool {
	version, _ := root.values["openapi"].(string)
	return strings.HasPrefix(version, "3.") && !strings.HasPrefix(version, "3.0")
}

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

func (r *reducer) object(o *object, pointer string, names bool) {
	if !names && r.foreignReference(o, pointer) {
		return
	}
	o.keys = slices.DeleteFunc(o.keys, func(key string) bool {
		remove := !names && r.drops(key, o.values[key], pointer) ||
			strings.HasPrefix(key, "x-") && pointer == "/paths" ||
			names && strings.HasSuffix(pointer, "/discriminator/mapping") && r.foreignMapping(o.values[key], pointer+"/"+document.Escape(key))
		if remove {
			delete(o.values, key)
		}
		return remove
	})
	for _, key := range o.keys {
		if names || !document.HoldsData(key) {
			r.value(o.values[key], pointer+"/"+document.Escape(key), !names && document.HoldsNames(key))
		}
	}
}

// foreignReference deals with a $ref that leaves the document. It reports whether the whole object was emptied: without the
// reference, siblings that OpenAPI 3.0 ignores would begin to count. A path item keeps its operations.
func (r *reducer) foreignReference(o *object, pointer string) bool {
	ref, ok := o.values["$ref"].(string)
	if !ok || strings.HasPrefix(ref, "#") {
		return false
	}
	r.note(pointer, "$ref", ref)
	if r.siblings || strings.HasPrefix(pointer, "/paths/") && strings.Count(pointer, "/") == 2 {
		delete(o.values, "$ref")
		o.keys = slices.DeleteFunc(o.keys, func(key string) bool { return key == "$ref" })
		return false
	}
	o.keys, o.values = nil, map[string]any{}
	return true
}

// drops decides about one keyword.
func (r *reducer) drops(key string, value any, pointer string) bool {
	switch key {
	case "$schema", "$id", "jsonSchemaDialect", "$dynamicRef", "$recursiveRef":
		r.note(pointer, key, value)
		return true
	case "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "example", "examples":
		return true
	}
	return strings.HasPrefix(key, "x-")
}

// foreignMapping drops the discriminator values that are mapped to another document.
func (r *reducer) foreignMapping(value any, pointer string) bool {
	target, _ := value.(string)
	if strings.HasPrefix(target, "#") || !strings.ContainsAny(target, "/:#") {
		return false
	}
	r.removed = append(r.removed, exchange.Removed{Pointer: pointer, Keyword: "mapping", Value: clip(target, 200)})
	return true
}

func (r *reducer) note(pointer, keyword string, value any) {
	text, ok := value.(string)
	if !ok {
		text = fmt.Sprintf("(%s)", jsonType(value))
	}
	r.removed = append(r.removed, exchange.Removed{Pointer: pointer + "/" + keyword, Keyword: keyword, Value: clip(text, 200)})
}

// jsonType names the JSON type of a decoded value.
func jsonType(value any) string {
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
