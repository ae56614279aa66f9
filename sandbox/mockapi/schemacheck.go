package mockapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/rin-network/rin/sandbox/content"
)

// check lists how a value breaks the schema at a pointer; the list is empty if the value fits. The error is a *sample.Fault.
func (a *API) check(v *sample.Validator, pointer string, value any) (violations []content.Fault, err error) {
	schema, err := v.Schema(pointer)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			violations, err = nil, a.schemaError(pointer, r)
		}
	}()
	refused := schema.Validate(value)
	if refused == nil {
		return nil, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(refused, &invalid) {
		return nil, a.schemaError(pointer, refused)
	}
	return violationsOf(invalid), nil
}

// schemaError returns the error for a schema with which the validator fails or panics.
func (a *API) schemaError(pointer string, why any) error {
	fault := sample.NewFault(pointer, "the schema cannot be applied: %v", why)
	a.document.Locate(fault)
	return fault
}

// maxViolations limits the violations in one answer.
const maxViolations = 10

// violationsOf lists the leaves of an error tree; of alternatives (oneOf, anyOf) only those of the closest one.
func violationsOf(err *jsonschema.ValidationError) []content.Fault {
	var all []content.Fault
	collectViolations(err, &all)
	slices.SortStableFunc(all, func(a, b content.Fault) int { return strings.Compare(a.Pointer, b.Pointer) })
	all = slices.Compact(all)
	return all[:min(len(all), maxViolations)]
}

// collectViolations adds the leaves of an error tree to all.
func collectViolations(err *jsonschema.ValidationError, all *[]content.Fault) {
	causes := err.Causes
	switch err.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		if len(causes) > 0 {
			causes = []*jsonschema.ValidationError{slices.MinFunc(causes, func(a, b *jsonschema.ValidationError) int { return distance(a) - distance(b) })}
		}
	}
	if len(causes) == 0 {
		*all = append(*all, content.Fault{Pointer: instancePointer(err.InstanceLocation), Detail: describeError(err.ErrorKind)})
		return
	}
	for _, cause := range causes {
		collectViolations(cause, all)
	}
}

// distance says how far a value is from fitting an alternative: the number of errors, in which a wrong type or constant weighs most.
func distance(err *jsonschema.ValidationError) int {
	switch err.ErrorKind.(type) {
	case *kind.Type, *kind.Const, *kind.Enum:
		return 100
	}
	sum := 1
	for _, cause := range err.Causes {
		sum += distance(cause)
	}
	return sum
}

func instancePointer(location []string) string {
	out := "#"
	for _, name := range location {
		out = sample.Join(out, clip(name))
	}
	return out
}

// describeError describes an error of the validator in words.
func describeError(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.FalseSchema:
		return "nothing is allowed here"
	case *kind.Required:
		return "expected the " + memberNames(k.Missing)
	case *kind.AdditionalProperties:
		return "it does not take the " + memberNames(k.Properties)
	case *kind.Format:
		if k.Want == "regex" {
			return fmt.Sprintf("%q is not a regular expression", clip(fmt.Sprint(k.Got)))
		}
		return "expected " + describeFormat(k.Want)
	}
	description := k.LocalizedString(message.NewPrinter(language.English))
	if len(description) > 400 {
		description = description[:strings.LastIndexByte(strings.ToValidUTF8(description[:400], ""), ' ')+1] + "…"
	}
	return description
}

// memberNames writes "member a" or "members a, b", at most ten of them.
func memberNames(names []string) string {
	words := "member "
	if len(names) > 1 {
		words = "members "
	}
	for i, name := range names[:min(len(names), 10)] {
		if i > 0 {
			words += ", "
		}
		words += clip(name)
	}
	return words
}

// expectation says in words which values a schema accepts, and lists the values of an enum. It describes the outermost schema only.
func expectation(d *Document, pointer string) (words string, allowed []string) {
	schema, at, fault := d.Object(pointer)
	if pointer == "" || fault != nil {
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
	switch {
	case len(types) == 0:
		words = "a value"
	case slices.Contains(types, "an array") && schema["items"] != nil:
		item, _ := expectation(d, sample.Join(at, "items"))
		words = "a list, each item " + item
	case slices.Contains(types, "a string") && format != "":
		words = describeFormat(format)
	default:
		words = strings.Join(types, " or ")
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
	known := map[string]string{
		"integer": "a whole number", "number": "a number", "string": "a string", "boolean": "true or false", "array": "an array", "object": "an object",
	}
	var types []string
	for _, name := range names {
		if text, ok := name.(string); ok && known[text] != "" {
			types = append(types, known[text])
		}
	}
	return types
}

// describeFormat describes a value of a format, for some formats with an example.
func describeFormat(format any) string {
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
	all := ""
	for _, limit := range []struct{ keyword, words string }{
		{"minimum", "at least"}, {"exclusiveMinimum", "more than"}, {"maximum", "at most"}, {"exclusiveMaximum", "less than"},
		{"multipleOf", "a multiple of"}, {"minLength", "of at least length"}, {"maxLength", "of at most length"}, {"pattern", "matching"},
		{"minItems", "items at least"}, {"maxItems", "items at most"},
	} {
		switch v := schema[limit.keyword].(type) {
		case json.Number, string:
			all += ", " + limit.words + " " + clip(fmt.Sprint(v))
		}
	}
	return all
}
