package openapi

import (
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// maxOperations bounds the operations that are read; further ones are left out.
const maxOperations = 5000

// methods returns the names of the fields of a Path Item Object that hold operations, in the order of OAS 3.0.3.
func methods() []string {
	return []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}
}

// readOperations reads the operations of the paths in the given order. If a path is listed more than once, its first position counts.
func (d *Document) readOperations(order []string) {
	paths, _ := d.root["paths"].(map[string]any)
	taken, done := map[string]bool{}, map[string]bool{}
	for _, path := range order {
		if done[path] || strings.HasPrefix(path, "x-") {
			continue
		}
		done[path] = true
		item, _ := d.resolve(paths[path])
		for _, method := range methods() {
			raw, ok := item[method].(map[string]any)
			if !ok || len(d.Operations) == maxOperations {
				continue
			}
			o := d.operation(path, method, item, raw)
			o.Key = uniqueKey(o, taken)
			d.Operations = append(d.Operations, o)
		}
	}
}

// operation reads one operation: item is its Path Item Object, raw its Operation Object.
func (d *Document) operation(path, method string, item, raw map[string]any) Operation {
	o := Operation{
		ID:          stringValue(raw["operationId"]),
		Method:      strings.ToUpper(method),
		Path:        path,
		Pointer:     "/paths/" + Escape(path) + "/" + method,
		Tags:        stringValues(raw["tags"]),
		Description: prose(raw),
		Deprecated:  isTrue(raw["deprecated"]),
		Security:    d.Security,
		Responses:   map[string]Response{},
		Servers:     d.Servers,
	}
	for _, level := range []map[string]any{raw, item} {
		if own := servers(level["servers"]); own != nil && !d.isSwagger() {
			o.Servers, o.OwnServers = own, true
			break
		}
	}
	if own := d.security(raw["security"]); own != nil {
		o.Security = own
	}
	o.Parameters, o.RequiresBody = d.parameters(item["parameters"], raw["parameters"])
	if body, _ := d.resolve(raw["requestBody"]); isTrue(body["required"]) {
		o.RequiresBody = true
	}
	responses, _ := raw["responses"].(map[string]any)
	for _, status := range sortedKeys(responses) {
		if !strings.HasPrefix(status, "x-") {
			o.Responses[status] = d.response(responses[status], raw)
		}
	}
	return o
}

// maxProse bounds the descriptions that are read, in bytes.
const maxProse = 2000

// prose returns the summary and the description of an object in the document.
func prose(raw map[string]any) string {
	return evidence.Clip(strings.TrimSpace(stringValue(raw["summary"])+" "+stringValue(raw["description"])), maxProse)
}

// maxKey bounds a key in bytes; it becomes part of labels and file names.
const maxKey = 80

// uniqueKey returns a key made of the operationId, or else of method and path. A number distinguishes it from the keys in taken.
func uniqueKey(o Operation, taken map[string]bool) string {
	key := labelKey(o.ID)
	if key == "" {
		key = labelKey(strings.ToLower(o.Method) + "-" + o.Path)
	}
	unique := key
	for n := 2; taken[unique]; n++ {
		unique = key + "-" + strconv.Itoa(n)
	}
	taken[unique] = true
	return unique
}

// labelKey makes a text fit for a label: a short slug without repeated or outer hyphens.
func labelKey(s string) string {
	if len(s) > maxKey {
		s = s[:maxKey]
	}
	words := strings.FieldsFunc(evidence.Slug(s), func(r rune) bool { return r == '-' })
	return strings.Join(words, "-")
}

// parameters merges the parameters of the levels, path item first: a parameter replaces one of an earlier level with the same name and place (OAS 3.0.3
// Operation Object). body reports whether a Swagger 2.0 body is required.
func (d *Document) parameters(levels ...any) (out []Parameter, body bool) {
	at := map[[2]string]int{}
	for _, level := range levels {
		list, _ := level.([]any)
		for _, item := range list {
			raw, _ := d.resolve(item)
			p := Parameter{Name: stringValue(raw["name"]), In: stringValue(raw["in"]), Required: isTrue(raw["required"]), Description: prose(raw)}
			switch p.In {
			case "":
				continue
			case "body", "formData": // Swagger 2.0
				body = body || p.Required
				continue
			}
			p.Schema = d.parameterSchema(raw)
			p.Separator = d.separator(raw)
			p.Schema.Examples = append(examplesOf(raw), p.Schema.Examples...)
			key := [2]string{p.In, p.Name}
			if i, known := at[key]; known {
				out[i] = p
				continue
			}
			at[key] = len(out)
			out = append(out, p)
		}
	}
	return out, body
}

// separator returns what separates the values of an array; "" repeats the parameter.
func (d *Document) separator(raw map[string]any) string {
	if d.isSwagger() {
		switch stringValue(raw["collectionFormat"]) {
		case "multi":
			return ""
		case "ssv":
			return " "
		case "tsv":
			return "\t"
		case "pipes":
			return "|"
		}
		return ","
	}
	explode, given := raw["explode"].(bool)
	style := stringValue(raw["style"])
	switch {
	case given && explode, !given && (style == "" || style == "form"):
		return ""
	case style == "spaceDelimited":
		return " "
	case style == "pipeDelimited":
		return "|"
	}
	return ","
}

// parameterSchema returns the schema below "schema" or below the one media type of "content"; in Swagger 2.0, the parameter itself.
func (d *Document) parameterSchema(raw map[string]any) Schema {
	if schema, ok := raw["schema"]; ok {
		return d.schema(schema)
	}
	content, _ := raw["content"].(map[string]any)
	for _, name := range sortedKeys(content) {
		media, _ := content[name].(map[string]any)
		return d.schema(media["schema"])
	}
	if raw["type"] != nil {
		return d.schema(raw)
	}
	return Schema{}
}

// response reads a Response Object of an operation.
func (d *Document) response(value any, operation map[string]any) Response {
	raw, _ := d.resolve(value)
	r := Response{Content: map[string]Schema{}, Description: prose(raw)}
	if d.isSwagger() {
		if _, declared := raw["schema"]; declared {
			schema := d.schema(raw["schema"])
			for _, media := range d.produces(operation) {
				r.Content[media] = schema
			}
		}
		return r
	}
	content, _ := raw["content"].(map[string]any)
	for _, name := range sortedKeys(content) {
		media, _ := d.resolve(content[name])
		r.Content[name] = d.schema(media["schema"])
	}
	return r
}

// produces lists the media types of a Swagger 2.0 operation; "*/*" if the document names none.
func (d *Document) produces(operation map[string]any) []string {
	for _, level := range []map[string]any{operation, d.root} {
		if list := stringValues(level["produces"]); len(list) > 0 {
			return list
		}
	}
	return []string{"*/*"}
}

// ResponseTo returns the key of the response to a status: the code itself, its range, else default (OAS 3.0.3 Responses Object).
func (o Operation) ResponseTo(status int) (key string, ok bool) {
	code := strconv.Itoa(status)
	for _, key := range []string{code, code[:1] + "XX", code[:1] + "xx", "default"} {
		if _, ok := o.Responses[key]; ok {
			return key, true
		}
	}
	return "", false
}

// MediaTypes lists the described media types in order.
func (r Response) MediaTypes() []string { return sortedKeys(r.Content) }

// MediaType returns the described media type that matches the sent one: the same, else its type with a wildcard, else */* (OAS 3.0.3 Response Object:
// the most specific key counts). It ignores parameters such as charset.
func (r Response) MediaType(sent string) (key string, ok bool) {
	if sent == "" {
		return "", false
	}
	kind, _, _ := strings.Cut(sent, "/")
	for _, candidate := range []string{sent, kind + "/*", "*/*"} {
		for _, key := range r.MediaTypes() {
			bare, _, _ := strings.Cut(key, ";")
			if strings.ToLower(strings.TrimSpace(bare)) == candidate {
				return key, true
			}
		}
	}
	return "", false
}

// ResponseSchema returns the pointer of the schema that describes a body, or the reason why no schema does.
func (d *Document) ResponseSchema(op Operation, status, media string) (pointer, why string) {
	response, why := d.Descend(Join(op.Pointer, "responses"), status)
	if why != "" {
		return "", why
	}
	at := response + "/schema" // Swagger 2.0
	if content, ok := d.Raw(response + "/content"); ok && content != nil {
		holder, why := d.Descend(response+"/content", media)
		if why != "" {
			return "", why
		}
		at = holder + "/schema"
	}
	value, declared := d.Raw(at)
	if !declared {
		return "", "no schema is declared for this answer"
	}
	schema, isObject := value.(map[string]any)
	if _, isBool := value.(bool); !isObject && !isBool {
		return "", "no schema: expected one, got a value of type " + JSONType(value)
	}
	if ref, ok := schema["$ref"].(string); ok && len(schema) == 1 {
		target, _, found := d.Follow(ref)
		if !found {
			return "", "dangling $ref " + evidence.Clip(ref, 120)
		}
		return target, ""
	}
	if isObject && len(schema) == 0 {
		return "", "no schema: the declared one is empty"
	}
	return at, ""
}

// Descend returns the pointer of a member after following its references, or the reason why they cannot be followed.
func (d *Document) Descend(pointer, token string) (at, why string) {
	at = Join(pointer, token)
	for range 16 {
		value, _ := d.Raw(at)
		holder, _ := value.(map[string]any)
		ref, ok := holder["$ref"].(string)
		if !ok {
			return at, ""
		}
		target, _, found := d.Follow(ref)
		if !found {
			return "", "dangling $ref " + evidence.Clip(ref, 120)
		}
		at = target
	}
	return "", "dangling $ref: a chain of references without end"
}
