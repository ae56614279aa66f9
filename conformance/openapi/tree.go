package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// object is a JSON object that keeps the order of its members. Of repeated names the last value counts, at the place of the first: RFC 8259
// §4 leaves it open, and most readers do so.
type object struct {
	keys   []string
	values map[string]any
}

func (o *object) set(key string, value any) {
	if _, known := o.values[key]; !known {
		o.keys = append(o.keys, key)
	}
	o.values[key] = value
}

var errDepth = errors.New("nested too deeply")

// decodeTree reads one JSON text into *object, []any, string, json.Number, bool and nil.
func decodeTree(text []byte, maxDepth int) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	value, err := decodeValue(dec, maxDepth)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more text follows the JSON value at byte %d", dec.InputOffset())
	}
	return value, nil
}

func decodeValue(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return token, nil
	}
	if depth == 0 {
		return nil, errDepth
	}
	if delim == '[' {
		list := []any{}
		for dec.More() {
			item, err := decodeValue(dec, depth-1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err = dec.Token()
		return list, err
	}
	o := &object{values: map[string]any{}}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		value, err := decodeValue(dec, depth-1)
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // a string, by the decoder's syntax
		o.set(name, value)
	}
	_, err = dec.Token()
	return o, err
}

// encodeTree is the inverse of decodeTree: it writes compact JSON with the members in order.
func encodeTree(value any) ([]byte, error) {
	var out bytes.Buffer
	if err := writeValue(&out, value); err != nil {
		return nil, fmt.Errorf("write reduced document: %w", err)
	}
	return out.Bytes(), nil
}

func writeValue(out *bytes.Buffer, value any) error {
	switch v := value.(type) {
	case *object:
		out.WriteByte('{')
		for i, key := range v.keys {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeScalar(out, key); err != nil {
				return err
			}
			out.WriteByte(':')
			if err := writeValue(out, v.values[key]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeValue(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	default:
		return writeScalar(out, v)
	}
	return nil
}

func writeScalar(out *bytes.Buffer, value any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the newline that Encode adds
	return nil
}
