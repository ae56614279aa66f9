package probe

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// columns are the values of members, by path, in the order of the list; "" if an item has no value.
type columns map[string][]string

// These bound the items and members that are read.
const (
	maxRows    = 1000
	maxColumns = 40
)

// columnsOf reads the columns of a list. It returns none for a list with more than maxRows items.
func columnsOf(items [][]byte) columns {
	out := columns{}
	if len(items) > maxRows {
		return out
	}
	var read func(row int, prefix string, object []byte, depth int)
	read = func(row int, prefix string, object []byte, depth int) {
		members := openapi.Object(object)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			path, value := prefix+name, members[name]
			switch b := openapi.FirstByte(value); {
			case b == '{' && depth > 1:
				read(row, path+".", value, depth-1)
			case b == '{' || b == '[' || b == 'n' || b == 0:
			case out[path] != nil || len(out) < maxColumns:
				if out[path] == nil {
					out[path] = make([]string, len(items))
				}
				out[path][row] = strings.Trim(string(value), `"`)
			}
		}
	}
	for row, item := range items {
		read(row, "", item, 2)
	}
	return out
}

// columnsAt returns the columns of a list.
func (r *run) columnsAt(at evidence.Resource) columns {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.columns[at]
}

// ties lists the places of the list between items that have equal values of a member by which the list seems to be sorted.
func (c columns) ties() []int {
	var out []int
	for _, values := range c {
		if isSorted(values) {
			out = append(out, tiesIn(values)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sortedBy returns the member that a value of a sort parameter names, such as -deadline, deadline:desc or deadlineAsc.
func (c columns) sortedBy(order string) (path string, found bool) {
	words := openapi.Words(order)
	if n := len(words); n > 1 && isDirection(words[n-1]) {
		words = words[:n-1]
	}
	var members openapi.Members
	for path := range c {
		members = append(members, path)
	}
	slices.Sort(members)
	return members.SortedBy(strings.Join(words, ""))
}

// likelyOrders rotates orders at random, and puts orders first that are wrong if a node compares numbers as texts.
func (c columns) likelyOrders(orders [][]pair, s draw.Source) [][]pair {
	start := s.Below(max(1, len(orders)))
	out := slices.Concat(orders[start:], orders[:start])
	slices.SortStableFunc(out, func(a, b []pair) int { return c.rankOfOrder(a) - c.rankOfOrder(b) })
	return out
}

// rankOfOrder returns 0 for an order by numbers that have another order as texts, 1 for an order by other numbers, and 2 for other orders.
func (c columns) rankOfOrder(query []pair) int {
	path, found := c.sortedBy(query[0].value)
	if !found {
		return 2
	}
	numbers := slices.DeleteFunc(slices.Clone(c[path]), func(v string) bool { return v == "" })
	if len(numbers) == 0 || slices.ContainsFunc(numbers, func(v string) bool { _, err := strconv.ParseFloat(v, 64); return err != nil }) {
		return 2
	}
	slices.Sort(numbers)
	if slices.IsSortedFunc(numbers, compareValues) {
		return 1
	}
	return 0
}

func isDirection(word string) bool {
	return slices.Contains([]string{"asc", "desc", "ascending", "descending"}, word)
}

// tiesBy lists the ties of the list in the order that a value of a sort parameter names. A node may put absent values first or last: tiesBy prefers places that
// are ties in both cases.
func (c columns) tiesBy(order string) []int {
	path, found := c.sortedBy(order)
	if !found {
		return nil
	}
	down := strings.HasPrefix(order, "-")
	if words := openapi.Words(order); len(words) > 1 && isDirection(words[len(words)-1]) {
		down = strings.HasPrefix(words[len(words)-1], "desc")
	}
	present := slices.DeleteFunc(slices.Clone(c[path]), func(v string) bool { return v == "" })
	slices.SortStableFunc(present, compareValues)
	if down {
		slices.Reverse(present)
	}
	absent := make([]string, len(c[path])-len(present))
	last, first := tiesIn(slices.Concat(present, absent)), tiesIn(slices.Concat(absent, present))
	both := slices.DeleteFunc(slices.Clone(last), func(place int) bool { return !slices.Contains(first, place) })
	if len(both) == 0 && down {
		return first
	}
	if len(both) == 0 {
		return last
	}
	return both
}

// isSorted reports whether values are in ascending or descending order. It ignores absent ones, and returns false if all values are the same.
func isSorted(values []string) bool {
	present := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
	if len(present) < 2 || slices.IndexFunc(present, func(v string) bool { return v != present[0] }) < 0 {
		return false
	}
	return slices.IsSortedFunc(present, compareValues) || slices.IsSortedFunc(present, func(a, b string) int { return compareValues(b, a) })
}

// compareValues compares numbers, times or texts; an absent value comes last.
func compareValues(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(b, a)
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	s, errS := time.Parse(time.RFC3339, a)
	t, errT := time.Parse(time.RFC3339, b)
	if errS == nil && errT == nil {
		return s.Compare(t)
	}
	return cmp.Compare(a, b)
}

// tiesIn lists the places between equal values, and before absent values, because comparisons with null are false in SQL.
func tiesIn(values []string) []int {
	var out []int
	for i := 1; i < len(values); i++ {
		if values[i-1] == values[i] || values[i] == "" || compareValues(values[i-1], values[i]) == 0 {
			out = append(out, i)
		}
	}
	return out
}

// A cut is what is known about the places at which pages may end.
type cut struct {
	ties   []int   // between items with equal values
	absent [][]int // between items without a value, for lists with these items last and for lists with them first
}

// cutBy returns the places in the list in the order that a value of a sort parameter names.
func (c columns) cutBy(order string) cut {
	out := cut{ties: c.tiesBy(order)}
	path, found := c.sortedBy(order)
	if !found {
		return out
	}
	n, absent := len(c[path]), 0
	for _, value := range c[path] {
		if value == "" {
			absent++
		}
	}
	if absent < 2 || absent == n {
		return out
	}
	var last, first []int
	for i := 1; i < absent; i++ {
		last, first = append(last, n-absent+i), append(first, i)
	}
	out.absent = [][]int{last, first}
	return out
}

// sizeAtTies draws one of the page sizes, from least to below n, with which the most pages end at ties. It prefers sizes with which a page ends among items
// without a value, because a comparison with null in the condition for the next page loses the rest. It returns 0 if no page can end at a tie.
func sizeAtTies(at cut, least, n int, s draw.Source) int {
	var best []int
	bestHits, bestAbsent := 0, 0
	hasTies := len(at.ties) > 0 // then the size must put a page end at one of them, too, where that is possible
	hasBoth := false
	hitsOf := func(size int, places []int) int {
		hits := 0
		for end := size; end < n; end += size {
			if _, hit := slices.BinarySearch(places, end); hit {
				hits++
			}
		}
		return hits
	}
	for size := max(1, least); size < n; size++ {
		hits, absent := hitsOf(size, at.ties), 0
		for _, places := range at.absent {
			absent += min(1, hitsOf(size, places))
		}
		both := hasTies && hits > 0 && absent > 0
		switch {
		case hits+absent == 0, hasBoth && !both:
		case both && !hasBoth:
			best, bestHits, bestAbsent, hasBoth = []int{size}, hits, absent, true
		case absent > bestAbsent, absent == bestAbsent && hits > bestHits:
			best, bestHits, bestAbsent = []int{size}, hits, absent
		case absent == bestAbsent && hits == bestHits:
			best = append(best, size)
		}
	}
	if len(best) == 0 {
		return 0
	}
	return draw.One(s, best...)
}
