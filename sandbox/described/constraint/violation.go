package constraint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

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
	collect(err, &all)
	slices.SortStableFunc(all, func(a, b Violation) int { return strings.Compare(a.Pointer, b.Pointer) })
	all = slices.Compact(all)
	return all[:min(len(all), maxViolations)]
}

func collect(err *jsonschema.ValidationError, all *[]Violation) {
	causes := err.Causes
	switch err.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		if len(causes) > 0 {
			causes = []*jsonschema.ValidationError{slices.MinFunc(causes, func(a, b *jsonschema.ValidationError) int { return weight(a) - weight(b) })}
		}
	}
	if len(causes) == 0 {
		*all = append(*all, Violation{pointer(err.InstanceLocation), text(err.ErrorKind)})
		return
	}
	for _, cause := range causes {
		collect(cause, all)
	}
}

// weight is how far a value is from an alternative: the number of objections, a wrong type or constant counting most.
func weight(err *jsonschema.ValidationError) int {
	switch err.ErrorKind.(type) {
	case *kind.Type, *kind.Const, *kind.Enum:
		return 100
	}
	w := 1
	for _, cause := range err.Causes {
		w += weight(cause)
	}
	return w
}

func pointer(location []string) string {
	out := "#"
	for _, name := range location {
		out += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(clip(name))
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
			return fmt.Sprintf("%q is no regular expression", clip(fmt.Sprint(k.Got)))
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

func clip(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return text
}
