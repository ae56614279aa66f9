package probe

import (
	"context"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// walkRequests is the largest number of pages that a walk requests: three that show what the page parameter counts, up to [openapi.MaxPages] consecutive
// ones, of which at least one is among those three, and the last one.
const walkRequests = 3 + openapi.MaxPages - 1 + 1

// pagingCases are the pages, filters and links of the list (PAG). A quick run leaves them out.
func pagingCases() []row {
	after, page := in(stageRest, stageAuthorized).onlyIf(notQuick), in(stagePages, stageAuthorized, stageLikeSize).inLane("walk").onlyIf(notQuick)
	beyond := in(stageRest, stagePages).onlyIf(notQuick)
	// These rows come last, because they show whether the data changed during the run.
	again := in(stageAgain, stagePages, stageRest, stageOptional).inLane("walk again").onlyIf(notQuick).onDemand()
	read := in(stageRest, stageRead, stagePages).onlyIf(notQuick)
	running := after.onlyIf(onList(describesRunning))
	pages := func(w evidence.Walk, plan timing) (out []row) {
		for n := range walkRequests {
			out = append(out, row{Label: evidence.ListOperation.With(w.Page(n + 1)), Plan: plan, Send: callPage(w), Learn: learnPage(w)})
		}
		return out
	}
	listRow := func(w evidence.Walk, plan timing) []row {
		return []row{{Label: evidence.ListOperation.With(w.List()), Plan: plan, Send: choose(listAgain(w)), Learn: learnListAgain(w)}}
	}
	return slices.Concat(pages(evidence.FirstWalk, page), []row{
		{Label: "list.beyond-end", Plan: beyond, Send: choose(beyondEnd)},
		{Label: "list.link-next", Plan: beyond, Send: withoutSchemas(choose(nextLink))},
		{Label: "list.size-raw", Plan: beyond, Send: choose(rawBrackets)},
		{Label: "list.size-negative", Plan: after, Send: choose(badValue((*run).size, negativeNumber))},
		{Label: "list.size-zero", Plan: after, Send: choose(badValue((*run).size, zero))},
		{Label: "list.size-text", Plan: after, Send: choose(badValue((*run).size, wordForNumber))},
		{Label: "list.size-huge", Plan: after, Send: choose(badValue((*run).size, hugeNumber))},
		{Label: "list.page-negative", Plan: after, Send: choose(badValue(numberedPage, negativeNumber))},
		{Label: "list.page-text", Plan: after, Send: choose(badValue(numberedPage, wordForNumber))},
		{Label: "list.page-huge", Plan: after.onDemand(), Send: choose(badValue(numberedPage, vastNumber))},
		{Label: "list.page-last", Plan: after.onDemand(), Send: choose(badValue(numberedPage, lastNumber))},
		{Label: "list.page-end", Plan: beyond.onDemand(), Send: choose(lastNumberedPage)},
		{Label: "list.filter-bad", Plan: after, Send: choose(outsideVocabulary)},
		{Label: "list.unknown-query", Plan: after, Send: choose(unknownParameter)},
		{Label: "list.filter-paged", Plan: after, Send: choose(filterWithPage)},
		{Label: "list.filter-both", Plan: read.onlyIf(onList(func(o openapi.Operation) bool { return len(filtersOf(o)) > 1 })), Send: choose(filtersAtOnce(2))},
		{Label: "list.filter-three", Plan: read.onlyIf(onList(func(o openapi.Operation) bool { return len(filtersOf(o)) > 2 })), Send: choose(filtersAtOnce(3))},
		{Label: "list.filter-running", Plan: running, Send: choose(runningFilter("true"))},
		{Label: "list.filter-not-running", Plan: running, Send: choose(runningFilter("false"))},
	}, listRow(evidence.SecondWalk, again), pages(evidence.SecondWalk, again), listRow(evidence.ThirdWalk, again), pages(evidence.ThirdWalk, again), readingCases(), itemLinkCases(), unpublishedCases())
}

// filterCases are a valid value of each query parameter of the list, and the values of its filters.
func filterCases(n Node, o openapi.Operation) []row {
	var out []row
	for _, q := range queryParameters(o) {
		out = append(out, validCase(q))
	}
	out = slices.Concat(out, likeSizeCases(o), sortCases(o), sortedFilterCase(o), linkedCases(o), severalCases(o))
	for _, f := range filtersOf(o) {
		for i := range f.tries() {
			out = append(out, row{
				Label: evidence.ListOperation.With(evidence.FilterCase(f.parameter, i+1)),
				Plan:  planOfValue(f, i), Send: choose(filterValue(f, i)),
			})
		}
	}
	return slices.Concat(out, boundCases(o), exchangedCases(o), momentCases(o), searchCases(o), effectCases(o), unmatchedCases(o), defaultCases(o), instantCases(o))
}

// plannedValues is how many values of a filter without a vocabulary the plan counts; further ones are sent on demand.
const plannedValues = 4

func planOfValue(f describedFilter, i int) timing {
	plan := in(stageRest, stageRead, stagePages).onlyIf(notQuick)
	if len(f.vocabulary) == 0 && i >= plannedValues {
		return plan.onDemand()
	}
	return plan
}

// onList returns a condition on the list operation.
func onList(holds func(openapi.Operation) bool) func(Node) bool {
	return func(n Node) bool {
		o, ok := n.Operation(n.List)
		return ok && holds(o)
	}
}

// withoutSchemas omits the comparison of the answer with the schemas of the operation, because a link may lead to another resource.
func withoutSchemas(send sender) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		q, reason := send(ctx, r, at)
		q.Annotate = nil
		return q, reason
	}
}

// walk holds the pages of a list that were read.
type walk struct {
	page, size openapi.Parameter // without a name if the list has no such parameter
	pages      openapi.Pages
	next       int     // the page that is requested
	reason     *unsent // why the pages are not requested
}

// maxWalkSize is the page size for a long list: larger pages would be a load on the node, and some nodes limit them.
const maxWalkSize = 100

// walkSize returns a page size with which a walk reaches the end of a short list, if possible with several pages of several items, of which the last one is
// not full: some nodes fill it up with items of the page before. It returns 0 for an empty list.
func walkSize(items int) int {
	if items == 0 {
		return 0
	}
	size := min(maxWalkSize, max((items+openapi.MaxPages-2)/(openapi.MaxPages-1), min(3, (items+1)/2)))
	for items > 3 && items%size == 0 && size < maxWalkSize {
		size++
	}
	if items%size == 0 && size == maxWalkSize {
		size--
	}
	return size
}

// pageNumber is the parameter that the network's clients send, whether a document describes it or not.
const pageNumber = "page[page]"

// pageParameter returns the described query parameter that selects the page by a number.
func pageParameter(o openapi.Operation) (openapi.Parameter, bool) {
	return o.QueryWithRole(openapi.PageRole, openapi.SkipRole)
}

// pagingValue returns the sample for a required paging parameter: the first page, or a size that shows many items. Requests with other values are
// compared with this one.
func pagingValue(o openapi.Operation, p openapi.Parameter) (string, bool) {
	if p.In != "query" {
		return "", false
	}
	if page, ok := pageParameter(o); ok && page.Name == p.Name {
		return strconv.Itoa(firstPage(page)), true
	}
	if size, ok := sizeParameter(o); ok && size.Name == p.Name {
		return strconv.Itoa(atLeast(size.Schema, sizeOfFilter)), true
	}
	return "", false
}

// firstPage returns the default of the parameter, or its least value, or else the usual first value for its name.
func firstPage(p openapi.Parameter) int {
	var first *int
	switch {
	case json.Unmarshal(p.Schema.Default, &first) == nil && first != nil && *first >= 0:
		return *first
	case p.Schema.Minimum != nil:
		return max(0, atLeast(p.Schema, 0))
	case openapi.RoleOf(p) == openapi.SkipRole:
		return 0
	}
	return 1
}

// newWalk prepares the walk over a list that holds these items.
func (r *run) newWalk(o openapi.Operation, whole []string) *walk {
	w := &walk{pages: openapi.Pages{Unpaged: whole, ByValue: map[int]openapi.Page{}}}
	var described, sized bool
	w.page, described = pageParameter(o)
	w.size, sized = r.size(o)
	if !described && !sized { // the network's usual parameters may still work
		w.page, w.size = openapi.Parameter{Name: pageNumber}, openapi.Parameter{Name: pageSize}
	}
	w.pages.Minimum = max(0, atLeast(w.page.Schema, 0))
	w.pages.Size = len(whole)
	if w.size.Name != "" {
		w.pages.Size = atLeast(w.size.Schema, walkSize(len(whole)))
	}
	switch {
	case w.page.Name == "":
		w.reason = notApplicable("the document describes no parameter that says which page")
	case len(whole) < 2:
		w.reason = notApplicable("the list has %s, too few for two pages", evidence.Count(len(whole), "item"))
	case w.size.Name != "" && w.pages.Size >= len(whole):
		w.reason = notApplicable("the list has %s, and the smallest page that the document allows holds %d", evidence.Count(len(whole), "item"), w.pages.Size)
	}
	return w
}

// choose returns the call for a page, with the page size if the list has a parameter for it.
func (w *walk) choose(address string, page, size int) chosen {
	query := []pair{{w.page.Name, strconv.Itoa(page)}}
	given := map[string]string{"parameter": w.page.Name, "value": query[0].value}
	if w.size.Name != "" {
		query = append(query, pair{w.size.Name, strconv.Itoa(size)})
		given["sizeParameter"], given["size"] = w.size.Name, query[1].value
	}
	return chosen{withQuery(address, query...), given}
}

// walkKey names one walk over a list.
type walkKey struct {
	list  evidence.Resource
	round evidence.Walk
}

// walkOf returns a walk over a list, or nil if the list was not read for it.
func (r *run) walkOf(name evidence.Resource, round evidence.Walk) *walk {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.walks[walkKey{name, round}]
}

// callPage requests the next page of the walk.
func callPage(round evidence.Walk) sender {
	return choose(func(r *run, _ openapi.Operation, res Resource) (chosen, *unsent) {
		w := r.walkOf(res.Name, round)
		switch {
		case w == nil && round != evidence.FirstWalk:
			return chosen{}, notApplicable("the pages added up before")
		case w == nil:
			return chosen{}, unmet("the items of the list are not known")
		case w.reason != nil:
			return chosen{}, w.reason
		}
		var more bool
		r.facts.with(func(*facts) { w.next, more = w.pages.Next() })
		if !more {
			return chosen{}, notApplicable("the pages before it were enough")
		}
		return w.choose(res.URL, w.next, w.pages.Size), nil
	})
}

func learnPage(round evidence.Walk) learner {
	return func(r *run, at evidence.Resource, a recorder.Answer) {
		w := r.walkOf(at, round)
		listPage := r.listPage(at, a)
		page := openapi.Page{Listed: listPage.Listed, Items: listPage.Items}
		r.learnNext(at, a, listPage)
		r.facts.with(func(*facts) { w.pages.ByValue[w.next] = page })
		if round == evidence.FirstWalk {
			r.learnPageRecords(at, a)
		}
	}
}

// listAgain requests the whole list again if items may have been added or removed: the pages do not add up, a listed item was not found, or the total has
// changed.
func listAgain(round evidence.Walk) func(*run, openapi.Operation, Resource) (chosen, *unsent) {
	return func(r *run, _ openapi.Operation, res Resource) (chosen, *unsent) {
		if !r.pagesDisagree(res.Name, round-1) && (round != evidence.SecondWalk || !r.isItemMissing() && !r.totalChanged(res.Name)) {
			return chosen{}, notApplicable("nothing seems to have changed during the run")
		}
		return chosen{url: res.URL}, nil
	}
}

// learnListAgain prepares another walk if the pages of the one before did not add up.
func learnListAgain(round evidence.Walk) learner {
	return func(r *run, at evidence.Resource, a recorder.Answer) {
		list, ok := openapi.ReadList(a.Body)
		if o, known := r.operation(at); known && ok && a.Status/100 == 2 && r.pagesDisagree(at, round-1) {
			fresh := r.newWalk(o, openapi.Identities(list.Items))
			r.facts.with(func(f *facts) { f.walks[walkKey{at, round}] = fresh })
		}
	}
}

// pagesDisagree reports whether the pages of a walk do not add up to the list.
func (r *run) pagesDisagree(name evidence.Resource, round evidence.Walk) (disagree bool) {
	if w := r.walkOf(name, round); w != nil && w.reason == nil {
		r.facts.with(func(*facts) {
			switch w.pages.Meaning() {
			case "":
			case openapi.Ignored: // or the list grew while it was read
				disagree = !w.pages.Oversized() && w.page.In != ""
			default:
				disagree = !w.pages.Oversized() && !w.pages.Faults().Empty()
			}
		})
	}
	return disagree
}

// totalChanged reports whether a page of the list names another total than its first answer.
func (r *run) totalChanged(at evidence.Resource) (changed bool) {
	r.facts.with(func(f *facts) {
		first := f.listPages[at].Total
		for _, name := range []string{readWhole, readSmall} {
			if rd := f.readings[readingName{at, name}]; rd != nil && first >= 0 {
				changed = changed || slices.ContainsFunc(rd.Pages, func(s openapi.ListPage) bool { return s.Total >= 0 && s.Total != first })
			}
		}
	})
	return changed
}

// isItemMissing reports whether a listed item was not found.
func (r *run) isItemMissing() bool {
	detail := evidence.OperationResource(r.node.Detail)
	for _, c := range append([]evidence.Case{"item-first", "item-middle", "item-last"}, evidence.DrawnItems()...) {
		if s := r.facts.status(detail.With(c)); s == 404 || s == 410 {
			return true
		}
	}
	return false
}

// farPage is past the end of every list.
const farPage = 100_000 // drawn values are up to twice as large

// beyondEnd requests a page past the end of a list that has pages.
func beyondEnd(r *run, _ openapi.Operation, res Resource) (chosen, *unsent) {
	w := r.walkOf(res.Name, evidence.FirstWalk)
	if w == nil {
		return chosen{}, unmet("the items of the list are not known")
	}
	if w.page.Name == "" {
		return chosen{}, w.reason
	}
	return w.choose(res.URL, atLeast(w.page.Schema, farPage+r.source(res.Name, "far page").Below(farPage)), atLeast(w.size.Schema, 2)), nil
}

// lastNumberedPage requests a page near the end of 32 bits, or at the maximum that the document declares. The sum or the product of page and size is beyond 32
// bits, and may wrap around to a small number.
func lastNumberedPage(r *run, _ openapi.Operation, res Resource) (chosen, *unsent) {
	w := r.walkOf(res.Name, evidence.FirstWalk)
	if w == nil || w.page.Name == "" || w.reason != nil {
		return chosen{}, notApplicable("no page can be far beyond the end")
	}
	random := r.source(res.Name, "last page")
	size := atLeast(w.size.Schema, 20+random.Below(60))
	page := atLeast(w.page.Schema, math.MaxInt32-random.Below(20))
	if page < farPage {
		return chosen{}, notApplicable("the document allows no page that is far beyond the end")
	}
	return w.choose(res.URL, page, size), nil
}

// rawBrackets repeats size-2 with brackets that are not encoded, as the network's client sends them.
func rawBrackets(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	c, reason := sizeTwo(r, o, res)
	if reason != nil {
		return c, reason
	}
	if !strings.Contains(c.given["parameter"], "[") {
		return chosen{}, notApplicable("this is about parameters whose name has brackets, as page[size] has; here the size is %.80q", c.given["parameter"])
	}
	c.url = strings.NewReplacer("%5B", "[", "%5D", "]").Replace(c.url)
	return c, nil
}

// learnNext stores the first link to a next page.
func (r *run) learnNext(name evidence.Resource, a recorder.Answer, listPage openapi.ListPage) {
	if listPage.Link == "" {
		return
	}
	from, err := url.Parse(a.Exchange.Request.URL)
	if err != nil {
		return
	}
	to, err := from.Parse(listPage.Link)
	if err != nil {
		return
	}
	to.Fragment = ""
	r.facts.with(func(f *facts) {
		if _, known := f.next[name]; !known {
			f.next[name] = link{from: a.Exchange.Label, to: to, stays: evidence.Origin(from) == evidence.Origin(to)}
		}
	})
}

// link is a link to the next page, and the label of the answer with the link.
type link struct {
	from  evidence.Label
	to    *url.URL
	stays bool // the link has the same origin
}

// nextLink follows the link to the next page on the same origin; the token must not be sent elsewhere.
func nextLink(r *run, _ openapi.Operation, res Resource) (chosen, *unsent) {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	next, ok := r.facts.next[res.Name]
	switch {
	case !ok:
		return chosen{}, notApplicable("no page links to a next one")
	case !next.stays:
		return chosen{}, notApplicable("the next page is on another origin, to which the token must not be sent")
	}
	return chosen{next.to.String(), map[string]string{"from": string(next.from)}}, nil
}
