package openapi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
)

// Numbers are compared exactly, at a cost that grows with the exponent: a few bytes of JSON can ask for gigabytes.
const (
	maxExponent = 400 // beyond any IEEE 754 double
	// MaxDigits is the length in bytes of the longest number that is computed with exactly.
	MaxDigits = 400
)

// isCheap reports whether a number is cheap to compute with.
func isCheap(n json.Number) bool {
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(string(n)), "e")
	if len(mantissa) > MaxDigits {
		return false
	}
	if !scientific {
		return true
	}
	e, err := strconv.Atoi(strings.TrimPrefix(exponent, "+"))
	return err == nil && e <= maxExponent && e >= -maxExponent
}

// BoundedNumber returns n, or in place of an expensive number one that compares alike: huge, or almost zero, with the same sign.
func BoundedNumber(n json.Number) json.Number {
	if isCheap(n) {
		return n
	}
	text := strings.ToLower(string(n))
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign = "-"
	}
	mantissa, exponent, _ := strings.Cut(text, "e")
	digits := strings.Trim(mantissa, "-0.")
	switch {
	case digits == "":
		return "0"
	case strings.HasPrefix(exponent, "-"), exponent == "" && strings.HasPrefix(strings.TrimPrefix(mantissa, "-"), "0."):
		return json.Number(sign + "1e-400")
	case exponent == "" && strings.Contains(mantissa, "."): // many decimals of an ordinary number
		if whole, _, _ := strings.Cut(mantissa, "."); len(whole) < MaxDigits {
			return json.Number(mantissa[:MaxDigits])
		}
	}
	return json.Number(sign + "1e400")
}

// BoundedNumbers returns a deep copy of decoded JSON with [BoundedNumber] applied to all numbers.
func BoundedNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		return BoundedNumber(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = BoundedNumbers(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = BoundedNumbers(item)
		}
		return out
	}
	return value
}

// Pattern is a regular expression of a document.
type Pattern interface {
	String() string
	MatchString(s string) bool
}

// patternTime bounds one match of a pattern that needs backtracking.
const patternTime = 50 * time.Millisecond

// CompilePattern compiles a regular expression of a document. Patterns are ECMAScript (OAS 3.0.3 Schema Object). Go's own engine runs those
// that it understands, in linear time; the others (look-ahead, back references) get a time limit.
func CompilePattern(pattern string) (Pattern, error) {
	if re, err := regexp.Compile(pattern); err == nil {
		return re, nil
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript)
	if err != nil {
		return nil, fmt.Errorf("read pattern: %w", err)
	}
	re.MatchTimeout = patternTime
	return &backtracking{re: re}, nil
}

// backtracking is a pattern that gives up for good after its first timeout, because many slow matches would add up.
type backtracking struct {
	re     *regexp2.Regexp
	gaveUp atomic.Bool
}

func (b *backtracking) String() string { return b.re.String() }

// MatchString returns true if time runs out, because a finding needs proof.
func (b *backtracking) MatchString(s string) bool {
	if b.gaveUp.Load() {
		return true
	}
	matched, err := b.re.MatchString(s)
	if err != nil {
		b.gaveUp.Store(true)
		return true
	}
	return matched
}
