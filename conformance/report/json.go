package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"

	"github.com/rin-network/rin/conformance/exchange"
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
	_, err := w.Write(exchange.Inert(b.Bytes()))
	return err
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
