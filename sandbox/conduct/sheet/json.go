package sheet

import (
	"encoding/json"
	"io"

	"github.com/rin-network/rin/sandbox/conduct"
)

// JSON writes the report for programs, see conduct.Schema.
func JSON(w io.Writer, r conduct.Report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}
