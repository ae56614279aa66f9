package probe

import (
	"fmt"
	"strconv"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// pagesUnclear is the reason not to read a list in other ways if its numbered pages do not add up: then the meaning of the page number is not known.
const pagesUnclear = "the numbered pages do not add up"

func beginWhole(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
	cursor, ok := o.QueryWithRole(openapi.CursorRole)
	keyset := ok && cursor.TakesLastID() // no answer shows whether more items follow
	switch {
	case r.pagesDisagree(res.Name, evidence.FirstWalk):
		return nil, notApplicable(pagesUnclear)
	case !r.isCapped(res.Name) && !keyset:
		return nil, notApplicable("the list without parameters is the whole list")
	}
	size := maxWalkSize
	if p, ok := r.size(o); ok && p.Schema.Maximum != nil && *p.Schema.Maximum <= maxPageAsked {
		size = atLeast(p.Schema, maxPageAsked)
	}
	return r.newReading(o, res, size), nil
}

// wholeLength returns the number of items of the list, or a reason if the list was not read to its end.
func (r *run) wholeLength(at evidence.Resource) (int, *unsent) {
	if rd := r.readingOf(readingName{at, readWhole}); rd != nil {
		if !rd.Ended() {
			return 0, notApplicable("the list was not read to its end")
		}
		return len(rd.Items()), nil
	}
	return len(r.facts.itemsOf(at)), nil
}

// beginSmall reads the list in small pages of a drawn size, because some records are lost only if a page ends at their place.
func beginSmall(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
	n, reason := r.wholeLength(res.Name)
	_, cursors := o.QueryWithRole(openapi.CursorRole)
	switch {
	case reason != nil:
		return nil, reason
	case !cursors && r.readingOf(readingName{res.Name, readWhole}) == nil:
		return nil, notApplicable("the list without parameters is the whole list, and its pages were read")
	}
	return r.smallReading(o, res, n, smallPages-2, readSmall, cut{ties: r.columnsAt(res.Name).ties()})
}

// smallReading prepares a reading of n items in at most this many pages. It draws a size with which pages end at ties, which are places between items with
// equal values, because a cursor that contains only the value loses items there.
func (r *run) smallReading(o openapi.Operation, res Resource, n, pages int, purpose string, at cut, query ...pair) (*reading, *unsent) {
	p, sized := r.size(o)
	least := (n + pages - 1) / pages
	size := least + r.source(res.Name, purpose).Below(max(1, n/3-least+1))
	if best := sizeAtTies(at, least, n, r.source(res.Name, purpose+" ties")); best > 0 && sized && atLeast(p.Schema, best) == best {
		size = best
	}
	switch {
	case r.pagesDisagree(res.Name, evidence.FirstWalk):
		return nil, notApplicable(pagesUnclear)
	case n < 2:
		return nil, notApplicable("the list has %s, too few for two pages", evidence.Count(n, "item"))
	case !sized:
		return nil, notApplicable("no parameter sets the size of pages")
	case atLeast(p.Schema, size) >= n:
		return nil, notApplicable("the list has %s, too few for two of the smallest pages", evidence.Count(n, "item"))
	}
	return r.newReading(o, res, size, query...), nil
}

// beginFiltered reads a filtered list page by page, by links if there are any, because later pages may lack the filter.
func beginFiltered(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
	items := r.facts.itemsOf(res.Name)
	best, count, half := condition{}, 0, 0
	for _, f := range r.filtersAt(res.Name) {
		for _, c := range conditions(f, items) {
			// A lost filter shows best if the filter keeps half of the items.
			if rank := min(c.count, len(items)-c.count); rank > half {
				best, count, half = c, c.count, rank
			}
		}
	}
	if count < 2 {
		return nil, notApplicable("no filter leaves several items, and leaves some out")
	}
	rd, reason := r.smallReading(o, res, count, filteredPages-1, readFiltered, cut{}, pair{best.parameter, best.value})
	if reason != nil {
		return nil, reason
	}
	rd.links = true
	rd.given["parameter"], rd.given["member"], rd.given["value"] = best.parameter, best.member, best.value
	return rd, nil
}

func excludesEmptyPages(n Node) bool {
	o, ok := n.Operation(n.List)
	return ok && n.Document != nil && n.Document.ExcludesEmptyPages(o)
}

// beginFull reads the list in pages of a size that divides its length, because a node may name a next page after a full last page.
func beginFull(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
	n, reason := r.wholeLength(res.Name)
	p, sized := r.size(o)
	_, cursors := o.QueryWithRole(openapi.CursorRole)
	r.facts.mu.Lock()
	_, links := r.facts.next[res.Name]
	r.facts.mu.Unlock()
	switch {
	case reason != nil:
		return nil, reason
	case r.pagesDisagree(res.Name, evidence.FirstWalk):
		return nil, notApplicable(pagesUnclear)
	case !sized || !cursors && !links:
		return nil, notApplicable("no page of a chosen size names a next one")
	}
	var sizes []int
	for size := (n + fullPages - 2) / (fullPages - 1); size > 0 && size <= min(n, maxPageAsked); size++ {
		if n%size == 0 && atLeast(p.Schema, size) == size {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		return nil, notApplicable("no described page size divides a list of %s into few pages", evidence.Count(n, "item"))
	}
	return r.newReading(o, res, draw.One(r.source(res.Name, readFull), sizes...)), nil
}

// beginAgain repeats a reading if the large and the small pages disagree, because items may have been added or removed.
func beginAgain(name string) beginReading {
	return func(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
		whole, small := r.readingOf(readingName{res.Name, readWhole}), r.readingOf(readingName{res.Name, readSmall})
		first := r.readingOf(readingName{res.Name, name})
		if small == nil || whole == nil && name != readWhole && r.readingOf(readingName{res.Name, readWhole + againSuffix}) == nil {
			return nil, notApplicable("nothing seems to have changed during the run")
		}
		var agree bool
		r.facts.with(func(f *facts) {
			reference := openapi.Reading{Pages: []openapi.ListPage{f.listPages[res.Name]}}
			if whole != nil {
				reference = whole.Reading
			}
			agree = reference.Against(small.Reading).Empty() && len(reference.Repeated()) == 0 && !breaksOff(reference) && !breaksOff(small.Reading)
		})
		if agree && !r.sortsDisagree(res.Name) {
			return nil, notApplicable("the pages added up the first time")
		}
		if first == nil { // the list without parameters was complete
			return r.newReading(o, res, maxWalkSize), nil
		}
		return first.fresh(), nil
	}
}

// beginThird reads the list a third time if the second readings disagree, too. If the third ones also disagree, the node is wrong, or the list changes all
// the time.
func beginThird(name string) beginReading {
	return func(r *run, _ openapi.Operation, res Resource) (*reading, *unsent) {
		whole, small := r.readingOf(readingName{res.Name, readWhole + againSuffix}), r.readingOf(readingName{res.Name, readSmall + againSuffix})
		if whole == nil || small == nil {
			return nil, notApplicable("nothing seems to have changed during the run")
		}
		var agree bool
		r.facts.with(func(*facts) {
			agree = whole.Against(small.Reading).Empty() && len(whole.Repeated()) == 0 && !breaksOff(whole.Reading) && !breaksOff(small.Reading)
		})
		switch {
		case agree:
			return nil, notApplicable("the pages added up the second time")
		case name == readWhole:
			return whole.fresh(), nil
		}
		return small.fresh(), nil
	}
}

// sortCases read the list in the orders that it offers. If an order lacks a unique last criterion, records with equal values are lost between pages.
func sortCases(o openapi.Operation) []row {
	var out []row
	for k := range min(maxSorts, len(ordersOf(o))) {
		for n := range sortPages {
			plan := in(stageRest, stageRead, stagePages).inLane("sorted " + strconv.Itoa(k)).onlyIf(notQuick)
			if n > 1 {
				plan = plan.onDemand()
			}
			out = append(out, readingRow(sortName(k), n+1, plan, beginSorted(k)))
		}
	}
	return out
}

// ordersOf lists the queries for the orders of a list. The first field names the member, unless the list has a parameter for the direction only.
func ordersOf(o openapi.Operation) [][]pair {
	var out [][]pair
	for _, order := range o.Orders() {
		var query []pair
		for _, field := range order.Query {
			query = append(query, pair{field[0], field[1]})
		}
		out = append(out, query)
	}
	if p, ok := o.QueryWithRole(openapi.SortRole); ok && len(out) == 0 {
		for _, word := range vocabulary(p.Schema) {
			out = append(out, []pair{{p.Name, word}})
		}
	}
	return out
}

func sortName(k int) string { return fmt.Sprintf("sorted-%d", k+1) }

func beginSorted(k int) beginReading {
	return func(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
		n, reason := r.wholeLength(res.Name)
		if reason != nil {
			return nil, reason
		}
		columns := r.columnsAt(res.Name)
		query := columns.likelyOrders(ordersOf(o), r.source(res.Name, "orders"))[k]
		by := query[0]
		if _, found := columns.sortedBy(by.value); !found && !openapi.IsSortName(by.name) {
			return nil, notApplicable("%.80q names no member of the items, so it may not be an order", by.value)
		}
		rd, reason := r.smallReading(o, res, n, sortPages-2, sortName(k), columns.cutBy(by.value), query...)
		if reason != nil {
			return nil, reason
		}
		rd.given["parameter"], rd.given["value"] = by.name, by.value
		return rd, nil
	}
}

// sortsDisagree reports whether the list in some order has other items than the list.
func (r *run) sortsDisagree(at evidence.Resource) (disagree bool) {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	whole := r.facts.readings[readingName{at, readWhole}]
	for k := range maxSorts {
		if rd := r.facts.readings[readingName{at, sortName(k)}]; rd != nil && whole != nil && !whole.Against(rd.Reading).Empty() {
			disagree = true
		}
	}
	return disagree
}
