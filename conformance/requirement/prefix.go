package requirement

import (
	"bytes"
	"encoding/json"

	"github.com/rin-network/rin/conformance/exchange"
)

// readable decodes a body as far as it goes: of a list that was cut off at the read limit, the items before the cut.
func readable(x exchange.Exchange) (any, error) {
	if x.Response != nil && x.Response.Truncated {
		if items := itemsBeforeCut(x.Response.Body); len(items) > 0 {
			return items, nil
		}
	}
	return jsonValue(x)
}

// itemsBeforeCut reads the complete items of an array that breaks off, or of the array inside an envelope in which it breaks off.
func itemsBeforeCut(body []byte) []any {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, byteOrderMark())))
	d.UseNumber()
	first, err := d.Token()
	if err != nil {
		return nil
	}
	if first == json.Delim('[') {
		items, _ := elements(d)
		return items
	}
	for depth := 1; first == json.Delim('{') && depth > 0; {
		switch token, err := d.Token(); {
		case err != nil:
			return nil
		case token == json.Delim('['):
			if items, whole := elements(d); !whole {
				return items
			}
		case token == json.Delim('{'):
			depth++
		case token == json.Delim('}'):
			depth--
		}
	}
	return nil
}

// elements decodes the rest of an array whose bracket was read; whole says that it was closed.
func elements(d *json.Decoder) (items []any, whole bool) {
	for d.More() {
		var v any
		if d.Decode(&v) != nil {
			return items, false
		}
		items = append(items, v)
	}
	_, err := d.Token()
	return items, err == nil
}
