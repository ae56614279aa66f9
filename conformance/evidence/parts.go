package evidence

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// Lists are read in many ways: whole, in pages, filtered. The same items come again and again, in other bodies. So a large body that is a list is
// stored in parts, an item in each, and each part is stored once like any other body.

// Limits of bodies in parts.
const (
	minParted = 32 << 10 // bytes; a smaller body is stored whole
	minParts  = 8        // items; a shorter list is stored whole
	minItem   = 512      // bytes on average; a list of smaller items is stored whole, because the names of its parts would take as much room
	itemDepth = 4        // how deep in JSON the items of a list are looked for
)

// partName names a stored body as a part of others: the beginning of its digest. The digest of the whole body says whether all parts are right.
type partName string

func (d digest) part() partName {
	hexadecimal := strings.TrimPrefix(string(d), "sha256:")
	return partName(hexadecimal[:min(len(hexadecimal), 16)])
}

// parts cuts a body before the comma that follows each item of its list. It returns nil for a body that is stored whole.
func (b Body) parts() [][]byte {
	if len(b) < minParted || b.binary() {
		return nil
	}
	cuts := itemEnds(b)
	if n := len(cuts) + 1; n < minParts || len(b)/n < minItem {
		return nil
	}
	out := make([][]byte, 0, len(cuts)+1)
	start := 0
	for _, end := range append(cuts, len(b)) {
		out = append(out, b[start:end])
		start = end
	}
	return out
}

// itemEnds returns the offsets of the commas between the items of a list: of commas that follow an object, at the least depth of nesting with enough of them
// for [minParts] items; nil if no depth has enough. The text need not be valid JSON, because the parts make up the body again in any case.
func itemEnds(text []byte) []int {
	var ends [itemDepth + 1][]int
	depth, afterObject := 0, false // afterObject: the last byte that is not blank is a closing brace
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			n := StringLength(text[i:])
			if n < 0 {
				i = len(text) // ends the loop
				break
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if afterObject && depth >= 1 && depth <= itemDepth {
				ends[depth] = append(ends[depth], i)
			}
		}
		afterObject = i < len(text) && text[i] == '}'
	}
	for _, found := range ends {
		if len(found)+1 >= minParts {
			return found
		}
	}
	return nil
}

// StringLength returns the length in bytes of the JSON string at the start of a text, with its quotes, or -1 if the text ends inside it.
//
// Its speed matters, because most of a text is in strings. It reads the beginning eight bytes at a time, and searches the rest of a long string, such as a
// description, with [bytes.IndexByte], which is faster only for long strings.
func StringLength(text []byte) int {
	const short = 40 // bytes
	i := 1
	for i+8 <= len(text) && i < short {
		eight := binary.LittleEndian.Uint64(text[i:])
		at := firstEqual(eight, '"') | firstEqual(eight, '\\')
		if at == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(at) / 8
		if text[i] == '"' {
			return i + 1
		}
		i += 2
	}
	for quote := -1; i < len(text); { // the next quote is looked for once, whatever the number of escapes before it
		if quote < i {
			n := bytes.IndexByte(text[i:], '"')
			if n < 0 {
				return -1
			}
			quote = i + n
		}
		escape := bytes.IndexByte(text[i:quote], '\\')
		if escape < 0 {
			return quote + 1
		}
		i += escape + 2
	}
	return -1
}

// firstEqual compares eight bytes with c at once. In the result, the high bit of the first byte that equals c is set, and of no byte before it; bits after it mean
// nothing. It subtracts 1 from each byte of the differences: that borrows in a byte that is 0, and perhaps in those after it.
func firstEqual(eight uint64, c byte) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	difference := eight ^ ones*uint64(c)
	return (difference - ones) &^ difference & highs
}

// assemble puts a body together from its parts, which must come before it in the log. It marks them as used.
func (r *reader) assemble(b *storedBody) error {
	if len(b.Content) > 0 {
		return inconsistent("body %.80q has both a content and parts", b.Digest)
	}
	size := 0
	for _, name := range b.Parts {
		part, known := r.state.bodies[r.parts[name]]
		if !known {
			return inconsistent("the part %.40q of body %.80q is missing above it", name, b.Digest)
		}
		if size += len(part); size > b.Size {
			return inconsistent("body %.80q: expected %d bytes, got more", b.Digest, b.Size)
		}
	}
	if r.assembled += size; r.assembled > MaxLog {
		return inconsistent("the bodies in parts are larger than %d bytes together", MaxLog)
	}
	parts := make([][]byte, len(b.Parts))
	for i, name := range b.Parts {
		d := r.parts[name]
		parts[i] = r.state.bodies[d]
		delete(r.unused, d)
	}
	b.Content = bytes.Join(parts, nil)
	return nil
}
