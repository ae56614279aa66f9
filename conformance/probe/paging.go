package probe

import (
	"context"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// walkRequests is how many pages a walk asks for at most: three that tell what the page parameter counts, five in their order of
// which one at least is among those, and the last one.
const walkRequests = 3 + openapi.MaxPages - 1 + 1

// paged plans pages, filters, details and links (PAG).
func paged() theme {
	return theme{
		forDocument: func(n Node) Plan {
			o, ok := n.Operation(n.List)
			if !ok || n.Target.Quick {
				return Plan{}
			}
			return forPages(thorough(n.Target), o)
		},
		forDocumentMost: mostOfPages,
		probe: func(r *run, l evidence.Label) (probe, bool) {
			if !isOperation(l.Resource()) {
				return probe{}, false
			}
			return r.pagedProbe(l.Resource(), l.Case())
		},
	}
}

// walked is the stage of the pages of a list.
func walked(r evidence.Resource) Stage { return Stage(r) + ", pages" }

// thorough reports that each value of each filter is tried, since the node is near or the operator wants it.
func thorough(t target.Target) bool { return t.Thorough || t.Loopback() }

// mostOfPages is what [forPages] plans for a list with the filters of the published API, and some room for more.
func mostOfPages(t target.Target) int {
	switch {
	case t.Quick:
		return 0
	case thorough(t):
		return 70
	}
	return 36
}

// forPages plans what is asked of the list; all tries each value of each filter.
func forPages(all bool, o openapi.Operation) Plan {
	var p Plan
	r := evidence.OperationResource(o.Key)
	after := []Stage{opened(r)}
	var walk, again []evidence.Case
	for n := range walkRequests {
		walk, again = append(walk, evidence.WalkCase(n+1)), append(again, evidence.WalkAgainCase(n+1))
	}
	p.lane(walked(r), after, r, walk...)
	p.each(stageRest, []Stage{walked(r)}, r, "beyond-end", "link-next")
	p.each(stageRest, after, r, "size-raw", "size-negative", "size-zero", "size-text", "size-huge",
		"page-negative", "page-text", "filter-bad", "unknown-query", "filter-paged")
	for _, f := range filtersOf(o) {
		for n := range f.tries(all) {
			p.lane(stageRest, after, r, evidence.FilterCase(f.parameter, n+1))
		}
	}
	if len(filtersOf(o)) > 1 {
		p.lane(stageRest, after, r, "filter-both")
	}
	if describesRunning(o) {
		p.each(stageRest, after, r, "filter-running", "filter-not-running")
	}
	// Whether the data changed while it was read is asked when everything else was.
	p.lane(stageAgain, []Stage{walked(r), stageRest}, r, append([]evidence.Case{"list-again"}, again...)...)
	return p
}

// pagedProbe says how a case of this theme is asked; ok is false for the cases of others.
func (r *run) pagedProbe(name evidence.Resource, c evidence.Case) (p probe, ok bool) {
	_, number, numbered := cutNumber(c)
	switch {
	case numbered && c == evidence.WalkCase(number):
		return r.walkProbe(name, c, false), true
	case numbered && c == evidence.WalkAgainCase(number):
		return r.walkProbe(name, c, true), true
	}
	switch c {
	case "list-again":
		return r.againProbe(name), true
	case "link-next":
		return r.unjudged(r.choosing(name, c, r.nextLink)), true
	case "beyond-end":
		return r.choosing(name, c, r.beyondEnd), true
	case "size-raw":
		return r.choosing(name, c, r.rawBrackets), true
	case "filter-running", "filter-not-running", "filter-paged":
		return r.choosing(name, c, r.oneFilter), true
	case "filter-both":
		return r.choosing(name, c, r.twoFilters), true
	case "size-negative", "size-zero", "size-text", "size-huge", "page-negative", "page-text",
		"filter-bad", "unknown-query":
		return r.choosing(name, c, r.badValue), true
	}
	if numbered && strings.HasPrefix(string(c), "filter-") {
		return r.choosing(name, c, r.filterValue), true
	}
	return probe{}, false
}

// unjudged leaves the schemas out: where a link leads need not be the operation.
func (r *run) unjudged(p probe) probe {
	choose := p.prepare
	p.prepare = func(ctx context.Context) (recorder.Request, *unsent) {
		ask, reason := choose(ctx)
		ask.Annotate = nil
		return ask, reason
	}
	return p
}

// urlChoice says what a case of an operation asks for, with the inputs that were chosen for it.
type urlChoice func(o openapi.Operation, res Resource, c evidence.Case) (string, map[string]string, *unsent)

// choosing asks an operation that answered the good call for something particular.
func (r *run) choosing(name evidence.Resource, c evidence.Case, choose urlChoice) probe {
	return probe{prepare: func(ctx context.Context) (recorder.Request, *unsent) {
		o, known := r.operation(name)
		res, located := r.facts.resource(name)
		if !known || !located {
			return recorder.Request{}, r.unlocated(name)
		}
		if good := name.With(evidence.OK); !r.facts.good(good) {
			return recorder.Request{}, unmet("the good call %s was not answered with 2xx", good)
		}
		address, given, reason := choose(o, res, c)
		if reason != nil {
			return recorder.Request{}, reason
		}
		res.URL = address
		ask, reason := r.authorized(ctx, res, c)
		ask.Given, ask.Annotate = given, r.annotate(name)
		return ask, reason
	}}
}
