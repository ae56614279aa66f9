package mockapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/rin-network/rin/sandbox/content"
)

// The limits of a document.
const (
	MaxDocumentSize = sample.MaxSize // bytes
	MaxOperations   = 4000
	maxParameters   = 200 // of one operation
)

// Document is an OpenAPI document with its operations. It is immutable and safe for concurrent use.
type Document struct {
	*sample.Document
	// Title is the title of the API.
	Title string
	// Server is the path of the URL of the first server.
	Server string
	// Operations are in the order of path and method.
	Operations []Operation
	// Faults are the faults of paths from which no operation could be read.
	Faults []*sample.Fault

	text []byte
}

// ReadDocument reads a document. Its error means that nothing of the document can be used.
func ReadDocument(text []byte) (*Document, error) {
	source, err := sample.Read(text)
	if err != nil {
		return nil, err
	}
	d := &Document{Document: source, text: text}
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

// Locate sets the lines of faults, all in one walk through the text. It is a separate step because most faults are never shown, and a document
// may have a thousand.
func (d *Document) Locate(faults ...*sample.Fault) {
	if len(faults) == 0 {
		return
	}
	var tree lineTree
	for _, f := range faults {
		tree.add(faultPath(f))
	}
	if isJSON(d.text) {
		text := bytes.TrimPrefix(d.text, []byte("\xef\xbb\xbf"))
		f := lineFinder{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), line: 1}
		tree.line = 1
		f.find(&tree)
	} else if node, err := yamlTree(d.text); err == nil {
		tree.line = node.Line
		tree.findInYAML(node)
	}
	for _, f := range faults {
		f.Line = tree.nearest(faultPath(f))
	}
}

func faultPath(f *sample.Fault) []string {
	path, _ := sample.SplitPointer(strings.TrimPrefix(f.Pointer, "#"))
	return path
}

// isJSON reports whether [sample.Read] reads a text as JSON.
func isJSON(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, "\xef\xbb\xbf \t\r\n"), []byte("{"))
}

// yamlTree returns the first document of a text as nodes. Aliases are not expanded.
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

// lineTree is a part of a document whose line is to be found, with the parts below it.
type lineTree struct {
	line  int // from 1; 0 if the part is not in the document
	below map[string]*lineTree
}

func (p *lineTree) add(path []string) {
	for _, name := range path {
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

// nearest returns the line of the part at a path, or of the last part on the path that exists.
func (p *lineTree) nearest(path []string) int {
	line := p.line
	for _, name := range path {
		if p = p.below[name]; p == nil || p.line == 0 {
			break
		}
		line = p.line
	}
	return line
}

// findInYAML sets the lines of the searched parts below a YAML node. The line of a member is that of its name.
func (p *lineTree) findInYAML(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			if next := p.below[strconv.Itoa(i)]; next != nil {
				next.line = item.Line
				next.findInYAML(item)
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if next := p.below[n.Content[i].Value]; next != nil {
				next.line = n.Content[i].Line
				next.findInYAML(n.Content[i+1])
			}
		}
	}
}

// lineFinder finds lines in valid JSON.
type lineFinder struct {
	text    []byte
	decoder *json.Decoder
	counted int // the offset up to which lines are counted
	line    int // the line at that offset
}

// lineOf returns the line of a byte. The offsets of successive calls must ascend.
func (f *lineFinder) lineOf(offset int) int {
	f.line += bytes.Count(f.text[f.counted:offset], []byte("\n"))
	f.counted = offset
	return f.line
}

// find reads one value, and sets the lines of the searched parts in it.
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
			separators := len(f.text[at:]) - len(bytes.TrimLeft(f.text[at:], " \t\r\n,"))
			at += separators
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
	_, _ = f.decoder.Token() // the closing bracket
}

// clip cuts a text of the document or the client at 80 characters, for messages.
func clip(text string) string { return content.Clip(text, 80) }

// typeName names the type of a JSON value in messages.
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
