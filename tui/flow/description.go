package flow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
	"github.com/rin-network/rin/conformance/probe"
)

// info is the info resource, asked as the interface document shows it.
func (w *Walk) info() probe.Resource {
	return probe.Resource{Name: evidence.Info, URL: w.Target().InfoURL, JSONType: true}
}

// CallInfo calls the info resource with the token.
func (w *Walk) CallInfo(ctx context.Context) Result {
	scene := Result{Step: Info}
	token, ok := w.bearer(ctx, &scene)
	if !ok {
		return scene
	}
	answer, err := w.send(ctx, w.info().Authorized(evidence.OK, token))
	if err != nil {
		return troubled(scene, err)
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = w.callTrouble(answer); scene.Trouble != nil {
		return scene
	}
	if ahead, known := w.skew(answer); known && (ahead > maxClockSkew || ahead < -maxClockSkew) {
		scene.Notes = append(scene.Notes, fmt.Sprintf("The node's clock and this machine's differ by %s: tokens will seem to expire too early or too late.", ahead.Abs().Round(time.Second)))
	}
	scene.Notes = append(scene.Notes, describeEndpoints(answer.Body)...)
	scene.Verdicts = w.judge("INF-01", "INF-02", "INF-03", "INF-04", "INF-06")
	return scene
}

// describeEndpoints says what an info answer offers.
func describeEndpoints(body []byte) []string {
	var info struct {
		Endpoints map[string][]struct {
			Name         any
			MajorVersion any `json:"majorVersion"`
			MinorVersion any `json:"minorVersion"`
			URL          any
		}
	}
	if json.Unmarshal(body, &info) != nil || len(info.Endpoints) == 0 {
		return []string{"The answer lists no endpoints, so a client has to know them from elsewhere."}
	}
	families := make([]string, 0, len(info.Endpoints))
	for family := range info.Endpoints {
		families = append(families, family)
	}
	slices.Sort(families)
	out := []string{"The node offers:"}
	for _, family := range families[:min(len(families), 20)] {
		for _, e := range info.Endpoints[family][:min(len(info.Endpoints[family]), 20)] {
			out = append(out, fmt.Sprintf("  %s, version %s.%s: %s", strings.TrimSpace(family+" "+scalarText(e.Name)), scalarText(e.MajorVersion), scalarText(e.MinorVersion), scalarText(e.URL)))
		}
	}
	return out
}

// scalarText is a JSON value that should be short, as text.
func scalarText(v any) string {
	if v == nil {
		return "?"
	}
	return fmt.Sprint(v)
}

// nodeDocument is what the walk knows of the node from its document.
type nodeDocument struct {
	node    probe.Node
	guarded evidence.Document
	judge   *validate.Judge
	// base is where the operations were found to live; its prefix is empty until one was called.
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

// Operation is one operation of the node's document, for a list.
type Operation struct {
	Method, Path, ID string
	// List and Detail say that it is what the next step calls.
	List, Detail bool
	// Required names the parameters that it can't be called without; Optional the others.
	Required, Optional []string
	// Parameters are all of them, the required ones first; Body tells a request body that is required.
	Parameters []Parameter
	Body       bool
	// Answers are the documented statuses, each with its media types; Deprecated says not to build on it.
	Answers    []Answer
	Deprecated bool
}

// Parameter is a parameter of an operation.
type Parameter struct {
	Name string
	// Localized is query, path, header or cookie.
	In       string
	Required bool
	// Type is the type with its format; Values are those allowed, where they are listed.
	Type   string
	Values []string
}

// Answer is a documented answer.
type Answer struct {
	Status string
	Types  []string
}

// ReadSpecification reads the node's OpenAPI document, without a token first, as a code generator does.
func (w *Walk) ReadSpecification(ctx context.Context) (Result, []Operation) {
	scene := Result{Step: Specification}
	if !w.locate(ctx, &scene) {
		return scene, nil
	}
	t := DeriveURLs(w.Target())
	w.mu.Lock()
	w.target = t
	w.mu.Unlock()
	if t.SpecURL == "" {
		scene.Trouble = &Trouble{"the URL of the specification is not known", []string{"it follows from an info URL of the interface document's shape, and this one has another"}, []string{"start with --spec-url"}}
		return scene, nil
	}
	resource := probe.Resource{Name: evidence.Specification, URL: t.SpecURL}
	answer, err := w.send(ctx, resource.Get(evidence.NoToken))
	if err != nil {
		return troubled(scene, err), nil
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if probe.Refused(answer.Status) {
		token, ok := w.bearer(ctx, &scene)
		if !ok {
			return scene, nil
		}
		scene.Notes = append(scene.Notes, "Without a token the document was refused; it was read with one.")
		if answer, err = w.send(ctx, resource.Authorized(evidence.OK, token)); err != nil {
			return troubled(scene, err), nil
		}
		scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	}
	if scene.Trouble = w.callTrouble(answer); scene.Trouble != nil {
		return scene, nil
	}
	doc, trouble := w.describe(answer.Body)
	if scene.Trouble = trouble; trouble != nil {
		return scene, nil
	}
	scene.Notes = append(scene.Notes, fmt.Sprintf("%s, %s: %d %s.", doc.Title, doc.Version, len(doc.Operations), plural(len(doc.Operations), "operation", "operations")))
	scene.Verdicts = w.judge("SPC-01", "SPC-02", "SPC-03", "SPC-04", "SPC-05", "SPC-06", "SPC-08", "SPC-09", "SPC-10")
	return scene, w.Operations()
}

// describe takes a body for the node's document.
func (w *Walk) describe(body []byte) (*openapi.Document, *Trouble) {
	guarded := validate.Read(body, openapi.DefaultLimits())
	guarded.Reduced = w.redactor.Bytes(guarded.Reduced)
	if guarded.Refused != "" {
		return nil, &Trouble{"the document can't be used: " + w.redactor.Text(guarded.Refused), []string{"it is no OpenAPI document, or larger than anybody's"}, []string{"compare the URL, and tell the node's operator"}}
	}
	doc, err := openapi.Parse(guarded.Reduced)
	if err != nil {
		return nil, &Trouble{"the document can't be read: " + err.Error(), []string{"it is no OpenAPI document"}, []string{"tell the node's operator"}}
	}
	d := &nodeDocument{node: probe.NewNode(w.Target(), doc), guarded: guarded}
	// Without a judge the answers are shown all the same.
	d.judge, _ = validate.NewJudge(guarded)
	w.mu.Lock()
	w.node = d
	w.mu.Unlock()
	return doc, nil
}

// Operations lists the operations of the node's document; none before it was read.
func (w *Walk) Operations() []Operation {
	d := w.description()
	if d == nil {
		return nil
	}
	var out []Operation
	for _, o := range d.node.Document.Operations {
		one := Operation{Method: o.Method, Path: o.Path, ID: o.ID, List: o.Key == d.node.List, Detail: o.Key == d.node.Detail}
		one.Body, one.Deprecated = o.HasBody, o.Deprecated
		for _, p := range o.Parameters {
			if p.Required {
				one.Required = append(one.Required, p.Name)
			} else {
				one.Optional = append(one.Optional, p.Name)
			}
			one.Parameters = append(one.Parameters, newParameter(p))
		}
		slices.SortStableFunc(one.Parameters, func(a, b Parameter) int {
			if a.Required == b.Required {
				return 0
			}
			if a.Required {
				return -1
			}
			return 1
		})
		for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
			one.Answers = append(one.Answers, Answer{status, slices.Sorted(maps.Keys(o.Responses[status].Content))})
		}
		out = append(out, one)
	}
	return out
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

func (w *Walk) description() *nodeDocument {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.node
}
