package probe

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// Plan is what will be asked, in lanes.
type Plan struct {
	Lanes []Lane
}

// Lane is a sequence of requests whose order matters.
type Lane struct {
	// Stage is the stage that the lane belongs to; a stage ends when all its lanes have.
	Stage Stage
	// After are the stages that must have ended before the lane starts. A stage without lanes has ended.
	After  []Stage
	Labels []exchange.Label
}

// Stage is a group of lanes that others can build on.
type Stage string

// The stages of every run. Resources have stages of their own, see [opened] and [tried].
const (
	stageRegistry Stage = "registry"
	stageToken    Stage = "first token"
	stageTokens   Stage = "token requests"
	stageSession  Stage = "session token"
	stageSecond   Stage = "second client"
	stageBase     Stage = "base of operations"
	stageRest     Stage = "rest"
	stageAgain    Stage = "what seems to have changed"
	stageLast     Stage = "last of all" // its lanes run one after the other, when all others have ended
)

// anonymous is the stage of a resource's anonymous call.
func anonymous(r exchange.Resource) Stage { return Stage(r) + ", anonymous" }

// opened is the stage of a resource's first authorized call.
func opened(r exchange.Resource) Stage { return Stage(r) + ", authorized" }

// tried is the stage of forged and odd credentials on a resource.
func tried(r exchange.Resource) Stage { return Stage(r) + ", odd credentials" }

// cached is the stage of the calls that find out about shared caches.
func cached(r exchange.Resource) Stage { return Stage(r) + ", fresh URL" }

// rank says how much waits for the requests of a lane.
func (l Lane) rank() rank {
	switch {
	case l.Stage == stageRest, l.Stage == stageAgain:
		return last
	case strings.HasSuffix(string(l.Stage), string(tried(""))), strings.HasSuffix(string(l.Stage), string(odd(""))), strings.HasSuffix(string(l.Stage), string(walked(""))), l.Stage == stageOddForms, l.Stage == stageTokens && len(l.Labels) == 1:
		return followed
	}
	return awaited
}

// Labels lists all labels of the plan, lane by lane.
func (p Plan) Labels() []exchange.Label {
	var out []exchange.Label
	for _, l := range p.Lanes {
		out = append(out, l.Labels...)
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
			if end := start + len(l.Labels); end > ends[l.Stage] {
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

// With is the plan with the lanes of another after its own; labels that are there already are left out.
func (p Plan) With(q Plan) Plan {
	known := map[exchange.Label]bool{}
	for _, l := range p.Labels() {
		known[l] = true
	}
	out := Plan{Lanes: slices.Clone(p.Lanes)}
	for _, l := range q.Lanes {
		l.Labels = slices.DeleteFunc(slices.Clone(l.Labels), func(x exchange.Label) bool { return known[x] })
		if len(l.Labels) > 0 {
			out.Lanes = append(out.Lanes, l)
		}
	}
	return out
}

// lane adds a lane.
func (p *Plan) lane(stage Stage, after []Stage, r exchange.Resource, cases ...exchange.Case) {
	l := Lane{Stage: stage, After: after}
	for _, c := range cases {
		l.Labels = append(l.Labels, r.With(c))
	}
	p.Lanes = append(p.Lanes, l)
}

// each adds a lane of its own for each case: their order does not matter.
func (p *Plan) each(stage Stage, after []Stage, r exchange.Resource, cases ...exchange.Case) {
	for _, c := range cases {
		p.lane(stage, after, r, c)
	}
}
