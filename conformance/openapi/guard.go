package openapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// Limits bound what [Guard] reads. A zero field means the default.
type Limits struct {
	Size  int // bytes; default 8 MiB, at most 30 MiB
	Depth int // nested objects and arrays; default and at most 200
}

const (
	defaultSize = 8 << 20
	maxSize     = 30 << 20
	maxDepth    = 200
	maxRemoved  = 500 // entries kept in Document.Removed
)

// DefaultLimits are 8 MiB and 200 levels.
func DefaultLimits() Limits { return Limits{}.effective() }

func (l Limits) effective() Limits {
	if l.Size <= 0 {
		l.Size = defaultSize
	}
	if l.Depth <= 0 {
		l.Depth = maxDepth
	}
	return Limits{Size: min(l.Size, maxSize), Depth: min(l.Depth, maxDepth)}
}

// Guard reads an API document as it came from a node and returns the reduced copy, or the reason why there is none. Refused are only texts
// that are no JSON object, too big, too deep, or that hold references which name nothing but one another.
//
// Removed are examples, extensions ("x-"), $schema, $id, jsonSchemaDialect and dynamic references, and every reference that leaves the
// document (with its siblings where OpenAPI ignores them). Members named by the author and data under enum, const and default are
// left alone; so are local references that lead nowhere, which a requirement looks for. A byte order mark is ignored
// (RFC 8259 §8.1); of repeated member names the last counts. Guarding a reduced copy changes nothing.
func Guard(body []byte, limits Limits) exchange.Document {
	limits = limits.effective()
	if len(body) > limits.Size {
		return refused("the document has %d bytes, more than the limit of %d; describe one API per document, without embedded examples", len(body), limits.Size)
	}
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	tree, err := decodeTree(body, limits.Depth)
	switch {
	case errors.Is(err, errDepth):
		return refused("the document is nested deeper than %d levels; move inline schemas to components and refer to them", limits.Depth)
	case err != nil:
		return exchange.Document{Refused: noJSON(body, err)}
	}
	root, ok := tree.(*object)
	if !ok {
		return exchange.Document{Refused: noObject(tree)}
	}
	r := reducer{siblings: keepsSiblings(root)}
	r.object(root, "", false)
	reduced, err := encodeTree(root)
	if err != nil {
		return refused("%v", err)
	}
	if chain := referenceCycle(reduced); chain != "" {
		return refused("the references %s name nothing but one another; put a schema at one of them", chain)
	}
	slices.SortFunc(r.removed, func(a, b exchange.Removed) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword))
	})
	return exchange.Document{Reduced: reduced, Removed: r.removed[:min(len(r.removed), maxRemoved)]}
}

func refused(format string, args ...any) exchange.Document {
	return exchange.Document{Refused: fmt.Sprintf(format, args...)}
}

// referenceCycle finds references that lead back to themselves without passing a schema; it returns the first chain, or "".
func referenceCycle(reduced []byte) string {
	d, err := document.Parse(reduced)
	if err != nil {
		return ""
	}
	next := map[string]string{} // pointer of an object with $ref -> pointer of its target
	refs := d.Refs()
	for _, ref := range refs {
		if target, _, ok := d.Follow(ref.Target); ok {
			next[strings.TrimSuffix(ref.Pointer, "/$ref")] = target
		}
	}
	round := map[string]int{} // pointer -> the start it was first reached from
	for i, ref := range refs {
		at := strings.TrimSuffix(ref.Pointer, "/$ref")
		for target, more := next[at]; more; target, more = next[at] {
			if first, seen := round[at]; seen {
				if first == i {
					return clip("#"+at, 120) + " and " + clip("#"+target, 120)
				}
				break
			}
			round[at] = i
			at = target
		}
	}
	return ""
}
