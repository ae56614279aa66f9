package constraint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/described/document"
)

// Expectation says in words what a schema takes, and lists the values of an enum. It is for people: of nested schemas it says the
// outermost.
func Expectation(d *document.Document, pointer string) (words string, allowed []string) {
	if pointer == "" {
		return "any value", nil
	}
	schema, at, fault := d.Resolve(pointer)
	if fault != nil {
		return "any value", nil
	}
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		for _, v := range values[:min(len(values), 100)] {
			allowed = append(allowed, plain(v))
		}
		return "one of " + strings.Join(allowed, ", "), allowed
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		if parts, ok := schema[name].([]any); ok && len(parts) > 0 && schema["type"] == nil {
			return Expectation(d, document.Child(at, name, "0"))
		}
	}
	types := typesOf(schema["type"])
	format, _ := schema["format"].(string)
	words = strings.Join(types, " or ")
	switch {
	case format != "" && slices.Contains(types, "a string"):
		words = article(format)
	case len(types) == 0:
		words = "a value"
	}
	if slices.Contains(types, "an array") {
		if item, _ := Expectation(d, document.Child(at, "items")); schema["items"] != nil {
			words = "a list, each item " + item
		}
	}
	return words + limits(schema), nil
}

func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

func typesOf(value any) []string {
	names, ok := value.([]any)
	if !ok {
		names = []any{value}
	}
	var types []string
	for _, name := range names {
		switch name {
		case "integer":
			types = append(types, "a whole number")
		case "array":
			types = append(types, "an array")
		case "object":
			types = append(types, "an object")
		case "string", "number", "boolean":
			types = append(types, fmt.Sprint("a ", name))
		}
		if name == "boolean" {
			types[len(types)-1] = "true or false"
		}
	}
	return types
}

// article names a format with an example.
func article(format any) string {
	switch format {
	case "date":
		return "a date, 2026-03-01"
	case "date-time":
		return "a date-time, 2026-03-01T12:00:00Z"
	case "uuid":
		return "a UUID"
	case "uri":
		return "a URI"
	case "email":
		return "an e-mail address"
	case "int32", "int64":
		return fmt.Sprintf("a whole number (%v)", format)
	}
	return clip(fmt.Sprintf("a value of the format %v", format))
}

// limits says the bounds of a schema.
func limits(schema map[string]any) string {
	var all []string
	say := func(keyword, words string) {
		switch v := schema[keyword].(type) {
		case json.Number, string:
			all = append(all, words+" "+clip(fmt.Sprint(v)))
		}
	}
	say("minimum", "at least")
	say("exclusiveMinimum", "more than")
	say("maximum", "at most")
	say("exclusiveMaximum", "less than")
	say("multipleOf", "a multiple of")
	say("minLength", "of at least length")
	say("maxLength", "of at most length")
	say("pattern", "matching")
	say("minItems", "items at least")
	say("maxItems", "items at most")
	if len(all) == 0 {
		return ""
	}
	return ", " + strings.Join(all, ", ")
}
