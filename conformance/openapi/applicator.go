package openapi

import (
	"strconv"
)

// members copies the keywords that hold schemas for members of the value.
func (p *preparer) members(in, out map[string]any, at place) error {
	for _, keyword := range []string{"properties", "patternProperties"} {
		properties, ok := in[keyword].(map[string]any)
		if !ok {
			continue
		}
		copied := make(map[string]any, len(properties))
		for name, value := range properties {
			if keyword == "patternProperties" {
				if _, err := compilePattern(name); err != nil {
					continue
				}
			}
			schema, err := p.schema(value, at.below(keyword, name))
			if err != nil {
				return err
			}
			copied[name] = schema
		}
		out[keyword] = copied
	}
	for _, keyword := range []string{"items", "additionalProperties", "propertyNames", "contains", "unevaluatedItems", "unevaluatedProperties"} {
		value, ok := in[keyword]
		if _, list := value.([]any); !ok || list {
			continue
		}
		schema, err := p.schema(value, at.below(keyword))
		if err != nil {
			return err
		}
		out[keyword] = schema
	}
	if list, ok := in["prefixItems"].([]any); ok && len(list) > 0 {
		copied, err := p.list(list, func(i string) place { return at.below("prefixItems", i) })
		if err != nil {
			return err
		}
		out["prefixItems"] = copied
	}
	p.required(in, out)
	return nil
}

// required leaves out members that are writeOnly: they are required of requests alone (OAS 3.0.3 Schema Object).
func (p *preparer) required(in, out map[string]any) {
	if list, ok := in["required"].([]any); ok && len(list) <= maxLiteral {
		names, seen := []any{}, map[string]bool{}
		for _, value := range list {
			name, ok := value.(string)
			if ok && !seen[name] && !p.writeOnly(in, name, 0) {
				seen[name] = true
				names = append(names, name)
			}
		}
		out["required"] = names
	}
	if groups, ok := in["dependentRequired"].(map[string]any); ok {
		copied := map[string]any{}
		for name, value := range groups {
			group := map[string]any{}
			p.required(map[string]any{"required": value}, group)
			if names, ok := group["required"]; ok {
				copied[name] = names
			}
		}
		out["dependentRequired"] = copied
	}
}

func (p *preparer) writeOnly(in map[string]any, name string, depth int) bool {
	if depth > 8 {
		return false
	}
	properties, _ := in["properties"].(map[string]any)
	if property, ok := properties[name]; ok {
		for range 8 {
			schema, _ := property.(map[string]any)
			if schema["writeOnly"] == true {
				return true
			}
			ref, _ := schema["$ref"].(string)
			_, target, found := p.doc.Follow(ref)
			if !found {
				return false
			}
			property = target
		}
	}
	parts, _ := in["allOf"].([]any)
	for _, part := range parts[:min(len(parts), 32)] {
		schema, _ := part.(map[string]any)
		if ref, ok := schema["$ref"].(string); ok {
			_, target, _ := p.doc.Follow(ref)
			schema, _ = target.(map[string]any)
		}
		if p.writeOnly(schema, name, depth+1) {
			return true
		}
	}
	return false
}

// applicators copies the keywords that apply further schemas to the same value.
func (p *preparer) applicators(in, out map[string]any, at place) error {
	if list, ok := in["allOf"].([]any); ok && len(list) > 0 {
		copied, err := p.list(list, func(i string) place { return at.same("allOf", i) })
		if err != nil {
			return err
		}
		out["allOf"] = copied
	}
	for _, keyword := range []string{"not", "if", "then", "else"} {
		value, ok := in[keyword]
		if !ok || keyword != "not" && p.ignoresSiblings() {
			continue
		}
		schema, err := p.schema(value, at.same(keyword))
		if err != nil {
			return err
		}
		out[keyword] = schema
	}
	if schemas, ok := in["dependentSchemas"].(map[string]any); ok {
		copied := map[string]any{}
		for name, value := range schemas {
			schema, err := p.schema(value, at.same("dependentSchemas", name))
			if err != nil {
				return err
			}
			copied[name] = schema
		}
		out["dependentSchemas"] = copied
	}
	if at.plain && at.inPlace {
		return nil
	}
	if p.discriminate(in, out, at) {
		return nil
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		list, ok := in[keyword].([]any)
		if !ok || len(list) == 0 {
			continue
		}
		copied, err := p.list(list, func(i string) place {
			next := at.same(keyword, i)
			next.choice = true
			return next
		})
		if err != nil {
			return err
		}
		out[keyword] = copied
	}
	return nil
}

func (p *preparer) list(list []any, at func(i string) place) ([]any, error) {
	copied := make([]any, 0, len(list))
	for i, value := range list {
		schema, err := p.schema(value, at(strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		copied = append(copied, schema)
	}
	return copied, nil
}
