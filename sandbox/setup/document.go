package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// The bounds of a file. What aliases stand for is counted each time.
const (
	maxFile   = 1 << 20
	maxValues = 50_000
	maxText   = 4096
	maxMerges = 4
	maxList   = 1000 // of a node
)

// parse reads the one document of a file as it stands: nothing is converted, and no alias is followed.
func parse(data []byte) (*yaml.Node, *Fault) {
	whole := func(expected, got, hint string) *Fault {
		return &Fault{Line: 1, Column: 1, Expected: expected, Got: got, Hint: hint}
	}
	if len(data) > maxFile {
		return nil, whole("a file of at most 1 MiB", fmt.Sprintf("%d bytes", len(data)), "name the file of the configuration")
	}
	if json.Valid(data) { // JSON may be indented with tabs and YAML may not; a JSON string holds none
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" "))
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, whole("keys such as nodes", "an empty file", "rin sandbox --example-config prints an example")
		}
		return nil, unreadable(data, err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		at := max(second.Line, 1)
		return nil, &Fault{Line: at, Column: 1, Expected: "one document", Got: "another after ---", Hint: "put everything into one"}
	}
	return document.Content[0], nil
}
