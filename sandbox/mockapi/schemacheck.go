package mockapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// prepare reads the schema at a pointer, with all that it refers to. The error is a *sample.Fault.
func prepare(v *sample.Validator, pointer string) error {
	if _, fault := v.Schema(pointer); fault != nil {
		return fault
	}
	return nil
}

// check lists how a value breaks the schema at a pointer; nil if it fits. The error is a *sample.Fault.
func (a *API) check(v *sample.Validator, pointer string, value any) (violations []Violation, err error) {
	schema, fault := v.Schema(pointer)
	if fault != nil {
		return nil, fault
	}
	defer func() {
		if r := recover(); r != nil {
			violations, err = nil, a.inapplicable(pointer, r)
		}
	}()
	refused := schema.Validate(value)
	if refused == nil {
		return nil, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(refused, &invalid) {
		return nil, a.inapplicable(pointer, refused)
	}
	return describe(invalid), nil
}

func (a *API) inapplicable(pointer string, why any) error {
	fault := sample.NewFault(pointer, "the schema cannot be applied: %v", why)
	a.document.Locate(fault)
	return fault
}

// Violation is one reason why a value does not fit its schema.
type Violation struct {
	// Pointer is the place in the value, as a URI fragment ("#/name/0", RFC 6901 §6).
	Pointer string
	// Detail says what was expected and what was found.
	Detail string
}

// maxViolations bounds the violations in one answer.
const maxViolations = 10

// describe lists the leaves of an error tree; of alternatives (oneOf, anyOf) only those of the closest one.
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

// severity says how far a value is from an alternative: the number of errors, where a wrong type or constant weighs most.
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
		out = sample.Join(out, clip(name))
	}
	return out
}

// text describes an error.
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
			return fmt.Sprintf("%q is not a regular expression", clip(fmt.Sprint(k.Got)))
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
		short = append(short, clip(name))
	}
	return noun + " " + strings.Join(short, ", ")
}

// expectation says in words which values a schema accepts, and lists the values of an enum. It describes the outermost schema only.
func expectation(d *Document, pointer string) (words string, allowed []string) {
	if pointer == "" {
		return "any value", nil
	}
	schema, at, fault := d.Object(pointer)
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
			return expectation(d, sample.Join(at, name, "0"))
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
		if item, _ := expectation(d, sample.Join(at, "items")); schema["items"] != nil {
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

// article names a format, with an example.
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
	return clip(fmt.Sprintf("a value of the format %v", format))
}

// limits lists the bounds of a schema.
func limits(schema map[string]any) string {
	var all []string
	say := func(keyword, words string) {
		switch v := schema[keyword].(type) {
		case json.Number, string:
			all = append(all, words+" "+clip(fmt.Sprint(v)))
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
