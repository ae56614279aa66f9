package evidence

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Journal collects the evidence of a run. It may be used by several goroutines at once.
// It writes each record at once, so that a crash keeps what was recorded. Records after [Journal.End] are dropped.
type Journal struct {
	w *Writer

	mu    sync.Mutex
	state *state
	err   error
	ended chan struct{} // closed at the end of the run
}

// NewJournal makes an empty journal that writes an evidence file to w; with nil it keeps the evidence in memory only.
func NewJournal(w *Writer) *Journal {
	return &Journal{w: w, state: newState(), ended: make(chan struct{})}
}

// Begin records what is tested. It is called first, and again when the URLs of the node are known from the registry.
func (j *Journal) Begin(run Run) {
	run.Schema = Schema
	run.Started = run.Started.Round(0).UTC()
	j.record(entry{Kind: kindRun, Run: &run})
}

// Plan adds labels to the plan, in order; a label that was planned before keeps its place.
func (j *Journal) Plan(labels ...Label) {
	if len(labels) > 0 {
		j.record(entry{Kind: kindPlan, Plan: append([]Label(nil), labels...)})
	}
}

// Roles records which resources hold the roles.
func (j *Journal) Roles(roles Roles) {
	roles = portable().roles(roles)
	j.record(entry{Kind: kindRoles, Roles: &roles})
}

// Document records the node's API document as the guard left it.
func (j *Journal) Document(d *Document) {
	if d == nil {
		return
	}
	kept := portable().document(*d)
	j.record(entry{Kind: kindDocument, Document: &kept})
}

// Registry records the registry entry that the run started from, and facts about its document.
func (j *Journal) Registry(raw json.RawMessage, facts RegistryFacts) {
	facts = portable().registry(facts)
	j.record(entry{Kind: kindRegistry, Registry: compact(raw), RegistryFacts: &facts})
}

// Add records an exchange with its schema findings. The exchange must be redacted, and must not be changed
// afterwards. A second exchange with the same label is dropped, see [Journal.Err].
func (j *Journal) Add(x Exchange, findings ...SchemaFindings) {
	x = portable().exchange(x)
	x.Started, x.Tokens = x.Started.Round(0).UTC(), cloneOrNil(x.Tokens)
	j.record(entry{Kind: kindExchange, Exchange: &x, Findings: portable().findings(findings)})
}

// Handshake records a TLS handshake; it must be redacted. Its label is planned, answered or skipped like that of an exchange.
func (j *Journal) Handshake(h Handshake) {
	h = portable().handshake(h)
	h.Started, h.Offered = h.Started.Round(0).UTC(), cloneOrNil(h.Offered)
	for i, c := range h.Chain {
		h.Chain[i].NotBefore, h.Chain[i].NotAfter = c.NotBefore.UTC(), c.NotAfter.UTC()
	}
	j.record(entry{Kind: kindHandshake, Handshake: &h})
}

// Skip records why a label was not sent. It does nothing if the label was answered or skipped before.
func (j *Journal) Skip(n NotSent) {
	n.Because = validUTF8(n.Because)
	j.recordUnless(entry{Kind: kindNotSent, NotSent: &n}, func(s *state) bool { return s.answered[n.Label] || s.skipped[n.Label] })
}

// AddFindings records schema findings after their exchange.
func (j *Journal) AddFindings(f SchemaFindings) {
	j.record(entry{Kind: kindFindings, Findings: portable().findings([]SchemaFindings{f})})
}

// End records the end of the run and releases the callers of [Journal.Wait]. Only the first end counts.
func (j *Journal) End(ended Ended) {
	ended.Cause = validUTF8(ended.Cause)
	j.record(entry{Kind: kindEnded, Ended: &ended})
}

// Err returns the first write error, or the first record that contradicted another one. The evidence in memory stays usable.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Log returns the evidence so far, in the order of the plan: the same evidence gives the same log in whatever order it came.
func (j *Journal) Log() *Log {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state.snapshot()
}

// Wait returns when the run has ended. The error is that of ctx.
func (j *Journal) Wait(ctx context.Context) error {
	select {
	case <-j.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for evidence: %w", context.Cause(ctx))
	}
}

func (j *Journal) record(e entry) { j.recordUnless(e, func(*state) bool { return false }) }

// recordUnless records an entry, unless the run has ended or isNeedless holds. A nil writer writes nothing.
func (j *Journal) recordUnless(e entry, isNeedless func(*state) bool) {
	p, err := j.w.pack(e.Exchange) // outside the lock: bodies are large
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state.log.Ended != nil || isNeedless(j.state) {
		return
	}
	if err == nil {
		j.state.share(p.exchange)
		j.w.remember(p.exchange)
		err = j.state.apply(e)
	}
	if err == nil {
		err = j.w.write(e, p)
	}
	j.err = firstErr(j.err, err)
	if j.state.log.Ended != nil {
		close(j.ended)
	}
}

// firstErr keeps the first error: the later ones follow from it. A record after the end of the run is not an error.
func firstErr(first, next error) error {
	if first != nil || errors.Is(next, errAfterEnd) {
		return first
	}
	return next
}

// state builds a log from entries. The journal and ReadLog share it, so that live evidence and its recording agree.
type state struct {
	log      Log
	planned  map[Label]int
	answered map[Label]bool
	skipped  map[Label]bool
	bodies   map[digest]Body
	runs     int // run records so far; the second one follows when the node is located
}

func newState() *state {
	return &state{planned: map[Label]int{}, answered: map[Label]bool{}, skipped: map[Label]bool{}, bodies: map[digest]Body{}}
}

// share makes exchanges with equal bodies hold one copy. It does nothing for nil.
func (s *state) share(x *storedExchange) {
	if x == nil {
		return
	}
	x.Exchange.Request.Body = s.firstCopy(x.Request.Body, x.Exchange.Request.Body)
	if x.Response != nil {
		x.Exchange.Response.Body = s.firstCopy(x.Response.Body, x.Exchange.Response.Body)
	}
}

func (s *state) firstCopy(name digest, b Body) Body {
	if known, ok := s.bodies[name]; ok {
		return known
	}
	s.bodies[name] = b
	return b
}

var errAfterEnd = errors.New("the run has ended")

// apply adds one entry; an error means that the entry contradicts earlier ones and was dropped.
func (s *state) apply(e entry) error {
	if s.log.Ended != nil {
		return fmt.Errorf("%s record: %w", e.Kind, errAfterEnd)
	}
	switch e.Kind {
	case kindRun:
		s.log.Run = *e.Run
		s.runs++
	case kindPlan:
		s.plan(e.Plan)
	case kindRoles:
		s.log.Roles = *e.Roles
	case kindDocument:
		s.log.Document = e.Document
	case kindRegistry:
		s.log.Registry, s.log.RegistryFacts = e.Registry, e.RegistryFacts
	case kindExchange:
		if err := s.markAnswered(e.Exchange.Label); err != nil {
			return err
		}
		s.log.Exchanges = append(s.log.Exchanges, *e.Exchange)
	case kindHandshake:
		if err := s.markAnswered(e.Handshake.Label); err != nil {
			return err
		}
		s.log.Handshakes = append(s.log.Handshakes, *e.Handshake)
	case kindNotSent:
		if l := e.NotSent.Label; !s.answered[l] && !s.skipped[l] {
			s.skipped[l] = true
			s.log.NotSent = append(s.log.NotSent, *e.NotSent)
		}
	case kindEnded:
		s.log.Ended = e.Ended
	}
	s.log.Findings = append(s.log.Findings, e.Findings...)
	return nil
}

// markAnswered marks a label as answered or failed. It refuses to do so twice.
func (s *state) markAnswered(l Label) error {
	if s.answered[l] {
		return inconsistent("label %.80q has an exchange already", l)
	}
	s.answered[l] = true
	s.unskip(l)
	return nil
}

func (s *state) plan(labels []Label) {
	for _, l := range labels {
		if _, known := s.planned[l]; !known {
			s.planned[l] = len(s.log.Planned)
			s.log.Planned = append(s.log.Planned, l)
		}
	}
}

func (s *state) unskip(label Label) {
	if s.skipped[label] {
		delete(s.skipped, label)
		s.log.NotSent = slices.DeleteFunc(s.log.NotSent, func(n NotSent) bool { return n.Label == label })
	}
}

// snapshot copies the log in plan order; unplanned labels follow in alphabetical order.
func (s *state) snapshot() *Log {
	out := s.log
	out.byLabel = nil
	out.Planned = slices.Clone(s.log.Planned)
	out.Exchanges = s.exchanges()
	out.NotSent = slices.Clone(s.log.NotSent)
	out.Findings = slices.Clone(s.log.Findings)
	out.Handshakes = slices.Clone(s.log.Handshakes)
	slices.SortStableFunc(out.Handshakes, func(a, b Handshake) int { return s.compare(a.Label, b.Label) })
	slices.SortStableFunc(out.NotSent, func(a, b NotSent) int { return s.compare(a.Label, b.Label) })
	slices.SortStableFunc(out.Findings, func(a, b SchemaFindings) int { return s.compare(a.Label, b.Label) })
	out.index()
	return &out
}

// exchanges copies the exchanges in plan order. It sorts indexes by their places in the plan, because an exchange is large.
func (s *state) exchanges() []Exchange {
	type place struct{ planned, index int }
	order := make([]place, len(s.log.Exchanges))
	for i := range order {
		planned, ok := s.planned[s.log.Exchanges[i].Label]
		if !ok {
			planned = len(s.planned)
		}
		order[i] = place{planned, i}
	}
	slices.SortFunc(order, func(a, b place) int {
		if a.planned == b.planned { // neither is planned
			return cmp.Compare(s.log.Exchanges[a.index].Label, s.log.Exchanges[b.index].Label)
		}
		return cmp.Compare(a.planned, b.planned)
	})
	out := make([]Exchange, 0, len(order))
	for _, p := range order {
		x := s.log.Exchanges[p.index]
		x.Given = maps.Clone(x.Given)
		out = append(out, x)
	}
	return out
}

func (s *state) compare(a, b Label) int {
	i, aPlanned := s.planned[a]
	j, bPlanned := s.planned[b]
	switch {
	case aPlanned && bPlanned:
		return cmp.Compare(i, j)
	case aPlanned:
		return -1
	case bPlanned:
		return 1
	}
	return cmp.Compare(a, b)
}
