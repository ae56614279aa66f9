package probe

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file reads lists page by page to their end, by cursors, links or numbers: in large pages, in small ones, filtered and sorted. Only this shows records
// that are missing, skipped or repeated.

// These are the names of readings in the evidence.
const (
	readWhole    = "whole"    // in the largest pages
	readSmall    = "small"    // in small pages
	readFiltered = "filtered" // with a filter
	readFull     = "full"     // in pages that are all full
	againSuffix  = "-again"   // a second time, if the first readings disagree
	thirdSuffix  = "-third"   // a third time, if the second readings disagree, too
)

// Bounds of readings, in pages.
const (
	wholePages    = 6
	smallPages    = 9
	filteredPages = 4
	fullPages     = 7 // including an empty page, which no page may name
	sortPages     = 6
	maxSorts      = 3
)

// readingName names a reading of a list.
type readingName struct {
	at   evidence.Resource
	name string
}

// reading is a list that is read in one way.
type reading struct {
	openapi.Reading
	base   string // the URL without a page parameter
	number numbering
	cursor string // the parameter for cursors, if there is one
	links  bool   // prefers links to cursors
	given  map[string]string

	next   string // the URL of the next page, if it is known
	bodies [][]byte
}

// numbering says how the pages of a list are numbered. Without a parameter they have no numbers.
type numbering struct {
	parameter string
	meaning   openapi.Meaning
	minimum   int
}

// readingCases read the list.
func readingCases() []row {
	var out []row
	plan := in(stageRead, stagePages, stageAuthorized).inLane("reading").onlyIf(notQuick).onDemand()
	add := func(name string, pages int, plan timing, begin beginner) {
		for n := range pages {
			out = append(out, readingRow(name, n+1, plan, begin))
		}
	}
	add(readWhole, wholePages, plan, beginWhole)
	add(readSmall, smallPages, plan, beginSmall)
	add(readFiltered, filteredPages, in(stageRest, stageRead, stagePages).inLane("filtered").onlyIf(notQuick), beginFiltered)
	add(readFull, fullPages, in(stageRest, stageRead, stagePages).inLane("full pages").onlyIf(notQuick).onlyIf(excludesEmptyPages).onDemand(), beginFull)
	again := in(stageAgain, stageRead, stageRest).inLane("reading again").onlyIf(notQuick).onDemand()
	add(readWhole+againSuffix, wholePages, again, beginAgain(readWhole))
	add(readSmall+againSuffix, smallPages, again, beginAgain(readSmall))
	add(readWhole+thirdSuffix, wholePages, again, beginThird(readWhole))
	add(readSmall+thirdSuffix, smallPages, again, beginThird(readSmall))
	return out
}

type beginner func(r *run, o openapi.Operation, res Resource) (*reading, *unsent)

// readingRow is the request for the n-th page of a reading.
func readingRow(name string, n int, plan timing, begin beginner) row {
	send := choose
	if (name == readFiltered || name == readCombined || name == readSeveral || evidence.IsLinkedReading(name)) && n > 1 { // it may be a link, which may lead to another resource
		send = func(pick chooser) sender { return withoutSchemas(choose(pick)) }
	}
	return row{
		Label: evidence.ListOperation.With(evidence.ReadingCase(name, n)), Plan: plan,
		Send: send(func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
			key := readingName{res.Name, name}
			if n == 1 {
				fresh, reason := begin(r, o, res)
				if reason != nil {
					return chosen{}, reason
				}
				r.facts.with(func(f *facts) { f.readings[key] = fresh })
			}
			return r.nextPage(key, n)
		}),
		Learn: func(r *run, at evidence.Resource, a recorder.Answer) {
			r.learnSheet(readingName{at, name}, a)
			if name == readWhole {
				r.learnWhole(at)
			}
		},
	}
}

// readingOf returns a reading, or nil.
func (r *run) readingOf(key readingName) *reading {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.readings[key]
}

// nextPage chooses the URL of the n-th page.
func (r *run) nextPage(key readingName, n int) (chosen, *unsent) {
	rd := r.readingOf(key)
	if rd == nil || len(rd.Sheets) != n-1 || n > 1 && (!rd.More() || rd.next == "") {
		return chosen{}, notApplicable("the pages before it were enough")
	}
	given := map[string]string{"reading": key.name}
	for name, value := range rd.given {
		given[name] = value
	}
	return chosen{rd.next, given}, nil
}

// learnSheet keeps a page of a reading, and the URL of the next page.
func (r *run) learnSheet(key readingName, a recorder.Answer) {
	rd := r.readingOf(key)
	if rd == nil {
		return
	}
	sheet := openapi.ReadSheet(a.Header, a.Body, a.Status/100 == 2)
	r.facts.with(func(*facts) {
		rd.Sheets = append(rd.Sheets, sheet)
		if key.name == readWhole {
			rd.bodies = append(rd.bodies, a.Body)
		}
		rd.next = rd.after(sheet)
	})
}

// after returns the URL of the page after a sheet: by its link or cursor, or else by the number of the page.
func (rd *reading) after(sheet openapi.Sheet) string {
	from, err := url.Parse(rd.next)
	if err != nil {
		return ""
	}
	link := ""
	if sheet.Link != "" {
		if to, err := from.Parse(sheet.Link); err == nil && evidence.Origin(to) == evidence.Origin(from) {
			to.Fragment = ""
			link = to.String()
		}
	}
	switch {
	case link != "" && (rd.links || sheet.Cursor == "" || rd.cursor == ""):
		return link
	case sheet.Cursor != "" && rd.cursor != "":
		return withQuery(rd.base, pair{rd.cursor, sheet.Cursor})
	}
	return rd.number.page(rd.base, len(rd.Sheets), len(rd.Items()))
}

// page returns the URL of the page that follows this number of pages and items.
func (n numbering) page(base string, pages, items int) string {
	value := 0
	switch n.meaning {
	case openapi.Offset:
		value = items
	case openapi.FromOne:
		value = pages + 1
	case openapi.FromZero:
		value = pages
	default:
		return ""
	}
	return withQuery(base, pair{n.parameter, strconv.Itoa(value)})
}

// newReading prepares a reading with a query and, if the document allows it, pages of this size.
func (r *run) newReading(o openapi.Operation, res Resource, size int, query ...pair) *reading {
	rd := &reading{given: map[string]string{}}
	if p, ok := r.size(o); ok {
		value := strconv.Itoa(atLeast(p.Schema, size))
		query = append(query, pair{p.Name, value})
		rd.given["sizeParameter"], rd.given["size"] = p.Name, value
	}
	rd.base = withQuery(res.URL, query...)
	if p, ok := o.QueryWithRole(openapi.CursorRole); ok {
		rd.cursor = p.Name
	}
	if w := r.walkOf(res.Name, evidence.FirstWalk); w != nil && w.page.Name != "" {
		r.facts.with(func(*facts) { rd.number = numbering{w.page.Name, w.pages.Meaning(), w.pages.Minimum} })
	}
	rd.Numbered = rd.number.meaning == openapi.Offset || rd.number.meaning == openapi.FromOne || rd.number.meaning == openapi.FromZero
	if rd.Numbered {
		rd.given["numbered"] = "true"
	}
	rd.next = rd.base
	if rd.Numbered {
		rd.next = rd.number.page(rd.base, 0, 0)
	}
	return rd
}

// isCapped reports whether an answer shows that the list without parameters is incomplete.
func (r *run) isCapped(at evidence.Resource) bool {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	sheet := r.facts.sheets[at]
	if sheet.Next() != "" || sheet.Total > len(sheet.Items) {
		return true
	}
	w := r.facts.walks[walkKey{at, evidence.FirstWalk}]
	if w == nil {
		return false
	}
	values, _ := w.pages.Walked()
	for _, v := range values {
		if w.pages.Meaning() != openapi.Ignored && len(openapi.Missing(w.pages.ByValue[v].Items, sheet.Items)) > 0 {
			return true
		}
	}
	return false
}

// pagesUnclear is why a list is not read in other ways if its numbered pages do not add up: the meaning of the page number is then not known.
const pagesUnclear = "the numbered pages do not add up"

func beginWhole(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
	switch {
	case r.pagesDisagree(res.Name, evidence.FirstWalk):
		return nil, notApplicable(pagesUnclear)
	case !r.isCapped(res.Name):
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
	return r.smallReading(o, res, n, smallPages-2, readSmall, r.columnsAt(res.Name).ties())
}

// smallReading prepares a reading of n items in at most this many pages. It draws a size with which pages end at ties, which are places between items with
// equal values, because a cursor that contains only the value loses items there.
func (r *run) smallReading(o openapi.Operation, res Resource, n, pages int, purpose string, ties []int, query ...pair) (*reading, *unsent) {
	p, sized := r.size(o)
	least := (n + pages - 1) / pages
	size := least + r.source(res.Name, purpose).Below(max(1, n/3-least+1))
	if best := sizeAtTies(ties, least, n, r.source(res.Name, purpose+" ties")); best > 0 && sized && atLeast(p.Schema, best) == best {
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
	rd, reason := r.smallReading(o, res, count, filteredPages-1, readFiltered, nil, pair{best.parameter, best.value})
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

// beginAgain repeats a reading if it disagrees with the other one, because items may have been added or removed.
func beginAgain(name string) beginner {
	return func(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
		whole, small := r.readingOf(readingName{res.Name, readWhole}), r.readingOf(readingName{res.Name, readSmall})
		first := r.readingOf(readingName{res.Name, name})
		if small == nil || whole == nil && name != readWhole && r.readingOf(readingName{res.Name, readWhole + againSuffix}) == nil {
			return nil, notApplicable("nothing seems to have changed during the run")
		}
		var agree bool
		r.facts.with(func(f *facts) {
			reference := openapi.Reading{Sheets: []openapi.Sheet{f.sheets[res.Name]}}
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
func beginThird(name string) beginner {
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

// breaksOff reports whether the last page, which another one named, is not a list or repeats an earlier page.
func breaksOff(rd openapi.Reading) bool {
	n := len(rd.Sheets)
	return n > 1 && (!rd.Sheets[n-1].Listed || rd.Circles())
}

// fresh returns a reading that starts again at the first page, with new cursors and links.
func (rd *reading) fresh() *reading {
	again := &reading{base: rd.base, number: rd.number, cursor: rd.cursor, links: rd.links, given: rd.given, next: rd.base}
	if again.Numbered = rd.Numbered; again.Numbered {
		again.next = again.number.page(again.base, 0, 0)
	}
	return again
}

// learnWhole replaces the items of the list by those of all its pages, once it was read to its end.
func (r *run) learnWhole(at evidence.Resource) {
	rd := r.readingOf(readingName{at, readWhole})
	o, known := r.operation(at)
	if rd == nil || !known || !rd.Ended() {
		return
	}
	var all [][]byte
	for _, body := range rd.bodies {
		list, _ := openapi.ReadList(body)
		all = append(all, list.Items...)
	}
	if len(all) > 0 {
		r.learnItems(at, o, all[:min(len(all), openapi.MaxItems)])
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

func beginSorted(k int) beginner {
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
		rd, reason := r.smallReading(o, res, n, sortPages-2, sortName(k), columns.tiesBy(by.value), query...)
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

// size returns the parameter that sets the number of items: by its name, or else by its effect, see [likeSizeCases].
func (r *run) size(o openapi.Operation) (openapi.Parameter, bool) {
	if p, ok := sizeParameter(o); ok {
		return p, true
	}
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	p, ok := r.facts.sizes[evidence.OperationResource(o.Key)]
	return p, ok
}

// maxLikeSizes is how many parameters are tried as the page size.
const maxLikeSizes = 3

// likeSizeCases try integer parameters whose meaning is not known: one that shortens the list to its value is the page size.
func likeSizeCases(o openapi.Operation) []row {
	if _, named := sizeParameter(o); named {
		return nil
	}
	var out []row
	for _, p := range o.QueryParameters() {
		_, bounds := boundOf(p)
		if p.Schema.Type != "integer" || openapi.RoleOf(p) != "" || bounds || len(out) == maxLikeSizes {
			continue
		}
		out = append(out, row{
			Label: evidence.ListOperation.With(evidence.Case("like-size-" + evidence.Slug(p.Name))),
			Plan:  in(stageLikeSize, stageAuthorized).onlyIf(notQuick),
			Send: choose(func(r *run, _ openapi.Operation, res Resource) (chosen, *unsent) {
				value := strconv.Itoa(atLeast(p.Schema, fewerThan(len(r.facts.itemsOf(res.Name)))))
				return chosen{withQuery(res.URL, pair{p.Name, value}), map[string]string{"parameter": p.Name, "value": value}}, nil
			}),
			Learn: func(r *run, at evidence.Resource, a recorder.Answer) {
				sheet := openapi.ReadSheet(a.Header, a.Body, a.Status/100 == 2)
				asked := atLeast(p.Schema, fewerThan(len(r.facts.itemsOf(at))))
				r.facts.with(func(f *facts) {
					if whole := f.sheets[at]; sheet.Listed && len(sheet.Items) == asked && len(whole.Items) > asked && slices.Equal(whole.Items[:asked], sheet.Items) {
						f.sizes[at] = p
						if w := f.walks[walkKey{at, evidence.FirstWalk}]; w != nil {
							w.setSize(p)
						}
					}
				})
			},
		})
	}
	return out
}

// setSize sets the size parameter of a walk that has not begun.
func (w *walk) setSize(p openapi.Parameter) {
	if w.page.Name == "" || len(w.pages.ByValue) > 0 {
		return
	}
	w.size = p
	w.pages.Size = atLeast(p.Schema, walkSize(len(w.pages.Unpaged)))
}
