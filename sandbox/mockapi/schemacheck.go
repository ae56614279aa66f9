package mockapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schemaCheck are those of a document that values of one direction are judged by. They are safe for concurrent use.
type schemaCheck struct {
	document *Document
	rewriter rewriter

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// refusingLoader is the loader of a compiler that may read nothing.
type refusingLoader struct{}

// Load implements jsonschema.URLLoader.
func (refusingLoader) Load(address string) (any, error) {
	return nil, fmt.Errorf("%s is not part of the document and is never fetched", address)
}

// newSchemaCheck prepares the schemas of a document.
func newSchemaCheck(d *Document, direction Direction) *schemaCheck {
	s := &schemaCheck{
		document: d, compiled: map[string]*jsonschema.Schema{}, compiler: jsonschema.NewCompiler(),
		rewriter: rewriter{document: d, direction: direction, definitions: map[string]any{}, numbers: map[string]int{}, refersTo: map[string][]string{}, faults: map[string]*Fault{}},
	}
	s.compiler.DefaultDraft(jsonschema.Draft2020)
	s.compiler.UseLoader(refusingLoader{})
	s.compiler.UseRegexpEngine(compilePattern)
	s.compiler.AssertFormat()
	for _, f := range formats() {
		s.compiler.RegisterFormat(f)
	}
	return s
}

// Prepare makes the schema at a pointer ready; its error is a *Fault.
func (s *schemaCheck) Prepare(pointer string) error {
	_, err := s.schema(pointer)
	return err
}

func (s *schemaCheck) schema(pointer string) (compiled *jsonschema.Schema, err error) {
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
func (s *schemaCheck) reason(err error) string {
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

// Check tells what keeps a value from fitting the schema at a pointer: nothing when it fits. Its error is a *Fault.
func (s *schemaCheck) Check(pointer string, value any) (violations []Violation, err error) {
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

func (s *schemaCheck) inapplicable(pointer string, why any) error {
	fault := s.document.Fault(pointer, "the schema cannot be applied: %v", why)
	s.document.Locate(fault)
	return fault
}

// Violation is one thing that keeps a value from fitting.
type Violation struct {
	// Pointer is where in the value, as a URI fragment ("#/name/0", RFC 6901 §6).
	Pointer string
	// Detail says what was expected there, and what is there.
	Detail string
}

// maxViolations bounds what a caller is told at once.
const maxViolations = 10

// describe finds the objections that say most: the leaves, but of alternatives only those of the closest one.
func describe(err *jsonschema.ValidationError) []Violation {
	var all []Violation
	collectViolations(err, &all)
	slices.SortStableFunc(all, func(a, b Violation) int { return strings.Compare(a.Pointer, b.Pointer) })
	all = slices.Compact(all)
	return all[:min(len(all), maxViolations)]
}

func collectViolations(err *jsonschema.ValidationError, all *[]Violation) {
	causes := err.Causes
	switch err.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		if len(causes) > 0 {
			causes = []*jsonschema.ValidationError{slices.MinFunc(causes, func(a, b *jsonschema.ValidationError) int { return severity(a) - severity(b) })}
		}
	}
	if len(causes) == 0 {
		*all = append(*all, Violation{pointer(err.InstanceLocation), text(err.ErrorKind)})
		return
	}
	for _, cause := range causes {
		collectViolations(cause, all)
	}
}

// severity is how far a value is from an alternative: the number of objections, a wrong type or constant counting most.
func severity(err *jsonschema.ValidationError) int {
	switch err.ErrorKind.(type) {
	case *kind.Type, *kind.Const, *kind.Enum:
		return 100
	}
	w := 1
	for _, cause := range err.Causes {
		w += severity(cause)
	}
	return w
}

func pointer(location []string) string {
	out := "#"
	for _, name := range location {
		out += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(clipAt(name))
	}
	return out
}

// text says an objection without the value, but for short ones: it is the caller's own.
func text(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.FalseSchema:
		return "nothing is allowed here"
	case *kind.Required:
		return "expected the " + plural("member", k.Missing)
	case *kind.AdditionalProperties:
		return "it does not take the " + plural("member", k.Properties)
	case *kind.Format:
		if k.Want == "regex" {
			return fmt.Sprintf("%q is no regular expression", clipAt(fmt.Sprint(k.Got)))
		}
		return "expected " + article(k.Want)
	}
	said := k.LocalizedString(message.NewPrinter(language.English))
	if len(said) > 400 {
		said = said[:strings.LastIndexByte(strings.ToValidUTF8(said[:400], ""), ' ')+1] + "…"
	}
	return said
}

func plural(noun string, names []string) string {
	if len(names) > 1 {
		noun += "s"
	}
	short := make([]string, 0, len(names))
	for _, name := range names[:min(len(names), 10)] {
		short = append(short, clipAt(name))
	}
	return noun + " " + strings.Join(short, ", ")
}

func clipAt(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return text
}

// expectation says in words what a schema takes, and lists the values of an enum. It is for people: of nested schemas it says the
// outermost.
func expectation(d *Document, pointer string) (words string, allowed []string) {
	if pointer == "" {
		return "any value", nil
	}
	schema, at, fault := d.Resolve(pointer)
	if fault != nil {
		return "any value", nil
	}
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		for _, v := range values[:min(len(values), 100)] {
			allowed = append(allowed, jsonText(v))
		}
		return "one of " + strings.Join(allowed, ", "), allowed
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		if parts, ok := schema[name].([]any); ok && len(parts) > 0 && schema["type"] == nil {
			return expectation(d, Child(at, name, "0"))
		}
	}
	types := typeNames(schema["type"])
	format, _ := schema["format"].(string)
	words = strings.Join(types, " or ")
	switch {
	case format != "" && slices.Contains(types, "a string"):
		words = article(format)
	case len(types) == 0:
		words = "a value"
	}
	if slices.Contains(types, "an array") {
		if item, _ := expectation(d, Child(at, "items")); schema["items"] != nil {
			words = "a list, each item " + item
		}
	}
	return words + limits(schema), nil
}

func jsonText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

func typeNames(value any) []string {
	names, ok := value.([]any)
	if !ok {
		names = []any{value}
	}
	var types []string
	for _, name := range names {
		switch name {
		case "integer":
			types = append(types, "a whole number")
		case "array":
			types = append(types, "an array")
		case "object":
			types = append(types, "an object")
		case "string", "number", "boolean":
			types = append(types, fmt.Sprint("a ", name))
		}
		if name == "boolean" {
			types[len(types)-1] = "true or false"
		}
	}
	return types
}

// article names a format with an example.
func article(format any) string {
	switch format {
	case "date":
		return "a date, 2026-03-01"
	case "date-time":
		return "a date-time, 2026-03-01T12:00:00Z"
	case "uuid":
		return "a UUID"
	case "uri":
		return "a URI"
	case "email":
		return "an e-mail address"
	case "int32", "int64":
		return fmt.Sprintf("a whole number (%v)", format)
	}
	return clipAt(fmt.Sprintf("a value of the format %v", format))
}

// limits says the bounds of a schema.
func limits(schema map[string]any) string {
	var all []string
	say := func(keyword, words string) {
		switch v := schema[keyword].(type) {
		case json.Number, string:
			all = append(all, words+" "+clipAt(fmt.Sprint(v)))
		}
	}
	say("minimum", "at least")
	say("exclusiveMinimum", "more than")
	say("maximum", "at most")
	say("exclusiveMaximum", "less than")
	say("multipleOf", "a multiple of")
	say("minLength", "of at least length")
	say("maxLength", "of at most length")
	say("pattern", "matching")
	say("minItems", "items at least")
	say("maxItems", "items at most")
	if len(all) == 0 {
		return ""
	}
	return ", " + strings.Join(all, ", ")
}
