package openapi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// difference is a finding with the place of its value still in parts, for sorting.
type difference struct {
	exchange.Finding
	at []string
	// format is the word under "format" that the finding is about; empty for other findings.
	format string
	// place is told in place of a path where the value is not in the body.
	place string
}

// describe turns the errors of the library at one value into differences.
func (c *compiled) describe(err *jsonschema.ValidationError) []difference {
	at := append([]string{}, err.InstanceLocation...)
	make1 := func(k exchange.FindingKind, expected, got string) []difference {
		return []difference{{Finding: exchange.Finding{Kind: k, Expected: expected, Got: got, Keyword: c.keyword(err)}, at: at}}
	}
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		return make1(exchange.FindingType, strings.Join(k.Want, " or "), k.Got)
	case *kind.Required:
		return c.missing(err, k.Missing)
	case *kind.DependentRequired:
		return c.missing(err, k.Missing)
	case *kind.Enum:
		if k.Got == nil {
			return make1(exchange.FindingType, vocabulary(k.Want), "null")
		}
		return make1(exchange.FindingEnum, vocabulary(k.Want), scalar(k.Got))
	case *kind.Const:
		return make1(exchange.FindingEnum, vocabulary([]any{k.Want}), scalar(k.Got))
	case *kind.Format:
		return c.malformed(err, k)
	case *kind.AdditionalProperties:
		var out []difference
		for _, name := range k.Properties {
			d := make1(exchange.FindingOther, "no member beside the declared ones", "a member that is not declared")[0]
			d.at = append(append([]string{}, at...), name)
			out = append(out, d)
		}
		return out
	}
	expected, got := describeOther(err.ErrorKind)
	return make1(exchange.FindingOther, expected, got)
}

func (c *compiled) missing(err *jsonschema.ValidationError, names []string) []difference {
	var out []difference
	for _, name := range names {
		out = append(out, difference{
			Finding: exchange.Finding{Kind: exchange.FindingRequired, Expected: "a required member", Got: "nothing", Keyword: c.keyword(err)},
			at:      append(append([]string{}, err.InstanceLocation...), name),
		})
	}
	return out
}

// malformed shows what stands in place of a date, since a date is no personal secret and the cause is seen at once. Other values stay hidden.
func (c *compiled) malformed(err *jsonschema.ValidationError, k *kind.Format) []difference {
	d := difference{at: append([]string{}, err.InstanceLocation...), format: k.Want}
	d.Kind, d.Expected, d.Got, d.Keyword = exchange.FindingFormat, k.Want, "a malformed "+k.Want, c.keyword(err)
	switch k.Want {
	case "date":
		d.Expected, d.Got = "date (RFC 3339 full-date, a day that exists)", scalar(k.Got)
	case "date-time":
		d.Expected, d.Got = "date-time (RFC 3339 with offset, a day that exists)", scalar(k.Got)
	case "int32", "int64":
		d.Kind, d.Got = exchange.FindingOther, "a number out of its range"
	case "uuid":
		d.Kind = exchange.FindingOther
	}
	return []difference{d}
}

// describeOther words the rarer keywords; lengths and counts are told, values are not.
func describeOther(k jsonschema.ErrorKind) (expected, got string) {
	switch k := k.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("at least %d characters", k.Want), fmt.Sprintf("%d characters", k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("at most %d characters", k.Want), fmt.Sprintf("%d characters", k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("at least %d items", k.Want), fmt.Sprintf("%d items", k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("at most %d items", k.Want), fmt.Sprintf("%d items", k.Got)
	case *kind.MinProperties:
		return fmt.Sprintf("at least %d members", k.Want), fmt.Sprintf("%d members", k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("at most %d members", k.Want), fmt.Sprintf("%d members", k.Got)
	case *kind.Minimum:
		return "at least " + ratText(k.Want), "a smaller number"
	case *kind.Maximum:
		return "at most " + ratText(k.Want), "a larger number"
	case *kind.ExclusiveMinimum:
		return "more than " + ratText(k.Want), "a number that is not more"
	case *kind.ExclusiveMaximum:
		return "less than " + ratText(k.Want), "a number that is not less"
	case *kind.MultipleOf:
		return "a multiple of " + ratText(k.Want), "another number"
	case *kind.Pattern:
		return "text that matches " + clip(k.Want, 80), "text that does not"
	case *kind.UniqueItems:
		return "items that all differ", fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.OneOf:
		if len(k.Subschemas) == 2 {
			return "exactly one of the alternatives", fmt.Sprintf("alternatives %d and %d both match", k.Subschemas[0], k.Subschemas[1])
		}
		return "exactly one of the alternatives", "none matches"
	case *kind.AnyOf:
		return "one of the alternatives", "none matches"
	case *kind.Not:
		return "anything but the excluded schema", "a value that it matches"
	case *kind.FalseSchema:
		return "no value here", "a value"
	case *kind.PropertyNames:
		return "member names as declared", "another member name"
	case *kind.Contains, *kind.MinContains:
		return "a list that contains a declared item", "too few of them"
	case *kind.MaxContains:
		return "a list that contains a declared item", "too many of them"
	}
	return "a value as the schema says", "another value"
}

// keyword is the place in the document that the error is about.
func (c *compiled) keyword(err *jsonschema.ValidationError) string {
	_, fragment, _ := strings.Cut(err.SchemaURL, "#")
	pointer, _ := document.Fragment("#" + fragment)
	name, rest, _ := strings.Cut(strings.TrimPrefix(pointer, definitionAt), "/")
	from := c.origins[name]
	if from.exact {
		return from.pointer
	}
	if rest != "" {
		from.pointer += "/" + rest
	}
	for _, token := range err.ErrorKind.KeywordPath() {
		from.pointer += "/" + document.Escape(token)
	}
	return clip(from.pointer, 300)
}

// vocabulary lists the allowed values, bounded.
func vocabulary(values []any) string {
	list := make([]string, 0, len(values))
	for _, v := range values {
		list = append(list, scalar(v))
	}
	return "one of " + enumerate(list, "no value")
}

// scalar shows a value of an enumeration or in place of a date: at most 40 characters; of objects and lists only the type.
func scalar(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(clip(v, 40))
	case map[string]any, []any:
		return jsonType(value)
	case nil:
		return "null"
	default:
		return clip(fmt.Sprint(v), 40)
	}
}
