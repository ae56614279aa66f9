package exchange

import "strconv"

// Try is a manner of trying one described parameter of an operation at its bounds or outside of them (API-01, PAG-06). Given says
// parameter, in, value, try, and legal: whether the document allows the value.
type Try string

// What the document allows.
const (
	Plain     Try = "plain"      // a valid value of a parameter that is not in the query; for those see [ParameterCase]
	AtMinimum Try = "at-minimum" // minimum, or the next number above an exclusive one
	AtMaximum Try = "at-maximum"
	Shortest  Try = "shortest" // as long as minLength
	Longest   Try = "longest"  // as long as maxLength
)

// What the document does not allow.
const (
	BelowMinimum   Try = "below-minimum"
	AboveMaximum   Try = "above-maximum" // or above what the format int32 holds
	TooShort       Try = "too-short"
	TooLong        Try = "too-long"
	OutsideEnum    Try = "outside-enum"
	AgainstPattern Try = "against-pattern"
	WrongType      Try = "wrong-type" // a word in place of a number, boolean, date or UUID
	Absent         Try = "absent"     // a required parameter is left out
)

// NthValue is the n-th value, from 1, of a vocabulary, which the document allows; a boolean has true and false.
func NthValue(n int) Try { return Try("value-" + strconv.Itoa(n)) }

// TryCase is the call of an operation with one described parameter tried in that manner; in is where the parameter stands.
func TryCase(t Try, in, name string) Case {
	if in != "query" {
		name = in + " " + name
	}
	return Case(string(t) + "-" + Slug(name))
}
