package flow

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
)

// info returns the info resource, to be requested as the interface document shows it.
func (w *Walk) info() probe.Resource {
	return probe.Resource{Name: evidence.Info, URL: w.Target().InfoURL, JSONType: true}
}

// CallInfo calls the info resource with the token.
func (w *Walk) CallInfo(ctx context.Context) Result {
	result := Result{Step: Info}
	token, ok := w.bearer(ctx, &result)
	if !ok {
		return result
	}
	answer, ok := w.exchange(ctx, &result, probe.Labelled("info.ok", w.info().Authorized(token)), w.callTrouble)
	if !ok {
		return result
	}
	if skew, known := w.clockSkew(answer); known && skew.Abs() > maxClockSkew {
		result.Notes = append(result.Notes, fmt.Sprintf("The clocks of the node and of this machine differ by %s: tokens will seem to expire too early or too late.", evidence.Duration(skew.Abs())))
	}
	result.Notes = append(result.Notes, describeEndpoints(answer.Body)...)
	result.Verdicts = w.judge("INF-01", "INF-02", "INF-03", "INF-04", "INF-06")
	return result
}

// maxEndpoints limits the number of groups that are listed, and the number of endpoints in each group.
const maxEndpoints = 20

// describeEndpoints lists the endpoints of an info answer.
func describeEndpoints(body []byte) []string {
	info, _ := evidence.ParseObject(body)
	endpoints, _ := evidence.ParseObject(info["endpoints"])
	if len(endpoints) == 0 {
		return []string{"The answer lists no endpoints, so a client has to find them in another way."}
	}
	text := func(v any) string {
		if v == nil {
			return "?"
		}
		return fmt.Sprint(v)
	}
	notes := []string{"The node offers:"}
	groups := slices.Sorted(maps.Keys(endpoints))
	for _, group := range groups[:min(len(groups), maxEndpoints)] {
		listed := endpoints.Objects(group)
		for _, e := range listed[:min(len(listed), maxEndpoints)] {
			notes = append(notes, fmt.Sprintf("  %s, version %s.%s: %s", strings.TrimSpace(group+" "+text(e.Value("name"))), text(e.Value("majorVersion")), text(e.Value("minorVersion")), text(e.Value("url"))))
		}
	}
	return notes
}

// nodeDocument is the OpenAPI document of the node.
type nodeDocument struct {
	node     probe.Node
	recorded evidence.Document // as the evidence holds it
	judge    *validate.Judge   // nil if the document has no usable schemas
	// base is the base URL at which the node answered; its prefix is empty before the first call.
	base probe.Base
}

func (d *nodeDocument) roles() (list, detail evidence.Resource, operations []evidence.Resource) {
	if d.node.List != "" {
		list = evidence.OperationResource(d.node.List)
	}
	if d.node.Detail != "" {
		detail = evidence.OperationResource(d.node.Detail)
	}
	for _, o := range d.node.Executable {
		operations = append(operations, evidence.OperationResource(o.Key))
	}
	return list, detail, operations
}

// Operation is an operation of the node's document.
type Operation struct {
	Method, Path, ID string
	// List and Detail mark the operations that the next step calls.
	List, Detail bool
	// Required and Optional are names of parameters.
	Required, Optional []string
	// Parameters has the required ones first.
	Parameters []Parameter
	// Body reports whether a request body is required.
	Body       bool
	Answers    []Answer
	Deprecated bool
}

// Parameter is a parameter of an operation.
type Parameter struct {
	Name string
	// In is query, path, header or cookie.
	In       string
	Required bool
	// Type includes the format; Values lists the allowed values.
	Type   string
	Values []string
}

// Answer is a documented status with its media types.
type Answer struct {
	Status string
	Types  []string
}

// ReadSpecification reads the node's OpenAPI document, first without a token, as a code generator does. Afterwards,
// [Walk.Operations] lists the operations.
func (w *Walk) ReadSpecification(ctx context.Context) Result {
	result := Result{Step: Specification}
	if !w.ensureNode(ctx, &result) {
		return result
	}
	t := DeriveURLs(w.Target())
	w.mu.Lock()
	w.target = t
	w.mu.Unlock()
	if t.SpecURL == "" {
		result.Trouble = &Trouble{"the URL of the specification is unknown", []string{"the info URL does not have the form of the interface document, from which the other URLs follow"}, []string{"start with --spec-url"}}
		return result
	}
	resource := probe.Resource{Name: evidence.Specification, URL: t.SpecURL}
	refused := false
	answer, ok := w.exchange(ctx, &result, probe.Labelled("spec.no-token", resource.Get()), func(a recorder.Answer) *Trouble {
		if refused = probe.Refused(a.Status); refused {
			return nil
		}
		return w.callTrouble(a)
	})
	if refused {
		var token string
		if token, ok = w.bearer(ctx, &result); !ok {
			return result
		}
		result.Notes = append(result.Notes, "The node refused the document without a token; it was read with one.")
		answer, ok = w.exchange(ctx, &result, probe.Labelled("spec.ok", resource.Authorized(token)), w.callTrouble)
	}
	if !ok {
		return result
	}
	var doc *openapi.Document
	if doc, result.Trouble = w.setDocument(answer.Body); result.Trouble != nil {
		return result
	}
	result.Notes = append(result.Notes, fmt.Sprintf("%s, %s: %s.", doc.Title, doc.Version, evidence.Count(len(doc.Operations), "operation")))
	result.Verdicts = w.judge("SPC-01", "SPC-02", "SPC-03", "SPC-04", "SPC-05", "SPC-06", "SPC-08", "SPC-09", "SPC-10")
	return result
}

// setDocument parses the node's document and keeps it.
func (w *Walk) setDocument(body []byte) (*openapi.Document, *Trouble) {
	recorded := validate.Read(body, openapi.DefaultLimits())
	recorded.Reduced = w.redactor.Bytes(recorded.Reduced)
	if recorded.Refused != "" {
		return nil, &Trouble{"the document cannot be used: " + w.redactor.Text(recorded.Refused), []string{"it is not an OpenAPI document, or it is too large"}, []string{"compare the URL, and tell the node's operator"}}
	}
	doc, err := openapi.Parse(recorded.Reduced)
	if err != nil {
		return nil, &Trouble{"the document cannot be read: " + err.Error(), []string{"it is not an OpenAPI document"}, []string{"tell the node's operator"}}
	}
	d := &nodeDocument{node: probe.NewNode(w.Target(), doc), recorded: recorded}
	d.judge, _ = validate.NewJudge(recorded) // without it, answers are shown but not judged by their schemas
	w.mu.Lock()
	w.document = d
	w.mu.Unlock()
	return doc, nil
}

// Operations lists the operations of the node's document; nil before it was read.
func (w *Walk) Operations() []Operation {
	d := w.nodeDocument()
	if d == nil {
		return nil
	}
	var operations []Operation
	for _, o := range d.node.Document.Operations {
		operation := Operation{Method: o.Method, Path: o.Path, ID: o.ID, List: o.Key == d.node.List, Detail: o.Key == d.node.Detail, Body: o.RequiresBody, Deprecated: o.Deprecated}
		var optional []Parameter
		for _, p := range o.Parameters {
			if p.Required {
				operation.Required = append(operation.Required, p.Name)
				operation.Parameters = append(operation.Parameters, newParameter(p))
			} else {
				operation.Optional = append(operation.Optional, p.Name)
				optional = append(optional, newParameter(p))
			}
		}
		operation.Parameters = append(operation.Parameters, optional...)
		for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
			operation.Answers = append(operation.Answers, Answer{status, slices.Sorted(maps.Keys(o.Responses[status].Content))})
		}
		operations = append(operations, operation)
	}
	return operations
}

func newParameter(p openapi.Parameter) Parameter {
	schema, kind := p.Schema, p.Schema.Type
	if schema.Type == "array" && schema.Items != nil {
		schema = *schema.Items
		kind = "list of " + cmp.Or(schema.Type, "values")
	}
	if schema.Format != "" {
		kind += " (" + schema.Format + ")"
	}
	return Parameter{p.Name, p.In, p.Required, kind, schema.Enum}
}

func (w *Walk) nodeDocument() *nodeDocument {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.document
}
