package requirement

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// Evidence is what a check may look at: the log of the run and the node's document that was read from it.
type Evidence struct {
	*evidence.Log
	// Spec is the node's document; nil when none was read or the guard refused it.
	Spec   *openapi.Document
	judged *sync.Map // the cache of [remember]: the judgements of [Evidence.judge] by ID, and others
	bodies *bodies
	sweep  func() *sweep // sorts the answers at the first call
}

// Read prepares a log for judging.
func Read(log *evidence.Log) Evidence {
	e := Evidence{Log: log, judged: &sync.Map{}, bodies: newBodies()}
	if log.Document != nil && len(log.Document.Reduced) > 0 {
		if d, err := openapi.Parse(log.Document.Reduced); err == nil {
			e.Spec = d
		}
	}
	return e.withSweep()
}

// withSweep returns the evidence with a sweep that sorts its answers when it is first used.
func (e Evidence) withSweep() Evidence {
	e.sweep = sync.OnceValue(func() *sweep { return sweepOf(e) })
	return e
}

// exchange returns the first exchange of a label or role, or the zero exchange.
func (e Evidence) exchange(label evidence.Label) evidence.Exchange {
	for _, l := range e.Resolve(label) {
		x, _ := e.Get(l)
		return x
	}
	return evidence.Exchange{}
}

// missingAnswer returns the judgement that follows if a label or role has no answer. missing is false if all its exchanges were answered.
func (e Evidence) missingAnswer(label evidence.Label) (j Judgement, missing bool) {
	labels := e.Resolve(label)
	if len(labels) == 0 {
		return Inapplicable("this run has no " + roleName(label)), true
	}
	for _, l := range labels {
		if j, missing := e.missingAnswerTo(l); missing {
			return j, true
		}
	}
	return Judgement{}, false
}

// missingAnswerTo is [Evidence.missingAnswer] for one label, which is not a role.
func (e Evidence) missingAnswerTo(label evidence.Label) (j Judgement, missing bool) {
	if _, ok := e.Handshake(label); ok {
		return Judgement{}, false
	}
	if x, sent := e.Get(label); sent {
		if x.Failure == nil {
			return Judgement{}, false
		}
		if cause, broken := e.brokenTLS(x); broken {
			return cause, true
		}
		return Unclear(fmt.Sprintf("no answer to %s: %s", e.RequestName(label), x.Failure.Message)).Seen(label).Hinting(e.reachHint(x)), true
	}
	if skipped, ok := e.Skipped(label); ok {
		reason := fmt.Sprintf("%s was not sent: %s", e.RequestName(label), e.inWords(label, skipped.Because))
		switch skipped.Kind {
		case evidence.NotApplicable:
			return Inapplicable(skipped.Because), true
		case evidence.Unmet:
			cause := e.unmetCause(label, skipped.Because)
			return Judgement{Outcome: Blocked, Reason: reason, BlockedBy: cause.BlockedBy, Hint: cause.Hint}, true
		case evidence.Stopped:
			origin, _, _ := strings.Cut(skipped.Because, " ")
			return Unclear(skipped.Because).Hinting(restart(origin)), true // all requests that were not sent have the same reason, so that reports fold them
		}
		return Unclear(reason), true
	}
	if e.Ended == nil || !e.Ended.Complete {
		return Unclear(fmt.Sprintf("the run ended before %s had an answer", label)), true
	}
	if e.Run.Partial != "" {
		return Inapplicable("this partial run does not send " + e.RequestName(label)), true
	}
	return Unclear(fmt.Sprintf("the recording has no %s", label)).Blaming(Suite), true
}

// failedControl returns a judgement if the positive control of a refusal failed: then the refusal proves nothing.
func (e Evidence) failedControl(control evidence.Label) (j Judgement, failed bool) {
	for _, label := range e.Resolve(control) {
		x, sent := e.Get(label)
		switch {
		case !sent || !x.Answered():
			j := Unclear(fmt.Sprintf("a refusal proves nothing here: %s was not answered", e.RequestName(label))).Seen(label)
			if sent && x.Failure != nil {
				j = j.Hinting(e.reachHint(x))
			}
			return j, true
		case rateLimited(x):
			j, _ := inconclusiveAnswer(x)
			j.Reason = "a refusal proves nothing here: " + e.RequestName(label) + ": " + j.Reason
			return j, true
		case !success(x):
			return Unclear(fmt.Sprintf("a refusal proves nothing here: %s was answered %s", e.RequestName(label), clip(x.StatusText()))).Seen(label), true
		}
	}
	return Judgement{}, false
}

// passes reports whether another requirement passes (or warns); if not, it returns the judgement that follows. It is for checks that also judge
// when the other requirement does not apply, or that need it in some cases only. Other rows name the requirement in After.
func (e Evidence) passes(id ID) (j Judgement, ok bool) {
	switch j := e.judge(id); j.Outcome {
	case Pass, Warn:
		return j, true
	case NotApplicable:
		return Inapplicable(j.Reason), false
	default:
		root := id
		if j.Outcome == Blocked && j.BlockedBy != "" {
			root = j.BlockedBy
		}
		return Judgement{Outcome: Blocked, BlockedBy: root, Reason: fmt.Sprintf("needs %s, which is %s", id, j.Outcome)}, false
	}
}

// ifPasses makes a check that needs another requirement to pass. Unlike [Requirement.After] it does not block the row when the other
// requirement does not apply: then neither of them applies.
func ifPasses(id ID, check func(Evidence) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		if j, ok := e.passes(id); !ok {
			return j
		}
		return check(e)
	}
}

// onAnswer makes a check of the answer to one label or role.
func onAnswer(label evidence.Label, check func(x evidence.Exchange) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement { return check(e.exchange(label)) }
}

// judgeEach judges the answers to labels one by one; for a label without an answer it says why there is none.
func judgeEach(e Evidence, labels []evidence.Label, judge func(x evidence.Exchange) Judgement) []Judgement {
	var parts []Judgement
	for _, label := range labels {
		if j, missing := e.missingAnswer(label); missing {
			parts = append(parts, j)
		} else {
			parts = append(parts, judge(e.exchange(label)))
		}
	}
	return parts
}

// judge judges a requirement within its group and caches the judgement, because several checks need it and it may read every answer.
func (e Evidence) judge(id ID) Judgement {
	return remember(e.judged, id, func() Judgement { return NewJudge(group(id), e).Judge(id) })
}

// remember returns the value of a key. It makes the value once, even if several rows ask for it at the same time.
func remember[T any](in *sync.Map, key any, make func() T) T {
	made, known := in.Load(key)
	if !known {
		made, _ = in.LoadOrStore(key, sync.OnceValue(make))
	}
	return made.(func() T)()
}

// JudgeAll judges every requirement of the catalogue against the evidence.
func JudgeAll(catalogue []Requirement, e Evidence) map[ID]Judgement {
	return JudgeRest(catalogue, e, nil)
}

// JudgeRest judges the requirements of the catalogue that were not judged before, and returns all judgements.
func JudgeRest(catalogue []Requirement, e Evidence, judged map[ID]Judgement) map[ID]Judgement {
	j := NewJudge(catalogue, e)
	maps.Copy(j.done, judged)
	j.judgeRows(slices.DeleteFunc(slices.Clone(catalogue), func(r Requirement) bool { _, done := judged[r.ID]; return done }))
	return j.done
}

// judgeRows judges rows in parallel on all processors, each after the rows that it depends on. The order does not change a judgement, because a check is
// a pure function of the evidence.
func (j *Judge) judgeRows(rows []Requirement) {
	j.evidence.Get("")                                          // makes the index of a log that was not read from a file, before goroutines share the log
	pending, dependents := map[ID]int{}, map[ID][]Requirement{} // pending counts the requirements that a row waits for
	for _, r := range rows {
		pending[r.ID] = 0
	}
	ready, judged := make(chan Requirement, len(rows)), make(chan ID)
	for _, r := range rows {
		for _, before := range r.After {
			if _, isJudged := pending[before]; isJudged {
				pending[r.ID]++
				dependents[before] = append(dependents[before], r)
			}
		}
		if pending[r.ID] == 0 {
			ready <- r
		}
	}
	for range min(len(rows), runtime.GOMAXPROCS(0)) {
		go func() {
			for r := range ready {
				j.Judge(r.ID)
				judged <- r.ID
			}
		}()
	}
	for range rows {
		for _, r := range dependents[<-judged] {
			if pending[r.ID]--; pending[r.ID] == 0 {
				ready <- r
			}
		}
	}
	close(ready)
}

// A Judge judges the requirements of a catalogue and remembers its judgements, so that dependencies are judged once. Two rows may be judged at the same time
// if neither depends on the other.
type Judge struct {
	byID     map[ID]Requirement
	evidence Evidence
	mu       sync.Mutex
	done     map[ID]Judgement
}

// NewJudge prepares the judging of one body of evidence.
func NewJudge(catalogue []Requirement, e Evidence) *Judge {
	j := &Judge{byID: make(map[ID]Requirement, len(catalogue)), evidence: e, done: map[ID]Judgement{}}
	for _, r := range catalogue {
		j.byID[r.ID] = r
	}
	return j
}

// Judge judges one requirement, after those that it depends on.
func (j *Judge) Judge(id ID) Judgement {
	if judgement, cached := j.cached(id); cached {
		return judgement
	}
	r, ok := j.byID[id]
	if !ok {
		return Judgement{Outcome: Inconclusive, Reason: fmt.Sprintf("%s is not in this catalogue", id), Fault: Suite}
	}
	judgement := j.judge(r)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[id] = judgement
	return judgement
}

// cached returns the judgement of a requirement that was judged before.
func (j *Judge) cached(id ID) (judgement Judgement, cached bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	judgement, cached = j.done[id]
	return judgement, cached
}

// Reads lists every label that judging this requirement looks at, those of its dependencies included. Roles are not resolved.
func (j *Judge) Reads(id ID) []evidence.Label {
	var out []evidence.Label
	seen := map[ID]bool{}
	var walk func(ID)
	walk = func(id ID) {
		r, ok := j.byID[id]
		if !ok || seen[id] {
			return
		}
		seen[id] = true
		out = slices.Concat(out, r.Needs, r.Reads)
		if r.Control != "" {
			out = append(out, r.Control)
		}
		for _, before := range r.After {
			walk(before)
		}
	}
	walk(id)
	if j.byID[id].Breach != nil { // Breach searches every answer
		out = append(out, evidence.WholeRun)
	}
	return out
}

// judge judges a requirement that was not judged before: it searches for a breach, looks at dependencies, missing answers and the control, and runs the
// check.
func (j *Judge) judge(r Requirement) Judgement {
	if r.Breach != nil {
		if seen, found := r.Breach(j.evidence); found {
			return seen
		}
	}
	if b, failed := j.failedDependency(r); failed {
		return b
	}
	for _, need := range r.Needs {
		if judgement, missing := j.evidence.missingAnswer(need); missing {
			return judgement
		}
	}
	if r.Control != "" {
		if c, failed := j.evidence.failedControl(r.Control); failed {
			return c
		}
	}
	return r.Check(j.evidence)
}

// failedDependency returns a judgement if a requirement that must pass first does not pass. It skips requirements that a partial catalogue lacks.
func (j *Judge) failedDependency(r Requirement) (judgement Judgement, failed bool) {
	for _, id := range r.After {
		if _, known := j.byID[id]; !known {
			continue
		}
		switch before := j.Judge(id); before.Outcome {
		case Pass, Warn:
		case Blocked:
			root := before.BlockedBy
			if root == "" {
				root = id // it waits for an exchange, not for another requirement
			}
			return Judgement{Outcome: Blocked, BlockedBy: root, Reason: fmt.Sprintf("needs %s, which is blocked", id)}, true
		default:
			return Judgement{Outcome: Blocked, BlockedBy: id, Reason: fmt.Sprintf("needs %s, which is %s", id, before.Outcome)}, true
		}
	}
	return Judgement{}, false
}

// roleName describes the role in a label.
func roleName(l evidence.Label) string {
	switch l.Resource() {
	case evidence.ProbeTarget:
		return "protected resource that refuses anonymous calls"
	case evidence.ListOperation:
		return "list operation"
	case evidence.DetailOperation:
		return "detail operation"
	case evidence.EveryOperation:
		return "operation that could be called"
	}
	return strings.ReplaceAll(string(l), ".", " ")
}
