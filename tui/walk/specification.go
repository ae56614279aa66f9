package walk

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/openapi"
)

// described is what the walk knows of the node from its document.
type described struct {
	node    discover.Node
	guarded exchange.Document
	judge   *openapi.Judge
	// base is where the operations were found to live; its prefix is empty until one was called.
	base discover.Base
}

func (d *described) roles() (list, detail exchange.Resource, operations []exchange.Resource) {
	if d.node.List != "" {
		list = exchange.OperationResource(d.node.List)
	}
	if d.node.Detail != "" {
		detail = exchange.OperationResource(d.node.Detail)
	}
	for _, o := range d.node.Executable {
		operations = append(operations, exchange.OperationResource(o.Key))
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
	// In is query, path, header or cookie.
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
func (w *Walk) ReadSpecification(ctx context.Context) (Scene, []Operation) {
	scene := Scene{Step: Specification}
	if !w.locate(ctx, &scene) {
		return scene, nil
	}
	t := Derived(w.Target())
	w.mu.Lock()
	w.target = t
	w.mu.Unlock()
	if t.SpecURL == "" {
		scene.Trouble = &Trouble{"the URL of the specification is not known", []string{"it follows from an info URL of the interface document's shape, and this one has another"}, []string{"start with --spec-url"}}
		return scene, nil
	}
	resource := discover.Resource{Name: exchange.Specification, URL: t.SpecURL}
	answer, err := w.send(ctx, resource.Get(exchange.NoToken))
	if err != nil {
		return troubled(scene, err), nil
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if discover.Refused(answer.Status) {
		token, ok := w.bearer(ctx, &scene)
		if !ok {
			return scene, nil
		}
		scene.Says = append(scene.Says, "Without a token the document was refused; it was read with one.")
		if answer, err = w.send(ctx, resource.Authorized(exchange.OK, token)); err != nil {
			return troubled(scene, err), nil
		}
		scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	}
	if scene.Trouble = w.refusedCall(answer); scene.Trouble != nil {
		return scene, nil
	}
	doc, trouble := w.describe(answer.Body)
	if scene.Trouble = trouble; trouble != nil {
		return scene, nil
	}
	scene.Says = append(scene.Says, fmt.Sprintf("%s, %s: %d %s.", doc.Title, doc.Version, len(doc.Operations), plural(len(doc.Operations), "operation", "operations")))
	scene.Verdicts = w.judge("SPC-01", "SPC-02", "SPC-03", "SPC-04", "SPC-05", "SPC-06", "SPC-08", "SPC-09", "SPC-10")
	return scene, w.Operations()
}

// describe takes a body for the node's document.
func (w *Walk) describe(body []byte) (*document.Document, *Trouble) {
	guarded := openapi.Read(body, openapi.DefaultLimits())
	guarded.Reduced = w.redactor.Bytes(guarded.Reduced)
	if guarded.Refused != "" {
		return nil, &Trouble{"the document can't be used: " + w.redactor.Text(guarded.Refused), []string{"it is no OpenAPI document, or larger than anybody's"}, []string{"compare the URL, and tell the node's operator"}}
	}
	doc, err := document.Parse(guarded.Reduced)
	if err != nil {
		return nil, &Trouble{"the document can't be read: " + err.Error(), []string{"it is no OpenAPI document"}, []string{"tell the node's operator"}}
	}
	d := &described{node: discover.NewNode(w.Target(), doc), guarded: guarded}
	// Without a judge the answers are shown all the same.
	d.judge, _ = openapi.NewJudge(guarded)
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
			one.Parameters = append(one.Parameters, parameterOf(p))
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

func parameterOf(p document.Parameter) Parameter {
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

func (w *Walk) description() *described {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.node
}
