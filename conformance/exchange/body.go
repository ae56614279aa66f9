package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Body is message content. In JSON it is a string when it is text in UTF-8, else {"base64": "..."}: nothing is lost, and
// control characters do not grow to six bytes each.
type Body []byte

type binary struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (b Body) MarshalJSON() ([]byte, error) {
	if b.binary() {
		return json.Marshal(binary{b})
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // the encoder around this one decides
	if err := enc.Encode(string(b)); err != nil {
		return nil, fmt.Errorf("write body: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// written is the body as encoding/json writes it without a Marshaler; nil for an empty one.
func (b Body) written() any {
	switch {
	case len(b) == 0:
		return nil
	case b.binary():
		return binary{b}
	}
	return string(b)
}

// binary reports a body that is no text, or whose escapes would take more room than base64 does.
func (b Body) binary() bool {
	escapes := 0
	for _, c := range b { // in UTF-8 a byte of this range is a character
		switch {
		case c >= ' ' || c == '\t' || c == '\n' || c == '\r':
		case c == '\x1b':
			escapes++
		default:
			return true // a control character that text does not hold
		}
	}
	return 15*escapes > len(b) || !utf8.Valid(b)
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *Body) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		if text, ok := unquoted(data); ok {
			*b = text
			return nil
		}
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return fmt.Errorf("read body: %w", err)
		}
		*b = Body(s)
		return nil
	}
	var v binary
	if err := json.Unmarshal(data, &v); err != nil {
		return fmt.Errorf("read binary body: %w", err)
	}
	*b = v.Base64
	return nil
}

// unquoted is the text of a JSON string that is known to be one. Strings that take more than undoing escapes are left to encoding/json,
// which checks everything once more.
func unquoted(data []byte) (text []byte, ok bool) {
	if len(data) < 2 || !utf8.Valid(data) {
		return nil, false
	}
	data = data[1 : len(data)-1]
	text = make([]byte, 0, len(data))
	for {
		i := bytes.IndexByte(data, '\\')
		if i < 0 {
			return append(text, data...), true
		}
		if i+1 == len(data) {
			return nil, false
		}
		k := strings.IndexByte(`"\/bfnrt`, data[i+1])
		if k < 0 {
			return nil, false
		}
		text = append(append(text, data[:i]...), "\"\\/\b\f\n\r\t"[k])
		data = data[i+2:]
	}
}

// IsZero reports an empty body, so that it is left out.
func (b Body) IsZero() bool { return len(b) == 0 }
