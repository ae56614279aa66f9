package probe

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/target"
)

// This file plans a run of a target, and how many requests it may send.

// ForTarget plans the requests to any node: to the registry, the token endpoint, the info endpoint and the document.
func ForTarget(t target.Target) Plan { return plannedAt(runStarted, NewNode(t, nil), "") }

// ForProbeTarget plans the bearer rules on the probe target, and whether the first token of the run still works there.
func ForProbeTarget(t target.Target, r evidence.Resource) Plan {
	return plannedAt(probeTarget, NewNode(t, nil), r)
}

// plannedAt plans the rows of one moment; at replaces a role in their labels.
func plannedAt(m moment, n Node, at evidence.Resource) (p Plan) {
	p.add(n, at, rows(func(c row) bool { return c.moment() == m })...)
	return p
}

// ForDocument plans the calls of all operations of a node's document, within room requests: first the list and the detail, then the calls of
// every operation, then odd credentials and parameters on a sample of them. Operations without room for their calls are returned as left.
func ForDocument(n Node, room int) (p, left Plan) {
	all := table() // only once, because it is long
	rows := func(fits func(row) bool) []row {
		return slices.DeleteFunc(slices.Clone(all), func(c row) bool { return !fits(c) })
	}
	p.add(n, "", rows(func(c row) bool { return c.moment() == documentRead && !c.isRole() && c.Plan.reach != inOwnPlan })...)
	if o, ok := n.Operation(n.List); ok {
		r := evidence.OperationResource(n.List)
		p.add(n, r, rows(func(c row) bool { return c.isFor(evidence.ListOperation, n.Target) && !c.isDealt() })...)
		p.add(n, r, filterCases(n, o)...)
	}
	if _, ok := n.Operation(n.Detail); ok {
		p.add(n, evidence.OperationResource(n.Detail), rows(func(c row) bool { return c.isFor(evidence.DetailOperation, n.Target) && !c.isDealt() })...)
	}
	every := rows(func(c row) bool { return c.Plan.reach == onOperations })
	for _, o := range n.Executable {
		var own Plan
		own.add(n, evidence.OperationResource(o.Key), every...)
		if p.Requests()+own.Requests() > room && o.Key != n.List && o.Key != n.Detail {
			left = left.With(own)
			continue
		}
		p = p.With(own)
	}
	if n.Target.Quick() {
		return p, left
	}
	p = p.With(revocationPlan(n))
	called := p.labelSet()
	onSample := func(plan func(o openapi.Operation) Plan) {
		for _, o := range n.Sample() {
			if called[evidence.OperationResource(o.Key).With(evidence.OK)] {
				p = p.upTo(room, plan(o))
			}
		}
	}
	guarded := func(drawn bool) func(openapi.Operation) Plan {
		rows := rows(func(c row) bool { return c.Plan.reach == onGuarded && c.isDealt() == drawn })
		return func(o openapi.Operation) (own Plan) {
			own.add(n, evidence.OperationResource(o.Key), rows...)
			return own
		}
	}
	onSample(guarded(false))
	onSample(func(o openapi.Operation) Plan { return roleCachePlan(n, o) })
	onSample(func(o openapi.Operation) (own Plan) {
		if len(o.TemplateParameters()) > 0 {
			own.add(n, evidence.OperationResource(o.Key), rows(func(c row) bool { return c.Plan.reach == onItems })...)
		}
		return own
	})
	if o, ok := n.Operation(n.List); ok {
		p = p.upTo(room, brokenPlan(n, o)) // before drawn kinds, which could take all the room: few operations have cursors, dates and numbers
	}
	p = p.upTo(room, moreItemsPlan(n, all).counted(len(evidence.MoreItems())/2))
	p = p.upTo(room, otherListsPlan(n))
	onListAndDetail := func(plan func(o openapi.Operation) Plan) {
		for _, key := range []string{n.List, n.Detail} {
			if o, ok := n.Operation(key); ok {
				p = p.upTo(room, plan(o))
			}
		}
	}
	var optional Plan
	access := func(o openapi.Operation) Plan {
		own := accessPlan(n, o)
		optional = optional.With(own)
		return own
	}
	onListAndDetail(access)
	optional = optional.With(moreItemsPlan(n, all))
	p = p.upTo(room, parameterPlan(n)) // before drawn kinds, because the document allows these values
	onListAndDetail(guarded(true))
	onSample(func(o openapi.Operation) Plan { return brokenPlan(n, o) })
	onSample(access)
	onSample(guarded(true)) // drawn kinds come last: other runs draw those that have no room in this run
	optional = optional.With(parameterPlan(n))
	return p.With(Plan{optional.without(p.labelSet())}.asOptional(p)), left
}

// moreItemsPlan plans the details of further drawn items.
func moreItemsPlan(n Node, all []row) (p Plan) {
	if _, ok := n.Operation(n.Detail); ok {
		p.add(n, evidence.OperationResource(n.Detail), slices.DeleteFunc(slices.Clone(all), func(c row) bool { return !slices.Contains(evidence.MoreItems(), c.Label.Case()) })...)
	}
	return p
}

// otherListsPlan plans the calls of the other lists: their pages if they have any, their filters and their items.
func otherListsPlan(n Node) (p Plan) {
	onItems := func(c row) bool {
		name := string(c.Label.Case())
		return c.Label.Resource() == evidence.DetailOperation && (strings.HasPrefix(name, "item-") || strings.HasPrefix(name, "like-id") || strings.HasPrefix(name, "gap-id") || strings.HasPrefix(name, "caller-")) || c.Label == "detail.unknown-id"
	}
	for _, other := range n.otherLists {
		o := other.list
		r := evidence.OperationResource(o.Key)
		paging := slices.Concat(fundingCases(), pagingCases())
		p.add(n, r, slices.DeleteFunc(paging, func(c row) bool {
			filter := strings.HasPrefix(string(c.Label.Case()), "filter-") && len(filtersOf(o)) > 0
			return c.Label.Resource() != evidence.ListOperation || !filter && !hasPages(o)
		})...)
		p.add(n, r, filterCases(n, o)...)
		if other.detail.Key != "" {
			p.add(n, evidence.OperationResource(other.detail.Key), rows(onItems)...)
		}
	}
	return p
}

// hasPages reports whether a list has parameters for pages.
func hasPages(o openapi.Operation) bool {
	_, ok := o.QueryWithRole(openapi.SizeRole, openapi.PageRole, openapi.SkipRole, openapi.CursorRole)
	return ok
}

// Sample lists the operations on which odd credentials and parameters are tried: all operations in a deep run or if they are few; otherwise the list, the
// detail and others that are drawn for each run.
func (n Node) Sample() []openapi.Operation {
	if len(n.Executable) <= sampleSize(n.Target, len(n.Executable)) || n.Target.Effort == draw.Deep {
		return n.Executable
	}
	var others []string
	for _, o := range n.Executable {
		if o.Key != n.List && o.Key != n.Detail {
			others = append(others, o.Key)
		}
	}
	drawn := n.choice().Kinds("operations", "", others, maxSampled-(len(n.Executable)-len(others)))
	return slices.DeleteFunc(slices.Clone(n.Executable), func(o openapi.Operation) bool {
		return o.Key != n.List && o.Key != n.Detail && !slices.Contains(drawn, o.Key)
	})
}

// ForEndpoints plans the calls of the n URLs that the info endpoint lists. They wait for the stages.
func ForEndpoints(n int, after []Stage) Plan {
	p := plannedAt(infoRead, Node{endpoints: n}, "")
	for i := range p.Lanes {
		p.Lanes[i].After = after
	}
	return p
}

// forEntry plans one good request to each URL of the registry entry that other requests do not use.
func forEntry(t target.Target, entry RegistryEntry) Plan {
	n := NewNode(t, nil)
	n.entry = entry
	return plannedAt(registryRead, n, "")
}

// wantsDocument reports whether the run reads the API document and calls its operations.
func wantsDocument(t target.Target) bool { return t.Profile != "auth" }

// These are the largest numbers of requests. A run makes more requests if there are more operations, because any route may lack its guard.
const (
	quickBudget     = 150 // of a quick run
	baseBudget      = 240 // of a standard run
	operationBudget = 120 // for each of maxSampled operations, which get odd credentials and parameters
	callBudget      = 5   // for each further operation, which is called with and without a token
	maxSampled      = 10
	maxCalled       = 60 // operations that a standard run has room for
)

// limit returns the largest number of requests of a run at a node with that many operations.
func limit(t target.Target, operations int) int {
	switch t.Effort {
	case draw.Quick:
		return quickBudget
	case draw.Deep:
		return t.Budget
	}
	sampled := sampleSize(t, operations)
	return baseBudget + min(operations, sampled)*operationBudget + max(0, min(operations, maxCalled)-sampled)*callBudget
}

// sampleSize returns the number of operations on which odd credentials and parameters are tried. A node on this machine gets more requests, because they are
// cheap.
func sampleSize(t target.Target, operations int) int {
	if t.Loopback() && operations <= maxCalled {
		return maxCalled
	}
	return maxSampled
}

// Room returns the largest number of requests for the operations of a document and their parameters.
func Room(n Node) int {
	return limit(n.Target, len(n.Executable))*6/7 - beforeDocument(n.Target)
}

// Budget returns the largest number of requests of a run before the node's document was read. Afterwards [Budgeted] returns a lower number.
func Budget(t target.Target) int {
	if !wantsDocument(t) {
		return Budgeted(t, 0)
	}
	return max(limit(t, maxSampled), Budgeted(t, 0))
}

// Budgeted returns the largest number of requests of a run that sends this many for its document. It adds the plans for the target, for a probe target and for
// the listed endpoints, and a sixth of the sum for repeats, redirects, new tokens and requests on demand.
func Budgeted(t target.Target, document int) int {
	n := beforeDocument(t)
	if wantsDocument(t) {
		n += document
	}
	return n + (n+5)/6
}

// beforeDocument returns the number of requests that need no document.
func beforeDocument(t target.Target) int {
	return ForTarget(t).With(ForProbeTarget(t, evidence.Info)).With(ForEndpoints(maxEndpoints, nil)).Requests()
}
