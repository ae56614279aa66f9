package probe

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/target"
)

// Plan is what will be sent, in lanes.
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
	stageToken   Stage = "first token"
	stageTokens  Stage = "token requests"
	stageSession Stage = "session token"
	stageBase    Stage = "base of operations"
	stageRest    Stage = "rest"
	stageAgain   Stage = "what seems to have changed"
	stageLast    Stage = "last of all" // its lanes run one after the other, when all others have ended

	stageAnonymous      Stage = "@, anonymous"       // the anonymous call of a resource
	stageAuthorized     Stage = "@, authorized"      // its first authorized call
	stageOddCredentials Stage = "@, odd credentials" // forged and odd credentials on it
	stageFreshURL       Stage = "@, fresh URL"       // the calls that find shared caches
	stageOddInput       Stage = "@, odd input"
	stagePages          Stage = "@, pages"
	stageAfterList      Stage = "the anonymous call of the list"
	stageIDs            Stage = "@, ids" // the call of the list above an operation, or else the search for the base

	stageOddForms Stage = "odd token requests" // those after the token of the session
)

// of puts a resource into the name of a stage.
func (s Stage) of(r evidence.Resource) Stage {
	return Stage(strings.ReplaceAll(string(s), "@", string(r)))
}

// stage is the stage that a row waits for. Two depend on the document: the list, and what answers with the ids of an operation's path.
func (n Node) stage(s Stage, r evidence.Resource) Stage {
	switch s {
	case stageAfterList:
		return stageAnonymous.of(evidence.OperationResource(n.List))
	case stageIDs:
	default:
		return s.of(r)
	}
	if o, ok := n.operation(r); ok {
		if c, ok := n.Collection(o); ok {
			return stageAuthorized.of(evidence.OperationResource(c.Key))
		}
	}
	return stageBase
}

// rankOf returns the priority of the requests of a row: how much of the run waits for them.
func rankOf(t timing) rank {
	switch t.stage {
	case stageRest, stageAgain:
		return last
	case stageOddCredentials, stageOddInput, stagePages, stageOddForms:
		return followed
	case stageTokens:
		if t.lane == "" {
			return followed
		}
	}
	return awaited
}

// add plans rows whose conditions hold; at takes the place of a role in their labels.
func (p *Plan) add(n Node, at evidence.Resource, rows ...row) {
	var q Plan
	lanes := map[string]int{}
	for _, c := range rows {
		if slices.ContainsFunc(c.Plan.when, func(holds func(Node) bool) bool { return !holds(n) }) {
			continue
		}
		resource := c.Label.Resource()
		if c.isRole() {
			resource = at
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

// Requests is the number of requests of the plan, each label sent once.
func (p Plan) Requests() int { return len(p.Labels()) }

// Longest is the number of requests that must follow one another, the lanes that a lane waits for included.
func (p Plan) Longest() int {
	ends := map[Stage]int{}
	longest := 0
	// A plan lists lanes after those that they wait for, or else repeats find the longest way.
	for range p.Lanes {
		grown := false
		for _, l := range p.Lanes {
			start := 0
			for _, s := range l.After {
				start = max(start, ends[s])
			}
			if end := start + len(l.Steps); end > ends[l.Stage] {
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

// With is the plan with the lanes of another after its own, each label once.
func (p Plan) With(q Plan) Plan {
	known := map[evidence.Label]bool{}
	return Plan{Lanes: append(p.without(known), q.without(known)...)}
}

// without lists the lanes of the plan without labels that are known, or come again.
func (p Plan) without(known map[evidence.Label]bool) []Lane {
	var out []Lane
	for _, l := range p.Lanes {
		var steps []Step
		for _, s := range l.Steps {
			if !known[s.Label] {
				known[s.Label] = true
				steps = append(steps, s)
			}
		}
		if l.Steps = steps; len(steps) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// ForTarget plans what can be asked of any node: the registry, the token endpoint, the info endpoint and the document.
func ForTarget(t target.Target) Plan { return plannedAt(runStarted, NewNode(t, nil), "") }

// ForProbeTarget plans the bearer rules on the probe target, and whether the first token of the run still works there.
func ForProbeTarget(t target.Target, r evidence.Resource) Plan {
	return plannedAt(probeTarget, NewNode(t, nil), r)
}

// plannedAt plans the rows of one moment; at takes the place of a role in their labels.
func plannedAt(m moment, n Node, at evidence.Resource) (p Plan) {
	p.add(n, at, rows(func(c row) bool { return c.moment() == m })...)
	return p
}

// ForDocument plans the calls of all operations of a node's document, within room requests. What does not fit is returned as
// left: the operations that come last. The odd credentials on operations beyond the funding operations go before.
func ForDocument(n Node, room int) (p, left Plan) {
	p.add(n, "", rows(func(c row) bool { return c.moment() == documentRead && !c.isRole() })...)
	if o, ok := n.Operation(n.List); ok {
		r := evidence.OperationResource(n.List)
		p.add(n, r, rows(func(c row) bool { return c.isFor(evidence.ListOperation, n.Target) })...)
		p.add(n, r, filterCases(n, o)...)
	}
	if _, ok := n.Operation(n.Detail); ok {
		p.add(n, evidence.OperationResource(n.Detail), rows(func(c row) bool { return c.isFor(evidence.DetailOperation, n.Target) })...)
	}
	p = p.With(parameterPlan(n))
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
	if !triesEverywhere(n.Target) {
		return p, left
	}
	guarded := rows(func(c row) bool { return c.Plan.reach == onGuarded })
	for _, o := range n.Executable {
		r := evidence.OperationResource(o.Key)
		if !slices.Contains(p.Labels(), r.With(evidence.OK)) {
			continue
		}
		var own Plan
		own.add(n, r, guarded...)
		if p.Requests()+own.Requests() <= room {
			p = p.With(own)
		}
	}
	return p, left
}

// ForEndpoints plans the calls of the n URLs that the info endpoint lists, after the stages given.
func ForEndpoints(n int, after []Stage) Plan {
	p := plannedAt(infoRead, Node{endpoints: n}, "")
	for i := range p.Lanes {
		p.Lanes[i].After = after
	}
	return p
}

// forEntry plans one good request to each URL of the registry entry that the run does not use otherwise.
func forEntry(t target.Target, entry RegistryEntry) Plan {
	n := NewNode(t, nil)
	n.entry = entry
	return plannedAt(registryRead, n, "")
}

// wantsFunding reports that the run looks at the API document and its operations.
func wantsFunding(t target.Target) bool { return t.Profile != "auth" }

// How many requests the operations of a document may take. The catalogue's figures are for a document of a few operations; more of
// them need more requests, since the route that is not tried is the one whose guard was forgotten.
const (
	// guardedRoom is for sixty operations: without a token, with a good one and with a garbage one.
	guardedRoom = 3 * 60
	// roleRoom is for sixty operations as the client without the role.
	roleRoom = 60
	// fundingRoom is for further requests to the list and the detail.
	fundingRoom = 90
	// everywhereRoom is for all odd credentials on each of sixty operations.
	everywhereRoom = 20 * 60
)

// Room is the largest number of requests for the operations of a document and their parameters.
func Room(t target.Target) int {
	room := guardedRoom + fundingRoom
	if t.Second != nil {
		room += roleRoom
	}
	if triesEverywhere(t) {
		room += everywhereRoom
	}
	var both Plan // on the list and the detail
	both.add(NewNode(t, nil), "op/any", rows(func(c row) bool { return c.Plan.reach == onFunding })...)
	return room + 2*both.Requests() + mostOfPages(t) + maxTrialsOn(t)
}

// triesEverywhere reports whether all odd credentials are tried on every operation: on loopback, or with --thorough.
func triesEverywhere(t target.Target) bool { return (t.Thorough || t.Loopback()) && !t.Quick }

// Budget is the largest number of requests of a run, whatever the node's document describes. Once the document is read, [Budgeted] gives a
// lower number.
func Budget(t target.Target) int {
	n := 0
	if wantsFunding(t) {
		n = Room(t)
	}
	return Budgeted(t, n)
}

// Budgeted is the largest number of requests of a run that sends this many for its document. It adds the plans for the target, for a probe
// target and for the listed endpoints, and a quarter of the sum for repeats, redirects and fresh tokens.
func Budgeted(t target.Target, document int) int {
	n := ForTarget(t).With(ForProbeTarget(t, evidence.Info)).Requests()
	if wantsFunding(t) {
		n += document + ForEndpoints(maxEndpoints, nil).Requests()
	}
	return n + (n+3)/4
}
