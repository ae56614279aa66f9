package mockapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/sample"
)

// valueType says which types a schema allows, so that the text of a parameter becomes a value of the right type.
type valueType struct {
	// Types has some of array, object, number, integer, boolean, null and string; empty if all are allowed.
	Types []string
	// Item is the type of the items of an array; nil for any.
	Item *valueType
	// Members has the types of an object's members.
	Members map[string]*valueType
}

const (
	maxNesting   = 4  // levels of types: a parameter is a plain value, or a list or an object of plain values
	maxTypeParts = 50 // parts of an allOf, anyOf or oneOf; further parts are not read
	maxDigits    = 64 // digits of a number
)

// valueTypeAt reads the type of the schema at a pointer, at a depth in another schema. It stops at maxNesting, because schemas may be recursive.
func valueTypeAt(d *Document, pointer string, depth int) *valueType {
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
		k.Item = valueTypeAt(d, sample.Join(at, "items"), depth+1)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		k.addMember(name, valueTypeAt(d, sample.Join(at, "properties", name), depth+1))
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := schema[name].([]any)
		var types []string
		unrestricted := len(parts) == 0
		for i := range min(len(parts), maxTypeParts) {
			part := valueTypeAt(d, sample.Join(at, name, strconv.Itoa(i)), depth+1)
			unrestricted = unrestricted || part.isAny()
			types = append(types, part.Types...)
			k.adopt(part)
		}
		// In allOf the other parts restrict the types, even if one part allows all.
		if k.isAny() && (!unrestricted || name == "allOf") {
			k.Types = types
		}
	}
	return k
}

func (k *valueType) addMember(name string, kind *valueType) {
	if k.Members == nil {
		k.Members = map[string]*valueType{}
	}
	if _, known := k.Members[name]; !known {
		k.Members[name] = kind
	}
}

// adopt adds the items and members that a part of a schema describes.
func (k *valueType) adopt(part *valueType) {
	if k.Item == nil {
		k.Item = part.Item
	}
	for name, kind := range part.Members {
		k.addMember(name, kind)
	}
}

// declaredTypes returns the types that a schema names, or that follow from its other keywords.
func declaredTypes(schema map[string]any) []string {
	var types []string
	switch t := schema["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		for _, item := range t {
			if name, ok := item.(string); ok {
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

// is reports whether the schema names a type; it is false if the schema allows every type.
func (k *valueType) is(name string) bool { return k != nil && slices.Contains(k.Types, name) }

// isAny reports whether every type is allowed.
func (k *valueType) isAny() bool { return k == nil || len(k.Types) == 0 }

// isList reports whether the text of a parameter is split into items.
func (k *valueType) isList() bool { return k.is("array") }

// isObject reports whether the text of a parameter is split into members.
func (k *valueType) isObject() bool { return k.is("object") && !k.is("array") }

// read makes a value of an allowed type from a text: a number, a boolean or null if the text is one, else a string.
func (k *valueType) read(text string) any {
	allowsNumber := k.is("integer") || k.is("number") || k.isAny() && !hasLeadingZero(text)
	allowsBoolean := k.is("boolean") || k.isAny()
	meansNull := text == "null" || text == "" && !k.is("string")
	switch {
	case allowsNumber && isNumber(text):
		return json.Number(text)
	case allowsBoolean && (text == "true" || text == "false"):
		return text == "true"
	case k.is("null") && meansNull:
		return nil
	}
	return text
}

// hasLeadingZero reports whether a text is like "007", which is an id rather than a number.
func hasLeadingZero(text string) bool { return len(text) > 1 && text[0] == '0' }

// isCheapNumber reports whether a number is cheap to compute with; 1e999999999, with a thousand million digits, is not.
func isCheapNumber(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	return len(number) <= maxDigits && err == nil && (f == 0 || f > 1e-300 || f < -1e-300)
}

func isNumber(text string) bool {
	startsLikeNumber := text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9')
	return startsLikeNumber && isCheapNumber(text) && json.Valid([]byte(text))
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

// object reads texts as an object: with assigned, each text is name=value; else names and values alternate. ok is false for other
// texts.
func (k *valueType) object(texts []string, assigned bool) (members map[string]any, ok bool) {
	if assigned {
		var pairs []string
		for _, text := range texts {
			name, value, found := strings.Cut(text, "=")
			if !found {
				return nil, false
			}
			pairs = append(pairs, name, value)
		}
		texts = pairs
	}
	members = map[string]any{}
	for i := 0; i+1 < len(texts); i += 2 {
		members[texts[i]] = k.Members[texts[i]].value(texts[i+1])
	}
	return members, len(texts)%2 == 0
}

// value reads a text as a whole; for an array it is the only item.
func (k *valueType) value(text string) any {
	if k.isList() {
		return k.items([]string{text})
	}
	return k.read(text)
}

func unescapeAll(texts []string, unescape func(string) (string, error)) ([]string, error) {
	plain := make([]string, len(texts))
	for i, text := range texts {
		var err error
		if plain[i], err = unescape(text); err != nil {
			return nil, malformedError("percent-encoded text")
		}
	}
	return plain, nil
}

// noEscapes returns a text as it is, because header values have no escapes.
func noEscapes(text string) (string, error) { return text, nil }
