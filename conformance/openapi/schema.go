package openapi

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
)

// schemaDepth bounds how deep a schema is read: an envelope, its list, an item, the item's members and two levels below.
const schemaDepth = 6

// schemaNodes bounds the schema nodes of one parameter or response.
const schemaNodes = 2000

// schema reads a schema of the document within the bounds.
func (d *Document) schema(value any) Schema {
	nodes := min(schemaNodes, d.budget)
	left := nodes
	s := d.unfold(value, schemaDepth, &left)
	d.budget -= nodes - max(left, 0)
	return s
}

// unfold reads a schema with its references and allOf resolved; left counts the schema nodes that may still be read.
func (d *Document) unfold(value any, depth int, left *int) Schema {
	if value == nil {
		return Schema{}
	}
	*left--
	if *left <= 0 || depth <= 0 {
		return Schema{Declared: true}
	}
	raw, dangling := d.resolve(value)
	s := Schema{Declared: true, Dangling: dangling}
	if raw == nil {
		return s
	}
	s.Type = typeOf(raw)
	s.Format = stringValue(raw["format"])
	s.Enum = enumOf(raw["enum"])
	if constant, ok := raw["const"]; ok && s.Enum == nil {
		s.Enum = enumOf([]any{constant})
	}
	if isOnlyNull(raw["enum"]) { // OpenAPI 3.0 has no type null: generators list it as the only value
		s.Type = "null"
	}
	s.Examples = examplesOf(raw)
	s.Minimum, s.ExclusiveMinimum = bound(raw["minimum"], raw["exclusiveMinimum"], 1)
	s.Maximum, s.ExclusiveMaximum = bound(raw["maximum"], raw["exclusiveMaximum"], -1)
	s.MultipleOf, s.Pattern = number(raw["multipleOf"]), stringValue(raw["pattern"])
	s.MinLength, s.MaxLength = length(raw["minLength"]), length(raw["maxLength"])
	s.MinItems, s.MaxItems = length(raw["minItems"]), length(raw["maxItems"])
	for _, keyword := range []string{"not", "if", "uniqueItems", "contentEncoding"} {
		_, has := raw[keyword]
		s.Partial = s.Partial || has
	}
	if v, ok := raw["default"]; ok {
		s.Default, _ = json.Marshal(v) // cannot fail: the value was decoded from JSON
	}
	s.Required = stringValues(raw["required"])
	if items, ok := raw["items"]; ok {
		inner := d.unfold(items, depth-1, left)
		s.Items = &inner
	}
	if properties, _ := raw["properties"].(map[string]any); len(properties) > 0 {
		s.Properties = make(map[string]Schema, len(properties))
		for _, name := range sortedKeys(properties) {
			if *left <= 0 {
				break
			}
			s.Properties[name] = d.unfold(properties[name], depth-1, left)
		}
	}
	parts, _ := raw["allOf"].([]any)
	for _, part := range parts {
		if *left <= 0 {
			break
		}
		s.merge(d.unfold(part, depth-1, left))
	}
	s.Subtypes = s.Subtypes || raw["discriminator"] != nil
	for _, keyword := range []string{"anyOf", "oneOf"} {
		parts, _ := raw[keyword].([]any)
		s.Subtypes = s.Subtypes || len(parts) > 1
		s.merge(d.alternative(parts, depth-1, left))
	}
	return s
}

// alternative reads what the parts of an anyOf or oneOf say together: the only part beside null, which is how generators write an optional value,
// or one vocabulary of several. Parts that differ otherwise say nothing for certain.
func (d *Document) alternative(parts []any, depth int, left *int) Schema {
	var found []Schema
	for _, part := range parts {
		if *left <= 0 {
			return Schema{}
		}
		if s := d.unfold(part, depth, left); s.Type != "null" {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 0:
		return Schema{}
	case len(found) == 1:
		return found[0]
	}
	words := Schema{Type: found[0].Type}
	for _, s := range found {
		if len(s.Enum) == 0 || s.Type != words.Type {
			return Schema{}
		}
		words.Enum = append(words.Enum, s.Enum...)
	}
	return words
}

// restricts reports whether the schema restricts scalar values beyond their type.
func (s *Schema) restricts() bool {
	return s.Format != "" || s.Pattern != "" || s.Enum != nil || s.Minimum != nil || s.Maximum != nil || s.MultipleOf != nil || s.MinLength != nil || s.MaxLength != nil
}

// merge adds the keywords of one part of an allOf that the schema itself does not have.
func (s *Schema) merge(part Schema) {
	s.Partial = s.Partial || part.Partial || s.restricts() && part.restricts()
	s.Dangling = cmp.Or(s.Dangling, part.Dangling)
	s.Type = cmp.Or(s.Type, part.Type)
	s.Format = cmp.Or(s.Format, part.Format)
	s.Pattern = cmp.Or(s.Pattern, part.Pattern)
	s.MultipleOf = cmp.Or(s.MultipleOf, part.MultipleOf)
	s.MinLength, s.MaxLength = cmp.Or(s.MinLength, part.MinLength), cmp.Or(s.MaxLength, part.MaxLength)
	s.MinItems, s.MaxItems = cmp.Or(s.MinItems, part.MinItems), cmp.Or(s.MaxItems, part.MaxItems)
	s.Items = cmp.Or(s.Items, part.Items)
	s.Subtypes = s.Subtypes || part.Subtypes
	if s.Minimum == nil {
		s.Minimum, s.ExclusiveMinimum = part.Minimum, part.ExclusiveMinimum
	}
	if s.Maximum == nil {
		s.Maximum, s.ExclusiveMaximum = part.Maximum, part.ExclusiveMaximum
	}
	if s.Enum == nil {
		s.Enum = part.Enum
	}
	if s.Default == nil {
		s.Default = part.Default
	}
	if s.Examples == nil {
		s.Examples = part.Examples
	}
	for name, property := range part.Properties {
		if s.Properties == nil {
			s.Properties = map[string]Schema{}
		}
		if _, own := s.Properties[name]; !own {
			s.Properties[name] = property
		}
	}
	for _, name := range part.Required {
		if !slices.Contains(s.Required, name) {
			s.Required = append(s.Required, name)
		}
	}
}

// typeOf reads "type"; if it is a list (OpenAPI 3.1), it returns the first type other than null. Without a type, properties or items imply it.
func typeOf(raw map[string]any) string {
	switch t := raw["type"].(type) {
	case string:
		return t
	case []any:
		for _, v := range t {
			if s, ok := v.(string); ok && s != "null" {
				return s
			}
		}
	}
	if _, ok := raw["properties"].(map[string]any); ok {
		return "object"
	}
	if _, ok := raw["items"]; ok {
		return "array"
	}
	return ""
}

// examplesOf reads example and examples: a list in a schema, named values in a parameter.
func examplesOf(raw map[string]any) []string {
	var out []string
	if example, ok := raw["example"]; ok {
		out = enumOf([]any{example})
	}
	switch examples := raw["examples"].(type) {
	case []any:
		out = append(out, enumOf(examples)...)
	case map[string]any:
		for _, name := range sortedKeys(examples) {
			holder, _ := examples[name].(map[string]any)
			out = append(out, enumOf([]any{holder["value"]})...)
		}
	}
	return out
}

// enumOf returns strings, numbers and booleans of an enum as text.
func enumOf(value any) []string {
	list, _ := value.([]any)
	var out []string
	for _, v := range list {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case json.Number:
			out = append(out, v.String())
		case bool:
			out = append(out, map[bool]string{true: "true", false: "false"}[v])
		}
	}
	return out
}

func isOnlyNull(enum any) bool {
	list, _ := enum.([]any)
	return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return v != nil })
}

// bound reads a bound with its exclusive form: true beside it (OpenAPI 3.0), or a separate number (3.1). If both are numbers, the narrower one
// counts; upward is 1 for a minimum and -1 for a maximum.
func bound(inclusive, exclusive any, upward float64) (at *float64, excluded bool) {
	at = number(inclusive)
	if own := number(exclusive); own != nil && (at == nil || (*own-*at)*upward >= 0) {
		return own, true
	}
	return at, at != nil && isTrue(exclusive)
}

// length reads a non-negative count.
func length(value any) *int {
	f := number(value)
	if f == nil || *f < 0 || *f > math.MaxInt32 {
		return nil
	}
	n := int(*f)
	return &n
}

func number(value any) *float64 {
	n, ok := value.(json.Number)
	if !ok {
		return nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil
	}
	return &f
}
