package openapi

import (
	"slices"
)

// Meaning is what the value of a page parameter counts. The network's documents do not say; its client sends the number of the
// record to begin with.
type Meaning string

// The meanings in use.
const (
	Offset   Meaning = "the number of records to skip"
	FromZero Meaning = "the number of the page, from 0"
	FromOne  Meaning = "the number of the page, from 1"
	Ignored  Meaning = "nothing: it is ignored"
)

// MaxPages is how many consecutive pages of a list are walked.
const MaxPages = 5

// Page is one page of a list: the identities of its items, in order.
type Page struct {
	Listed bool // answered with a list
	Items  []string
}

// Pages are pages of one list, by the value of the page parameter that each was asked for with.
type Pages struct {
	// Whole is the list without parameters. It may itself be only the beginning, where the node limits it.
	Whole []string
	// Size is the number of items that was asked for; Least is the least value of the page parameter that the document allows.
	Size, Least int
	At          map[int]Page
}

// Identity tells an item from others: its id, or its text if it has none.
func Identity(item []byte) string {
	if ids := MemberValues(item, "id"); len(ids) == 1 {
		return ids[0]
	}
	return string(item)
}

// Identities are the identities of the items of a list answer.
func Identities(items [][]byte) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = Identity(item)
	}
	return out
}

// Next is the value to ask for next: first 0, 1 and the size, which tell the meanings apart; then the pages in their order, up to
// the end or [MaxPages]; then the last page of what the whole list holds. ok is false when there is nothing more to learn.
func (p Pages) Next() (value int, ok bool) {
	for _, v := range []int{0, 1, p.far()} {
		if _, asked := p.At[v]; !asked && v >= p.Least {
			return v, true
		}
		if p.Oversized() {
			return 0, false
		}
	}
	switch p.Meaning() {
	case Ignored, "":
		return 0, false
	}
	for k := range MaxPages {
		page, asked := p.At[p.value(k)]
		if !asked {
			return p.value(k), true
		}
		if p.ends(k, page) {
			return 0, false
		}
	}
	last, beyond := p.last()
	_, asked := p.At[p.value(last)]
	return p.value(last), beyond && !asked
}

// Oversized reports pages with more items than were asked for: the size has no effect.
func (p Pages) Oversized() bool {
	for _, page := range p.At {
		if len(page.Items) > p.Size {
			return true
		}
	}
	return false
}

// far is the third value that is asked for in any case. Where it is the size, an offset gives the page after the first.
func (p Pages) far() int { return max(2, p.Size) }

// Meaning is what the answers show the page parameter to count; empty when they do not show it.
func (p Pages) Meaning() Meaning {
	zero, one, far := p.At[0], p.At[1], p.At[p.far()]
	switch {
	case !one.Listed:
		return ""
	case len(zero.Items) == 0:
		if len(one.Items) == 0 {
			return ""
		}
		return FromOne
	case slices.Equal(zero.Items, one.Items):
		if slices.Equal(zero.Items, far.Items) {
			return Ignored
		}
		return FromOne
	case len(zero.Items) > 1 && len(one.Items) > 0 && one.Items[0] == zero.Items[1]:
		return Offset
	}
	return FromZero
}

// step is the number of records from one page to the next. A node may hold its pages smaller than was asked for.
func (p Pages) step() int {
	first := p.At[p.first()]
	if n := len(first.Items); n > 0 && n < p.Size && n < len(p.Whole) {
		return n
	}
	return p.Size
}

// first is the value of the first page.
func (p Pages) first() int {
	if p.Meaning() == FromOne {
		return 1
	}
	return 0
}

// value is the value that asks for the k-th page, from 0.
func (p Pages) value(k int) int {
	if p.Meaning() == Offset {
		return k * p.step()
	}
	return p.first() + k
}

// ends reports whether the walk ends with the k-th page: it is none, it is empty, it is short and nothing is left, or it stands for
// one beyond the end.
func (p Pages) ends(k int, page Page) bool {
	return !page.Listed || len(page.Items) == 0 || len(page.Items) < p.step() && (k+1)*p.step() >= len(p.Whole) || p.stale(k, page)
}

// Beyond reports whether a page that was walked lies behind what the whole list holds. What comes there says nothing of the pages
// before it.
func (p Pages) Beyond(value int) bool {
	values, _ := p.Walked()
	k := slices.Index(values, value)
	return k >= 0 && k*p.step() >= len(p.Whole)
}

// stale reports whether a page behind what the whole list holds repeats the last one.
func (p Pages) stale(k int, page Page) bool {
	return k > 0 && k*p.step() >= len(p.Whole) && slices.Equal(page.Items, p.At[p.value(k-1)].Items)
}

// last is the page that holds the last item of the whole list, from 0, and whether the walk does not come to it.
func (p Pages) last() (k int, beyond bool) {
	k = (len(p.Whole) - 1) / max(1, p.step())
	return k, k >= MaxPages
}

// Walked are the values of the consecutive pages that were asked for, in order, and whether they come to the end of the list.
func (p Pages) Walked() (values []int, ended bool) {
	for k := range MaxPages {
		page, asked := p.At[p.value(k)]
		if !asked {
			return values, false
		}
		values = append(values, p.value(k))
		if p.ends(k, page) {
			return values, true
		}
	}
	return values, false
}

// PageFaults are the ways in which pages do not add up to the list.
type PageFaults struct {
	Repeated []string // items on more than one page
	Lost     []string // items of the whole list that are on none of the pages that should hold them
	// Reordered says that the pages hold as many items of the list as they should, but others: they come in another order, so that
	// nothing shows whether one is lost.
	Reordered bool
}

// None reports that the pages add up.
func (f PageFaults) None() bool { return len(f.Repeated) == 0 && len(f.Lost) == 0 && !f.Reordered }

// Faults compares the pages with one another and with the whole list. An item that stands twice in the whole list, or twice on one
// page, is another matter.
func (p Pages) Faults() PageFaults {
	var f PageFaults
	values, ended := p.Walked()
	covered := min(len(values)*p.step(), len(p.Whole))
	if ended {
		covered = len(p.Whole)
	}
	expected := p.Whole[:covered]
	if k, beyond := p.last(); beyond && !ended && p.At[p.value(k)].Listed {
		values = append(values, p.value(k))
		expected = slices.Concat(expected, p.Whole[k*p.step():])
	}
	if n := len(values) - 1; n > 0 && p.stale(n, p.At[values[n]]) {
		values = values[:n]
	}
	f.Repeated = p.repeated(values)
	found := map[string]bool{}
	for _, v := range values {
		for _, item := range p.At[v].Items {
			found[item] = true
		}
	}
	for _, item := range expected {
		if !found[item] {
			f.Lost = append(f.Lost, item)
		}
	}
	if len(f.Lost) > 0 && !ended && len(f.Repeated) == 0 && !p.inOrder(values) {
		f.Lost, f.Reordered = nil, true
	}
	return f
}

// repeated lists items that stand on more than one of the pages, each once.
func (p Pages) repeated(values []int) []string {
	twice := map[string]int{}
	for _, item := range p.Whole {
		twice[item]++
	}
	on, told := map[string]int{}, map[string]bool{}
	var out []string
	for _, v := range values {
		for _, item := range p.At[v].Items {
			before, known := on[item]
			if known && before != v && !told[item] && twice[item] < 2 {
				told[item] = true
				out = append(out, item)
			}
			on[item] = v
		}
	}
	return out
}

// inOrder reports whether the items of the pages stand in the order of the whole list.
func (p Pages) inOrder(values []int) bool {
	place := map[string]int{}
	for i, item := range p.Whole {
		place[item] = i
	}
	at := -1
	for _, v := range values {
		for _, item := range p.At[v].Items {
			i, known := place[item]
			if !known {
				continue
			}
			if i < at {
				return false
			}
			at = i
		}
	}
	return true
}
