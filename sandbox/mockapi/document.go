package mockapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/fixtures/sample"
)

// The bounds of a document.
const (
	MaxDocumentSize = sample.MaxSize // bytes
	MaxOperations   = 4000
	maxParameters   = 200 // of one operation
	maxReferences   = 32  // one after the other
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
	Schemas *sample.Document

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

// ReadDocument reads a document. Its error means that nothing of the document can be used.
func ReadDocument(text []byte) (*Document, error) {
	source, err := sample.Read(text)
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
	d.Server = serverPath(source.Root)
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
	var wanted lineTree
	for _, f := range faults {
		wanted.add(segments(f.Pointer))
	}
	if isJSON(d.text) {
		text := bytes.TrimPrefix(d.text, []byte("\xef\xbb\xbf"))
		f := lineFinder{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), line: 1}
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

// typeName names the type of a JSON value.
func typeName(value any) string {
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

// Child is the pointer of a member or item (RFC 6901 §3).
func Child(pointer string, names ...string) string {
	for _, name := range names {
		pointer += "/" + sample.Escape(name)
	}
	return pointer
}

func segments(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, p := range parts {
		if strings.Contains(p, "~") {
			parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
		}
	}
	return parts
}

// At is the value that a pointer leads to.
func (d *Document) At(pointer string) (any, bool) {
	var value any = d.Tree()
	for _, segment := range segments(pointer) {
		switch v := value.(type) {
		case map[string]any:
			member, ok := v[segment]
			if !ok {
				return nil, false
			}
			value = member
		case []any:
			i, err := strconv.Atoi(segment)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// Resolve gives the object at a pointer, references followed, and where it really is.
func (d *Document) Resolve(pointer string) (object map[string]any, at string, fault *Fault) {
	at = pointer
	for range maxReferences {
		value, ok := d.At(at)
		if !ok {
			return nil, at, d.Fault(pointer, "it refers to #%s, which is not in the document", clip(at))
		}
		object, ok = value.(map[string]any)
		if !ok {
			return nil, at, d.Fault(at, "expected an object, got %s", typeName(value))
		}
		reference, ok := object["$ref"].(string)
		if !ok {
			return object, at, nil
		}
		next, ok := localPointer(reference)
		if !ok {
			return nil, at, d.Fault(at, "it refers to %q, outside of the document: only references within it are followed", clip(reference))
		}
		at = next
	}
	return nil, at, d.Fault(pointer, "it refers to itself, or through more than %d references", maxReferences)
}

// localPointer is the pointer of a reference within the document, "#/components/schemas/Text".
func localPointer(reference string) (pointer string, ok bool) {
	fragment, ok := strings.CutPrefix(reference, "#")
	if !ok || fragment != "" && fragment[0] != '/' {
		return "", false
	}
	pointer, err := url.PathUnescape(fragment)
	return pointer, err == nil
}

// isJSON tells whether a text is meant to be JSON, as [sample.Read] does.
func isJSON(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, "\xef\xbb\xbf \t\r\n"), []byte("{"))
}

// yamlTree is the first document of a text, as nodes; an alias is one node there, however much it stands for.
func yamlTree(text []byte) (*yaml.Node, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		return nil, err
	}
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		return node.Content[0], nil
	}
	return &node, nil
}

// lineTree is a part of a document whose line is wanted, or that is on the way to one.
type lineTree struct {
	line  int // from 1; 0 where it is not in the document
	below map[string]*lineTree
}

func (p *lineTree) add(way []string) {
	for _, name := range way {
		next := p.below[name]
		if next == nil {
			next = &lineTree{}
			if p.below == nil {
				p.below = map[string]*lineTree{}
			}
			p.below[name] = next
		}
		p = next
	}
}

// nearest is the line of what is at the end of the way, or of the last part on it that is there.
func (p *lineTree) nearest(way []string) int {
	line := p.line
	for _, name := range way {
		if p = p.below[name]; p == nil || p.line == 0 {
			break
		}
		line = p.line
	}
	return line
}

// find looks for what is below a node of YAML. A member is where its name stands.
func (p *lineTree) find(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			if next := p.below[strconv.Itoa(i)]; next != nil {
				next.line = item.Line
				next.find(item)
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if next := p.below[n.Content[i].Value]; next != nil {
				next.line = n.Content[i].Line
				next.find(n.Content[i+1])
			}
		}
	}
}

// lineFinder walks over JSON that is known to be good.
type lineFinder struct {
	text    []byte
	decoder *json.Decoder
	counted int // bytes
	line    int // where they end
}

// lineOf is the line of a byte that is behind all those asked for before.
func (f *lineFinder) lineOf(offset int) int {
	f.line += bytes.Count(f.text[f.counted:offset], []byte("\n"))
	f.counted = offset
	return f.line
}

// find reads one value, and looks there for what is below a place.
func (f *lineFinder) find(p *lineTree) {
	token, err := f.decoder.Token()
	delim, nested := token.(json.Delim)
	if err != nil || !nested {
		return
	}
	for i := 0; f.decoder.More(); i++ {
		name := strconv.Itoa(i)
		at := int(f.decoder.InputOffset())
		if delim == '{' {
			token, err := f.decoder.Token()
			if err != nil {
				return
			}
			name, _ = token.(string)
			at = int(f.decoder.InputOffset())
		} else {
			at += len(f.text[at:]) - len(bytes.TrimLeft(f.text[at:], " \t\r\n,"))
		}
		if next := p.below[name]; next != nil {
			next.line = f.lineOf(at)
			f.find(next)
			continue
		}
		var skipped json.RawMessage
		if err := f.decoder.Decode(&skipped); err != nil {
			return
		}
	}
	_, _ = f.decoder.Token() // the end of the object or array
}
