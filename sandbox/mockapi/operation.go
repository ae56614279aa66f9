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

// operation is one of the document, ready to be asked.
type operation struct {
	Operation
	resource   *resource
	parameters []parameterDecoder
	response   Response
	status     int
	media      []Media // of the response, those that can be made
	headers    []Header
	list       *list // that it answers with; nil for none
	fault      error // why it is not served
}

// operation prepares one: its schemas are read and its answer is made once, so that what is wrong is known before the first request.
func (a *API) operation(described Operation, r *resource) *operation {
	o := &operation{Operation: described, resource: r}
	if described.Fault != nil {
		o.fault = described.Fault
		return o
	}
	o.fault = a.prepare(o)
	return o
}

func (a *API) prepare(o *operation) error {
	for _, name := range PathParameters(o.Path) {
		if !slices.ContainsFunc(o.Parameters, func(p Parameter) bool { return p.In == "path" && p.Name == name }) {
			// It is described nowhere: any text will do.
			o.Parameters = append(o.Parameters, Parameter{Name: name, In: "path", Style: "simple", Required: true})
		}
	}
	for _, p := range o.Parameters {
		if p.Schema != "" {
			if err := prepare(a.requests, p.Schema); err != nil {
				return err
			}
		}
		o.parameters = append(o.parameters, parameterDecoder{Parameter: p, Kind: valueTypeAt(a.document, p.Schema)})
	}
	if o.Body != nil {
		for _, m := range o.Body.Content {
			if m.Schema != "" {
				if err := prepare(a.requests, m.Schema); err != nil {
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

// prepareAnswer draws a value of each schema once.
func (a *API) prepareAnswer(o *operation) error {
	var first error
	for _, m := range o.response.Content {
		if err := a.makeable(m, o.response); err != nil {
			if first == nil {
				first = err
			}
			continue
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
		if _, err := a.drawn(h.Schema); err != nil {
			if h.Require {
				return err
			}
			continue
		}
		o.headers = append(o.headers, h)
	}
	return nil
}

// makeable tells why no content of a media type can be made; nil when it can.
func (a *API) makeable(m Media, r Response) error {
	switch FormOf(m.Type) {
	case FormNone:
		return sample.NewFault(r.Pointer, "content of the type %s is not made", m.Type)
	case FormFile:
		if a.opaque(m.Schema) {
			return nil
		}
		value, err := a.drawn(m.Schema)
		if _, isText := value.(string); err == nil && !isText {
			return sample.NewFault(r.Pointer, "content of the type %s is a file, and its schema asks for something else than text", m.Type)
		}
		return err
	}
	_, err := a.drawn(m.Schema)
	return err
}

// opaque tells a schema that says nothing of the content of a file but that it is text or bytes.
func (a *API) opaque(pointer string) bool {
	if pointer == "" {
		return true
	}
	schema, _ := a.schema(pointer)
	for name, value := range schema {
		switch name {
		case "type":
			if value != "string" {
				return false
			}
		case "format":
			if value != "binary" {
				return false
			}
		case "title", "description", "nullable", "contentMediaType", "deprecated", "$comment", "xml":
		default:
			return false
		}
	}
	return true
}

// drawn draws a first value of a schema.
func (a *API) drawn(pointer string) (any, error) {
	if pointer == "" {
		return nil, nil
	}
	if err := prepare(a.samples.Validator, pointer); err != nil {
		return nil, err
	}
	return a.samples.Value(pointer, "")
}

// status is the number that an answer of a documented status has.
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

// isServerHeader are headers that the server writes itself, and Content-Type, which OpenAPI describes elsewhere (OAS 3.0.3 §4.7.17.1).
func isServerHeader(name string) bool {
	return slices.Contains([]string{"Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Date", "Trailer",
		"Upgrade", "Etag", "Vary", "Cache-Control", "Www-Authenticate"}, http.CanonicalHeaderKey(name))
}

// schema is the schema at a pointer, references followed, and where it is; of what is no object, none.
func (a *API) schema(pointer string) (map[string]any, string) {
	object, at, fault := a.document.Object(pointer)
	if fault != nil {
		return nil, pointer
	}
	return object, at
}

// same tells whether two pointers lead to one schema.
func (a *API) same(one, other string) bool {
	_, x := a.schema(one)
	_, y := a.schema(other)
	return x == y
}

// equal tells whether two pointers lead to one schema, or to two that say the same.
func (a *API) equal(one, other string) bool {
	x, at := a.schema(one)
	y, where := a.schema(other)
	return at == where || reflect.DeepEqual(x, y)
}

// members are the properties of a schema with the pointers of theirs, through references, the parts that it is made of, and what its discriminator leads to.
func (a *API) members(pointer string) map[string]string {
	all := map[string]string{}
	a.collect(pointer, all, map[string]bool{})
	return all
}

// maxParts bounds the parts that are looked at.
const maxParts = 200

func (a *API) collect(pointer string, all map[string]string, seen map[string]bool) {
	schema, at := a.schema(pointer)
	if seen[at] || len(seen) > maxParts {
		return
	}
	seen[at] = true
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		if _, there := all[name]; !there {
			all[name] = sample.Join(at, "properties", name)
		}
	}
	for _, combination := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := schema[combination].([]any)
		for i := range parts {
			a.collect(sample.Join(at, combination, strconv.Itoa(i)), all, seen)
		}
	}
	discriminator, _ := schema["discriminator"].(map[string]any)
	mapping, _ := discriminator["mapping"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(mapping)) {
		target, _ := mapping[name].(string)
		if strings.HasPrefix(target, "#") {
			a.collect(target, all, seen)
		}
	}
}

// put gives members of an object other values, as many of them as leave it fitting its schema: all at once, else one by one in the order of
// names.
func (a *API) put(object map[string]any, schema string, names []string, values map[string]any) map[string]any {
	known := a.members(schema)
	whole, changed := maps.Clone(object), false
	for _, name := range names {
		if _, ok := known[name]; ok {
			whole[name], changed = values[name], true
		}
	}
	if !changed || a.fits(schema, whole) {
		return whole
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

func (a *API) fits(schema string, value any) bool {
	if schema == "" {
		return true
	}
	violations, err := a.check(a.samples.Validator, schema, value)
	return err == nil && len(violations) == 0
}
