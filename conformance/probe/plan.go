package probe

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/target"
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
	Labels []evidence.Label
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
func anonymous(r evidence.Resource) Stage { return Stage(r) + ", anonymous" }

// opened is the stage of a resource's first authorized call.
func opened(r evidence.Resource) Stage { return Stage(r) + ", authorized" }

// tried is the stage of forged and odd credentials on a resource.
func tried(r evidence.Resource) Stage { return Stage(r) + ", odd credentials" }

// cached is the stage of the calls that find out about shared caches.
func cached(r evidence.Resource) Stage { return Stage(r) + ", fresh URL" }

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
func (p Plan) Labels() []evidence.Label {
	var out []evidence.Label
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
	known := map[evidence.Label]bool{}
	for _, l := range p.Labels() {
		known[l] = true
	}
	out := Plan{Lanes: slices.Clone(p.Lanes)}
	for _, l := range q.Lanes {
		l.Labels = slices.DeleteFunc(slices.Clone(l.Labels), func(x evidence.Label) bool { return known[x] })
		if len(l.Labels) > 0 {
			out.Lanes = append(out.Lanes, l)
		}
	}
	return out
}

// lane adds a lane.
func (p *Plan) lane(stage Stage, after []Stage, r evidence.Resource, cases ...evidence.Case) {
	l := Lane{Stage: stage, After: after}
	for _, c := range cases {
		l.Labels = append(l.Labels, r.With(c))
	}
	p.Lanes = append(p.Lanes, l)
}

// each adds a lane of its own for each case: their order does not matter.
func (p *Plan) each(stage Stage, after []Stage, r evidence.Resource, cases ...evidence.Case) {
	for _, c := range cases {
		p.lane(stage, after, r, c)
	}
}

// ForTarget plans what can be asked of any node: the registry, the token endpoint, the info endpoint and the document.
func ForTarget(t target.Target) Plan {
	var p Plan
	if t.Registry != "" && len(t.RegistryDocument) == 0 {
		p.lane(stageRegistry, nil, evidence.Registry, evidence.OK)
	}
	p.tokens(t)
	after := []Stage{anonymous(evidence.Info), stageSession}
	p.lane(anonymous(evidence.Info), nil, evidence.Info, evidence.NoToken)
	p.lane(opened(evidence.Info), after, evidence.Info, evidence.OK, "without-content-type")
	p.lane(stageRest, []Stage{opened(evidence.Info)}, evidence.Info, "post")
	if wantsFunding(t) {
		p.lane(anonymous(evidence.Specification), nil, evidence.Specification, evidence.NoToken)
		p.lane(opened(evidence.Specification), []Stage{anonymous(evidence.Specification), stageSession}, evidence.Specification, evidence.OK)
	}
	if t.Second != nil {
		p.lane(stageSecond, []Stage{stageToken}, evidence.SecondClient, evidence.OK)
	}
	for _, th := range themes() {
		if th.forTarget != nil {
			p = p.With(th.forTarget(t))
		}
	}
	return p
}

// tokens plans the requests to the token endpoint: the good one first; then, side by side, the wrong secret with its proof that
// nobody was locked out, the repeated requests and everything whose order does not matter; then one alone, whose token the run
// goes on with.
func (p *Plan) tokens(t target.Target) {
	first, tokens := []Stage{stageToken}, evidence.TokenEndpoint
	p.lane(stageToken, nil, tokens, evidence.OK)
	p.lane(stageTokens, first, tokens, "wrong-secret", "ok-after-wrong-secret", "id-only")
	p.lane(stageTokens, first, tokens, "basic", "basic-unencoded")
	if !t.Quick {
		p.lane(stageTokens, first, tokens, "repeat-1", "repeat-2", "repeat-3")
	}
	p.each(stageTokens, first, tokens, "unknown-parameter", "empty-scope", "percent-encoded",
		"no-client", "no-grant-type", "unknown-grant-type", "unknown-scope",
		"basic-unknown-client", "get", "repeated-grant-type")
	p.lane(stageSession, []Stage{stageTokens}, tokens, "ok-after-id-only")
}

// wantsFunding reports that the run looks at the API document and its operations.
func wantsFunding(t target.Target) bool { return t.Profile != "auth" }

// ForProbeTarget plans the bearer rules on the probe target, and whether the first token of the run still works there.
func ForProbeTarget(t target.Target, r evidence.Resource) Plan {
	var p Plan
	after := []Stage{opened(r)}
	p.lattice(r)
	p.each(tried(r), after, r, "lower-scheme", "upper-scheme", "two-blanks")
	if !t.Quick {
		p.lane(stageRest, after, r, "first-token")
	}
	for _, th := range themes() {
		if th.forProbeTarget != nil {
			p = p.With(th.forProbeTarget(t, r))
		}
	}
	return p
}

// lattice plans the credentials that a protected resource must refuse, with the good calls that prove that each refusal means
// something, and after them a fresh URL with a token and at once without.
func (p *Plan) lattice(r evidence.Resource) {
	p.each(tried(r), []Stage{opened(r)}, r, refusals()...)
	p.lane(cached(r), []Stage{tried(r)}, r, "cached-ok", "cached-no-token")
}

func refusals() []evidence.Case {
	return []evidence.Case{
		"garbage", "tampered", "empty-bearer", "blank-bearer", "basic-scheme",
		"token-scheme", "head-ok", "head", "method-override", "as-browser",
		"alg-none", "foreign-issuer",
		"path-slash", "path-double-slash", "path-dot", "path-upper", "path-suffix",
		"path-encoded", "path-extension",
	}
}

// How many requests the operations of a document may take. The catalogue's figures are for a document of a few operations; more of
// them need more requests, since a route that nobody tried is the one that was forgotten.
const (
	// guardedRoom is for sixty operations: without a token, with one, with one that is none.
	guardedRoom = 3 * 60
	// fundingRoom is for what is asked of the list and the detail beyond that.
	fundingRoom = 90
	// everywhereRoom is for all odd credentials on each of sixty operations.
	everywhereRoom = 20 * 60
)

// Room is how many requests a document may bring about, whatever it describes: its operations, and what the themes ask because of it.
func Room(t target.Target) int {
	room := guardedRoom + fundingRoom
	if everywhere(t) {
		room += everywhereRoom
	}
	for _, th := range themes() {
		if th.forDocumentMost != nil {
			room += th.forDocumentMost(t)
		}
	}
	return room
}

// everywhere reports that each operation is tried with everything: on this machine, or when the operator asks for it.
func everywhere(t target.Target) bool { return (t.Thorough || t.Loopback()) && !t.Quick }

// Budget is the number of requests of a run at most, whatever the node's document describes. [Budgeted] tells less, once the document
// is read.
func Budget(t target.Target) int {
	n := 0
	if wantsFunding(t) {
		n = Room(t)
	}
	return Budgeted(t, n)
}

// Budgeted is the number of requests of a run whose document takes so many: beside them the plan for the target, for a probe target and
// for the listed endpoints, and a quarter of all that for repeats, redirects and fresh tokens.
func Budgeted(t target.Target, document int) int {
	n := ForTarget(t).With(ForProbeTarget(t, evidence.Info)).Requests()
	if wantsFunding(t) {
		n += document + ForEndpoints(maxEndpoints, nil).Requests()
	}
	return n + (n+3)/4
}
