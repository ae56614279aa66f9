package described

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/schema"
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
	if len(o.response.Content) > 0 && len(o.media) == 0 {
		return first
	}
	for _, h := range o.response.Headers {
		if sentAnyhow(h.Name) {
			continue
		}
		if err := a.drawable(h.Schema); err != nil {
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
	switch form(m.Type) {
	case asJSON, asText:
		return a.drawable(m.Schema)
	}
	return a.document.Fault(r.Pointer, "content of the type %s is not made: JSON and text are", m.Type)
}

func (a *API) drawable(pointer string) error {
	if pointer == "" {
		return nil
	}
	if err := a.responses.Prepare(pointer); err != nil {
		return err
	}
	_, err := a.samples.Value(pointer, "")
	var fault *schema.Fault
	if errors.As(err, &fault) {
		return a.document.Fault(strings.TrimPrefix(fault.Pointer, "#"), "%s", fault.Reason)
	}
	return err
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

// The forms of content.
const (
	asJSON = iota
	asText
	asNothing
)

// form tells how content of a media type, or of a range of them, is made.
func form(mediaType string) int {
	essence, _, _ := strings.Cut(mediaType, ";")
	switch essence = strings.TrimSpace(essence); {
	case strings.HasSuffix(essence, "json"), essence == "*/*", essence == "application/*":
		return asJSON
	case strings.HasPrefix(essence, "text/") && essence != "text/xml" && essence != "text/html":
		return asText
	}
	return asNothing
}

// concrete is the media type that is sent for a range of them.
func concrete(mediaType string) string {
	switch mediaType {
	case "*/*", "application/*":
		return "application/json"
	case "text/*":
		return "text/plain"
	}
	return mediaType
}
