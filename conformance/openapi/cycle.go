package openapi

import (
	"maps"
	"slices"
)

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
