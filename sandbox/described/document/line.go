package document

import (
	"bytes"
	"encoding/json"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// isJSON tells whether a text is meant to be JSON, as [schema.Read] does.
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

// lineAt is the line of a byte, from 1.
func lineAt(text []byte, offset int) int {
	return 1 + bytes.Count(text[:max(0, min(offset, len(text)))], []byte("\n"))
}

// line finds where the value of a pointer, or the nearest one above it that is there, begins; 0 when it cannot be told. Only
// messages need it, so that nothing is kept for it.
func line(text []byte, pointer string) int {
	if isJSON(text) {
		f := finder{text: text, decoder: json.NewDecoder(bytes.NewReader(text))}
		f.find(segments(pointer))
		return lineAt(text, f.found)
	}
	node, err := yamlTree(text)
	if err != nil {
		return 0
	}
	at := node.Line
	for _, segment := range segments(pointer) {
		if node = below(node, segment); node == nil {
			break
		}
		at = node.Line
	}
	return at
}

// below is the member or item of a node; a member is where its name stands.
func below(n *yaml.Node, segment string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(segment); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == segment {
			member := *n.Content[i+1]
			member.Line = n.Content[i].Line
			return &member
		}
	}
	return nil
}

// finder walks over JSON that is known to be good.
type finder struct {
	text    []byte
	decoder *json.Decoder
	found   int // offset of the last name or item on the way
}

// find reads one value, and goes on to the pointer's end within it.
func (f *finder) find(way []string) (done bool) {
	token, err := f.decoder.Token()
	delim, nested := token.(json.Delim)
	if err != nil || len(way) == 0 {
		return true
	}
	if !nested {
		return true
	}
	for i := 0; f.decoder.More(); i++ {
		name := strconv.Itoa(i)
		at := int(f.decoder.InputOffset())
		if delim == '{' {
			token, err := f.decoder.Token()
			if err != nil {
				return true
			}
			name, _ = token.(string)
			at = int(f.decoder.InputOffset())
		} else {
			at += len(f.text[at:]) - len(bytes.TrimLeft(f.text[at:], " \t\r\n,"))
		}
		if name == way[0] {
			f.found = at
			return f.find(way[1:])
		}
		var skipped json.RawMessage
		if err := f.decoder.Decode(&skipped); err != nil {
			return true
		}
	}
	return true
}
