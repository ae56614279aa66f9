package openapi

import (
	"maps"
	"slices"
	"strconv"
)

// graph holds the named schemas reachable from one, with an edge to each schema that applies to the same value. A cycle would make
// the judging of a value endless, although the document may be sensible: a base lists its subtypes, and each of them extends the base.
type graph struct {
	all     components // by every edge
	strict  cuts       // among the edges that are not choices
	choices cuts       // among the choices
}

// edge leads to a schema that applies to the same value.
type edge struct {
	target string // pointer
	choice bool   // by oneOf, anyOf or discriminator
}

// newGraph scans the schemas reachable from the root. It returns errTooLarge if they exceed a bound.
func newGraph(doc *Document, root string) (*graph, error) {
	edges := map[string][]edge{root: nil}
	scan := edgeScan{doc: doc}
	for queue := []string{root}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		scan.edges, scan.targets = nil, nil
		value, _ := doc.Raw(at)
		scan.schema(value, at, true, false, 0)
		if scan.tooLarge {
			return nil, errTooLarge
		}
		edges[at] = scan.edges
		for _, target := range scan.targets {
			if _, known := edges[target]; !known {
				edges[target] = nil
				queue = append(queue, target)
			}
		}
	}
	return &graph{
		all:     stronglyConnected(edges),
		strict:  cut(edges, root, func(e edge) bool { return !e.choice }),
		choices: cut(edges, root, func(e edge) bool { return e.choice }),
	}, nil
}

// edgeScan collects the references of one named schema at a time.
type edgeScan struct {
	doc      *Document
	nodes    int
	tooLarge bool     // a bound was exceeded; the scan stopped
	edges    []edge   // to schemas that apply to the same value
	targets  []string // every referenced schema
}

// schema scans a schema and those inside it. inPlace says that it applies to the same value as the named schema; choice says that it is one of
// several alternatives for that value.
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
	s.targets = append(s.targets, e.target)
	if inPlace {
		s.edges = append(s.edges, e)
	}
}

// applies reports whether a keyword applies its schemas to the same value, and whether they are a choice. known is false for a keyword without
// schemas.
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

// isCyclic reports whether an edge from one schema to another is part of a cycle.
func (c components) isCyclic(from, to string) bool {
	a, ok := c[from]
	b, known := c[to]
	return from == to || ok && known && a == b
}

// stronglyConnected finds the strongly connected components by Tarjan's algorithm. The recursion is bounded by the number of nodes (maxNodes).
func stronglyConnected(edges map[string][]edge) components {
	t := tarjan{edges: edges, index: map[string]int{}, low: map[string]int{}, onStack: map[string]bool{}, out: components{}}
	for node := range edges {
		if _, seen := t.index[node]; !seen {
			t.visit(node)
		}
	}
	return t.out
}

type tarjan struct {
	edges   map[string][]edge
	index   map[string]int
	low     map[string]int
	onStack map[string]bool
	stack   []string
	count   int // components found
	out     components
}

func (t *tarjan) visit(node string) {
	t.index[node] = len(t.index)
	t.low[node] = t.index[node]
	t.stack, t.onStack[node] = append(t.stack, node), true
	for _, e := range t.edges[node] {
		if _, seen := t.index[e.target]; !seen {
			t.visit(e.target)
			t.low[node] = min(t.low[node], t.low[e.target])
		} else if t.onStack[e.target] {
			t.low[node] = min(t.low[node], t.index[e.target])
		}
	}
	if t.low[node] != t.index[node] {
		return
	}
	t.count++
	for last := ""; last != node; {
		last = t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.onStack[last] = false
		t.out[last] = t.count
	}
}

// cuts are the edges that close a cycle, each as its two pointers. A walk without these edges ends.
type cuts map[[2]string]bool

// cut walks the graph depth-first, from the root and then from each node not yet reached, along the edges for which isFollowed returns true. It
// collects the edges back to a node that the walk has entered and not yet left.
func cut(edges map[string][]edge, root string, isFollowed func(edge) bool) cuts {
	out := cuts{}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(string)
	visit = func(node string) {
		state[node] = open
		for _, e := range edges[node] {
			switch {
			case !isFollowed(e):
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
