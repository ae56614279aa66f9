package document

import (
	"encoding/json"
	"slices"
)

// schemaDepth is how deep members are read: an envelope, its list, an item, its members, theirs.
const schemaDepth = 6

// schemaNodes bounds what one parameter or response may unfold to.
const schemaNodes = 2000

func (d *Document) schema(value any) Schema {
	nodes := min(schemaNodes, d.budget)
	left := nodes
	s := d.unfold(value, schemaDepth, &left)
	d.budget -= nodes - max(left, 0)
	return s
}

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
	s.Format = text(raw["format"])
	s.Enum = enumOf(raw["enum"])
	s.Minimum, s.Maximum = number(raw["minimum"]), number(raw["maximum"])
	if v, ok := raw["default"]; ok {
		s.Default, _ = json.Marshal(v) // it was JSON before
	}
	s.Required = texts(raw["required"])
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
	return s
}

// merge adds what one part of an allOf says and the schema itself does not.
func (s *Schema) merge(part Schema) {
	if s.Dangling == "" {
		s.Dangling = part.Dangling
	}
	if s.Type == "" {
		s.Type = part.Type
	}
	if s.Format == "" {
		s.Format = part.Format
	}
	if s.Enum == nil {
		s.Enum = part.Enum
	}
	if s.Minimum == nil {
		s.Minimum = part.Minimum
	}
	if s.Maximum == nil {
		s.Maximum = part.Maximum
	}
	if s.Default == nil {
		s.Default = part.Default
	}
	if s.Items == nil {
		s.Items = part.Items
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

// typeOf reads "type"; of a list (OpenAPI 3.1) the first that is not null. Properties or items tell it where the word is missing.
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
