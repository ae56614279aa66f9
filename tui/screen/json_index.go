package screen

import "bytes"

// jsonKind is the kind of a JSON value.
type jsonKind uint8

const (
	objectKind jsonKind = iota
	arrayKind
	textKind
	numberKind
	literalKind
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
	maxDepth   = 10000
)

func (n jsonNode) kind() jsonKind { return jsonKind(n & kindBits) }

func (n jsonNode) isMember() bool { return n&memberBit != 0 }

func (n jsonNode) offset() int { return int(n >> offsetBit) }

// index has the offsets of the values in a JSON document, in the order of the document. Values are read from the document when they are
// drawn. It checks and indexes in one pass, which is five times as fast as json.Valid alone: a large body must open at once.
type index struct {
	doc   []byte
	nodes []jsonNode
	// descendants counts the values inside of each value, at any depth.
	descendants []uint32
}

// newIndex reads a document; ok is false unless it is a JSON object or array within the limits.
func newIndex(doc []byte) (x *index, ok bool) {
	x = &index{doc: doc}
	if len(doc) >= maxIndexed {
		return nil, false
	}
	// Commas and opening brackets bound the number of values.
	room := min(maxNodes, 1+bytes.Count(doc, []byte(","))+bytes.Count(doc, []byte("["))+bytes.Count(doc, []byte("{")))
	i := skipSpace(doc, 0)
	if i == len(doc) || doc[i] != '{' && doc[i] != '[' {
		return nil, false
	}
	x.nodes, x.descendants = make([]jsonNode, 0, room), make([]uint32, 0, room)
	if !x.read(i) {
		return nil, false
	}
	return x, true
}

// read indexes the document from an offset on, without recursion; ok is false for invalid JSON and beyond the limits.
func (x *index) read(i int) (ok bool) {
	var open []uint32 // the containers around the position
	for {
		if len(x.nodes) == maxNodes || len(open) > maxDepth {
			return false
		}
		inside := len(open) > 0 && x.nodes[open[len(open)-1]].kind() == objectKind
		n := jsonNode(i) << offsetBit
		if inside {
			if i = memberValue(x.doc, i); i < 0 {
				return false
			}
			n |= memberBit
		}
		if i >= len(x.doc) {
			return false
		}
		k := kindOf(x.doc[i])
		x.nodes, x.descendants = append(x.nodes, n|jsonNode(k)), append(x.descendants, 0)
		if k == objectKind || k == arrayKind {
			open = append(open, uint32(len(x.nodes)-1))
			i = skipSpace(x.doc, i+1)
			if i < len(x.doc) && x.doc[i] != closing(k) {
				continue
			}
		} else if i = scalarEnd(x.doc, i, k); i < 0 {
			return false
		}
		if i, open = x.leave(i, open); i < 0 {
			return false
		}
		if len(open) == 0 {
			return i == len(x.doc)
		}
	}
}

// leave goes from the end of a value to the next value, and out of the containers that end before it. It returns the offset of the next value, or -1 for
// invalid JSON, and the containers around it.
func (x *index) leave(i int, open []uint32) (int, []uint32) {
	for {
		i = skipSpace(x.doc, i)
		if len(open) == 0 {
			return i, open
		}
		if i >= len(x.doc) {
			return -1, open
		}
		last := open[len(open)-1]
		switch x.doc[i] {
		case ',':
			return skipSpace(x.doc, i+1), open
		case closing(x.nodes[last].kind()):
			x.descendants[last] = uint32(len(x.nodes)-1) - last
			open = open[:len(open)-1]
			i++
		default:
			return -1, open
		}
	}
}

func closing(k jsonKind) byte {
	if k == objectKind {
		return '}'
	}
	return ']'
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

// memberValue returns the offset of a member's value, -1 if there is no member.
func memberValue(doc []byte, i int) int {
	if i >= len(doc) || doc[i] != '"' {
		return -1
	}
	if i = textEnd(doc, i); i < 0 {
		return -1
	}
	i = skipSpace(doc, i)
	if i >= len(doc) || doc[i] != ':' {
		return -1
	}
	return skipSpace(doc, i+1)
}

// scalarEnd returns the offset after a text, a number or a literal, -1 if it is invalid.
func scalarEnd(doc []byte, i int, k jsonKind) int {
	switch k {
	case textKind:
		return textEnd(doc, i)
	case numberKind:
		return numberEnd(doc, i)
	}
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(doc[i:], []byte(w)) {
			return i + len(w)
		}
	}
	return -1
}

func textEnd(doc []byte, i int) int {
	for i++; i < len(doc); i++ {
		switch c := doc[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			i++
			if i == len(doc) {
				return -1
			}
			if doc[i] == 'u' {
				if _, ok := unicodeEscape(doc[i-1:]); !ok {
					return -1
				}
				i += 4
			} else if bytes.IndexByte([]byte(`"\/bfnrt`), doc[i]) < 0 {
				return -1
			}
		}
	}
	return -1
}

func numberEnd(doc []byte, i int) int {
	digits := func() bool {
		from := i
		for i < len(doc) && doc[i] >= '0' && doc[i] <= '9' {
			i++
		}
		return i > from
	}
	if doc[i] == '-' {
		i++
	}
	if i < len(doc) && doc[i] == '0' {
		i++
	} else if !digits() {
		return -1
	}
	if i < len(doc) && doc[i] == '.' {
		i++
		if !digits() {
			return -1
		}
	}
	if i < len(doc) && doc[i]|' ' == 'e' {
		i++
		if i < len(doc) && (doc[i] == '+' || doc[i] == '-') {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}
