package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of an answer's body. A list is judged item by item, so that its length costs no memory.
const (
	maxBody   = 32 << 20  // bytes
	maxValues = 1_000_000 // JSON values judged as one
	maxLevels = 500       // nested objects and arrays
)

var (
	errValues = fmt.Errorf("one value holds more than %d values", maxValues)
	errLevels = fmt.Errorf("it is nested deeper than %d levels", maxLevels)
)

// firstByte is the first byte of the JSON text, 0 without one.
func firstByte(body []byte) byte {
	if text := bytes.TrimLeft(body, " \t\r\n"); len(text) > 0 {
		return text[0]
	}
	return 0
}

// readWhole decodes the whole body as one value.
func readWhole(body []byte) (any, error) {
	dec := newDecoder(body)
	r := reader{dec: dec, plain: isPlain(body)}
	value, err := r.value(0)
	if err != nil {
		return nil, err
	}
	return value, atEnd(dec)
}

// readItems decodes the members of a top-level array one by one. A cut-off body ends the list at its last complete member.
func readItems(body []byte, cut bool, each func(i int, item any)) (n int, err error) {
	dec, plain := newDecoder(body), isPlain(body)
	if _, err := dec.Token(); err != nil {
		return 0, err
	}
	for dec.More() {
		r := reader{dec: dec, plain: plain}
		item, err := r.value(1)
		if err != nil {
			if cut && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
				return n, nil
			}
			return n, err
		}
		each(n, item)
		n++
	}
	if _, err := dec.Token(); err != nil {
		if cut && errors.Is(err, io.EOF) {
			return n, nil
		}
		return n, unexpected(err)
	}
	return n, atEnd(dec)
}

func newDecoder(body []byte) *json.Decoder {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	return dec
}

func atEnd(dec *json.Decoder) error {
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("more text follows the JSON value at byte %d", dec.InputOffset())
	}
	return nil
}

// unexpected makes the end of the text an error of its own: Token returns a bare io.EOF in the middle of a value.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// reader builds values the way encoding/json does, but bounded, and with numbers that are cheap to compute with.
type reader struct {
	dec    *json.Decoder
	values int
	plain  bool // the whole body is within the bounds: nothing has to be counted
}

func (r *reader) value(level int) (any, error) {
	if r.plain {
		var value any
		err := r.dec.Decode(&value)
		return value, unexpected(err)
	}
	token, err := r.dec.Token()
	if err != nil {
		return nil, unexpected(err)
	}
	if r.values++; r.values > maxValues {
		return nil, errValues
	}
	switch v := token.(type) {
	case json.Number:
		return boundedNumber(v), nil
	case json.Delim:
		if level >= maxLevels {
			return nil, errLevels
		}
		if v == '[' {
			return r.array(level + 1)
		}
		return r.object(level + 1)
	}
	return token, nil
}

func (r *reader) array(level int) (any, error) {
	list := []any{}
	for r.dec.More() {
		item, err := r.value(level)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := r.dec.Token()
	return list, unexpected(err)
}

func (r *reader) object(level int) (any, error) {
	members := map[string]any{}
	for r.dec.More() {
		key, err := r.dec.Token()
		if err != nil {
			return nil, unexpected(err)
		}
		value, err := r.value(level)
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // the decoder accepts nothing else here
		members[name] = value
	}
	_, err := r.dec.Token()
	return members, unexpected(err)
}

// isPlain reports a body that is certainly within the bounds of a value, by one look at its bytes: few values, flat, and without numbers that
// are dear to compute with. Nearly all bodies are, and then encoding/json reads them three times as fast as value by value. What is no
// JSON may be called plain; reading tells.
func isPlain(body []byte) bool {
	level, values, digits := 0, 1, 0
	for i := 0; i < len(body); i++ {
		c := body[i]
		if '0' <= c && c <= '9' || c == '.' {
			if digits++; digits >= maxDigits {
				return false
			}
			continue
		}
		switch c {
		case '"':
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			level++
			values++
		case ']', '}':
			level--
		case ',', ':':
			values++
		case 'e', 'E':
			if digits > 0 {
				return false // an exponent
			}
		}
		digits = 0
		if level > maxLevels || values > maxValues {
			return false
		}
	}
	return true
}

// Numbers are compared exactly, which costs memory by their exponent: a few bytes of JSON can ask for gigabytes.
const (
	maxExponent = 400 // beyond any IEEE 754 double
	maxDigits   = 400
)

// isCheap reports whether a number is cheap to compute with.
func isCheap(n json.Number) bool {
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

// boundedNumber replaces a number that is not by one that compares alike: huge, or almost zero, with the same sign.
func boundedNumber(n json.Number) json.Number {
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
		return boundedNumber(v)
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
