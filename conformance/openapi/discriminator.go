package openapi

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/document"
)

// discriminator is what a schema says about choosing among subtypes by the value of one property (OAS 3.0.3 Discriminator Object).
type discriminator struct {
	property string
	choices  []choice
	// closed: the schema lists all its subtypes under oneOf or anyOf. Otherwise it is a base, and an unmapped value is judged by it alone.
	closed bool
}

// choice is one value of the property with the schema that it stands for.
type choice struct {
	value  string
	target string // pointer
}

// readDiscriminator returns false where there is none that can be followed; oneOf and anyOf then count as they stand.
func readDiscriminator(doc *document.Document, known subtypes, in map[string]any, pointer string) (discriminator, bool) {
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
			name = "#/components/schemas/" + document.Escape(name)
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
func listedSubtypes(doc *document.Document, in map[string]any) (targets []string, closed, followable bool) {
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

func indexSubtypes(doc *document.Document) subtypes {
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
					out[base] = append(out[base], room+"/"+document.Escape(name))
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
