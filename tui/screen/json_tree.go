package screen

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/evidence"
)

// maxOpenRows is the maximum number of rows of a new tree. The tree is unfolded to the greatest depth that this allows.
const maxOpenRows = 400

// tree shows a JSON document in rows, one for each value. Objects and arrays can be folded.
type tree struct {
	*index
	folded []uint64 // a bit for each value
	// rows has the visible values, those outside of folded ones; depths has their nesting depths.
	rows   []uint32
	depths []uint16
}

func newTree(x *index) *tree {
	t := &tree{index: x, folded: make([]uint64, (len(x.nodes)+63)/64)}
	t.foldFrom(t.deepest(maxOpenRows))
	return t
}

// deepest returns the greatest depth to which the tree can be unfolded without exceeding a number of rows.
func (t *tree) deepest(rows int) int {
	var counts []int // of values by depth
	t.each(func(_ uint32, depth int) {
		if depth == len(counts) {
			counts = append(counts, 0)
		}
		counts[depth]++
	}, func(uint32) bool { return false })
	sum := 0
	for depth, n := range counts {
		if sum += n; sum > rows && depth > 1 {
			return depth - 1
		}
	}
	return len(counts)
}

// each visits the values and their depths in order. It does not descend into values for which skip returns true.
func (t *tree) each(visit func(i uint32, depth int), skip func(uint32) bool) {
	var ends []uint32 // of the containers around the position
	n := uint32(len(t.nodes))
	for i := uint32(0); i < n; {
		for len(ends) > 0 && i > ends[len(ends)-1] {
			ends = ends[:len(ends)-1]
		}
		visit(i, len(ends))
		if t.descendants[i] > 0 && !skip(i) {
			ends = append(ends, i+t.descendants[i])
			i++
			continue
		}
		i += t.descendants[i] + 1
	}
}

// foldFrom folds everything from a depth on, and unfolds the rest.
func (t *tree) foldFrom(first int) {
	clear(t.folded)
	t.each(func(i uint32, depth int) {
		if depth >= first && t.descendants[i] > 0 {
			t.fold(i, true)
		}
	}, func(uint32) bool { return false })
	t.updateRows()
}

func (t *tree) isFolded(i uint32) bool { return t.folded[i/64]&(1<<(i%64)) != 0 }

func (t *tree) fold(i uint32, on bool) {
	if on {
		t.folded[i/64] |= 1 << (i % 64)
		return
	}
	t.folded[i/64] &^= 1 << (i % 64)
}

// updateRows computes the visible rows after values were folded or unfolded.
func (t *tree) updateRows() {
	t.rows, t.depths = t.rows[:0], t.depths[:0]
	t.each(func(i uint32, depth int) {
		t.rows, t.depths = append(t.rows, i), append(t.depths, uint16(depth))
	}, t.isFolded)
}

// setFolded folds or unfolds the value in a row. Folding a scalar or a folded value folds its parent. It returns the row of the changed value.
func (t *tree) setFolded(row int, on bool) int {
	i := t.rows[row]
	if on && (t.descendants[i] == 0 || t.isFolded(i)) {
		row = t.parent(row)
		i = t.rows[row]
	}
	if t.descendants[i] > 0 && t.isFolded(i) != on {
		t.fold(i, on)
		t.updateRows()
	}
	return row
}

// toggle folds the value in a row, or unfolds it if it is folded. It returns the row of the changed value.
func (t *tree) toggle(row int) int {
	i := t.rows[row]
	return t.setFolded(row, t.descendants[i] == 0 || !t.isFolded(i))
}

// toggleAll unfolds everything or, if nothing is folded, folds all but the root. It returns the row that the value in the given row then
// has.
func (t *tree) toggleAll(row int) int {
	i := t.rows[row]
	if len(t.rows) < len(t.nodes) {
		clear(t.folded)
		t.updateRows()
	} else {
		t.foldFrom(1)
	}
	return t.rowOf(i)
}

// parent returns the row of the parent; the root is its own parent.
func (t *tree) parent(row int) int {
	for r := row - 1; r >= 0; r-- {
		if t.depths[r] < t.depths[row] {
			return r
		}
	}
	return row
}

// rowOf returns the row of a value, or of the folded value around it.
func (t *tree) rowOf(i uint32) int {
	row, found := slices.BinarySearch(t.rows, i)
	if !found {
		row--
	}
	return row
}

// at returns the value that contains an offset of the document.
func (t *tree) at(offset int) uint32 {
	i := sort.Search(len(t.nodes), func(i int) bool { return t.nodes[i].offset() > offset })
	return uint32(max(0, i-1))
}

// uncover unfolds the values around a value, so that it gets a row, and returns that row.
func (t *tree) uncover(i uint32) int {
	hidden := false
	for at := uint32(0); at < i; {
		switch {
		case i > at+t.descendants[at]: // the value is after this one, not in it
			at += t.descendants[at] + 1
		default:
			if t.isFolded(at) {
				t.fold(at, false)
				hidden = true
			}
			at++
		}
	}
	if hidden {
		t.updateRows()
	}
	return t.rowOf(i)
}

// countMembers counts the direct children of a value.
func (t *tree) countMembers(i uint32) int {
	n := 0
	for at, end := i+1, i+t.descendants[i]; at <= end; at += t.descendants[at] + 1 {
		n++
	}
	return n
}

// maxIndexRows is the number of rows above an item that itemIndex looks at.
const maxIndexRows = 20000

// itemIndex returns the index of a row in its array; -1 for members of objects, and for indexes that are too expensive to count.
func (t *tree) itemIndex(row int) int {
	if row == 0 || t.nodes[t.rows[row]].isMember() {
		return -1
	}
	n := 0
	for r := row - 1; r >= 0 && row-r < maxIndexRows; r-- {
		switch {
		case t.depths[r] < t.depths[row]:
			return n
		case t.depths[r] == t.depths[row]:
			n++
		}
	}
	return -1
}

// maxIndent is the deepest indent in levels. Deeper rows show their depth as a number.
const maxIndent = 16

// row draws a row; limit bounds the bytes of a text that are drawn.
func (t *tree) row(row, limit int, theme Theme, secrets Secrets) []span {
	i, depth := t.rows[row], int(t.depths[row])
	n := t.nodes[i]
	muted := func(s string) span { return span{text: s, style: theme.Muted} }
	out := []span{muted(strings.Repeat("  ", min(depth, maxIndent)) + t.sign(i))}
	if depth > maxIndent {
		out = append(out, muted(fmt.Sprintf("(%d deep) ", depth)))
	}
	start := n.offset()
	if n.isMember() {
		out = append(out, t.quoted(start, limit, theme.Name, theme, secrets)...)
		out = append(out, span{text: ": ", style: theme.Muted})
		start = memberValue(t.doc, start)
	} else if index := t.itemIndex(row); index >= 0 {
		out = append(out, muted(fmt.Sprintf("%d: ", index)))
	}
	switch n.kind() {
	case objectKind:
		return append(out, t.container(i, "{", "}", "member", theme)...)
	case arrayKind:
		return append(out, t.container(i, "[", "]", "item", theme)...)
	case textKind:
		return append(out, t.quoted(start, limit, theme.Text, theme, secrets)...)
	case numberKind:
		return append(out, t.bare(start, limit, theme.Number, theme, secrets)...)
	}
	return append(out, t.bare(start, limit, theme.Word, theme, secrets)...)
}

// sign shows whether a value is folded.
func (t *tree) sign(i uint32) string {
	switch {
	case t.descendants[i] == 0:
		return "  "
	case t.isFolded(i):
		return "▸ "
	}
	return "▾ "
}

// container draws the brackets of an object or array and the number of its members.
func (t *tree) container(i uint32, begin, end, what string, theme Theme) []span {
	if t.descendants[i] == 0 {
		return []span{{text: begin + end, style: theme.Key}}
	}
	if t.isFolded(i) {
		begin += "…" + end
	}
	return []span{{text: begin, style: theme.Key}, {text: " " + evidence.Count(t.countMembers(i), what), style: theme.Muted}}
}

// quoted draws a string with its quotation marks, up to limit bytes. It reads on as far as a marker of a redacted secret may reach, so that it cuts none.
func (t *tree) quoted(start, limit int, style lipgloss.Style, theme Theme, secrets Secrets) []span {
	end := start + 1
	for end < len(t.doc) && t.doc[end] != '"' && end-start <= limit+longestMarker {
		if t.doc[end] == '\\' {
			end++
		}
		end++
	}
	return t.scalar(start, min(end+1, len(t.doc)), limit, style, theme, secrets)
}

// bare draws a number, true, false or null, up to limit bytes.
func (t *tree) bare(start, limit int, style lipgloss.Style, theme Theme, secrets Secrets) []span {
	end := start
	for end < len(t.doc) && end-start <= limit && strings.IndexByte(" \t\r\n,]}", t.doc[end]) < 0 {
		end++
	}
	return t.scalar(start, end, limit, style, theme, secrets)
}

// scalar draws the bytes of a value, up to limit.
func (t *tree) scalar(from, to, limit int, style lipgloss.Style, theme Theme, secrets Secrets) []span {
	part, cut := truncateBytes(t.doc[from:to], limit)
	out := theme.spans(unescapeJSON(part), style, secrets)
	if cut {
		out = append(out, span{text: "…", style: theme.Muted})
	}
	return out
}
