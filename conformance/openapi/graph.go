package openapi

import (
	"maps"
	"slices"
	"strconv"
)

// graph holds the named schemas reachable from one, with an edge to each schema that applies to the same value. A cycle would make
// judging endless, although the document may make sense: a base that lists its subtypes, each of which extends the base.
type graph struct {
	all     components // every edge
	strict  cuts       // without oneOf, anyOf and discriminator
	choices cuts       // these alone
}

// edge leads to a schema that applies to the same value.
type edge struct {
	target string // pointer
	choice bool   // by oneOf, anyOf or discriminator
}

func newGraph(doc *Document, root string) (*graph, error) {
	edges := map[string][]edge{root: nil}
	scan := edgeScan{doc: doc}
	for queue := []string{root}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		scan.inPlace, scan.named = nil, nil
		value, _ := doc.Raw(at)
		scan.schema(value, at, true, false, 0)
		if scan.tooLarge {
			return nil, errTooLarge
		}
		edges[at] = scan.inPlace
		for _, target := range scan.named {
			if _, known := edges[target]; !known {
				edges[target] = nil
				queue = append(queue, target)
			}
		}
	}
	return &graph{
		all:     connect(edges),
		strict:  cut(edges, root, func(e edge) bool { return !e.choice }),
		choices: cut(edges, root, func(e edge) bool { return e.choice }),
	}, nil
}

// edgeScan collects the references of one named schema after the other.
type edgeScan struct {
	doc      *Document
	nodes    int
	tooLarge bool // the rest is left out
	inPlace  []edge
	named    []string
}

func (s *edgeScan) schema(value any, pointer string, inPlace, choice bool, depth int) {
	s.nodes++
	s.tooLarge = s.tooLarge || s.nodes > maxNodes || depth > maxInline
	in, ok := value.(map[string]any)
	if !ok || s.tooLarge {
		return
	}
	if ref, ok := in["$ref"].(string); ok {
		if target, _, found := s.doc.Follow(ref); found {
			s.note(edge{target, choice}, inPlace)
		}
	}
	if d, ok := s.doc.discriminator(in, pointer); ok {
		for _, c := range d.choices {
			s.note(edge{c.target, true}, inPlace)
		}
	}
	for _, keyword := range slices.Sorted(maps.Keys(in)) {
		if here, choosing, known := applies(keyword); known {
			s.each(keyword, in[keyword], Join(pointer, keyword), inPlace && here, choice || choosing, depth+1)
		}
	}
}

// each visits the schemas under one keyword: one, a list, or a map.
func (s *edgeScan) each(keyword string, value any, pointer string, inPlace, choice bool, depth int) {
	choice = choice && inPlace
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			s.schema(item, Join(pointer, strconv.Itoa(i)), inPlace, choice, depth)
		}
	case map[string]any:
		if !HoldsNames(keyword) {
			s.schema(v, pointer, inPlace, choice, depth)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			s.schema(v[name], Join(pointer, name), inPlace, choice, depth)
		}
	}
}

func (s *edgeScan) note(e edge, inPlace bool) {
	s.named = append(s.named, e.target)
	if inPlace {
		s.inPlace = append(s.inPlace, e)
	}
}

// applies tells whether a keyword applies its schemas to the same value, and whether as a choice.
func applies(keyword string) (inPlace, choice, known bool) {
	switch keyword {
	case "allOf", "not", "if", "then", "else", "dependentSchemas":
		return true, false, true
	case "oneOf", "anyOf":
		return true, true, true
	case "properties", "patternProperties", "items", "additionalProperties", "propertyNames", "contains",
		"unevaluatedItems", "unevaluatedProperties", "prefixItems":
		return false, false, true
	}
	return false, false, false
}

// components numbers the strongly connected components; two nodes with the same number reach one another.
type components map[string]int

// cyclic reports whether an edge from one schema to the other closes a cycle.
func (c components) cyclic(from, to string) bool {
	a, ok := c[from]
	b, known := c[to]
	return from == to || ok && known && a == b
}

// connect is Tarjan's algorithm. Its recursion is bounded by the number of nodes (maxNodes).
func connect(edges map[string][]edge) components {
	t := tarjan{edges: edges, index: map[string]int{}, low: map[string]int{}, on: map[string]bool{}, out: components{}}
	for node := range edges {
		if _, seen := t.index[node]; !seen {
			t.visit(node)
		}
	}
	return t.out
}

type tarjan struct {
	edges map[string][]edge
	index map[string]int
	low   map[string]int
	on    map[string]bool
	stack []string
	found int
	out   components
}

func (t *tarjan) visit(node string) {
	t.index[node] = len(t.index)
	t.low[node] = t.index[node]
	t.stack, t.on[node] = append(t.stack, node), true
	for _, e := range t.edges[node] {
		if _, seen := t.index[e.target]; !seen {
			t.visit(e.target)
			t.low[node] = min(t.low[node], t.low[e.target])
		} else if t.on[e.target] {
			t.low[node] = min(t.low[node], t.index[e.target])
		}
	}
	if t.low[node] != t.index[node] {
		return
	}
	t.found++
	for last := ""; last != node; {
		last = t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.on[last] = false
		t.out[last] = t.found
	}
}

// cuts are the edges, from and to, that lead back to where a walk came from; without them every walk ends.
type cuts map[[2]string]bool

// cut walks the edges that count, from the root first, then from all other nodes in order, and collects those that lead back.
func cut(edges map[string][]edge, root string, counts func(edge) bool) cuts {
	out := cuts{}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(string)
	visit = func(node string) {
		state[node] = open
		for _, e := range edges[node] {
			switch {
			case !counts(e):
			case state[e.target] == open:
				out[[2]string{node, e.target}] = true
			case state[e.target] == 0:
				visit(e.target)
			}
		}
		state[node] = done
	}
	visit(root)
	for _, node := range slices.Sorted(maps.Keys(edges)) {
		if state[node] == 0 {
			visit(node)
		}
	}
	return out
}
