package document

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Operation is one method of one path.
type Operation struct {
	// Method is in capitals; Path is a template as the document writes it, below the path of its server.
	Method, Path string
	// Server is the path of the server's URL, without a slash at its end.
	Server string
	// ID is the operationId; Pointer is where the operation is in the document.
	ID, Pointer string
	// Open tells that a security requirement of nothing is among those of the operation; Declared that it, or the document, has any.
	Open, Declared bool
	Parameters     []Parameter
	// Body is what the request carries; nil for nothing.
	Body *Body
	// Responses are in the order of their status: numbers, ranges, default.
	Responses []Response
	// Fault says why the operation cannot be served; nil when it can.
	Fault *Fault
}

// Parameter is a parameter of an operation.
type Parameter struct {
	// Name is the name; In is path, query, header or cookie.
	Name, In string
	// Style is a style of OAS 3.0.3 §4.7.12.2; empty when Media is set.
	Style             string
	Explode, Required bool
	// Media is the media type of a parameter that is a text of that type.
	Media string
	// Schema is the pointer of its schema; empty for none.
	Schema string
	// Pointer is where the parameter is.
	Pointer string
}

// Body is a request body.
type Body struct {
	Required bool
	Content  []Media
}

// Media is a media type with its schema.
type Media struct {
	// Type may be a range, as in "text/*".
	Type string
	// Schema is the pointer of the schema; empty for none.
	Schema string
}

// Response is one of an operation.
type Response struct {
	// Status is a number, a range as in "2XX", or "default".
	Status  string
	Content []Media
	Headers []Header
	Pointer string
}

// Header is a header of a response.
type Header struct {
	Name             string
	Explode, Require bool
	// Media is the media type of a header that is a text of that type.
	Media string
	// Schema is the pointer of its schema; empty for none.
	Schema string
}

// Methods are those that a path item can have, in their order.
func Methods() []string {
	return []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodOptions, http.MethodHead, http.MethodPatch, http.MethodTrace}
}

// collect reads the operations of the paths.
func (d *Document) collect() *Fault {
	paths, ok := d.Tree()["paths"].(map[string]any)
	if !ok {
		return &Fault{Pointer: "/paths", Reason: "expected an object with a member for each path, got " + kind(d.Tree()["paths"])}
	}
	for _, path := range sortedKeys(paths) {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		if !strings.HasPrefix(path, "/") {
			d.Faults = append(d.Faults, d.Fault(Child("/paths", path), "a path begins with a slash"))
			continue
		}
		if fault := d.collectPath(path); fault != nil {
			return fault
		}
	}
	if len(d.Operations) == 0 {
		return &Fault{Pointer: "/paths", Reason: "it has no operation"}
	}
	return nil
}

func (d *Document) collectPath(path string) *Fault {
	item, at, fault := d.Resolve(Child("/paths", path))
	if fault != nil {
		d.Faults = append(d.Faults, fault)
		return nil
	}
	for _, method := range Methods() {
		name := strings.ToLower(method)
		if _, there := item[name]; !there {
			continue
		}
		if len(d.Operations) == MaxOperations {
			return &Fault{Pointer: "/paths", Reason: fmt.Sprintf("it has more than %d operations", MaxOperations)}
		}
		o := Operation{Method: method, Path: path, Pointer: Child(at, name)}
		r := reader{document: d}
		r.operation(&o, item, at)
		o.Fault = r.fault
		d.Operations = append(d.Operations, o)
	}
	return nil
}

// Success is the response that the operation gives when all is well: the lowest 2xx, else 2XX, else default, else the lowest final one.
func (o Operation) Success() (Response, bool) {
	for _, good := range []func(string) bool{
		func(s string) bool { return len(s) == 3 && s[0] == '2' && s != "2XX" },
		func(s string) bool { return s == "2XX" },
		func(s string) bool { return s == "default" },
		func(s string) bool { return s[0] != '1' }, // which would be followed by another one
	} {
		if i := slices.IndexFunc(o.Responses, func(r Response) bool { return good(r.Status) }); i >= 0 {
			return o.Responses[i], true
		}
	}
	return Response{}, false
}
