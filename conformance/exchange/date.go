package exchange

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// DateForm says how a date in a header field is written.
type DateForm int

// The forms.
const (
	NoDate    DateForm = iota
	OlderDate          // a form that senders must not use any more
	GoodDate
)

// DeprecationDate reads the value of Deprecation: a Date of Structured Fields (RFC 9745 §2.1, RFC 9651 §3.3.7), which may have
// parameters. Older drafts had true or an HTTP date; true has no time.
func DeprecationDate(value string) (time.Time, DateForm) {
	value = strings.Trim(value, " ")
	item, parameters, _ := strings.Cut(value, ";")
	if digits, ok := strings.CutPrefix(item, "@"); ok {
		if !regexp.MustCompile(`^-?[0-9]{1,15}$`).MatchString(digits) || !fieldParameters(value[len(item):]) {
			return time.Time{}, NoDate
		}
		seconds, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return time.Time{}, NoDate
		}
		return time.Unix(seconds, 0).UTC(), GoodDate
	}
	if parameters == "" && (value == "true" || value == "?1") {
		return time.Time{}, OlderDate
	}
	if at, form := HTTPDate(value); form != NoDate {
		return at, OlderDate
	}
	return time.Time{}, NoDate
}

// fieldParameters reports the parameters of an item (RFC 9651 §3.1.2), as far as they have plain values.
func fieldParameters(text string) bool {
	return regexp.MustCompile(`^(; *[a-z*][a-z0-9_.*-]*(=("([ !#-\[\]-~]|\\["\\])*"|@?-?[0-9]{1,15}(\.[0-9]{1,3})?|\?[01]|[A-Za-z*][A-Za-z0-9!#$%&'*+.^_` + "`" + `|~:/-]*|:[A-Za-z0-9+/=]*:))?)*$`).MatchString(text)
}

// HTTPDate reads an HTTP date (RFC 9110 §5.6.7): the preferred form letter by letter, weekday included, or one of the two obsolete ones.
func HTTPDate(value string) (time.Time, DateForm) {
	const preferred = "Mon, 02 Jan 2006 15:04:05 GMT"
	if at, err := time.Parse(preferred, value); err == nil && at.Format(preferred) == value {
		return at, GoodDate
	}
	for _, obsolete := range []string{"Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
		if at, err := time.Parse(obsolete, value); err == nil && at.Format(obsolete) == value {
			return at, OlderDate
		}
	}
	return time.Time{}, NoDate
}
