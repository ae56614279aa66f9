package sheet

import (
	"bytes"
	_ "embed" // the schema is a file
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"

	"github.com/rin-network/rin/sandbox/conduct"
)

// JSON writes the report for programs. Values are unchanged; characters that would act on a terminal are written as \u escapes.
func JSON(w io.Writer, r conduct.Report) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("encode the report: %w", err)
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

// Schema returns the JSON Schema (draft 2020-12) of what [JSON] writes.
func Schema() []byte { return bytes.Clone(schema) }

//go:embed schema/conduct.v1.json
var schema []byte
