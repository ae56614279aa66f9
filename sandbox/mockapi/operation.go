package mockapi

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/sample"
)

// operation is an operation of the document, prepared for requests.
type operation struct {
	Operation
	resource   *resource
	parameters []parameterDecoder
	response   Response
	status     int
	media      []Media // the media types of the response that can be made
	headers    []Parameter
	list       *list // the list that it answers with; nil if it answers with something else
	fault      error // why the operation is not served; nil if it is
}

// operation prepares an operation: it reads the schemas and draws each answer once, so that faults are known before the first request.
func (a *API) operation(described Operation, r *resource) *operation {
	o := &operation{Operation: described, resource: r}
	if described.Fault != nil {
		o.fault = described.Fault
	} else {
		o.fault = a.prepare(o)
	}
	return o
}

// prepare reads the parameters and schemas of an operation. Its error says why the operation cannot be served.
func (a *API) prepare(o *operation) error {
	for _, name := range PathParameters(o.Path) {
		if !slices.ContainsFunc(o.Parameters, func(p Parameter) bool { return p.In == "path" && p.Name == name }) {
			// The document does not describe this parameter: any text is valid.
			o.Parameters = append(o.Parameters, Parameter{Name: name, In: "path", Style: "simple", Required: true})
		}
	}
	for _, p := range o.Parameters {
		if p.Schema != "" {
			if _, err := a.requests.Schema(p.Schema); err != nil {
				return err
			}
		}
		o.parameters = append(o.parameters, parameterDecoder{Parameter: p, Kind: valueTypeAt(a.document, p.Schema, 0)})
	}
	if o.Body != nil {
		for _, m := range o.Body.Content {
			if m.Schema != "" {
				if _, err := a.requests.Schema(m.Schema); err != nil {
					return err
				}
			}
		}
	}
	response, ok := o.Success()
	if !ok {
		return sample.NewFault(o.Pointer, "it describes no response")
	}
	o.response, o.status = response, status(o.Method, response.Status)
	return a.prepareAnswer(o)
}

// prepareAnswer draws a value of each schema of the response once, and keeps the media types and headers for which that is possible.
func (a *API) prepareAnswer(o *operation) error {
	var first error
	for _, m := range o.response.Content {
		if err := a.answerFault(m, o.response); err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		m.examples = a.examplesAt(m.Pointer, m.Schema)
		if m.Schema != "" {
			m.examples = append(m.examples, a.examplesAt(m.Schema, m.Schema)...)
		}
		o.media = append(o.media, m)
	}
	if len(o.response.Content) > 0 && len(o.media) == 0 {
		return first
	}
	for _, h := range o.response.Headers {
		if isServerHeader(h.Name) {
			continue
		}
		if _, err := a.firstValue(h.Schema); err != nil {
			if h.Required {
				return err
			}
			continue
		}
		o.headers = append(o.headers, h)
	}
	return nil
}

// answerFault says why no content of a media type can be made; nil if it can.
func (a *API) answerFault(m Media, r Response) error {
	switch FormOf(m.Type) {
	case FormNone:
		return sample.NewFault(r.Pointer, "content of the type %s is not made", m.Type)
	case FormFile:
		if a.isOpaque(m.Schema) {
			return nil
		}
		value, err := a.firstValue(m.Schema)
		if _, isText := value.(string); err == nil && !isText {
			return sample.NewFault(r.Pointer, "content of the type %s is a file, and its schema is not that of a text", m.Type)
		}
		return err
	}
	_, err := a.firstValue(m.Schema)
	return err
}

// isOpaque reports whether a schema says only that the content of a file is text or bytes.
func (a *API) isOpaque(pointer string) bool {
	if pointer == "" {
		return true
	}
	schema, _ := a.schema(pointer)
	for keyword, expected := range map[string]string{"type": "string", "format": "binary"} {
		if value, has := schema[keyword]; has && value != expected {
			return false
		}
	}
	return hasOnly(schema, "type", "format", "title", "description", "nullable", "contentMediaType", "deprecated", "$comment", "xml")
}

// hasOnly reports whether a schema has no keywords besides the given ones.
func hasOnly(schema map[string]any, keywords ...string) bool {
	for name := range schema {
		if !slices.Contains(keywords, name) {
			return false
		}
	}
	return true
}

// firstValue draws a value of a schema; the error means that the schema has none.
func (a *API) firstValue(pointer string) (any, error) {
	if pointer == "" {
		return nil, nil
	}
	if _, err := a.samples.Schema(pointer); err != nil {
		return nil, err
	}
	return a.samples.Value(pointer, "")
}

// status returns the status of an answer for a documented status, which may be a range or "default".
func status(method, documented string) int {
	switch {
	case documented == "default" || documented == "2XX":
		if method == http.MethodPost {
			return http.StatusCreated
		}
		return http.StatusOK
	case strings.HasSuffix(documented, "XX"):
		return int(documented[0]-'0') * 100
	}
	n, _ := strconv.Atoi(documented)
	return n
}

// isServerHeader reports whether the server writes a header itself. Content-Type is one, because OpenAPI describes it elsewhere (OAS 3.0.3 §4.7.17.1).
func isServerHeader(name string) bool {
	return slices.Contains([]string{"Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Date", "Trailer",
		"Upgrade", "Etag", "Vary", "Cache-Control", "Www-Authenticate"}, http.CanonicalHeaderKey(name))
}

// schema follows references from a pointer, and returns the schema at their end and its pointer; nil unless the schema is an object.
func (a *API) schema(pointer string) (map[string]any, string) {
	object, at, fault := a.document.Object(pointer)
	if fault != nil {
		return nil, pointer
	}
	return object, at
}

// same reports whether two pointers lead to the same schema.
func (a *API) same(pointer, other string) bool {
	_, x := a.schema(pointer)
	_, y := a.schema(other)
	return x == y
}

// equal reports whether two pointers lead to the same schema, or to two with the same content.
func (a *API) equal(pointer, other string) bool {
	x, xAt := a.schema(pointer)
	y, yAt := a.schema(other)
	return xAt == yAt || reflect.DeepEqual(x, y)
}

// members returns the properties of a schema with the pointers of their schemas: its own, and those of its references, of its parts (allOf,
// oneOf, anyOf) and of the schemas that its discriminator names.
func (a *API) members(pointer string) map[string]string {
	all := map[string]string{}
	a.collectMembers(pointer, all, map[string]bool{})
	return all
}

// maxParts limits the parts of a schema that [API.members] reads, and the values that [API.put] tries one by one.
const maxParts = 200

// collectMembers adds the members of a schema and of its parts to all.
func (a *API) collectMembers(pointer string, all map[string]string, seen map[string]bool) {
	schema, at := a.schema(pointer)
	if seen[at] || len(seen) > maxParts {
		return
	}
	seen[at] = true
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		if _, known := all[name]; !known {
			all[name] = sample.Join(at, "properties", name)
		}
	}
	for _, combination := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := schema[combination].([]any)
		for i := range parts {
			a.collectMembers(sample.Join(at, combination, strconv.Itoa(i)), all, seen)
		}
	}
	discriminator, _ := schema["discriminator"].(map[string]any)
	mapping, _ := discriminator["mapping"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(mapping)) {
		target, _ := mapping[name].(string)
		if strings.HasPrefix(target, "#") {
			a.collectMembers(target, all, seen)
		}
	}
}

// put returns a copy of an object in which the named members have the given values. If the object does not fit its schema with all of them,
// put tries them one by one, in the order of names.
func (a *API) put(object map[string]any, schema string, names []string, values map[string]any) map[string]any {
	known := a.members(schema)
	all, changed := maps.Clone(object), false
	for _, name := range names {
		if _, ok := known[name]; ok {
			all[name], changed = values[name], true
		}
	}
	if !changed || a.fits(schema, all) {
		return all
	}
	current := object
	for _, name := range names[:min(len(names), maxParts)] {
		if _, ok := known[name]; !ok {
			continue
		}
		next := maps.Clone(current)
		next[name] = values[name]
		if a.fits(schema, next) {
			current = next
		}
	}
	return current
}

// fits reports whether a value fits a schema; every value fits an empty pointer.
func (a *API) fits(schema string, value any) bool {
	if schema == "" {
		return true
	}
	violations, err := a.check(a.samples.Validator, schema, value)
	return err == nil && len(violations) == 0
}
