package openapi

import "slices"

// Meaning is what the value of a page parameter counts. The documents of the network do not define it; the network's client sends a record
// number.
type Meaning string

// The known meanings.
const (
	Offset   Meaning = "the number of records to skip"
	FromZero Meaning = "the number of the page, from 0"
	FromOne  Meaning = "the number of the page, from 1"
	Ignored  Meaning = "nothing: it is ignored"
)

// MaxPages is the largest number of consecutive pages that are requested.
const MaxPages = 5

// Page holds the identities of the items of one page, in order.
type Page struct {
	Listed bool // the answer was a list
	Items  []string
}

// Pages holds pages of one list by the value of their page parameter.
type Pages struct {
	// Unpaged is the list without parameters. It may be only the beginning, if the node limits it.
	Unpaged []string
	// Size is the requested number of items, Minimum the least value of the page parameter that the document allows.
	Size, Minimum int
	ByValue       map[int]Page
}

// Identity returns what distinguishes an item from others: its id, or its whole text if it has no id.
func Identity(item []byte) string {
	if ids := MemberValues(item, "id"); len(ids) == 1 {
		return ids[0]
	}
	return string(item)
}

// Identities returns the identities of the items of a list answer.
func Identities(items [][]byte) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = Identity(item)
	}
	return out
}

// Next returns the next value to request: first 0, 1 and the size, which distinguish the meanings; then the pages in order, up to the end or
// [MaxPages]; then the last page of the unpaged list. ok is false if no further page is needed.
func (p Pages) Next() (value int, ok bool) {
	for _, v := range []int{0, 1, p.third()} {
		if _, requested := p.ByValue[v]; !requested && v >= p.Minimum {
			return v, true
		}
		if p.Oversized() {
			return 0, false
		}
	}
	if m := p.Meaning(); m == Ignored || m == "" {
		return 0, false
	}
	for k := range MaxPages {
		page, requested := p.ByValue[p.value(k)]
		if !requested {
			return p.value(k), true
		}
		if p.ends(k, page) {
			return 0, false
		}
	}
	last, beyond := p.last()
	_, requested := p.ByValue[p.value(last)]
	return p.value(last), beyond && !requested
}

// Oversized reports whether a page has more items than requested: the size has no effect.
func (p Pages) Oversized() bool {
	for _, page := range p.ByValue {
		if len(page.Items) > p.Size {
			return true
		}
	}
	return false
}

// third returns the third value that is always requested, after 0 and 1. With [Offset], the size is the value of the second page.
func (p Pages) third() int { return max(2, p.Size) }

// Meaning returns what the page parameter counts according to the answers, or "".
func (p Pages) Meaning() Meaning {
	zero, one, third := p.ByValue[0], p.ByValue[1], p.ByValue[p.third()]
	switch {
	case !one.Listed:
		return ""
	case len(zero.Items) == 0:
		if len(one.Items) == 0 {
			return ""
		}
		return FromOne
	case slices.Equal(zero.Items, one.Items):
		if slices.Equal(zero.Items, third.Items) {
			return Ignored
		}
		return FromOne // the node treats 0 as 1
	case len(zero.Items) > 1 && len(one.Items) > 0 && one.Items[0] == zero.Items[1]:
		return Offset
	}
	return FromZero
}

// step returns the number of records from one page to the next. A node may limit its pages to less than the requested size.
func (p Pages) step() int {
	first := p.ByValue[p.first()]
	if n := len(first.Items); n > 0 && n < p.Size && n < len(p.Unpaged) {
		return n
	}
	return p.Size
}

// first returns the value of the page parameter for the first page.
func (p Pages) first() int {
	if p.Meaning() == FromOne {
		return 1
	}
	return 0
}

// value returns the value of the page parameter for the k-th page, from 0.
func (p Pages) value(k int) int {
	if p.Meaning() == Offset {
		return k * p.step()
	}
	return p.first() + k
}

// ends reports whether the k-th page is the last one to request.
func (p Pages) ends(k int, page Page) bool {
	isShort, coversUnpaged := len(page.Items) < p.step(), (k+1)*p.step() >= len(p.Unpaged)
	return !page.Listed || len(page.Items) == 0 || isShort && coversUnpaged || p.isStale(k, page)
}

// PastEnd reports whether the value is that of a walked page after the end of the unpaged list. Its content says nothing about the pages
// before it.
func (p Pages) PastEnd(value int) bool {
	values, _ := p.Walked()
	k := slices.Index(values, value)
	return k >= 0 && k*p.step() >= len(p.Unpaged)
}

// isStale reports whether a page is after the end of the unpaged list and repeats the page before it.
func (p Pages) isStale(k int, page Page) bool {
	return k > 0 && k*p.step() >= len(p.Unpaged) && slices.Equal(page.Items, p.ByValue[p.value(k-1)].Items)
}

// last returns the page with the last item of the unpaged list, from 0, and whether it is beyond the walk.
func (p Pages) last() (k int, beyond bool) {
	k = (len(p.Unpaged) - 1) / max(1, p.step())
	return k, k >= MaxPages
}

// Walked returns the values of the consecutive pages that were requested, in order, and whether they reach the end of the list.
func (p Pages) Walked() (values []int, ended bool) {
	for k := range MaxPages {
		page, requested := p.ByValue[p.value(k)]
		if !requested {
			return values, false
		}
		values = append(values, p.value(k))
		if p.ends(k, page) {
			return values, true
		}
	}
	return values, false
}

// PageFaults are the differences between the pages and the list.
type PageFaults struct {
	Repeated []string // items on more than one page
	Lost     []string // items of the unpaged list that are missing on the pages that should have them
	// Reordered is true if the pages have another order than the unpaged list and were not walked to the end: an expected item that is
	// missing may be on a later page, so no item counts as lost.
	Reordered bool
}

// Empty reports whether the pages and the list agree.
func (f PageFaults) Empty() bool { return len(f.Repeated) == 0 && len(f.Lost) == 0 && !f.Reordered }

// Faults compares the pages with one another and with the unpaged list. It ignores items that the list or one page repeats.
func (p Pages) Faults() PageFaults {
	var f PageFaults
	values, ended := p.Walked()
	covered := min(len(values)*p.step(), len(p.Unpaged))
	if ended {
		covered = len(p.Unpaged)
	}
	expected := p.Unpaged[:covered]
	if k, beyond := p.last(); beyond && !ended && p.ByValue[p.value(k)].Listed {
		values = append(values, p.value(k))
		expected = slices.Concat(expected, p.Unpaged[k*p.step():])
	}
	if n := len(values) - 1; n > 0 && p.isStale(n, p.ByValue[values[n]]) {
		values = values[:n]
	}
	f.Repeated = p.repeated(values)
	found := map[string]bool{}
	for _, v := range values {
		for _, item := range p.ByValue[v].Items {
			found[item] = true
		}
	}
	for _, item := range expected {
		if !found[item] {
			f.Lost = append(f.Lost, item)
		}
	}
	if len(f.Lost) > 0 && !ended && len(f.Repeated) == 0 && !p.isInOrder(values) {
		f.Lost, f.Reordered = nil, true
	}
	return f
}

// repeated lists the items that are on more than one of the pages, each once. It leaves out items that the unpaged list repeats.
func (p Pages) repeated(values []int) []string {
	unpaged := map[string]int{}
	for _, item := range p.Unpaged {
		unpaged[item]++
	}
	pageOf, listed := map[string]int{}, map[string]bool{}
	var out []string
	for _, v := range values {
		for _, item := range p.ByValue[v].Items {
			other, known := pageOf[item]
			if known && other != v && !listed[item] && unpaged[item] < 2 {
				listed[item] = true
				out = append(out, item)
			}
			pageOf[item] = v
		}
	}
	return out
}

// isInOrder reports whether the items of the pages have the order of the unpaged list.
func (p Pages) isInOrder(values []int) bool {
	position := map[string]int{}
	for i, item := range p.Unpaged {
		position[item] = i
	}
	previous := -1
	for _, v := range values {
		for _, item := range p.ByValue[v].Items {
			i, known := position[item]
			if !known {
				continue
			}
			if i < previous {
				return false
			}
			previous = i
		}
	}
	return true
}
