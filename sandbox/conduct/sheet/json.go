package sheet

import (
	"bytes"
	_ "embed" // the schema is a file
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
)

// JSON writes a report, or anything else, for programs. Values are unchanged; characters that would act on a terminal are written as \u escapes.
func JSON(w io.Writer, value any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Errorf("encode as JSON: %w", err)
	}
	_, err := w.Write(inert(b.Bytes()))
	return err
}

// inert writes strange characters of a JSON text, which stand in its strings only, as escapes.
func inert(text []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r == '\n' || !strange(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// Schema returns the JSON Schema (draft 2020-12) of a report.
func Schema() []byte { return bytes.Clone(schema) }

//go:embed schema/conduct.v1.json
var schema []byte
