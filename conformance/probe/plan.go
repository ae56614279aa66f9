package probe

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/target"
)

// Plan is the requests of a run, in lanes.
type Plan struct {
	Lanes []Lane
}

// Lane is a sequence of requests whose order matters.
type Lane struct {
	// Stage is the stage that the lane belongs to; a stage ends when all its lanes have.
	Stage Stage
	// After are the stages that must have ended before the lane starts. A stage without lanes has ended.
	After []Stage
	Steps []Step

	rank rank
	// optional lanes are sent after those of the rest, if the budget has room left: most runs do not send all requests that they plan.
	optional bool
}

// Step is one request of a plan.
type Step struct {
	Label evidence.Label

	row row
}

// Labels lists the labels of the lane.
func (l Lane) Labels() []evidence.Label {
	out := make([]evidence.Label, len(l.Steps))
	for i, s := range l.Steps {
		out[i] = s.Label
	}
	return out
}

// Stage is a group of lanes that others can wait for. In the table of cases @ means the resource of the row.
type Stage string

// The stages of every run. Stages of a few rows are declared beside these rows.
const (
	stageToken    Stage = "first token"
	stageTokens   Stage = "token requests"
	stageSession  Stage = "session token" // the last token request, whose token the run then uses
	stageBase     Stage = "base of operations"
	stageRest     Stage = "rest"
	stageOptional Stage = "optional requests" // see [Plan.asOptional]
	stageAgain    Stage = "what seems to have changed"
	stageLast     Stage = "last of all" // its lanes run one after the other, when all others have ended
	stageExpired  Stage = "expired"     // its lanes run after those of stageLast, and wait for tokens to expire

	stageAnonymous      Stage = "@, anonymous"       // the anonymous call of a resource
	stageAuthorized     Stage = "@, authorized"      // its first authorized call
	stageOddCredentials Stage = "@, odd credentials" // forged and odd credentials on it
	stageFreshURL       Stage = "@, fresh URL"       // the calls that find shared caches
	stageOddInput       Stage = "@, odd input"
	stagePages          Stage = "@, pages"
	stageLikeSize       Stage = "@, page sizes"
	stageRead           Stage = "@, read to its end"
	stageAfterList      Stage = "the anonymous call of the list"
	stageListRead       Stage = "the list, read to its end"
	stageIDs            Stage = "@, ids" // the call of the list above an operation, or else the search for the base

	stageOddForms Stage = "odd token requests" // the odd token requests after the session token
)

// of replaces @ in the name of a stage by a resource.
func (s Stage) of(r evidence.Resource) Stage {
	return Stage(strings.ReplaceAll(string(s), "@", string(r)))
}

// stage returns the stage that a row waits for. Some depend on the document: those of the list, and of the operation whose answer has the ids in the path.
func (n Node) stage(s Stage, r evidence.Resource) Stage {
	switch s {
	case stageAfterList:
		return stageAnonymous.of(evidence.OperationResource(n.List))
	case stageListRead:
		if o, ok := n.operation(r); ok && o.Key != n.Detail {
			if c, ok := n.Collection(o); ok {
				return stageRead.of(evidence.OperationResource(c.Key))
			}
		}
		return stageRead.of(evidence.OperationResource(n.List))
	case stageIDs:
	default:
		return s.of(r)
	}
	if o, ok := n.operation(r); ok {
		if c, ok := n.Collection(o); ok {
			return stageAuthorized.of(evidence.OperationResource(c.Key))
		}
		if list, ok := n.operation(evidence.OperationResource(n.List)); ok && len(list.TemplateParameters()) == 0 && len(o.TemplateParameters()) > 0 { // its items may name the values
			return stageAuthorized.of(evidence.OperationResource(n.List))
		}
	}
	return stageBase
}

// rankOf returns the priority of the requests of a row: how much of the run waits for them.
func rankOf(t timing) rank {
	switch t.stage {
	case stageRest, stageAgain:
		return last
	case stageOddCredentials, stageOddInput, stagePages, stageRead, stageOddForms:
		return followed
	case stageTokens:
		if t.lane == "" {
			return followed
		}
	}
	return awaited
}

// add plans the rows whose conditions hold; at replaces a role in their labels.
func (p *Plan) add(n Node, at evidence.Resource, rows ...row) {
	var q Plan
	lanes, drawn := map[string]int{}, drawnKinds{}
	rows = slices.DeleteFunc(slices.Clone(rows), func(c row) bool {
		return slices.ContainsFunc(c.Plan.when, func(holds func(Node) bool) bool { return !holds(n) })
	})
	for _, c := range rows {
		resource := c.Label.Resource()
		if c.isRole() {
			resource = at
		}
		if !drawn.has(n, resource, c, rows) {
			continue
		}
		step := Step{Label: resource.With(c.Label.Case()), row: c}
		if i, open := lanes[c.Plan.lane]; open && c.Plan.lane != "" {
			q.Lanes[i].Steps = append(q.Lanes[i].Steps, step)
			continue
		}
		lanes[c.Plan.lane] = len(q.Lanes)
		lane := Lane{Stage: c.Plan.stage.of(resource), Steps: []Step{step}, rank: rankOf(c.Plan)}
		for _, s := range c.Plan.after {
			lane.After = append(lane.After, n.stage(s, resource))
		}
		q.Lanes = append(q.Lanes, lane)
	}
	*p = p.With(q)
}

// Labels lists all labels of the plan, lane by lane.
func (p Plan) Labels() []evidence.Label {
	var out []evidence.Label
	for _, l := range p.Lanes {
		out = append(out, l.Labels()...)
	}
	return out
}

// Requests returns the number of requests of the plan, without repeats and without those that are sent on demand only.
func (p Plan) Requests() (n int) {
	for _, l := range p.Lanes {
		n += l.requests()
	}
	return n
}

// requests returns the number of requests of the lane, without those that are sent on demand only.
func (l Lane) requests() (n int) {
	for _, s := range l.Steps {
		if !s.row.Plan.demanded {
			n++
		}
	}
	return n
}

// Longest returns the largest number of requests that must follow one another, including the lanes that a lane waits for.
func (p Plan) Longest() int {
	ends := map[Stage]int{}
	longest := 0
	// If a plan lists a lane before one that it waits for, another pass finds the longest way.
	for range p.Lanes {
		grown := false
		for _, l := range p.Lanes {
			start := 0
			for _, s := range l.After {
				start = max(start, ends[s])
			}
			if end := start + l.requests(); end > ends[l.Stage] {
				ends[l.Stage], grown = end, true
				longest = max(longest, end)
			}
		}
		if !grown {
			break
		}
	}
	return longest
}

// With returns the plan with the lanes of another one after its own, and each label once.
func (p Plan) With(q Plan) Plan {
	known := map[evidence.Label]bool{}
	return Plan{Lanes: append(p.without(known), q.without(known)...)}
}

// without returns the lanes of the plan without known labels, and each label once. It adds the labels to known.
func (p Plan) without(known map[evidence.Label]bool) []Lane {
	isKnown := func(s Step) bool {
		again := known[s.Label]
		known[s.Label] = true
		return again
	}
	var out []Lane
	for _, l := range p.Lanes {
		if i := slices.IndexFunc(l.Steps, isKnown); i >= 0 { // most lanes keep all of their steps
			l.Steps = append(l.Steps[:i:i], slices.DeleteFunc(slices.Clone(l.Steps[i+1:]), isKnown)...)
		}
		if len(l.Steps) > 0 {
			out = append(out, l)
		}
	}
	return out
}

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

// counted returns the first lanes of the plan, with requests that count although they are sent on demand, because most lists have that many items.
func (p Plan) counted(n int) (out Plan) {
	for _, l := range p.Lanes[:min(n, len(p.Lanes))] {
		l.Steps = slices.Clone(l.Steps)
		for i := range l.Steps {
			l.Steps[i].row.Plan.demanded = false
		}
		out.Lanes = append(out.Lanes, l)
	}
	return out
}

// maxOptional bounds the requests of optional lanes.
const maxOptional = 120

// asOptional makes the lanes optional: they come after the rest, and do not count, like requests on demand. It leaves out calls in one of two languages if the
// other one is in the main plan: both must be sent at the same time, because records change.
func (p Plan) asOptional(main Plan) (out Plan) {
	const language = "good-language-"
	planned := map[evidence.Resource]bool{}
	for _, label := range main.Labels() {
		if strings.HasPrefix(string(label.Case()), language) {
			planned[label.Resource()] = true
		}
	}
	room := maxOptional
	for _, l := range p.Lanes {
		first := l.Steps[0].Label
		if strings.HasPrefix(string(first.Case()), language) && planned[first.Resource()] {
			continue
		}
		if room -= len(l.Steps); room < 0 {
			break
		}
		l.Stage, l.After, l.optional, l.Steps = stageOptional, append(slices.Clone(l.After), stageRest), true, slices.Clone(l.Steps)
		for i := range l.Steps {
			l.Steps[i].row.Plan.demanded = true
		}
		out.Lanes = append(out.Lanes, l)
	}
	return out
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

// labelSet returns the labels of the plan as a set.
func (p Plan) labelSet() map[evidence.Label]bool {
	out := map[evidence.Label]bool{}
	for _, label := range p.Labels() {
		out[label] = true
	}
	return out
}

// upTo is [Plan.With] for the first lanes of the other plan, as long as there is room.
func (p Plan) upTo(room int, q Plan) Plan {
	added := Plan{Lanes: q.without(p.labelSet())}
	free := room - p.Requests()
	for i, l := range added.Lanes {
		if free -= l.requests(); free < 0 {
			added.Lanes = added.Lanes[:i]
			break
		}
	}
	return p.With(added)
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
	most := sampleSize(t, operations)
	return baseBudget + min(operations, most)*operationBudget + max(0, min(operations, maxCalled)-most)*callBudget
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
