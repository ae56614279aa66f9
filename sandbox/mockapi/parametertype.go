package mockapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/sample"
)

// valueType is what a schema says of the type of its values: what a text must be read as.
type valueType struct {
	// Types are those allowed, of array, object, number, integer, boolean, null and string; empty for any.
	Types []string
	// Item is the kind of the items of an array; nil for any.
	Item *valueType
	// Members are those of an object by name.
	Members map[string]*valueType
}

// maxNesting bounds how deep kinds are read: parameters hold lists and objects of plain values.
const maxNesting = 4

// valueTypeAt reads the kind of the schema at a pointer.
func valueTypeAt(d *Document, pointer string) *valueType { return valueTypeBelow(d, pointer, 0) }

func valueTypeBelow(d *Document, pointer string, depth int) *valueType {
	k := &valueType{}
	if pointer == "" || depth > maxNesting {
		return k
	}
	schema, at, fault := d.Object(pointer)
	if fault != nil {
		return k
	}
	k.Types = declaredTypes(schema)
	if schema["items"] != nil {
		k.Item = valueTypeBelow(d, sample.Join(at, "items"), depth+1)
	}
	k.members(d, schema, at, depth)
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := schema[name].([]any)
		var either []string
		any := len(parts) == 0
		for i := range min(len(parts), 50) {
			part := valueTypeBelow(d, sample.Join(at, name, strconv.Itoa(i)), depth+1)
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

func (k *valueType) members(d *Document, schema map[string]any, at string, depth int) {
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		k.member(name, valueTypeBelow(d, sample.Join(at, "properties", name), depth+1))
	}
}

func (k *valueType) member(name string, kind *valueType) {
	if k.Members == nil {
		k.Members = map[string]*valueType{}
	}
	if _, there := k.Members[name]; !there {
		k.Members[name] = kind
	}
}

// adopt takes over what a part of a schema knows of items and members.
func (k *valueType) adopt(part *valueType) {
	if k.Item == nil {
		k.Item = part.Item
	}
	for name, kind := range part.Members {
		k.member(name, kind)
	}
}

// declaredTypes are the types that a schema names, or that follow from its other words.
func declaredTypes(schema map[string]any) []string {
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
func (k *valueType) is(name string) bool { return k != nil && slices.Contains(k.Types, name) }

// any tells whether every type is allowed.
func (k *valueType) any() bool { return k == nil || len(k.Types) == 0 }

// list and object tell how the text of a parameter is taken apart.
func (k *valueType) list() bool { return k.is("array") }

func (k *valueType) object() bool { return k.is("object") && !k.is("array") }

// read gives a text the type that its kind allows: a number or truth value where that is allowed and the text is one, else a string.
func (k *valueType) read(text string) any {
	switch {
	case (k.is("integer") || k.is("number") || k.any() && !leadingZero(text)) && isNumber(text):
		return json.Number(text)
	case (k.is("boolean") || k.any()) && (text == "true" || text == "false"):
		return text == "true"
	case k.is("null") && (text == "null" || text == "" && !k.is("string")):
		return nil
	}
	return text
}

// leadingZero tells a text that is hardly meant as a number: an id of digits.
func leadingZero(text string) bool { return len(text) > 1 && text[0] == '0' }

// isCheapNumber tells whether a number is cheap to reckon with: a few characters may stand for a thousand million digits.
func isCheapNumber(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	return len(number) <= maxDigits && err == nil && (f == 0 || f > 1e-300 || f < -1e-300)
}

// maxDigits bounds numbers, that reckoning with them stays cheap.
const maxDigits = 64

func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && isCheapNumber(text) && json.Valid([]byte(text))
}

// items reads texts as the items of an array.
func (k *valueType) items(texts []string) any {
	var item *valueType
	if k != nil {
		item = k.Item
	}
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = item.read(text)
	}
	return list
}

// pairs reads names and values in turns as an object; ok is false when one is left over.
func (k *valueType) pairs(texts []string) (object any, ok bool) {
	members := map[string]any{}
	for i := 0; i+1 < len(texts); i += 2 {
		members[texts[i]] = k.Members[texts[i]].value(texts[i+1])
	}
	return members, len(texts)%2 == 0
}

// assigned reads texts of the form name=value as an object.
func (k *valueType) assigned(texts []string) (object any, ok bool) {
	members := map[string]any{}
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found {
			return nil, false
		}
		members[name] = k.Members[name].value(value)
	}
	return members, true
}

// value reads one text that is not taken apart; of a member that is an array it is the one item.
func (k *valueType) value(text string) any {
	if k.list() {
		return k.items([]string{text})
	}
	return k.read(text)
}

// unescapeAll removes the escapes of texts; ok is false when one has a wrong one.
func unescapeAll(texts []string, unescape func(string) (string, error)) (plain []string, ok bool) {
	plain = make([]string, len(texts))
	for i, text := range texts {
		var err error
		if plain[i], err = unescape(text); err != nil {
			return nil, false
		}
	}
	return plain, true
}

func noEscapes(text string) (string, error) { return text, nil }
