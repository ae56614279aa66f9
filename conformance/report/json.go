package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

//go:embed schema/report.v1.json
var schemas embed.FS

// Schema returns the JSON Schema (draft 2020-12) of what [WriteJSON] writes.
func Schema() []byte {
	b, err := schemas.ReadFile("schema/report.v1.json")
	if err != nil {
		panic(err) // it is embedded
	}
	return b
}

// WriteJSON writes the report as JSON. Values are unchanged; characters that would act on a terminal are written as \u escapes.
func WriteJSON(w io.Writer, r Report) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	_, err := w.Write(inert(b.Bytes()))
	return err
}

// inert writes deceptive characters beyond ASCII, which JSON lets stand inside strings, as escapes. Those within ASCII are either
// white space of the document itself or escaped already, but for DEL.
func inert(doc []byte) []byte {
	var b bytes.Buffer
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRune(doc[i:])
		switch {
		case r < 0x7f || !deceptive(r):
			b.Write(doc[i : i+size])
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
		i += size
	}
	return b.Bytes()
}

// ReadJSON reads a report that [WriteJSON] wrote; another version is an error.
func ReadJSON(r io.Reader) (Report, error) {
	var out Report
	if err := json.NewDecoder(r).Decode(&out); err != nil {
		return Report{}, fmt.Errorf("read report: %w", err)
	}
	if out.Schema != Version {
		return Report{}, fmt.Errorf("read report: expected schema %s, got %.40q", Version, out.Schema)
	}
	return out, nil
}
