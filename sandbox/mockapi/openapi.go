package mockapi

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/sample"
)

// Operation is one method of one path.
type Operation struct {
	// Method is in capitals; Path is the path template of the document, below the path of its server.
	Method, Path string
	// Server is the path of the server's URL, without a slash at its end.
	Server string
	// ID is the operationId; Pointer is the place of the operation in the document.
	ID, Pointer string
	// Open reports that the operation needs no token: its security requirements are empty, or one of them is.
	Open       bool
	Parameters []Parameter
	// Body is the request body; nil without one.
	Body *Body
	// Responses are sorted by status: 200, 2XX, 404, 4XX, default.
	Responses []Response
	// Fault says why the operation cannot be served; nil if it can.
	Fault *sample.Fault
}

// Parameter is a parameter of an operation, or a header of a response.
type Parameter struct {
	// Name is the name; In is path, query, header or cookie.
	Name, In string
	// Style is a style of OAS 3.0.3 §4.7.12.2; "" if Media is set.
	Style             string
	Explode, Required bool
	// Media is the media type of a parameter with "content"; "" for others.
	Media string
	// Schema is the pointer of the parameter's schema; "" without one.
	Schema string
	// Pointer is the place of the parameter in the document.
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
	// Schema is the pointer of the schema; "" without one.
	Schema string
	// Pointer is the place of the media type in the document.
	Pointer string

	examples []any // the examples that answers use; nil unless the media type is that of a response
}

// Response is a response of an operation.
type Response struct {
	// Status is a number, a range as in "2XX", or "default".
	Status  string
	Content []Media
	Headers []Parameter
	Pointer string
}

// methods lists the methods of a path item, in the order of OAS 3.0.3 §4.7.9.
func methods() []string {
	return []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodOptions, http.MethodHead, http.MethodPatch, http.MethodTrace}
}

// collect reads the operations of the paths.
func (d *Document) collect() *sample.Fault {
	paths, ok := d.Root["paths"].(map[string]any)
	if !ok {
		return sample.NewFault("/paths", "expected an object with a member for each path, got %s", typeName(d.Root["paths"]))
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		if !strings.HasPrefix(path, "/") {
			d.Faults = append(d.Faults, sample.NewFault(sample.Join("/paths", path), "a path begins with a slash"))
			continue
		}
		if fault := d.collectPath(path); fault != nil {
			return fault
		}
	}
	if len(d.Operations) == 0 {
		return sample.NewFault("/paths", "it has no operation")
	}
	return nil
}

// collectPath reads the operations of one path. A fault of the path itself goes to d.Faults; the returned one refuses the whole document.
func (d *Document) collectPath(path string) *sample.Fault {
	item, at, fault := d.Object(sample.Join("/paths", path))
	if fault != nil {
		d.Faults = append(d.Faults, fault)
		return nil
	}
	for _, method := range methods() {
		name := strings.ToLower(method)
		if _, known := item[name]; !known {
			continue
		}
		if len(d.Operations) == MaxOperations {
			return sample.NewFault("/paths", "it has more than %d operations", MaxOperations)
		}
		o := Operation{Method: method, Path: path, Pointer: sample.Join(at, name)}
		r := operationReader{document: d}
		r.operation(&o, item, at)
		o.Fault = r.fault
		d.Operations = append(d.Operations, o)
	}
	return nil
}

// Success returns the response to a valid request: the lowest 2xx, else 2XX, else default, else the lowest final status.
func (o Operation) Success() (Response, bool) {
	for _, fits := range []func(string) bool{
		func(s string) bool { return len(s) == 3 && s[0] == '2' && s != "2XX" },
		func(s string) bool { return s == "2XX" },
		func(s string) bool { return s == "default" },
		func(s string) bool { return s[0] != '1' }, // 1xx is never final
	} {
		if i := slices.IndexFunc(o.Responses, func(r Response) bool { return fits(r.Status) }); i >= 0 {
			return o.Responses[i], true
		}
	}
	return Response{}, false
}

// operationReader reads an operation. It goes on after a fault, and keeps the first one.
type operationReader struct {
	document *Document
	fault    *sample.Fault
}

func (r *operationReader) fail(pointer, format string, values ...any) {
	if r.fault == nil {
		r.fault = sample.NewFault(pointer, format, values...)
	}
}

// object follows references from a pointer, and returns the object at their end and its pointer; nil after a fault.
func (r *operationReader) object(pointer string) (map[string]any, string) {
	object, at, fault := r.document.Object(pointer)
	if fault != nil {
		if r.fault == nil {
			r.fault = fault
		}
		return nil, at
	}
	return object, at
}

func (r *operationReader) operation(o *Operation, item map[string]any, itemAt string) {
	operation, at := r.object(o.Pointer)
	if operation == nil {
		return
	}
	o.ID, _ = operation["operationId"].(string)
	r.security(o, operation)
	o.Server = serverPath(operation, item, r.document.Root)
	r.parameters(o, sample.Join(itemAt, "parameters"), item["parameters"])
	r.parameters(o, sample.Join(at, "parameters"), operation["parameters"])
	if operation["requestBody"] != nil {
		o.Body = r.body(sample.Join(at, "requestBody"))
	}
	r.responses(o, sample.Join(at, "responses"), operation["responses"])
}

func (r *operationReader) security(o *Operation, operation map[string]any) {
	requirements, declared := operation["security"].([]any)
	if !declared {
		requirements, declared = r.document.Root["security"].([]any)
	}
	o.Open = declared && len(requirements) == 0 || slices.ContainsFunc(requirements, func(requirement any) bool {
		names, ok := requirement.(map[string]any)
		return ok && len(names) == 0
	})
}

func (r *operationReader) body(pointer string) *Body {
	body, at := r.object(pointer)
	required, _ := body["required"].(bool)
	return &Body{Required: required, Content: r.content(sample.Join(at, "content"), body["content"])}
}

// content reads media types in the order of preference: JSON first, then by name.
func (r *operationReader) content(pointer string, value any) []Media {
	content, ok := value.(map[string]any)
	if !ok {
		if value != nil {
			r.fail(pointer, "expected an object with a member for each media type, got %s", typeName(value))
		}
		return nil
	}
	var all []Media
	for _, name := range slices.Sorted(maps.Keys(content)) {
		media, at := r.object(sample.Join(pointer, name))
		m := Media{Type: strings.ToLower(name), Pointer: at}
		if media["schema"] != nil {
			m.Schema = sample.Join(at, "schema")
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b Media) int { return mediaPreference(a.Type) - mediaPreference(b.Type) })
	return all
}

// mediaPreference orders media types: JSON first, as most clients read it.
func mediaPreference(mediaType string) int {
	switch essence := mediaEssence(mediaType); {
	case essence == "application/json":
		return 0
	case strings.HasSuffix(essence, "+json") && essence != "application/problem+json":
		return 1
	case strings.HasSuffix(essence, "json"), essence == "*/*", essence == "application/*":
		return 2
	case essence == "text/plain":
		return 3
	case strings.HasPrefix(essence, "text/"):
		return 4
	}
	return 5
}

// parameters adds a list of parameters. A parameter of the operation replaces one of the path item with the same name and place.
func (r *operationReader) parameters(o *Operation, pointer string, value any) {
	all, ok := value.([]any)
	if !ok {
		if value != nil {
			r.fail(pointer, "expected an array of parameters, got %s", typeName(value))
		}
		return
	}
	if len(all) > maxParameters {
		r.fail(pointer, "it has %d parameters; at most %d are read", len(all), maxParameters)
		return
	}
	for i := range all {
		p, ok := r.parameter(pointer + "/" + strconv.Itoa(i))
		if !ok {
			continue
		}
		same := func(other Parameter) bool { return other.Name == p.Name && other.In == p.In }
		if j := slices.IndexFunc(o.Parameters, same); j >= 0 {
			o.Parameters[j] = p
		} else {
			o.Parameters = append(o.Parameters, p)
		}
	}
}

// parameter reads a parameter; ok is false if it must be ignored.
func (r *operationReader) parameter(pointer string) (p Parameter, ok bool) {
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
		r.fail(sample.Join(at, "in"), "expected path, query, header or cookie, got %q", clip(p.In))
	}
	if p.In == "header" && isIgnoredHeader(p.Name) {
		return p, false
	}
	r.readStyle(&p, object, at)
	return p, true
}

// isIgnoredHeader reports whether a header parameter is ignored, because OpenAPI describes the header elsewhere (OAS 3.0.3 §4.7.12.1).
func isIgnoredHeader(name string) bool {
	switch strings.ToLower(name) {
	case "accept", "content-type", "authorization":
		return true
	}
	return false
}

// readStyle reads how the value of a parameter or header is written.
func (r *operationReader) readStyle(p *Parameter, object map[string]any, at string) {
	if content, ok := object["content"].(map[string]any); ok && len(content) > 0 {
		media := r.content(sample.Join(at, "content"), content)[0]
		p.Media, p.Schema, p.Style = media.Type, media.Schema, ""
		return
	}
	if object["schema"] != nil {
		p.Schema = sample.Join(at, "schema")
	}
	allowed := map[string][]string{ // the first is the default
		"path": {"simple", "label", "matrix"}, "header": {"simple"}, "cookie": {"form"},
		"query": {"form", "spaceDelimited", "pipeDelimited", "deepObject"},
	}[p.In]
	if p.Style == "" && len(allowed) > 0 {
		p.Style = allowed[0]
	}
	p.Explode = p.Style == "form"
	if explode, ok := object["explode"].(bool); ok {
		p.Explode = explode
	}
	if !slices.Contains(allowed, p.Style) {
		r.fail(sample.Join(at, "style"), "a parameter in the %s has one of the styles %s, got %q", p.In, strings.Join(allowed, ", "), clip(p.Style))
	}
}

func (r *operationReader) responses(o *Operation, pointer string, value any) {
	responses, ok := value.(map[string]any)
	if !ok {
		r.fail(pointer, "expected an object with a member for each status, got %s", typeName(value))
		return
	}
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		if strings.HasPrefix(status, "x-") {
			continue
		}
		known := canonicalStatus(status)
		if known == "" {
			r.fail(sample.Join(pointer, status), "expected a status from 100 to 599, a range as in 2XX, or default")
			continue
		}
		object, at := r.object(sample.Join(pointer, status))
		o.Responses = append(o.Responses, Response{
			Status: known, Pointer: at, Content: r.content(sample.Join(at, "content"), object["content"]),
			Headers: r.headers(sample.Join(at, "headers"), object["headers"]),
		})
	}
	if len(o.Responses) == 0 {
		r.fail(pointer, "the operation describes no response")
	}
	slices.SortStableFunc(o.Responses, func(a, b Response) int { return strings.Compare(a.Status, b.Status) })
}

// canonicalStatus returns a number, a range in capitals, or default; "" for other texts.
func canonicalStatus(status string) string {
	if status == "default" {
		return status
	}
	upper := strings.ToUpper(status)
	if len(upper) != 3 || upper[0] < '1' || upper[0] > '5' {
		return ""
	}
	if n, err := strconv.Atoi(upper); (err != nil || n < 100) && upper[1:] != "XX" {
		return ""
	}
	return upper
}

func (r *operationReader) headers(pointer string, value any) []Parameter {
	headers, _ := value.(map[string]any)
	var all []Parameter
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		object, at := r.object(sample.Join(pointer, name))
		p := Parameter{Name: name, In: "header", Pointer: at}
		p.Required, _ = object["required"].(bool)
		r.readStyle(&p, object, at)
		all = append(all, p)
	}
	return all
}

// serverPath returns the path of the first server, without a slash at its end; variables have their defaults. The servers are those of
// the first holder that has any: an operation, its path item, or the document.
func serverPath(holders ...map[string]any) string {
	for _, holder := range holders {
		servers, _ := holder["servers"].([]any)
		if len(servers) == 0 {
			continue
		}
		server, _ := servers[0].(map[string]any)
		if u, err := url.Parse(serverURL(server)); err == nil && strings.Trim(u.Path, "/") != "" {
			return "/" + strings.Trim(u.Path, "/")
		}
		return ""
	}
	return ""
}

// serverURL returns the URL of a server; variables have their defaults.
func serverURL(server map[string]any) string {
	address, _ := server["url"].(string)
	variables, _ := server["variables"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		variable, _ := variables[name].(map[string]any)
		value, _ := variable["default"].(string)
		address = strings.ReplaceAll(address, "{"+name+"}", value)
	}
	return address
}
