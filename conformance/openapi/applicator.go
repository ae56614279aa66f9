package openapi

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// members translates the keywords that hold schemas for the members or items of the value.
func (p *translator) members(in, out map[string]any, at place) {
	if properties, ok := in["properties"].(map[string]any); ok {
		out["properties"] = p.named(properties, func(name string) place { return at.below("properties", name) })
	}
	if patterns, ok := in["patternProperties"].(map[string]any); ok {
		patterns = maps.Clone(patterns)
		maps.DeleteFunc(patterns, func(pattern string, _ any) bool { _, err := CompilePattern(pattern); return err != nil })
		out["patternProperties"] = p.named(patterns, func(name string) place { return at.below("patternProperties", name) })
	}
	for _, keyword := range []string{"items", "additionalProperties", "propertyNames", "contains", "unevaluatedItems", "unevaluatedProperties"} {
		if value, ok := in[keyword]; ok {
			if _, list := value.([]any); !list {
				out[keyword] = p.schema(value, at.below(keyword))
			}
		}
	}
	if list, _ := in["prefixItems"].([]any); len(list) > 0 {
		out["prefixItems"] = p.list(list, func(i string) place { return at.below("prefixItems", i) })
	}
	p.required(in, out)
}

// required translates required and dependentRequired without the members that are writeOnly: those are required in requests only (OAS 3.0.3
// Schema Object).
func (p *translator) required(in, out map[string]any) {
	if list, ok := in["required"].([]any); ok && len(list) <= maxLiteral {
		names, seen := []any{}, map[string]bool{}
		for _, value := range list {
			name, ok := value.(string)
			if ok && !seen[name] && !p.isWriteOnly(in, name, 0) {
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

// isWriteOnly reports whether the schema, or a part of its allOf, declares the member as writeOnly.
func (p *translator) isWriteOnly(in map[string]any, name string, depth int) bool {
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
		if p.isWriteOnly(schema, name, depth+1) {
			return true
		}
	}
	return false
}

// applicators translates the keywords that apply further schemas to the same value.
func (p *translator) applicators(in, out map[string]any, at place) {
	if list, _ := in["allOf"].([]any); len(list) > 0 {
		out["allOf"] = p.list(list, func(i string) place { return at.same("allOf", i) })
	}
	for _, keyword := range []string{"not", "if", "then", "else"} {
		if value, ok := in[keyword]; ok && (keyword == "not" || !p.ignoresSiblings()) {
			out[keyword] = p.schema(value, at.same(keyword))
		}
	}
	if schemas, ok := in["dependentSchemas"].(map[string]any); ok {
		out["dependentSchemas"] = p.named(schemas, func(name string) place { return at.same("dependentSchemas", name) })
	}
	if at.noChoices && at.inPlace || p.discriminate(in, out, at) {
		return
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if list, _ := in[keyword].([]any); len(list) > 0 {
			out[keyword] = p.list(list, func(i string) place {
				next := at.same(keyword, i)
				next.choice = true
				return next
			})
		}
	}
}

func (p *translator) list(list []any, at func(i string) place) []any {
	out := make([]any, len(list))
	for i, value := range list {
		out[i] = p.schema(value, at(strconv.Itoa(i)))
	}
	return out
}

func (p *translator) named(schemas map[string]any, at func(name string) place) map[string]any {
	out := make(map[string]any, len(schemas))
	for name, value := range schemas {
		out[name] = p.schema(value, at(name))
	}
	return out
}

// discriminator chooses among subtypes by the value of one property (OAS 3.0.3 Discriminator Object).
type discriminator struct {
	property string
	choices  []choice
	// closed is true if the schema lists all its subtypes under oneOf or anyOf. Otherwise the schema is a base, and a value without a mapping is judged by
	// the base only.
	closed bool
}

// choice maps a value of the property to a schema.
type choice struct {
	value  string
	target string // pointer
}

// discriminator reads the discriminator of a schema. ok is false if the schema has none, or if a reference of the discriminator does not
// resolve; oneOf and anyOf apply then.
func (doc *Document) discriminator(in map[string]any, pointer string) (d discriminator, ok bool) {
	mapping := map[string]any{}
	switch v := in["discriminator"].(type) {
	case string: // Swagger 2.0
		d.property = v
	case map[string]any:
		d.property, _ = v["propertyName"].(string)
		mapping, _ = v["mapping"].(map[string]any)
	}
	if d.property == "" {
		return d, false
	}
	listed, closed, followable := doc.listedSubtypes(in)
	if !followable {
		return d, false
	}
	d.closed = closed
	for value, target := range mapping {
		name, _ := target.(string)
		if !strings.HasPrefix(name, "#") {
			name = "#/components/schemas/" + Escape(name)
		}
		if at, _, ok := doc.Follow(name); ok && at != pointer {
			d.choices = append(d.choices, choice{value, at})
		}
	}
	if !closed {
		listed = doc.subtypes[pointer]
	}
	for _, target := range listed {
		name := target[strings.LastIndexByte(target, '/')+1:]
		taken := slices.ContainsFunc(d.choices, func(c choice) bool { return c.value == name })
		if !taken && target != pointer {
			d.choices = append(d.choices, choice{name, target})
		}
	}
	slices.SortFunc(d.choices, func(a, b choice) int { return strings.Compare(a.value, b.value) })
	return d, len(d.choices) > 0
}

// listedSubtypes reads the subtypes of oneOf, else of anyOf. followable is false unless each of them is a reference that resolves.
func (doc *Document) listedSubtypes(in map[string]any) (targets []string, closed, followable bool) {
	for _, keyword := range []string{"oneOf", "anyOf"} {
		list, _ := in[keyword].([]any)
		for _, item := range list {
			schema, _ := item.(map[string]any)
			ref, _ := schema["$ref"].(string)
			target, _, ok := doc.Follow(ref)
			if !ok {
				return nil, false, false
			}
			targets = append(targets, target)
		}
		if len(list) > 0 {
			return targets, true, true
		}
	}
	return nil, false, true
}

// indexSubtypes lists, for each schema, the named schemas with an allOf that refers to it: their names are values of its discriminator.
func (doc *Document) indexSubtypes() map[string][]string {
	out := map[string][]string{}
	for _, section := range []string{"/components/schemas", "/definitions"} {
		raw, _ := doc.Raw(section)
		schemas, _ := raw.(map[string]any)
		for name, value := range schemas {
			schema, _ := value.(map[string]any)
			parts, _ := schema["allOf"].([]any)
			for _, part := range parts {
				p, _ := part.(map[string]any)
				ref, _ := p["$ref"].(string)
				if base, _, ok := doc.Follow(ref); ok {
					out[base] = append(out[base], section+"/"+Escape(name))
				}
			}
		}
	}
	for base, list := range out {
		slices.Sort(list)
		out[base] = slices.Compact(list)
	}
	return out
}

// discriminate writes a chain of conditions in place of oneOf, so that the value is judged by its mapped subtype only. It returns false if the schema has no
// discriminator.
func (p *translator) discriminate(in, out map[string]any, at place) bool {
	d, ok := p.doc.discriminator(in, at.pointer)
	if !ok {
		return false
	}
	at.choice = true
	p.nodes += 4 * len(d.choices)
	conditions, _ := out["allOf"].([]any)
	var values []any
	for _, c := range d.choices {
		values = append(values, c.value)
		link := p.link(c.target, at)
		if link == nil {
			continue
		}
		conditions = append(conditions, map[string]any{
			"if": map[string]any{
				"type": "object", "required": []any{d.property},
				"properties": map[string]any{d.property: map[string]any{"const": c.value}},
			},
			"then": link,
		})
	}
	if d.closed {
		conditions = append(conditions, p.addDefinition(at.pointer+"/discriminator", map[string]any{
			"type": "object", "required": []any{d.property},
			"properties": map[string]any{d.property: map[string]any{"enum": values}},
		}))
	}
	if len(conditions) > 0 {
		out["allOf"] = conditions
	}
	return true
}
