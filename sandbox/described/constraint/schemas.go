package constraint

import (
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rin-network/rin/sandbox/described/document"
)

// Schemas are those of a document that values of one direction are judged by. They are safe for concurrent use.
type Schemas struct {
	document *document.Document
	rewriter rewriter

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// closed is the loader of a compiler that may read nothing.
type closed struct{}

// Load implements jsonschema.URLLoader.
func (closed) Load(address string) (any, error) {
	return nil, fmt.Errorf("%s is not part of the document and is never fetched", address)
}

// New prepares the schemas of a document.
func New(d *document.Document, direction Direction) *Schemas {
	s := &Schemas{
		document: d, compiled: map[string]*jsonschema.Schema{}, compiler: jsonschema.NewCompiler(),
		rewriter: rewriter{document: d, direction: direction, definitions: map[string]any{}, numbers: map[string]int{}, refersTo: map[string][]string{}, faults: map[string]*document.Fault{}},
	}
	s.compiler.DefaultDraft(jsonschema.Draft2020)
	s.compiler.UseLoader(closed{})
	s.compiler.UseRegexpEngine(compilePattern)
	s.compiler.AssertFormat()
	for _, f := range formats() {
		s.compiler.RegisterFormat(f)
	}
	return s
}

// Prepare makes the schema at a pointer ready; its error is a *document.Fault.
func (s *Schemas) Prepare(pointer string) error {
	_, err := s.schema(pointer)
	return err
}

func (s *Schemas) schema(pointer string) (compiled *jsonschema.Schema, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.compiled[pointer]; ok {
		return known, nil
	}
	defer func() {
		if r := recover(); r != nil {
			compiled, err = nil, s.document.Fault(pointer, "the schema cannot be read: %v", r)
		}
	}()
	for _, added := range s.rewriter.add(pointer) {
		if err := s.compiler.AddResource(s.rewriter.resource(added), s.rewriter.definitions[added]); err != nil {
			return nil, s.document.Fault(added, "the schema cannot be read: %v", err)
		}
	}
	if fault := s.rewriter.fault(pointer); fault != nil {
		return nil, fault
	}
	compiled, err = s.compiler.Compile(s.rewriter.resource(pointer))
	if err != nil {
		return nil, s.document.Fault(pointer, "the schema cannot be used: %s", s.reason(err))
	}
	s.compiled[pointer] = compiled
	return compiled, nil
}

// reason says where in the document a compiler's objection is, instead of its own name for the place.
func (s *Schemas) reason(err error) string {
	var pattern *jsonschema.InvalidRegexError
	if errors.As(err, &pattern) {
		return fmt.Sprintf("%q is no regular expression: %v", pattern.Regex, pattern.Err)
	}
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		var at *jsonschema.ValidationError
		if errors.As(invalid.Err, &at) {
			return describe(at)[0].Detail
		}
	}
	return err.Error()
}

// Check tells what keeps a value from fitting the schema at a pointer: nothing when it fits. Its error is a *document.Fault.
func (s *Schemas) Check(pointer string, value any) (violations []Violation, err error) {
	schema, err := s.schema(pointer)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			violations, err = nil, s.inapplicable(pointer, r)
		}
	}()
	fault := schema.Validate(value)
	if fault == nil {
		return nil, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(fault, &invalid) {
		return nil, s.inapplicable(pointer, fault)
	}
	return describe(invalid), nil
}

func (s *Schemas) inapplicable(pointer string, why any) error {
	fault := s.document.Fault(pointer, "the schema cannot be applied: %v", why)
	s.document.Locate(fault)
	return fault
}
