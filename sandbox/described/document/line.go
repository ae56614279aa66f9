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

// place is a part of a document whose line is wanted, or that is on the way to one.
type place struct {
	line  int // from 1; 0 where it is not in the document
	below map[string]*place
}

func (p *place) add(way []string) {
	for _, name := range way {
		next := p.below[name]
		if next == nil {
			next = &place{}
			if p.below == nil {
				p.below = map[string]*place{}
			}
			p.below[name] = next
		}
		p = next
	}
}

// nearest is the line of what is at the end of the way, or of the last part on it that is there.
func (p *place) nearest(way []string) int {
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
func (p *place) find(n *yaml.Node) {
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

// finder walks over JSON that is known to be good.
type finder struct {
	text    []byte
	decoder *json.Decoder
	counted int // bytes
	line    int // where they end
}

// lineOf is the line of a byte that is behind all those asked for before.
func (f *finder) lineOf(offset int) int {
	f.line += bytes.Count(f.text[f.counted:offset], []byte("\n"))
	f.counted = offset
	return f.line
}

// find reads one value, and looks there for what is below a place.
func (f *finder) find(p *place) {
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
