package screen

import (
	"bytes"
	"encoding/json"
)

// jsonKind is the kind of a JSON value.
type jsonKind uint8

const (
	objectKind jsonKind = iota
	arrayKind
	textKind
	numberKind
	literalKind // true, false, null
)

// jsonNode is a value of a document: its kind and its offset; the offset of a member is that of its name. It takes four bytes, because a
// document of some megabytes has almost as many values as bytes in the worst case.
type jsonNode uint32

const (
	kindBits  = 7
	memberBit = 8
	offsetBit = 4
)

// Larger documents are shown as text.
const (
	maxIndexed = 1 << 28
	maxNodes   = 1 << 20
)

func (n jsonNode) kind() jsonKind { return jsonKind(n & kindBits) }
func (n jsonNode) member() bool   { return n&memberBit != 0 }
func (n jsonNode) offset() int    { return int(n >> offsetBit) }

// index has the offsets of the values in a JSON document, in the order of the document. Values are read from the document when they are
// drawn.
type index struct {
	doc   []byte
	nodes []jsonNode
	// span counts the values inside of each value, at any depth.
	span []uint32
}

// newIndex reads a document; ok is false unless it is a JSON object or array within the limits.
func newIndex(doc []byte) (x *index, ok bool) {
	if start := skipSpace(doc, 0); len(doc) >= maxIndexed || start == len(doc) || doc[start] != '{' && doc[start] != '[' || !json.Valid(doc) {
		return nil, false
	}
	// Commas and opening brackets bound the number of values.
	capacity := min(maxNodes, 1+bytes.Count(doc, []byte(","))+bytes.Count(doc, []byte("["))+bytes.Count(doc, []byte("{")))
	x = &index{doc: doc, nodes: make([]jsonNode, 0, capacity), span: make([]uint32, 0, capacity)}
	return x, x.read()
}

// read indexes a valid document; it returns false if there are too many values.
func (x *index) read() bool {
	var open []uint32 // the containers around the position
	for i := skipSpace(x.doc, 0); i < len(x.doc); i = skipSpace(x.doc, i) {
		switch x.doc[i] {
		case ',':
			i++
			continue
		case '}', ']':
			last := open[len(open)-1]
			x.span[last] = uint32(len(x.nodes)-1) - last
			open = open[:len(open)-1]
			i++
			continue
		}
		if len(x.nodes) == maxNodes {
			return false
		}
		node := jsonNode(i) << offsetBit
		if len(open) > 0 && x.nodes[open[len(open)-1]].kind() == objectKind {
			node |= memberBit
			i = memberValue(x.doc, i)
		}
		kind := kindOf(x.doc[i])
		x.nodes, x.span = append(x.nodes, node|jsonNode(kind)), append(x.span, 0)
		switch kind {
		case objectKind, arrayKind:
			open = append(open, uint32(len(x.nodes)-1))
			i++
		case textKind:
			i = textEnd(x.doc, i)
		default:
			for i < len(x.doc) && bytes.IndexByte([]byte(" \t\r\n,]}"), x.doc[i]) < 0 {
				i++
			}
		}
	}
	return true
}

func kindOf(c byte) jsonKind {
	switch {
	case c == '{':
		return objectKind
	case c == '[':
		return arrayKind
	case c == '"':
		return textKind
	case c == '-' || c >= '0' && c <= '9':
		return numberKind
	}
	return literalKind
}

// skipSpace returns the first offset from i on that is not white space.
func skipSpace(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\n' || doc[i] == '\r' || doc[i] == '\t') {
		i++
	}
	return i
}

// memberValue returns the offset of a member's value.
func memberValue(doc []byte, i int) int {
	colon := skipSpace(doc, textEnd(doc, i))
	return skipSpace(doc, colon+1)
}

// textEnd returns the offset after a text.
func textEnd(doc []byte, i int) int {
	for i++; doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return i + 1
}
