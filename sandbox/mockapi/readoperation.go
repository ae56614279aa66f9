package mockapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/fixtures/sample"
)

// ReadOperation describes a GET operation of the document to a client that reads all its records.
type ReadOperation struct {
	// Path is the path template of the document.
	Path string
	// Operation is the method with the path.
	Operation string
	// Fault says why the operation cannot be served; nil if it can.
	Fault error
	// Required are the parameters of the query and of the header without which the operation refuses requests.
	Required []Parameter
	// Media is the media type of its answers, "" for JSON. Headers are the names of the header fields that the document describes for them.
	Media   string
	Headers []string
	// Pages has the query parameters that choose a page.
	Pages PageParameters

	api *API
	o   *operation
}

// PageParameters names the query parameters that choose a page of a list, as requests write them; "" for each that the list lacks.
type PageParameters struct {
	// Size names the parameter for the number of records of a page. MaxSize is the largest value that the document allows, or 0.
	Size    string
	MaxSize int
	// Offset names the parameter for the number of records before the page, Number the one for the number of the page. The first page has the number First.
	Offset, Number string
	First          int
	// Cursor names the parameter for a cursor, which the answer with the page before contains.
	Cursor string
}

// ReadOperations lists the GET operations, those with fewer parameters in their paths first.
func (a *API) ReadOperations() []ReadOperation {
	var all []ReadOperation
	for _, r := range a.all {
		o := r.operations[http.MethodGet]
		if o == nil {
			continue
		}
		read := ReadOperation{Path: o.Path, Operation: "GET " + o.Path, Fault: o.fault, api: a, o: o}
		if read.Fault == nil && len(o.media) > 0 && FormOf(o.media[0].Type) != FormJSON {
			read.Media = concreteType(o.media[0].Type)
		}
		for _, h := range o.headers {
			read.Headers = append(read.Headers, h.Name)
		}
		for _, p := range o.Parameters {
			if p.Required && (p.In == "query" || p.In == "header") {
				read.Required = append(read.Required, p)
			}
		}
		read.Pages = a.pageParameters(o)
		all = append(all, read)
	}
	slices.SortStableFunc(all, func(x, y ReadOperation) int {
		return cmp.Compare(strings.Count(x.Path, "{"), strings.Count(y.Path, "{"))
	})
	return all
}

// pageParameters finds the query parameters of an operation that choose a page.
func (a *API) pageParameters(o *operation) PageParameters {
	found := a.pagingOf(o)
	p := PageParameters{Size: found.size.name(), Offset: found.offset.name(), Number: found.number.name(), First: found.first}
	for _, parameter := range o.Parameters {
		if parameter.In != "query" || parameter.Schema == "" {
			continue
		}
		schema, at := a.schema(parameter.Schema)
		if parameter.Name == found.size.parameter {
			if found.size.member != "" {
				schema, _ = a.schema(a.members(at)[found.size.member])
			}
			p.MaxSize = intOr(schema["maximum"], 0)
		}
		if isCursorName(parameter.Name) && schema["type"] == "string" {
			p.Cursor = parameter.Name
		}
	}
	return p
}

// isCursorName reports whether a parameter has one of the usual names of a cursor.
func isCursorName(name string) bool {
	return slices.Contains([]string{"cursor", "pagecursor", "nextcursor", "pagetoken", "nextpagetoken", "nexttoken", "continuationtoken", "continuation",
		"after", "startafter", "startingafter", "page[cursor]", "page[after]", "$skiptoken"}, canonical(name))
}

// IsList reports whether the operation answers with a list, as the document describes it.
func (r ReadOperation) IsList() bool { return r.o.list != nil }

// IsDetail reports whether the operation answers with one record of a list.
func (r ReadOperation) IsDetail() bool { return r.o.resource.parent != nil }

// Segments returns the segments of the path template.
func (r ReadOperation) Segments() []string { return strings.Split(strings.Trim(r.Path, "/"), "/") }

// ListAbove returns the list whose ids are values for the parameter in a segment of the path; ok is false without one.
func (r ReadOperation) ListAbove(segment int) (list ReadOperation, ok bool) {
	resource := r.o.resource
	serverSegments := len(resource.segments) - len(r.Segments()) // those of the server's URL, before the path template
	for _, detail := range resource.above {
		if len(detail.segments) == serverSegments+segment+1 {
			o := detail.parent.operation
			return ReadOperation{Path: o.Path, Operation: "GET " + o.Path, api: r.api, o: o}, true
		}
	}
	return ReadOperation{}, false
}

// Candidate returns a value for a parameter: an example of the document, its default, or the first value of its enumeration; "" without one.
func (r ReadOperation) Candidate(in, name string) string {
	for _, p := range r.o.Parameters {
		if p.In != in || p.Name != name {
			continue
		}
		parameter, _ := r.api.schema(p.Pointer)
		schema := map[string]any{}
		if p.Schema != "" {
			schema, _ = r.api.schema(p.Schema)
		}
		enum, _ := schema["enum"].([]any)
		for _, value := range append([]any{parameter["example"], schema["example"], schema["default"]}, enum...) {
			if text := plainText(value); text != "" {
				return text
			}
		}
	}
	return ""
}

// Split returns the items of a list's answer; ok is false unless the answer is a list. If the answer is an envelope, member is the name of the member that
// holds the items, and rest has the other members. If both the document and the answer have a single object, it is the only item, and member is [SingleItem].
func (r ReadOperation) Split(value any) (items []any, member string, rest map[string]any, ok bool) {
	switch v := value.(type) {
	case []any:
		return v, "", nil, true
	case map[string]any:
		l := r.o.list
		if l == nil {
			return nil, "", nil, false
		}
		member = l.member
		if _, isArray := v[member].([]any); !isArray {
			member = onlyArrayOf(v)
		}
		if member == "" {
			if l.shape == inSingle {
				return []any{v}, SingleItem, nil, true
			}
			return nil, "", nil, false
		}
		rest = map[string]any{}
		for name, other := range v {
			if name != member {
				rest[name] = other
			}
		}
		return v[member].([]any), member, rest, true
	}
	return nil, "", nil, false
}

// SingleItem is used in place of a member name if a list answers with its only item, without an array or an envelope.
const SingleItem = "."

// onlyArrayOf returns the member of an object that is its only array; "" without one.
func onlyArrayOf(object map[string]any) string {
	found := ""
	for name, value := range object {
		if _, isArray := value.([]any); isArray {
			if found != "" {
				return ""
			}
			found = name
		}
	}
	return found
}

// ID returns the id of an item of the list, with which a client requests its detail; "" without one.
func (r ReadOperation) ID(item any) string {
	if r.o.list == nil || r.o.list.id == "" {
		return ""
	}
	return plainText(memberOf(item, r.o.list.id))
}

// CheckItem says why an item of the list does not fit the document; nil if it fits.
func (r ReadOperation) CheckItem(item any) error {
	if r.o.list == nil {
		return nil
	}
	return r.api.firstViolation(r.o.list.item, item)
}

// Check says why an answer does not fit the document; nil if it fits.
func (r ReadOperation) Check(value any) error {
	if _, isContent := value.(RecordedContent); len(r.o.media) == 0 || isContent {
		return nil
	}
	return r.api.firstViolation(r.o.media[0].Schema, value)
}

func (a *API) firstViolation(schema string, value any) error {
	if schema == "" {
		return nil
	}
	violations, err := a.check(a.samples.Validator, schema, value)
	if err != nil || len(violations) == 0 {
		return err
	}
	return sample.NewFault(violations[0].Pointer, "%s", violations[0].Detail)
}

// RecordedPath returns the key of a path in [Recorded]. segments are the segments after the path of the server's URL, with values for the parameters.
func RecordedPath(segments []string) string {
	escaped := make([]string, len(segments))
	for i, segment := range segments {
		escaped[i] = url.PathEscape(segment)
	}
	return "/" + strings.Join(escaped, "/")
}

// DecodeJSON reads a text that is one JSON value, with numbers as [json.Number]. It refuses values that are too costly to handle.
func DecodeJSON(text []byte) (any, error) {
	value, err := decodeJSON(text)
	if err == nil && isTooCostly(value, maxBodyDepth) {
		err = &json.UnsupportedValueError{Str: "it is nested too deeply, or has a number with too many digits"}
	}
	return value, err
}
