package probe

import (
	"context"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// walkRequests is how many pages a walk asks for at most: three that tell what the page parameter counts, five in their order of
// which one at least is among those, and the last one.
const walkRequests = 3 + openapi.MaxPages - 1 + 1

// pagingCases are the pages, filters and links of the list (PAG). A quick run does without them.
func pagingCases() []row {
	after, page := in(stageRest, opened).onlyIf(notQuick), in(walked, opened).inLane("walk").onlyIf(notQuick)
	beyond := in(stageRest, walked).onlyIf(notQuick)
	// Whether the data changed while it was read is asked when everything else was.
	again := in(stageAgain, walked, stageRest).inLane("walk again").onlyIf(notQuick)
	running := after.onlyIf(onList(describesRunning))
	var walk, repeated []row
	for n := range walkRequests {
		walk = append(walk, row{Label: evidence.ListOperation.With(evidence.WalkCase(n + 1)), Plan: page, Send: callPage(false), Learn: learnPage(false)})
		repeated = append(repeated, row{Label: evidence.ListOperation.With(evidence.WalkAgainCase(n + 1)), Plan: again, Send: callPage(true), Learn: learnPage(true)})
	}
	return slices.Concat(walk, []row{
		{Label: "list.beyond-end", Plan: beyond, Send: choose(beyondEnd)},
		{Label: "list.link-next", Plan: beyond, Send: unjudged(choose(nextLink))},
		{Label: "list.size-raw", Plan: after, Send: choose(rawBrackets)},
		{Label: "list.size-negative", Plan: after, Send: choose(badValue(theSize, "-1"))},
		{Label: "list.size-zero", Plan: after, Send: choose(badValue(theSize, "0"))},
		{Label: "list.size-text", Plan: after, Send: choose(badValue(theSize, "abc"))},
		{Label: "list.size-huge", Plan: after, Send: choose(badValue(theSize, "99999999999"))},
		{Label: "list.page-negative", Plan: after, Send: choose(badValue(thePage, "-1"))},
		{Label: "list.page-text", Plan: after, Send: choose(badValue(thePage, "abc"))},
		{Label: "list.filter-bad", Plan: after, Send: choose(badValue(aVocabulary, "CONFORMANCE_UNKNOWN"))},
		{Label: "list.unknown-query", Plan: after, Send: choose(badValue(unknownParameter, "1"))},
		{Label: "list.filter-paged", Plan: after, Send: choose(filterWithPage)},
		{Label: "list.filter-both", Plan: after.onlyIf(onList(func(o openapi.Operation) bool { return len(filtersOf(o)) > 1 })), Send: choose(twoFilters)},
		{Label: "list.filter-running", Plan: running, Send: choose(runningFilter("true"))},
		{Label: "list.filter-not-running", Plan: running, Send: choose(runningFilter("false"))},
		{Label: "list.list-again", Plan: again, Send: choose(listAgain), Learn: learnListAgain},
	}, repeated)
}

// filterCases are a valid value of each query parameter of the list, and the values of its filters.
func filterCases(n Node, o openapi.Operation) []row {
	var out []row
	for _, q := range queryParameters(o) {
		out = append(out, validCase(q))
	}
	for _, f := range filtersOf(o) {
		for i := range f.tries(thorough(n.Target)) {
			out = append(out, row{
				Label: evidence.ListOperation.With(evidence.FilterCase(f.parameter, i+1)),
				Plan:  in(stageRest, opened).onlyIf(notQuick), Send: choose(filterValue(f, i)),
			})
		}
	}
	return out
}

// onList is a condition on the list operation.
func onList(holds func(openapi.Operation) bool) func(Node) bool {
	return func(n Node) bool {
		o, ok := n.Operation(n.List)
		return ok && holds(o)
	}
}

// thorough reports that each value of each filter is tried, since the node is near or the operator wants it.
func thorough(t target.Target) bool { return t.Thorough || t.Loopback() }

// mostOfPages is what [pagingCases] and [filterCases] plan for a list with the filters of the published API, and some room for more.
func mostOfPages(t target.Target) int {
	switch {
	case t.Quick:
		return 0
	case thorough(t):
		return 70
	}
	return 36
}

// unjudged leaves the schemas out: where a link leads need not be the operation.
func unjudged(send sender) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		q, reason := send(ctx, r, at)
		q.Annotate = nil
		return q, reason
	}
}
