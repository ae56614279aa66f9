package probe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/evidence"
)

// unsent says why a request is not sent.
type unsent struct {
	kind    evidence.NotSentKind
	because string
}

// unmet is the reason if a precondition of the request is missing.
func unmet(format string, args ...any) *unsent {
	return &unsent{evidence.Unmet, fmt.Sprintf(format, args...)}
}

// notApplicable is the reason if the request would not make sense for this node or run. Like [in], it is not inlined.
//
//go:noinline
func notApplicable(format string, args ...any) *unsent {
	return &unsent{evidence.NotApplicable, fmt.Sprintf(format, args...)}
}

// cutShort is the reason if the run ends, or rin fails, before the request.
func cutShort(format string, args ...any) *unsent {
	return &unsent{evidence.OverBudget, fmt.Sprintf(format, args...)}
}

// plan makes labels part of the run.
func (r *run) plan(p Plan) {
	labels := p.Labels()
	r.progress.add(labels)
	r.Journal.Plan(labels...)
}

// launch plans lanes and starts them, except those that run at the end; each waits for its stages.
func (r *run) launch(ctx context.Context, p Plan) {
	r.plan(p)
	var now, optional []Lane
	for _, l := range p.Lanes {
		switch {
		case l.optional:
			optional = append(optional, l)
		case l.Stage == stageLast || l.Stage == stageExpired:
			r.last = append(r.last, l)
		default:
			now = append(now, l)
		}
	}
	r.stages.enter(slices.Concat(now, optional))
	if len(optional) > 0 {
		reserve := r.reserve() // computed now, because later plans add lanes of the end
		r.lanes.Go(func() { r.followOptional(ctx, optional, reserve) })
	}
	for _, l := range now {
		r.lanes.Add(1)
		go func() {
			defer r.lanes.Done()
			defer r.stages.leave(l.Stage)
			r.stages.wait(ctx, l.After...)
			r.follow(ctx, l)
		}()
	}
}

// followOptional runs optional lanes, in their order, until there is a reason to leave the others out.
func (r *run) followOptional(ctx context.Context, lanes []Lane, reserve int) {
	r.stages.wait(ctx, stageRest)
	var group errgroup.Group
	group.SetLimit(max(1, r.Target.Politeness.Concurrency))
	for _, l := range lanes {
		group.Go(func() error {
			defer r.stages.leave(l.Stage)
			r.stages.wait(ctx, l.After...)
			for _, s := range l.Steps {
				if reason := r.leavesOut(reserve); reason != nil {
					r.skip(s, reason)
					r.count(s.Label)
					continue
				}
				r.send(ctx, s, l.rank)
			}
			return nil
		})
	}
	_ = group.Wait() // no lane has an error
}

// reserve returns the part of the budget that optional lanes leave: for repeats and what seems to have changed, for the lanes of the end, and for tokens that
// are kept in use until they expire.
func (r *run) reserve() int {
	const repeats, inUse = 24, 20
	reserve, demanded := repeats, 0
	for _, l := range r.last {
		reserve += l.requests()
		demanded += len(l.Steps) - l.requests()
	}
	reserve += demanded / 2
	if r.Target.Patience() > 0 {
		reserve += inUse
	}
	return reserve
}

// leavesOut returns the reason to send no optional request any more, or nil.
func (r *run) leavesOut(reserve int) *unsent {
	deadline := r.Target.Politeness.Deadline
	switch {
	case r.recorder.Slowdown() != (evidence.Slowdown{}):
		return notApplicable("the node refused requests for load, so the run leaves out what it does not need")
	case deadline > 0 && r.Clock().Sub(r.started) > deadline/2:
		return notApplicable("half of the time of the run has passed, so it leaves out what it does not need")
	case r.budget-r.before-r.recorder.Sent() <= reserve:
		return notApplicable("the rest of the run left no room for it in the budget of %d requests", r.budget)
	}
	return nil
}

// finish runs the lanes of the end, one after the other; those that wait for tokens to expire come last.
func (r *run) finish(ctx context.Context) {
	for _, stage := range []Stage{stageLast, stageExpired} {
		for _, l := range r.last {
			if l.Stage == stage {
				r.follow(ctx, l)
			}
		}
	}
}

// follow sends the requests of a lane.
func (r *run) follow(ctx context.Context, l Lane) {
	for _, s := range l.Steps {
		if s.row.Send != nil || s.row.Shake != nil { // the registry has neither: it was read before
			r.send(ctx, s, l.rank)
		}
	}
}

// send sends one request, or records why it is not sent. It recovers from a panic in a row, because an answer of the node must not end the run.
func (r *run) send(ctx context.Context, s Step, rank rank) {
	defer r.count(s.Label)
	defer func() {
		if fault := recover(); fault != nil {
			r.skip(s, cutShort("this probe failed inside rin: %s", r.Redactor.Text(fmt.Sprint(fault))))
		}
	}()
	if !r.queue.take(ctx, rank) {
		r.skip(s, cutShort("the run ended first: %v", context.Cause(ctx)))
		return
	}
	defer r.queue.release()
	if !r.isWanted(s.Label) {
		r.skip(s, notApplicable("it is not part of this partial run"))
		return
	}
	at := s.Label.Resource()
	if s.row.Shake != nil {
		shake, reason := s.row.Shake(r, at)
		if reason != nil {
			r.skip(s, reason)
			return
		}
		shake.Label = s.Label
		r.recorder.Handshake(ctx, shake)
		return
	}
	request, reason := s.row.Send(ctx, r, at)
	if reason != nil {
		r.skip(s, r.explainOutage(reason))
		return
	}
	request.Label, request.Words, request.Limit = s.Label, cmp.Or(request.Words, s.row.Words), limitOf(s.Label)
	request.Family = s.row.Family
	r.concealDrawn(request)
	answer := r.recorder.Send(ctx, request)
	r.facts.with(func(f *facts) {
		f.statuses[s.Label] = answer.Status
		if failure := answer.Failure(); failure != nil && failure.Kind == evidence.FailureConnect {
			f.unconnected[s.Label] = true
		}
	})
	if s.row.Learn != nil {
		s.row.Learn(r, at, answer)
	}
}

// isWanted reports whether a partial run needs the label: because discovery builds on it, or because it was chosen.
func (r *run) isWanted(label evidence.Label) bool {
	switch label.Case() {
	case evidence.OK, evidence.NoToken, "ok-after-id-only":
		return true
	}
	return len(r.Wanted) == 0 || r.isNamed(label) || slices.ContainsFunc(badTries(label), r.isNamed)
}

// isNamed reports whether a partial run names the label, or a role or a beginning that includes it.
func (r *run) isNamed(label evidence.Label) bool {
	return slices.ContainsFunc(r.Wanted, func(w evidence.Label) bool {
		return w == evidence.WholeRun || w == label || w.Case().Includes(label.Case()) && (w.Resource() == label.Resource() || r.mayHaveRole(label.Resource(), w.Resource()))
	})
}

// mayHaveRole reports whether a resource may have a role. Roles are final only at the end of discovery.
func (r *run) mayHaveRole(name, role evidence.Resource) bool {
	if role == evidence.ProbeTarget {
		r.facts.mu.Lock()
		defer r.facts.mu.Unlock()
		return r.facts.protected == "" || r.facts.protected == name
	}
	if !isOperation(name) {
		return false
	}
	switch role {
	case evidence.ListOperation:
		o, ok := r.operation(name)
		return ok && r.node.isList(o)
	case evidence.DetailOperation:
		o, ok := r.operation(name)
		return ok && r.node.isDetail(o)
	}
	return role == evidence.EveryOperation
}

// isOperation reports whether a resource is an operation. Operations are called after the document was read.
func isOperation(name evidence.Resource) bool {
	return strings.HasPrefix(string(name), string(evidence.OperationResource("")))
}

// smallAnswer bounds the body of every answer except the node's document and data.
const smallAnswer = 4 << 20

// limitOf returns the limit of bytes to read for a label; 0 means the limit of the recorder.
func limitOf(label evidence.Label) int64 {
	if label.Case() == evidence.OK && label.Resource() != evidence.TokenEndpoint && label.Resource() != evidence.Info {
		return 0
	}
	return smallAnswer
}

// explainOutage replaces the reason of an unmet precondition if the node has stopped answering.
func (r *run) explainOutage(reason *unsent) *unsent {
	if reason.kind != evidence.Unmet {
		return reason
	}
	cause := r.recorder.Outage(r.Target.InfoURL)
	if r.current().Value == "" {
		cause = cmp.Or(r.recorder.Outage(r.Target.TokenURL), cause)
	}
	if cause == "" {
		return reason
	}
	return &unsent{evidence.Stopped, cause}
}

func (r *run) skip(s Step, why *unsent) {
	r.Journal.Skip(evidence.NotSent{Label: s.Label, Words: s.row.Words, Kind: why.kind, Because: r.Redactor.Text(why.because)})
}

// sweep records every planned label that has not ended as not sent. cause is the reason why the run could not begin, or nil.
func (r *run) sweep(cause error) {
	because := "nothing that it builds on was found"
	if cause != nil {
		because = cause.Error()
	}
	rows := table()
	for _, label := range r.Journal.Log().Planned {
		c, _ := find(rows, label)
		r.skip(Step{Label: label, row: row{Words: c.Words}}, unmet("%s", because)) // does nothing for a label that has ended
		r.count(label)
	}
}

// progress counts the labels that have ended.
type progress struct {
	mu      sync.Mutex
	planned map[evidence.Label]bool // true when ended
	done    int
}

func (p *progress) add(labels []evidence.Label) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.planned == nil {
		p.planned = map[evidence.Label]bool{}
	}
	for _, l := range labels {
		if _, known := p.planned[l]; !known {
			p.planned[l] = false
		}
	}
}

// count reports once that a label has ended.
func (r *run) count(label evidence.Label) {
	r.progress.mu.Lock()
	defer r.progress.mu.Unlock()
	if r.progress.planned[label] {
		return
	}
	r.progress.planned[label] = true
	r.progress.done++
	r.Progress(r.progress.done, len(r.progress.planned), label)
}
