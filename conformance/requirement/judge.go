package requirement

import (
	"fmt"
	"strings"
	"sync"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// Evidence is what a check may look at: the log of the run and the node's document read from it.
type Evidence struct {
	*evidence.Log
	// Spec is the node's document; nil when none was read or the guard refused it.
	Spec *openapi.Document
	// stood remembers how requirements stand on this evidence, by [ID]; without it they are judged each time they are asked for.
	stood *sync.Map
	// readings remember what was read of answers; without them they are read each time.
	readings *readings
}

// Read prepares a log for judging.
func Read(log *evidence.Log) Evidence {
	e := Evidence{Log: log, stood: &sync.Map{}, readings: newReadings()}
	if log.Document != nil && len(log.Document.Reduced) > 0 {
		if d, err := openapi.Parse(log.Document.Reduced); err == nil {
			e.Spec = d
		}
	}
	return e
}

// The returns the one exchange behind a label or role; an empty exchange when there is none.
func (e Evidence) The(label evidence.Label) evidence.Exchange {
	for _, l := range e.Resolve(label) {
		x, _ := e.Get(l)
		return x
	}
	return evidence.Exchange{}
}

// All returns the exchanges behind a label or role that were answered or failed, in order.
func (e Evidence) All(label evidence.Label) []evidence.Exchange {
	if label == evidence.WholeRun {
		return e.Exchanges
	}
	var out []evidence.Exchange
	for _, l := range e.Resolve(label) {
		if x, ok := e.Get(l); ok {
			out = append(out, x)
		}
	}
	return out
}

// maxKept bounds the items that are remembered, of all answers together: a hostile list has many small ones.
const maxKept = 200_000

// readings remembers what was read of answers, since several checks look at the same ones, and lists are long. An answer that was
// recorded never changes, so readings hold while the log grows. It is safe for concurrent use.
type readings struct {
	mu    sync.Mutex
	of    map[*evidence.Response]*readAnswer
	items int // kept so far
}

// readAnswer is an answer as JSON, and as a list.
type readAnswer struct {
	text   []byte
	broken error
	list   bool // items and unlisted are known
	items  [][]byte
	// unlisted says why the answer is no list.
	unlisted error
}

func newReadings() *readings { return &readings{of: map[*evidence.Response]*readAnswer{}} }

// jsonText is [jsonText] of an answer of this evidence.
func (e Evidence) jsonText(x evidence.Exchange) ([]byte, error) {
	if e.readings == nil || x.Response == nil {
		return jsonText(x)
	}
	e.readings.mu.Lock()
	defer e.readings.mu.Unlock()
	r := e.answer(x)
	return r.text, r.broken
}

// itemsOf is [itemsOf] of an answer of this evidence.
func (e Evidence) itemsOf(x evidence.Exchange) ([][]byte, error) {
	if e.readings == nil || x.Response == nil || x.Response.Truncated {
		return itemsOf(x)
	}
	e.readings.mu.Lock()
	defer e.readings.mu.Unlock()
	r := e.answer(x)
	if r.list {
		return r.items, r.unlisted
	}
	items, err := itemsIn(r.text, r.broken)
	if e.readings.items+len(items) <= maxKept {
		e.readings.items += len(items)
		r.list, r.items, r.unlisted = true, items, err
	}
	return items, err
}

// answer reads an answer as JSON, once. A list that its schema was applied to was read to its end when it was
// recorded.
func (e Evidence) answer(x evidence.Exchange) *readAnswer {
	known, ok := e.readings.of[x.Response]
	if ok {
		return known
	}
	known = &readAnswer{}
	if f, ok := e.FindingsOf(x.Label); ok && f.Judged && f.Items > 1 && !x.Response.Truncated {
		known.text = x.Response.Body
	} else {
		known.text, known.broken = jsonText(x)
	}
	e.readings.of[x.Response] = known
	return known
}

// Judge judges every requirement of the catalogue against the evidence, in catalogue order.
func Judge(catalogue []Requirement, e Evidence) map[ID]Judgement {
	j := NewJudge(catalogue, e)
	for _, r := range catalogue {
		j.Of(r.ID)
	}
	return j.done
}

// A Judging remembers judgements, so that dependencies are judged once. It is not safe for concurrent use.
type Judging struct {
	byID     map[ID]Requirement
	evidence Evidence
	document *evidence.Document // the one that evidence.Spec was read from
	done     map[ID]Judgement
}

// NewJudge prepares judging of one body of evidence.
func NewJudge(catalogue []Requirement, e Evidence) *Judging {
	j := &Judging{byID: make(map[ID]Requirement, len(catalogue)), evidence: e, done: map[ID]Judgement{}}
	for _, r := range catalogue {
		j.byID[r.ID] = r
	}
	return j
}

// Of judges one requirement, after those that it depends on.
func (j *Judging) Of(id ID) Judgement {
	if done, ok := j.done[id]; ok {
		return done
	}
	r, ok := j.byID[id]
	if !ok {
		return Judgement{Outcome: Inconclusive, Reason: fmt.Sprintf("%s is not in this catalogue", id), Fault: Suite}
	}
	verdict := j.judge(r)
	j.done[id] = verdict
	return verdict
}

// Update lets later judgements see more of the same run; those already made stay.
func (j *Judging) Update(log *evidence.Log) {
	next := Evidence{Log: log, Spec: j.evidence.Spec, stood: &sync.Map{}, readings: j.evidence.readings}
	if log.Document == nil || log.Document != j.document {
		next, j.document = Read(log), log.Document
	}
	if j.evidence.readings != nil {
		next.readings = j.evidence.readings
	}
	j.evidence = next
}

// Reads lists every label that judging this requirement looks at, those of its dependencies included, as written:
// roles are not resolved.
func (j *Judging) Reads(id ID) []evidence.Label {
	var out []evidence.Label
	seen := map[ID]bool{}
	var walk func(ID)
	walk = func(id ID) {
		r, ok := j.byID[id]
		if !ok || seen[id] {
			return
		}
		seen[id] = true
		out = append(out, r.Needs...)
		out = append(out, r.Reads...)
		if r.Control != "" {
			out = append(out, r.Control)
		}
		for _, before := range r.After {
			walk(before)
		}
	}
	walk(id)
	return out
}

func (j *Judging) judge(r Requirement) Judgement {
	if b, blocked := j.blocked(r); blocked {
		return b
	}
	if m, missing := j.missing(r); missing {
		return m
	}
	if r.Control != "" {
		if c, ok := j.controlled(r); !ok {
			return c
		}
	}
	return r.Check(j.evidence)
}

// blocked looks at the requirements that must be passed first.
func (j *Judging) blocked(r Requirement) (Judgement, bool) {
	for _, id := range r.After {
		if _, known := j.byID[id]; !known {
			continue // a partial catalogue judges what it holds
		}
		switch before := j.Of(id); before.Outcome {
		case Pass, Warn:
		case Blocked:
			root := before.BlockedBy
			if root == "" {
				root = id // it waits for an exchange, not for another requirement
			}
			return Judgement{Outcome: Blocked, BlockedBy: root, Reason: fmt.Sprintf("needs %s, which is blocked", id)}, true
		default:
			return Judgement{Outcome: Blocked, BlockedBy: id,
				Reason: fmt.Sprintf("needs %s, which is %s", id, before.Outcome)}, true
		}
	}
	return Judgement{}, false
}

// missing deals with needed exchanges that have no answer.
func (j *Judging) missing(r Requirement) (Judgement, bool) {
	for _, need := range r.Needs {
		labels := j.evidence.Resolve(need)
		if len(labels) == 0 {
			return Missing(fmt.Sprintf("this run has no %s", roleName(need))), true
		}
		for _, label := range labels {
			if m, missing := j.unanswered(label); missing {
				return m, true
			}
		}
	}
	return Judgement{}, false
}

func (j *Judging) unanswered(label evidence.Label) (Judgement, bool) {
	if _, shaken := j.evidence.Handshake(label); shaken {
		return Judgement{}, false
	}
	x, sent := j.evidence.Get(label)
	switch {
	case sent && x.Failure != nil:
		return Unclear(fmt.Sprintf("no answer to %s: %s", j.evidence.asked(label), x.Failure.Message)).Seen(label), true
	case sent:
		return Judgement{}, false
	}
	skipped, planned := j.evidence.Skipped(label)
	switch {
	case planned && skipped.Kind == evidence.NotApplicable:
		return Missing(skipped.Because), true
	case planned && skipped.Kind == evidence.Unmet:
		return Judgement{Outcome: Blocked, Reason: fmt.Sprintf("%s was not sent: %s", j.evidence.asked(label), j.evidence.inWords(label, skipped.Because))}, true
	case planned:
		return Unclear(fmt.Sprintf("%s was not sent: %s", j.evidence.asked(label), j.evidence.inWords(label, skipped.Because))), true
	}
	if ended := j.evidence.Ended; ended == nil || !ended.Complete {
		return Unclear(fmt.Sprintf("the run ended before %s had an answer", label)), true
	}
	return Unclear(fmt.Sprintf("the recording holds no %s", label)).Blaming(Suite), true
}

// controlled says whether the positive control of a refusal holds.
func (j *Judging) controlled(r Requirement) (Judgement, bool) {
	for _, label := range j.evidence.Resolve(r.Control) {
		x, ok := j.evidence.Get(label)
		if !ok || !x.Answered() {
			return Unclear(fmt.Sprintf("a refusal proves nothing here: %s was not answered", j.evidence.asked(label))).Seen(label), false
		}
		if s := x.Status(); s < 200 || s > 299 {
			return Unclear(fmt.Sprintf("a refusal proves nothing here: %s was answered %d", j.evidence.asked(label), s)).Seen(label), false
		}
	}
	return Judgement{}, true
}

// roleName says in words what a label's role stands for.
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
