package parameter

import (
	"encoding/json"
	"slices"

	"github.com/rin-network/rin/sandbox/described/document"
)

// Kind is what a schema says of the type of its values: what a text must be read as.
type Kind struct {
	// Types are those allowed, of array, object, number, integer, boolean, null and string; empty for any.
	Types []string
	// Item is the kind of the items of an array; nil for any.
	Item *Kind
	// Members are those of an object by name.
	Members map[string]*Kind
}

// maxNesting bounds how deep kinds are read: parameters hold lists and objects of plain values.
const maxNesting = 4

// KindOf reads the kind of the schema at a pointer.
func KindOf(d *document.Document, pointer string) *Kind { return kindOf(d, pointer, 0) }

func kindOf(d *document.Document, pointer string, depth int) *Kind {
	k := &Kind{}
	if pointer == "" || depth > maxNesting {
		return k
	}
	schema, at, fault := d.Resolve(pointer)
	if fault != nil {
		return k
	}
	k.Types = declared(schema)
	if schema["items"] != nil {
		k.Item = kindOf(d, document.Child(at, "items"), depth+1)
	}
	k.members(d, schema, at, depth)
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := schema[name].([]any)
		var either []string
		any := len(parts) == 0
		for i := range min(len(parts), 50) {
			part := kindOf(d, document.Child(at, name, itoa(i)), depth+1)
			any = any || len(part.Types) == 0
			either = append(either, part.Types...)
			k.adopt(part)
		}
		if len(k.Types) == 0 && (!any || name == "allOf") {
			k.Types = either
		}
	}
	return k
}

func (k *Kind) members(d *document.Document, schema map[string]any, at string, depth int) {
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		k.member(name, kindOf(d, document.Child(at, "properties", name), depth+1))
	}
}

func (k *Kind) member(name string, kind *Kind) {
	if k.Members == nil {
		k.Members = map[string]*Kind{}
	}
	if _, there := k.Members[name]; !there {
		k.Members[name] = kind
	}
}

// adopt takes over what a part of a schema knows of items and members.
func (k *Kind) adopt(part *Kind) {
	if k.Item == nil {
		k.Item = part.Item
	}
	for name, kind := range part.Members {
		k.member(name, kind)
	}
}

// declared are the types that a schema names, or that follow from its other words.
func declared(schema map[string]any) []string {
	var types []string
	switch t := schema["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok {
				types = append(types, name)
			}
		}
	default:
		values, _ := schema["enum"].([]any)
		if value, ok := schema["const"]; ok {
			values = []any{value}
		}
		for _, value := range values {
			types = append(types, typeOf(value))
		}
		switch {
		case len(values) > 0:
		case schema["properties"] != nil:
			types = append(types, "object")
		case schema["items"] != nil:
			types = append(types, "array")
		}
	}
	if nullable, _ := schema["nullable"].(bool); nullable && len(types) > 0 {
		types = append(types, "null")
	}
	return types
}

func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "string"
}

// is tells whether values of a type are allowed by name; a kind of any type is none of them in particular.
func (k *Kind) is(name string) bool { return k != nil && slices.Contains(k.Types, name) }

// any tells whether every type is allowed.
func (k *Kind) any() bool { return k == nil || len(k.Types) == 0 }

// list and object tell how the text of a parameter is taken apart.
func (k *Kind) list() bool   { return k.is("array") }
func (k *Kind) object() bool { return k.is("object") && !k.is("array") }
