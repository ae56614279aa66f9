package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Journal is the evidence of a run while it is made. It may be used by several goroutines at once.
//
// Each record is written to the writer as one line of NDJSON at the moment it is made, so that a crash keeps what was recorded.
// What comes after [Journal.End] is dropped.
type Journal struct {
	mu      sync.Mutex
	w       io.Writer
	state   *state
	err     error
	changed chan struct{} // closed at every change, then replaced
}

// NewJournal makes an empty journal that writes evidence.jsonl to w; nil keeps the evidence in memory only.
func NewJournal(w io.Writer) *Journal {
	return &Journal{w: w, state: newState(), changed: make(chan struct{})}
}

// Begin records what is tested; Schema is filled in. It comes first, and once more when the registry has named the URLs.
func (j *Journal) Begin(run Run) {
	run.Schema = Schema
	run.Started = run.Started.Round(0).UTC()
	j.record(entry{Kind: kindRun, Run: &run})
}

// Plan adds labels to the plan, in order; a label that is planned already keeps its place.
func (j *Journal) Plan(labels ...Label) {
	if len(labels) > 0 {
		j.record(entry{Kind: kindPlan, Plan: append([]Label(nil), labels...)})
	}
}

// Roles records which resources hold the roles. Who waits for a role waits for this first.
func (j *Journal) Roles(roles Roles) {
	roles = roles.portable()
	j.record(entry{Kind: kindRoles, Roles: &roles})
}

// Document records the node's API document as the guard left it.
func (j *Journal) Document(d *Document) {
	if d == nil {
		return
	}
	kept := d.portable()
	j.record(entry{Kind: kindDocument, Document: &kept})
}

// Registry records the registry entry that the run started from, with what its document says beyond it.
func (j *Journal) Registry(raw json.RawMessage, facts RegistryFacts) {
	facts = facts.portable()
	j.record(entry{Kind: kindRegistry, Registry: compact(raw), RegistryFacts: &facts})
}

// Add records an exchange together with what the document says of its answer: who waits for the label sees both or none.
// The exchange must be redacted and is not to be changed afterwards. A second exchange of one label is dropped, see [Journal.Err].
func (j *Journal) Add(x Exchange, findings ...SchemaFindings) {
	x = x.portable()
	j.record(entry{Kind: kindExchange, Exchange: &x, Findings: portableFindings(findings)})
}

// Handshake records a TLS handshake; it must be redacted. Its label is planned, answered or skipped as that of an exchange.
func (j *Journal) Handshake(h Handshake) {
	h = h.portable()
	j.record(entry{Kind: kindHandshake, Handshake: &h})
}

// Skip records why a label was not sent. It does nothing when the label was answered or skipped already.
func (j *Journal) Skip(label Label, kind NotSentKind, because string) {
	n := NotSent{Label: label, Kind: kind, Because: portable(because)}
	j.recordUnless(entry{Kind: kindNotSent, NotSent: &n}, func(s *state) bool { return s.answered[label] || s.skipped[label] })
}

// Found records schema findings that came after their exchange.
func (j *Journal) Found(f SchemaFindings) {
	j.record(entry{Kind: kindFindings, Findings: portableFindings([]SchemaFindings{f})})
}

// End records the end of the run and releases everybody who waits. Only the first end counts.
func (j *Journal) End(ended Ended) {
	ended.Cause = portable(ended.Cause)
	j.record(entry{Kind: kindEnded, Ended: &ended})
}

// Err is the first error of writing, or the first record that contradicted another one. The evidence in memory stays usable.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Log is the evidence so far, as data that no later record changes. Exchanges, labels not sent and findings stand in the
// order of the plan, so that the same evidence gives the same log whatever came first.
func (j *Journal) Log() *Log {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state.snapshot()
}

// Wait returns when every label was answered, failed or skipped. For a role it waits until the roles are known and then for the
// labels that hold it; for [WholeRun] until the end. The end of the run releases every wait. The error is that of ctx.
func (j *Journal) Wait(ctx context.Context, labels ...Label) error {
	for {
		j.mu.Lock()
		settled := true
		for _, l := range labels {
			settled = settled && j.state.settled(l)
		}
		changed := j.changed
		j.mu.Unlock()
		if settled {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for evidence: %w", context.Cause(ctx))
		}
	}
}

func (j *Journal) record(e entry) { j.recordUnless(e, func(*state) bool { return false }) }

func (j *Journal) recordUnless(e entry, needless func(*state) bool) {
	line, err := e.line() // outside the lock: bodies are large
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state.log.Ended != nil || needless(j.state) {
		return
	}
	if err == nil {
		err = j.state.apply(e)
	}
	if err == nil && j.w != nil {
		if _, werr := j.w.Write(line); werr != nil {
			err = fmt.Errorf("write evidence: %w", werr)
		}
	}
	j.err = firstErr(j.err, err)
	close(j.changed)
	j.changed = make(chan struct{})
}

// firstErr keeps the first error: the later ones follow from it.
func firstErr(first, next error) error {
	if first != nil || errors.Is(next, errAfterEnd) {
		return first
	}
	return next
}
