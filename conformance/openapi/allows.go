package openapi

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxAllowed bounds the length of a value that [Schema.Allows] knows to be allowed, in characters.
const maxAllowed = 200

// Allows reports whether the schema certainly allows a value in the form that it has in a query. Allows returns false in doubt: for an unknown format, a pattern
// that Go cannot compile, an object, keywords that [Schema] does not hold, and an integer or date so large that libraries differ.
func (s Schema) Allows(text string) bool {
	if !s.Declared || s.Dangling != "" || s.Subtypes || s.Partial || utf8.RuneCountInString(text) > maxAllowed {
		return false
	}
	switch {
	case s.Type == "array" && s.Items != nil:
		values := strings.Split(text, ",")
		return (s.MinItems == nil || len(values) >= *s.MinItems) && (s.MaxItems == nil || len(values) <= *s.MaxItems) && !slices.ContainsFunc(values, func(value string) bool { return !s.Items.Allows(value) })
	case len(s.Enum) > 0:
		return slices.Contains(s.Enum, text)
	case s.Type == "boolean":
		return text == "true" || text == "false"
	case s.Type == "integer" || s.Type == "number":
		isPlain := regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`).MatchString(text) && !(s.Type == "integer" && strings.Contains(text, "."))
		n, err := strconv.ParseFloat(text, 64)
		return isPlain && err == nil && math.Abs(n) <= math.MaxInt32 && s.allowsNumber(n)
	case s.Type == "string":
		return s.allowsText(text)
	}
	return false
}

func (s Schema) allowsNumber(n float64) bool {
	return (s.Minimum == nil || n > *s.Minimum || n == *s.Minimum && !s.ExclusiveMinimum) &&
		(s.Maximum == nil || n < *s.Maximum || n == *s.Maximum && !s.ExclusiveMaximum) &&
		(s.MultipleOf == nil || *s.MultipleOf != 0 && math.Mod(n, *s.MultipleOf) == 0)
}

func (s Schema) allowsText(text string) bool {
	length := utf8.RuneCountInString(text)
	if text == "" || s.MinLength != nil && length < *s.MinLength || s.MaxLength != nil && length > *s.MaxLength {
		return false
	}
	if s.Pattern != "" {
		if len(s.Pattern) > maxPattern {
			return false
		}
		escapes := regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`) // of ECMAScript, which JSON Schema asks for
		pattern, err := regexp.Compile(escapes.ReplaceAllString(s.Pattern, `\x{$1}`))
		if err != nil || !pattern.MatchString(text) {
			return false
		}
	}
	inCalendar := func(layout string) bool {
		at, err := time.Parse(layout, text)
		return err == nil && at.Year() >= 1900 && at.Year() <= 2100
	}
	switch s.Format {
	case "":
		return true
	case "date":
		return inCalendar(time.DateOnly)
	case "date-time":
		return inCalendar(time.RFC3339)
	case "uuid":
		return regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`).MatchString(text)
	}
	return false
}
