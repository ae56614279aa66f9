package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// binary reports a body that is no text, or whose escapes would take more room than base64 does.
func (b Body) binary() bool {
	return !utf8.Valid(b) || bytes.ContainsFunc(b, binaryRune) || 15*bytes.Count(b, []byte{'\x1b'}) > len(b)
}

// binaryRune reports a control character that text does not hold.
func binaryRune(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\x1b' }

// UnmarshalJSON implements json.Unmarshaler.
func (b *Body) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
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

// IsZero reports an empty body, so that it is left out.
func (b Body) IsZero() bool { return len(b) == 0 }
