package validate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/openapi"
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

// discriminator is what a schema says about choosing among subtypes by the value of one property (OAS 3.0.3 Discriminator Object).
type discriminator struct {
	property string
	choices  []choice
	// refusingLoader: the schema lists all its subtypes under oneOf or anyOf. Otherwise it is a base, and an unmapped value is judged by it alone.
	closed bool
}

// choice is one value of the property with the schema that it stands for.
type choice struct {
	value  string
	target string // pointer
}

// readDiscriminator returns false where there is none that can be followed; oneOf and anyOf then count as they stand.
func readDiscriminator(doc *openapi.Document, known subtypes, in map[string]any, pointer string) (discriminator, bool) {
	d := discriminator{}
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
	listed, closed, followable := listedSubtypes(doc, in)
	if !followable {
		return d, false
	}
	d.closed = closed
	for value, target := range mapping {
		name, _ := target.(string)
		if !strings.HasPrefix(name, "#") {
			name = "#/components/schemas/" + openapi.Escape(name)
		}
		if at, _, ok := doc.Follow(name); ok && at != pointer {
			d.choices = append(d.choices, choice{value, at})
		}
	}
	if !closed {
		listed = known[pointer]
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

// listedSubtypes reads oneOf, else anyOf; each must be a reference that resolves.
func listedSubtypes(doc *openapi.Document, in map[string]any) (targets []string, closed, followable bool) {
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

// subtypes lists, for each schema, the named schemas with an allOf that refers to it: their names are values of its discriminator.
type subtypes map[string][]string

func indexSubtypes(doc *openapi.Document) subtypes {
	out := subtypes{}
	for _, room := range []string{"/components/schemas", "/definitions"} {
		raw, _ := doc.Raw(room)
		schemas, _ := raw.(map[string]any)
		for name, value := range schemas {
			schema, _ := value.(map[string]any)
			parts, _ := schema["allOf"].([]any)
			for _, part := range parts {
				p, _ := part.(map[string]any)
				ref, _ := p["$ref"].(string)
				if base, _, ok := doc.Follow(ref); ok {
					out[base] = append(out[base], room+"/"+openapi.Escape(name))
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

// discriminate writes a chain of conditions in place of oneOf, so that only the mapped subtype is judged.
func (p *preparer) discriminate(in, out map[string]any, at place) bool {
	d, ok := readDiscriminator(p.doc, p.subtypes, in, at.pointer)
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
		conditions = append(conditions, p.own(at.pointer+"/discriminator", map[string]any{
			"type": "object", "required": []any{d.property},
			"properties": map[string]any{d.property: map[string]any{"enum": values}},
		}))
	}
	if len(conditions) > 0 {
		out["allOf"] = conditions
	}
	return true
}

// edgesOf are the choices as edges of the graph.
func (d discriminator) edgesOf() []edge {
	out := make([]edge, 0, len(d.choices))
	for _, c := range d.choices {
		out = append(out, edge{c.target, true})
	}
	return out
}
