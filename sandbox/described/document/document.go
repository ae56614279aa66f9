package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/fixtures/schema"
)

// The bounds of a document.
const (
	MaxSize       = schema.MaxText // bytes
	MaxOperations = 4000
	maxParameters = 200 // of one operation
	maxReferences = 32  // one after the other
)

// Document is an OpenAPI document. It does not change, and is safe for concurrent use.
type Document struct {
	// Version is "3.0" or "3.1".
	Version string
	// Title is the title of the API.
	Title string
	// Server is the path of the URL of its first server.
	Server string
	// Operations are those of its paths, in the order of path and method.
	Operations []Operation
	// Faults are those of paths that have no operation for them.
	Faults []*Fault

	// Schemas is what values are drawn from.
	Schemas *schema.Document

	text []byte
}

// Fault is what is wrong with a part of a document.
type Fault struct {
	// Pointer is the JSON Pointer of the part (RFC 6901); empty for the document.
	Pointer string
	// Line is where the part begins, from 1; 0 when that is not known.
	Line int
	// Reason says what was expected, and what is there.
	Reason string
}

// Error implements error.
func (f *Fault) Error() string {
	where := "the document"
	if f.Pointer != "" {
		where = "#" + f.Pointer
	}
	if f.Line > 0 {
		where = fmt.Sprintf("line %d, %s", f.Line, where)
	}
	return where + ": " + f.Reason
}

// Read reads a document. Its error means that nothing of the document can be used.
func Read(text []byte) (*Document, error) {
	source, err := schema.Read(text)
	if err != nil {
		return nil, err
	}
	d := &Document{Schemas: source, Version: "3.1", text: text}
	if strings.HasPrefix(source.Version, "3.0") {
		d.Version = "3.0"
	}
	if info, ok := source.Root["info"].(map[string]any); ok {
		d.Title, _ = info["title"].(string)
	}
	d.Server = ServerPath(source.Root)
	if fault := d.collect(); fault != nil {
		d.Locate(fault)
		return nil, fault
	}
	return d, nil
}

// Tree is the whole document: maps, slices, strings, booleans, json.Number and nil. It must not be changed.
func (d *Document) Tree() map[string]any { return d.Schemas.Root }

// Fault makes a fault of the part at a pointer. It has no line before Locate.
func (d *Document) Fault(pointer, format string, values ...any) *Fault {
	return &Fault{Pointer: pointer, Reason: fmt.Sprintf(format, values...)}
}

// Locate finds the lines of faults, all of them in one walk through the text: not every fault that is found is told, and a document may
// have a thousand.
func (d *Document) Locate(faults ...*Fault) {
	var wanted place
	for _, f := range faults {
		wanted.add(segments(f.Pointer))
	}
	if isJSON(d.text) {
		text := bytes.TrimPrefix(d.text, []byte("\xef\xbb\xbf"))
		f := finder{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), line: 1}
		wanted.line = 1
		f.find(&wanted)
	} else if node, err := yamlTree(d.text); err == nil {
		wanted.line = node.Line
		wanted.find(node)
	}
	for _, f := range faults {
		f.Line = wanted.nearest(segments(f.Pointer))
	}
}

// clip keeps foreign text short in messages.
func clip(text string) string {
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return text
}

// kind names the type of a JSON value.
func kind(value any) string {
	switch value.(type) {
	case nil:
		return "nothing"
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	}
	return "a number"
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
