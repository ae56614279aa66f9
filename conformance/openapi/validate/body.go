package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/rin-network/rin/conformance/openapi"
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

// readValue decodes one bounded JSON text into numbers that are cheap to compute with. outer is the number of objects and arrays around the text.
func readValue(text []byte, outer int) (any, error) {
	size := measure(text)
	switch {
	case size.values > maxValues:
		return nil, errValues
	case size.levels+outer > maxLevels:
		return nil, errLevels
	}
	dec := newDecoder(text)
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, unexpected(err)
	}
	if size.expensive {
		value = openapi.BoundedNumbers(value)
	}
	return value, atEnd(dec)
}

// readItems decodes the members of a top-level array one by one. A truncated body ends the list at its last complete member.
func readItems(body []byte, cut bool, each func(i int, item any)) (n int, err error) {
	dec := newDecoder(body)
	if _, err := dec.Token(); err != nil {
		return 0, err
	}
	for dec.More() {
		var text json.RawMessage
		if err := dec.Decode(&text); err != nil {
			if cut && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
				return n, nil
			}
			return n, unexpected(err)
		}
		item, err := readValue(text, 1)
		if err != nil {
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

// unexpected replaces the bare io.EOF that the decoder returns in the middle of a value.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// textSize is the size of a JSON text as a value in memory.
type textSize struct {
	values, levels int
	// expensive reports whether the text has a number with an exponent or very many digits.
	expensive bool
}

// measure counts values and levels by the bytes alone, before anything is allocated. It does not check the syntax.
func measure(text []byte) textSize {
	size := textSize{values: 1}
	level, digits := 0, 0
	previous := byte(0) // the byte before, white space left out
	for i := 0; i < len(text); i++ {
		c := text[i]
		if '0' <= c && c <= '9' || c == '.' {
			digits++
			size.expensive = size.expensive || digits >= openapi.MaxDigits
			previous = c
			continue
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			digits = 0
			continue
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			level++
			size.levels = max(size.levels, level)
			size.values++
		case ']', '}':
			level--
			if previous == '[' || previous == '{' {
				size.values-- // the array or object is empty
			}
		case ',':
			size.values++
		case 'e', 'E':
			size.expensive = size.expensive || digits > 0
		}
		digits, previous = 0, c
	}
	return size
}
