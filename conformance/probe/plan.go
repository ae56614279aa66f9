package probe

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
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
