package openapi

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Judge compares answers with one document. It is safe for concurrent use; each schema is compiled when it is first needed.
type Judge struct {
	doc      *document.Document
	subtypes subtypes
	errata   []Erratum

	memory  memory
	mu      sync.Mutex
	schemas map[string]schemaOrWhy // by pointer
}

type schemaOrWhy struct {
	schema *compiled
	why    string
}

// NewJudge reads a document that the guard accepted. The document is guarded once more, since evidence may have been recorded elsewhere.
func NewJudge(doc exchange.Document) (*Judge, error) {
	if doc.Refused != "" {
		return nil, fmt.Errorf("no document to judge by: %s", doc.Refused)
	}
	again := Guard(doc.Reduced, Limits{Size: maxSize})
	if again.Refused != "" {
		return nil, fmt.Errorf("no document to judge by: %s", again.Refused)
	}
	parsed, err := document.Parse(again.Reduced)
	if err != nil {
		return nil, fmt.Errorf("no document to judge by: %w", err)
	}
	return &Judge{doc: parsed, subtypes: indexSubtypes(parsed), errata: Errata(), schemas: map[string]schemaOrWhy{}}, nil
}

// Annotate says where the answer of an executed operation differs from what the document describes: status, media type, then the body.
// Findings on status and media type are listed even where Judged is false, which speaks of the body alone.
func (j *Judge) Annotate(x exchange.Exchange, op document.Operation) exchange.SchemaFindings {
	out := exchange.SchemaFindings{Label: x.Label}
	if x.Response == nil {
		out.Why = "no answer"
		return out
	}
	a := annotation{judge: j, op: op, answer: x.Response, out: &out}
	if pointer, ok := a.describedBy(x.Request.Method); ok {
		a.judgeBody(pointer)
	}
	out.Findings, out.Total = a.found.findings(), a.found.total
	return out
}

// schema compiles the schema at a pointer, once.
func (j *Judge) schema(pointer string) (*compiled, string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known, ok := j.schemas[pointer]; ok {
		return known.schema, known.why
	}
	entry := schemaOrWhy{}
	p, err := prepare(j.doc, j.subtypes, pointer)
	if err == nil {
		entry.schema, err = compile(p)
	}
	if err != nil {
		entry.why = "the schema can't be applied: " + clip(err.Error(), 300)
	}
	j.schemas[pointer] = entry
	return entry.schema, entry.why
}

// apply validates one value, between begin and end of the meter. A fault of the library ends the judging of that value alone.
func (c *compiled) apply(schema *jsonschema.Schema, value any) (found []difference, fault error) {
	if c.meter.gaveUp {
		return nil, errSteps
	}
	defer func() {
		switch r := recover(); r {
		case nil:
		case errSteps:
			c.meter.gaveUp = c.meter.value < 0 // a body that is only long says nothing of the schema
			found, fault = nil, errSteps
		default:
			found, fault = nil, fmt.Errorf("the schema library failed: %v", r)
		}
	}()
	c.meter.next()
	err := schema.Validate(value)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil, err
	}
	if endless(invalid) {
		return nil, errors.New("the schema library failed: the schema applies itself without end")
	}
	return c.differences(invalid), nil
}

// endless finds the error that stands for a cycle which the preparation should have cut.
func endless(err *jsonschema.ValidationError) bool {
	if _, ok := err.ErrorKind.(*kind.RefCycle); ok {
		return true
	}
	return slices.ContainsFunc(err.Causes, endless)
}
