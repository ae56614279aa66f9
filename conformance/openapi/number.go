package openapi

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Numbers are compared exactly, which costs memory by their exponent: a few bytes of JSON can ask for gigabytes.
const (
	maxExponent = 400 // beyond any IEEE 754 double
	maxDigits   = 400
)

// sane reports whether a number is cheap to compute with.
func sane(n json.Number) bool {
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(string(n)), "e")
	if len(mantissa) > maxDigits {
		return false
	}
	if !scientific {
		return true
	}
	e, err := strconv.Atoi(strings.TrimPrefix(exponent, "+"))
	return err == nil && e <= maxExponent && e >= -maxExponent
}

// tamed replaces a number that is not by one that compares alike: huge, or almost zero, with the same sign.
func tamed(n json.Number) json.Number {
	if sane(n) {
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
	case exponent == "" && strings.Contains(mantissa, "."): // many decimals of a usual number
		if whole, _, _ := strings.Cut(mantissa, "."); len(whole) < maxDigits {
			return json.Number(mantissa[:maxDigits])
		}
	}
	return json.Number(sign + "1e400")
}

// bounded is a deep copy of decoded JSON in which every number is tamed.
func bounded(value any) any {
	switch v := value.(type) {
	case json.Number:
		return tamed(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = bounded(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = bounded(item)
		}
		return out
	}
	return value
}
