package screen

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// maxOpenRows is how many rows a tree has at most when it is shown first: it is unfolded as deep as that allows.
const maxOpenRows = 400

// tree is a JSON document in rows, one for each value; objects and arrays fold.
type tree struct {
	*index
	folded []uint64 // a bit for each value
	// rows are the values that are not inside of a folded one, depths how deep each stands.
	rows   []uint32
	depths []uint16
}

func newTree(x *index) *tree {
	t := &tree{index: x, folded: make([]uint64, (len(x.nodes)+63)/64)}
	t.foldFrom(t.deepest(maxOpenRows))
	return t
}

// deepest is how far a tree can be unfolded so that it has no more than so many rows.
func (t *tree) deepest(rows int) int {
	var at []int // values by depth
	t.each(func(_ uint32, depth int) {
		if depth == len(at) {
			at = append(at, 0)
		}
		at[depth]++
	}, func(uint32) bool { return false })
	sum := 0
	for depth, n := range at {
		if sum += n; sum > rows && depth > 1 {
			return depth - 1
		}
	}
	return len(at)
}

// each visits the values in order, with their depths; those inside of one that is skipped are left out.
func (t *tree) each(visit func(i uint32, depth int), skip func(uint32) bool) {
	var ends []uint32 // of the containers around the place
	n := uint32(len(t.nodes))
	for i := uint32(0); i < n; {
		for len(ends) > 0 && i > ends[len(ends)-1] {
			ends = ends[:len(ends)-1]
		}
		visit(i, len(ends))
		if t.span[i] > 0 && !skip(i) {
			ends = append(ends, i+t.span[i])
			i++
			continue
		}
		i += t.span[i] + 1
	}
}

// foldFrom folds everything from a depth on, and unfolds what is above.
func (t *tree) foldFrom(depth int) {
	clear(t.folded)
	t.each(func(i uint32, at int) {
		if at >= depth && t.span[i] > 0 {
			t.fold(i, true)
		}
	}, func(uint32) bool { return false })
	t.arrange()
}

func (t *tree) isFolded(i uint32) bool { return t.folded[i/64]&(1<<(i%64)) != 0 }

func (t *tree) fold(i uint32, on bool) {
	if on {
		t.folded[i/64] |= 1 << (i % 64)
		return
	}
	t.folded[i/64] &^= 1 << (i % 64)
}

// arrange makes the rows anew.
func (t *tree) arrange() {
	t.rows, t.depths = t.rows[:0], t.depths[:0]
	t.each(func(i uint32, depth int) {
		t.rows, t.depths = append(t.rows, i), append(t.depths, uint16(depth))
	}, t.isFolded)
}

// set folds or unfolds the value in a row; one that holds nothing, or is folded already, folds what it stands in. It returns the row where
// that one is.
func (t *tree) set(row int, on bool) int {
	i := t.rows[row]
	if on && (t.span[i] == 0 || t.isFolded(i)) {
		row = t.parent(row)
		i = t.rows[row]
	}
	if t.span[i] > 0 && t.isFolded(i) != on {
		t.fold(i, on)
		t.arrange()
	}
	return row
}

// toggle folds what is unfolded, and the other way round.
func (t *tree) toggle(row int) int {
	i := t.rows[row]
	return t.set(row, t.span[i] == 0 || !t.isFolded(i))
}

// toggleAll unfolds everything, or folds all but the outermost if nothing is folded. It returns the row where the value of a row is then.
func (t *tree) toggleAll(row int) int {
	i := t.rows[row]
	if len(t.rows) < len(t.nodes) {
		clear(t.folded)
		t.arrange()
	} else {
		for at := range t.span[1:] {
			if t.span[at+1] > 0 {
				t.fold(uint32(at+1), true)
			}
		}
		t.arrange()
	}
	return t.rowOf(i)
}

// parent is the row of what a row stands in, the row itself for the outermost.
func (t *tree) parent(row int) int {
	for r := row - 1; r >= 0; r-- {
		if t.depths[r] < t.depths[row] {
			return r
		}
	}
	return row
}

// rowOf is the row where a value is seen, or what it is folded into.
func (t *tree) rowOf(i uint32) int {
	row, found := slices.BinarySearch(t.rows, i)
	if !found {
		row--
	}
	return row
}

// at is the value that stands at a place of the document.
func (t *tree) at(offset int) uint32 {
	i := sort.Search(len(t.nodes), func(i int) bool { return t.nodes[i].offset() > offset })
	return uint32(max(0, i-1))
}

// uncover unfolds what a value is in, and returns its row.
func (t *tree) uncover(i uint32) int {
	hidden := false
	for at := uint32(0); at < i; {
		switch {
		case i > at+t.span[at]: // nextSlice the way
			at += t.span[at] + 1
		default:
			if t.isFolded(at) {
				t.fold(at, false)
				hidden = true
			}
			at++
		}
	}
	if hidden {
		t.arrange()
	}
	return t.rowOf(i)
}

// members counts what is directly inside of a value.
func (t *tree) members(i uint32) int {
	n := 0
	for at, end := i+1, i+t.span[i]; at <= end; at += t.span[at] + 1 {
		n++
	}
	return n
}

// maxCountBack bounds the rows that are counted for the place of an element.
const maxCountBack = 20000

// place is which element of its array a row is, from 0 on; -1 for members of objects, and where counting takes too long.
func (t *tree) place(row int) int {
	if row == 0 || t.nodes[t.rows[row]].member() {
		return -1
	}
	n := 0
	for r := row - 1; r >= 0 && row-r < maxCountBack; r-- {
		switch {
		case t.depths[r] < t.depths[row]:
			return n
		case t.depths[r] == t.depths[row]:
			n++
		}
	}
	return -1
}

// deepest indent in levels; what is deeper says how deep.
const maxIndent = 16

// row writes a row of the tree; limit bounds the bytes of a text that are looked at.
func (t *tree) row(row, limit int, theme Theme, secrets Secrets) []span {
	i, depth := t.rows[row], int(t.depths[row])
	n := t.nodes[i]
	muted := func(s string) span { return span{text: s, style: theme.Muted} }
	out := []span{muted(strings.Repeat("  ", min(depth, maxIndent)) + t.sign(i))}
	if depth > maxIndent {
		out = append(out, muted(fmt.Sprintf("(%d deep) ", depth)))
	}
	at := n.offset()
	if n.member() {
		out = append(out, t.quoted(at, limit, theme.Name, theme, secrets)...)
		out = append(out, span{text: ": ", style: theme.Muted})
		at = memberValue(t.doc, at)
	} else if place := t.place(row); place >= 0 {
		out = append(out, muted(fmt.Sprintf("%d: ", place)))
	}
	switch n.kind() {
	case objectKind:
		return append(out, t.container(i, "{", "}", "member", theme)...)
	case arrayKind:
		return append(out, t.container(i, "[", "]", "item", theme)...)
	case textKind:
		return append(out, t.quoted(at, limit, theme.Text, theme, secrets)...)
	case numberKind:
		return append(out, t.bare(at, limit, theme.Number, theme, secrets)...)
	}
	return append(out, t.bare(at, limit, theme.Word, theme, secrets)...)
}

// sign tells whether a value is folded.
func (t *tree) sign(i uint32) string {
	switch {
	case t.span[i] == 0:
		return "  "
	case t.isFolded(i):
		return "▸ "
	}
	return "▾ "
}

func (t *tree) container(i uint32, begin, end, what string, theme Theme) []span {
	if t.span[i] == 0 {
		return []span{{text: begin + end, style: theme.Key}}
	}
	n := t.members(i)
	if n > 1 {
		what += "s"
	}
	if t.isFolded(i) {
		begin += "…" + end
	}
	return []span{{text: begin, style: theme.Key}, {text: fmt.Sprintf(" %d %s", n, what), style: theme.Muted}}
}

// quoted is a text with its quotation marks, or as much of it as the limit lets see.
func (t *tree) quoted(at, limit int, style lipgloss.Style, theme Theme, secrets Secrets) []span {
	end := at + 1
	for end < len(t.doc) && t.doc[end] != '"' && end-at <= limit+longestMarker {
		if t.doc[end] == '\\' {
			end++
		}
		end++
	}
	part, cut := truncateBytes(t.doc[at:min(end+1, len(t.doc))], limit)
	out := theme.spans(unescapeJSON(part), style, secrets)
	if cut {
		out = append(out, span{text: "…", style: theme.Muted})
	}
	return out
}

func (t *tree) bare(at, limit int, style lipgloss.Style, theme Theme, secrets Secrets) []span {
	end := at
	for end < len(t.doc) && end-at <= limit && strings.IndexByte(" \t\r\n,]}", t.doc[end]) < 0 {
		end++
	}
	part, cut := truncateBytes(t.doc[at:end], limit)
	out := theme.spans(string(part), style, secrets)
	if cut {
		out = append(out, span{text: "…", style: theme.Muted})
	}
	return out
}
