package probe

import (
	"net/url"
	"slices"
	"strconv"

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
	fullPages     = 7 // including an empty page after the last one, to which no page may link
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
	keyset bool   // a cursor is the id of the last item
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

// readingCases returns the requests that read the list page by page.
func readingCases() []row {
	var out []row
	plan := in(stageRead, stagePages, stageAuthorized).inLane("reading").onlyIf(notQuick).onDemand()
	add := func(name string, pages int, plan timing, begin beginReading) {
		for n := range pages {
			out = append(out, readingRow(name, n+1, plan, begin))
		}
	}
	add(readWhole, wholePages, plan, beginWhole)
	add(readSmall, smallPages, plan, beginSmall)
	add(readFiltered, filteredPages, in(stageRest, stageRead, stagePages).inLane("filtered").onlyIf(notQuick), beginFiltered)
	add(readFull, fullPages, in(stageRest, stageRead, stagePages).inLane("full pages").onlyIf(notQuick).onlyIf(excludesEmptyPages).onDemand(), beginFull)
	again := in(stageAgain, stageRead, stageRest, stageOptional).inLane("reading again").onlyIf(notQuick).onDemand()
	add(readWhole+againSuffix, wholePages, again, beginAgain(readWhole))
	add(readSmall+againSuffix, smallPages, again, beginAgain(readSmall))
	add(readWhole+thirdSuffix, wholePages, again, beginThird(readWhole))
	add(readSmall+thirdSuffix, smallPages, again, beginThird(readSmall))
	return out
}

// beginReading prepares a reading, or says why the list is not read in this way.
type beginReading func(r *run, o openapi.Operation, res Resource) (*reading, *unsent)

// readingRow is the request for the n-th page of a reading.
func readingRow(name string, n int, plan timing, begin beginReading) row {
	send := choose
	if (name == readFiltered || name == readCombined || name == readSeveral || evidence.IsLinkedReading(name)) && n > 1 { // a later page may be a link, which may lead to another resource
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
			r.learnReadingPage(readingName{at, name}, a)
			switch name {
			case readWhole:
				r.learnWhole(at)
				r.learnPageRecords(at, a)
			case readSmall:
				r.learnPageRecords(at, a)
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
	if rd == nil || len(rd.Pages) != n-1 || n > 1 && (!rd.More() || rd.next == "") {
		return chosen{}, notApplicable("the pages before it were enough")
	}
	given := map[string]string{"reading": key.name}
	for name, value := range rd.given {
		given[name] = value
	}
	return chosen{rd.next, given}, nil
}

// learnReadingPage keeps a page of a reading, and the URL of the next page.
func (r *run) learnReadingPage(key readingName, a recorder.Answer) {
	rd := r.readingOf(key)
	if rd == nil {
		return
	}
	listPage := r.listPage(key.at, a)
	r.facts.with(func(*facts) {
		rd.Pages = append(rd.Pages, listPage)
		if key.name == readWhole {
			rd.bodies = append(rd.bodies, a.Body)
		}
		rd.next = rd.nextPageURL(listPage)
	})
}

// listPage reads an answer of a list as a page, with the total only if it counts the items of the list, as far as the document says.
func (r *run) listPage(at evidence.Resource, a recorder.Answer) openapi.ListPage {
	listPage := openapi.ReadListPage(a.Header, a.Body, a.Status/100 == 2)
	o, known := r.operation(at)
	if _, place, named := openapi.Total(a.Header, a.Body); listPage.Total >= 0 && known && named {
		listPage = listPage.ReadAs(r.node.Document.MeaningOfTotal(o, place), a.Body)
	}
	return listPage
}

// nextPageURL returns the URL of the page after listPage: by its link or cursor, or else by the number of the page.
func (rd *reading) nextPageURL(listPage openapi.ListPage) string {
	from, err := url.Parse(rd.next)
	if err != nil {
		return ""
	}
	link := ""
	if listPage.Link != "" {
		if to, err := from.Parse(listPage.Link); err == nil && evidence.Origin(to) == evidence.Origin(from) {
			to.Fragment = ""
			link = to.String()
		}
	}
	switch {
	case link != "" && (rd.links || listPage.Cursor == "" || rd.cursor == ""):
		return link
	case listPage.Cursor != "" && rd.cursor != "":
		return withQuery(rd.base, pair{rd.cursor, listPage.Cursor})
	case rd.keyset && len(listPage.Items) > 0:
		return withQuery(rd.base, pair{rd.cursor, listPage.Items[len(listPage.Items)-1]})
	}
	return rd.number.page(rd.base, len(rd.Pages), len(rd.Items()))
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
		rd.cursor, rd.keyset = p.Name, p.TakesLastID()
	}
	if w := r.walkOf(res.Name, evidence.FirstWalk); w != nil && w.page.Name != "" {
		r.facts.with(func(*facts) { rd.number = numbering{w.page.Name, w.pages.Meaning(), w.pages.Minimum} })
	}
	numbered := rd.number.meaning == openapi.Offset || rd.number.meaning == openapi.FromOne || rd.number.meaning == openapi.FromZero
	rd.Numbered = numbered || rd.keyset // of both kinds, no page names the next one
	if rd.Numbered {
		rd.given["numbered"] = "true"
	}
	rd.next = rd.base
	if numbered {
		rd.next = rd.number.page(rd.base, 0, 0)
	}
	return rd
}

// isCapped reports whether an answer shows that the list without parameters is incomplete.
func (r *run) isCapped(at evidence.Resource) bool {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	listPage := r.facts.listPages[at]
	if listPage.Next() != "" || listPage.Total > len(listPage.Items) {
		return true
	}
	w := r.facts.walks[walkKey{at, evidence.FirstWalk}]
	if w == nil {
		return false
	}
	values, _ := w.pages.Walked()
	for _, v := range values {
		if w.pages.Meaning() != openapi.Ignored && len(openapi.Missing(w.pages.ByValue[v].Items, listPage.Items)) > 0 {
			return true
		}
	}
	return false
}

// breaksOff reports whether the last page, which another one named, is not a list or repeats an earlier page.
func breaksOff(rd openapi.Reading) bool {
	n := len(rd.Pages)
	return n > 1 && (!rd.Pages[n-1].Listed || rd.Circles())
}

// fresh returns a reading that starts again at the first page, with new cursors and links.
func (rd *reading) fresh() *reading {
	again := &reading{base: rd.base, number: rd.number, cursor: rd.cursor, keyset: rd.keyset, links: rd.links, given: rd.given, next: rd.base}
	again.Numbered = rd.Numbered
	if first := again.number.page(again.base, 0, 0); first != "" {
		again.next = first
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
				listPage := openapi.ReadListPage(a.Header, a.Body, a.Status/100 == 2)
				size := atLeast(p.Schema, fewerThan(len(r.facts.itemsOf(at))))
				r.facts.with(func(f *facts) {
					if whole := f.listPages[at]; listPage.Listed && len(listPage.Items) == size && len(whole.Items) > size && slices.Equal(whole.Items[:size], listPage.Items) {
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
