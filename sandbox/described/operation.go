package described

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/schema"
	"github.com/rin-network/rin/sandbox/described/content"
	"github.com/rin-network/rin/sandbox/described/document"
	"github.com/rin-network/rin/sandbox/described/parameter"
	"github.com/rin-network/rin/sandbox/described/route"
)

// operation is one of the document, ready to be asked.
type operation struct {
	document.Operation
	resource   *resource
	parameters []parameter.Parameter
	response   document.Response
	status     int
	media      []document.Media // of the response, those that can be made
	headers    []document.Header
	list       *list // that it answers with; nil for none
	fault      error // why it is not served
}

// operation prepares one: its schemas are read and its answer is made once, so that what is wrong is known before the first request.
func (a *API) operation(described document.Operation, r *resource) *operation {
	o := &operation{Operation: described, resource: r}
	if described.Fault != nil {
		o.fault = described.Fault
		return o
	}
	o.fault = a.prepare(o)
	return o
}

func (a *API) prepare(o *operation) error {
	for _, name := range route.Parameters(o.Path) {
		if !slices.ContainsFunc(o.Parameters, func(p document.Parameter) bool { return p.In == "path" && p.Name == name }) {
			// It is described nowhere: any text will do.
			o.Parameters = append(o.Parameters, document.Parameter{Name: name, In: "path", Style: "simple", Required: true})
		}
	}
	for _, p := range o.Parameters {
		if p.Schema != "" {
			if err := a.requests.Prepare(p.Schema); err != nil {
				return err
			}
		}
		o.parameters = append(o.parameters, parameter.Parameter{Parameter: p, Kind: parameter.KindOf(a.document, p.Schema)})
	}
	if o.Body != nil {
		for _, m := range o.Body.Content {
			if m.Schema != "" {
				if err := a.requests.Prepare(m.Schema); err != nil {
					return err
				}
			}
		}
	}
	response, ok := o.Success()
	if !ok {
		return a.document.Fault(o.Pointer, "it describes no response")
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
	slices.SortStableFunc(o.media, func(x, y document.Media) int { return cmp.Compare(preference(x.Type), preference(y.Type)) })
	if len(o.response.Content) > 0 && len(o.media) == 0 {
		return first
	}
	for _, h := range o.response.Headers {
		if sentAnyhow(h.Name) {
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
func (a *API) makeable(m document.Media, r document.Response) error {
	switch content.FormOf(m.Type) {
	case content.None:
		return a.document.Fault(r.Pointer, "content of the type %s is not made", m.Type)
	case content.Sample:
		if a.opaque(m.Schema) {
			return nil
		}
		value, err := a.drawn(m.Schema)
		if _, isText := value.(string); err == nil && !isText {
			return a.document.Fault(r.Pointer, "content of the type %s is a file, and its schema asks for something else than text", m.Type)
		}
		return err
	}
	_, err := a.drawn(m.Schema)
	return err
}

// preference puts JSON before what else an operation answers with: what is asked for nothing gets what most clients read.
func preference(mediaType string) int {
	if content.FormOf(mediaType) == content.JSON {
		return 0
	}
	return 1
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
	if err := a.responses.Prepare(pointer); err != nil {
		return nil, err
	}
	value, err := a.samples.Value(pointer, "")
	var fault *schema.Fault
	if errors.As(err, &fault) {
		return nil, a.document.Fault(strings.TrimPrefix(fault.Pointer, "#"), "%s", fault.Reason)
	}
	return value, err
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

// sentAnyhow are headers that the server writes itself, and Content-Type, which OpenAPI describes elsewhere (OAS 3.0.3 §4.7.17.1).
func sentAnyhow(name string) bool {
	return slices.Contains([]string{"Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Date", "Trailer",
		"Upgrade", "Etag", "Vary", "Cache-Control", "Www-Authenticate"}, http.CanonicalHeaderKey(name))
}
