package probe

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// trial is one value of one described parameter, with whether the document allows it.
type trial struct {
	parameter document.Parameter
	try       exchange.Try
	value     *string // nil leaves the parameter out
	legal     bool
}

const (
	// smallVocabulary is how many values a vocabulary may have for each of them to be tried.
	smallVocabulary = 8
	// longestValue is how long a value may be that is made for a parameter, in characters.
	longestValue = 2000
	// gentlePage is how many items a page may have at most that is asked for: large ones are a load.
	gentlePage = 1000
	// exactNumber is up to where each whole number is a float64.
	exactNumber = 1 << 53
)

// nobodysWord is a value that no vocabulary has and that is neither number, date nor UUID.
const nobodysWord = "conformance-unknown"

// trialsOf lists what is tried of a parameter: what its schema allows at the bounds, and what it does not allow just beyond them. The
// plain valid value of a query parameter is not among them.
func trialsOf(p document.Parameter) []trial {
	s := p.Schema
	if s.Type == "array" && s.Items != nil {
		s = *s.Items
	}
	t := trials{parameter: p}
	switch {
	case p.In == "cookie" || clientsField(p) || s.Type == "object":
		return nil
	case len(s.Enum) > 0:
		t.vocabulary(s)
	case s.Type == "integer" || s.Type == "number":
		t.numbers(s)
	case s.Type == "boolean":
		t.legal(exchange.NthValue(2), "false")
		t.illegal(exchange.WrongType, nobodysWord)
	case s.Type == "string" && (s.Format == "date" || s.Format == "date-time" || s.Format == "uuid"):
		t.illegal(exchange.WrongType, nobodysWord)
	case s.Type == "string" && p.In != "path": // any text in a path is the id of something, which PAG-09 and ROB-03 try
		t.texts(s)
	}
	if p.Required && p.In != "path" {
		t.found = append(t.found, trial{parameter: p, try: exchange.Absent})
	}
	return t.found
}

// trials gathers the trials of one parameter.
type trials struct {
	parameter document.Parameter
	found     []trial
}

func (t *trials) legal(try exchange.Try, value string)   { t.add(try, value, true) }
func (t *trials) illegal(try exchange.Try, value string) { t.add(try, value, false) }

func (t *trials) add(try exchange.Try, value string, legal bool) {
	if sendsAs(t.parameter, value) {
		t.found = append(t.found, trial{t.parameter, try, &value, legal})
	}
}

// vocabulary tries each further value of a small vocabulary, the last one of a large one, and one that is not in it.
func (t *trials) vocabulary(s document.Schema) {
	from := 2
	if len(s.Enum) > smallVocabulary {
		from = len(s.Enum)
	}
	if t.parameter.In != "query" {
		from = 1 // nothing else tries the first
	}
	for n := from; n <= len(s.Enum); n++ {
		if len(s.Enum[n-1]) <= maxScalar {
			t.legal(exchange.NthValue(n), s.Enum[n-1])
		}
	}
	if other := nobodysWord; !slices.Contains(s.Enum, other) {
		t.illegal(exchange.OutsideEnum, other)
	}
}

func (t *trials) numbers(s document.Schema) {
	defer t.illegal(exchange.WrongType, nobodysWord)
	if t.parameter.In == "path" {
		return // the id of something
	}
	if s.Minimum != nil && math.Abs(*s.Minimum) < exactNumber {
		at := *s.Minimum
		if s.Type == "integer" {
			if at = math.Ceil(at); s.ExclusiveMinimum && at == *s.Minimum {
				at++
			}
		}
		if s.MultipleOf == nil && (s.Type == "integer" || !s.ExclusiveMinimum) {
			t.legal(exchange.AtMinimum, numeral(at))
		}
		t.illegal(exchange.BelowMinimum, numeral(at-1))
	}
	switch {
	case s.Maximum != nil && math.Abs(*s.Maximum) < exactNumber:
		at := *s.Maximum
		if s.Type == "integer" {
			if at = math.Floor(at); s.ExclusiveMaximum && at == *s.Maximum {
				at--
			}
		}
		if s.MultipleOf == nil && (s.Type == "integer" || !s.ExclusiveMaximum) && (at <= gentlePage || !asksForMany(t.parameter.Name)) {
			t.legal(exchange.AtMaximum, numeral(at))
		}
		t.illegal(exchange.AboveMaximum, numeral(at+1))
	case s.Type == "integer" && s.Format == "int32":
		t.illegal(exchange.AboveMaximum, numeral(math.MaxInt32+1))
	}
}

// asksForMany reports a name under which the size of an answer is asked for.
func asksForMany(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"size", "limit", "count", "per_page", "perpage", "top", "rows"}, func(s string) bool { return strings.Contains(name, s) })
}

func numeral(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// texts tries the lengths that the schema tells, and a text that its pattern does not allow. A pattern that Go can't read (it may use
// look-arounds, which ECMA 262 has) is left alone, and so are lengths whose plain text it refuses.
func (t *trials) texts(s document.Schema) {
	allowed := func(string) bool { return s.Format == "" }
	if s.Pattern != "" {
		pattern, err := regexp.Compile(s.Pattern)
		allowed = func(text string) bool { return err == nil && s.Format == "" && pattern.MatchString(text) }
		if err == nil {
			for _, text := range []string{nobodysWord, "0", "~", "CONFORMANCE"} {
				if !pattern.MatchString(text) {
					t.illegal(exchange.AgainstPattern, text)
					break
				}
			}
		}
	}
	of := func(length int) string { return strings.Repeat("a", length) }
	if s.MinLength != nil && *s.MinLength > 0 && *s.MinLength <= longestValue {
		if text := of(*s.MinLength); allowed(text) {
			t.legal(exchange.Shortest, text)
		}
		if *s.MinLength > 1 { // an empty value often means that the parameter is absent
			t.illegal(exchange.TooShort, of(*s.MinLength-1))
		}
	}
	if s.MaxLength != nil && *s.MaxLength > 0 && *s.MaxLength <= longestValue {
		if text := of(*s.MaxLength); allowed(text) {
			t.legal(exchange.Longest, text)
		}
		t.illegal(exchange.TooLong, of(*s.MaxLength+1))
	}
}
