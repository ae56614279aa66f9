package document

import "strings"

// parameters adds those of a list; one of the operation takes the place of one of the path item with the same name and place.
func (r *reader) parameters(o *Operation, pointer string, value any) {
	all, ok := value.([]any)
	if !ok {
		if value != nil {
			r.fail(pointer, "expected an array of parameters, got %s", kind(value))
		}
		return
	}
	if len(all) > maxParameters {
		r.fail(pointer, "it has %d parameters; at most %d are read", len(all), maxParameters)
		return
	}
	for i := range all {
		p, ok := r.parameter(pointer + "/" + itoa(i))
		if !ok {
			continue
		}
		replaced := false
		for j, other := range o.Parameters {
			if other.Name == p.Name && other.In == p.In {
				o.Parameters[j], replaced = p, true
			}
		}
		if !replaced {
			o.Parameters = append(o.Parameters, p)
		}
	}
}

// parameter reads one; ok is false for one that is to be ignored.
func (r *reader) parameter(pointer string) (p Parameter, ok bool) {
	object, at := r.object(pointer)
	if object == nil {
		return p, false
	}
	p.Pointer = at
	p.Name, _ = object["name"].(string)
	p.In, _ = object["in"].(string)
	p.Style, _ = object["style"].(string)
	p.Required, _ = object["required"].(bool)
	if p.Name == "" {
		r.fail(at, "the parameter has no name")
	}
	switch p.In {
	case "path", "query", "header", "cookie":
	default:
		r.fail(Child(at, "in"), "expected path, query, header or cookie, got %q", clip(p.In))
	}
	if p.In == "header" && ignored(p.Name) {
		return p, false
	}
	r.shape(&p, object, at)
	return p, true
}

// ignored are headers that OpenAPI describes elsewhere (OAS 3.0.3 §4.7.12.1).
func ignored(name string) bool {
	switch strings.ToLower(name) {
	case "accept", "content-type", "authorization":
		return true
	}
	return false
}

// shape reads how a value is written.
func (r *reader) shape(p *Parameter, object map[string]any, at string) {
	if content, ok := object["content"].(map[string]any); ok && len(content) > 0 {
		media := r.content(Child(at, "content"), content)[0]
		p.Media, p.Schema, p.Style = media.Type, media.Schema, ""
		return
	}
	if object["schema"] != nil {
		p.Schema = Child(at, "schema")
	}
	if p.Style == "" {
		p.Style = map[string]string{"path": "simple", "header": "simple", "query": "form", "cookie": "form"}[p.In]
	}
	p.Explode = p.Style == "form"
	if explode, ok := object["explode"].(bool); ok {
		p.Explode = explode
	}
	allowed := map[string][]string{
		"path": {"simple", "label", "matrix"}, "header": {"simple"}, "cookie": {"form"},
		"query": {"form", "spaceDelimited", "pipeDelimited", "deepObject"},
	}[p.In]
	for _, style := range allowed {
		if style == p.Style {
			return
		}
	}
	r.fail(Child(at, "style"), "a parameter in the %s has one of the styles %s, got %q", p.In, strings.Join(allowed, ", "), clip(p.Style))
}
