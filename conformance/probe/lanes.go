package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

// unsent says why a label is not asked.
type unsent struct {
	kind    exchange.NotSentKind
	because string
}

func unmet(format string, args ...any) *unsent {
	return &unsent{exchange.Unmet, fmt.Sprintf(format, args...)}
}

func notApplicable(format string, args ...any) *unsent {
	return &unsent{exchange.NotApplicable, fmt.Sprintf(format, args...)}
}

func cutShort(format string, args ...any) *unsent {
	return &unsent{exchange.OverBudget, fmt.Sprintf(format, args...)}
}

// probe is how one label is asked: prepare decides on facts, learn draws facts from the answer and may be nil. A probe with greet makes a
// TLS handshake in place of a request.
type probe struct {
	prepare func(ctx context.Context) (record.Ask, *unsent)
	learn   func(a record.Answer)
	greet   func() (record.Greeting, *unsent)
}

// plan makes labels part of the run.
func (r *run) plan(p Plan) {
	labels := p.Labels()
	r.progress.add(labels)
	r.Journal.Plan(labels...)
}

// launch plans lanes and starts them all, but for those that come last; each waits for its stages.
func (r *run) launch(ctx context.Context, p Plan) {
	r.plan(p)
	var now []Lane
	for _, l := range p.Lanes {
		if l.Stage == stageLast {
			r.last = append(r.last, l)
		} else {
			now = append(now, l)
		}
	}
	r.stages.enter(now)
	for _, l := range now {
		r.lanes.Add(1)
		go func() {
			defer r.lanes.Done()
			defer r.stages.leave(l.Stage)
			r.stages.wait(ctx, l.After...)
			for _, label := range l.Labels {
				r.ask(ctx, label, l.rank())
			}
		}()
	}
}

// finish asks what comes last of all, one label after the other.
func (r *run) finish(ctx context.Context) {
	for _, l := range r.last {
		for _, label := range l.Labels {
			r.ask(ctx, label, l.rank())
		}
	}
}

// ask sends one label or records why not. A probe that fails on what a node sent must not take the run with it.
func (r *run) ask(ctx context.Context, label exchange.Label, of rank) {
	defer r.count(label)
	defer func() {
		if fault := recover(); fault != nil {
			r.skip(label, cutShort("this probe failed inside rin: %s", r.Redactor.Text(fmt.Sprint(fault))))
		}
	}()
	if !r.queue.take(ctx, of) {
		r.skip(label, cutShort("the run ended first: %v", context.Cause(ctx)))
		return
	}
	defer r.queue.give()
	if !r.wanted(label) {
		r.skip(label, notApplicable("it is not part of this partial run"))
		return
	}
	p := r.probeOf(label)
	if p.greet != nil {
		r.greet(ctx, label, p)
		return
	}
	ask, reason := p.prepare(ctx)
	if reason != nil {
		r.skip(label, reason)
		return
	}
	ask.Label, ask.Limit = label, limitOf(label)
	answer := r.recorder.Send(ctx, ask)
	r.facts.with(func(f *facts) {
		f.statuses[label] = answer.Status
		if failure := answer.Failure(); failure != nil && failure.Kind == exchange.FailureConnect {
			f.unconnected[label] = true
		}
	})
	if p.learn != nil {
		p.learn(answer)
	}
}

// greet makes the handshake of a label or records why not.
func (r *run) greet(ctx context.Context, label exchange.Label, p probe) {
	greeting, reason := p.greet()
	if reason != nil {
		r.skip(label, reason)
		return
	}
	greeting.Label = label
	r.recorder.Handshake(ctx, greeting)
}

// wanted reports whether a partial run needs the label: what discovery stands on, and what was chosen.
func (r *run) wanted(label exchange.Label) bool {
	switch label.Case() {
	case exchange.OK, exchange.NoToken, exchange.OKAfterIDOnly:
		return true
	}
	return len(r.Wanted) == 0 || slices.ContainsFunc(r.Wanted, func(w exchange.Label) bool {
		return w == exchange.WholeRun || w == label || w.Case() == label.Case() && r.mayHold(label.Resource(), w.Resource())
	})
}

// mayHold reports whether a resource holds a role as far as is known. The evidence tells the roles at the end of discovery only.
func (r *run) mayHold(name, role exchange.Resource) bool {
	if role == exchange.ProbeTarget {
		r.facts.mu.Lock()
		defer r.facts.mu.Unlock()
		return r.facts.protected == "" || r.facts.protected == name
	}
	if !isOperation(name) {
		return false
	}
	switch role {
	case exchange.ListOperation:
		return name == exchange.OperationResource(r.node.List)
	case exchange.DetailOperation:
		return name == exchange.OperationResource(r.node.Detail)
	}
	return role == exchange.EveryOperation
}

// isOperation reports the resource of an operation; those are asked only once the document is read.
func isOperation(name exchange.Resource) bool {
	return strings.HasPrefix(string(name), string(exchange.OperationResource("")))
}

// smallAnswer bounds the body of every answer but the ones that carry the node's document and data.
const smallAnswer = 4 << 20

// limitOf is the read limit of a label, 0 for the recorder's own.
func limitOf(label exchange.Label) int64 {
	if label.Case() == exchange.OK && label.Resource() != exchange.TokenEndpoint && label.Resource() != exchange.Info {
		return 0
	}
	return smallAnswer
}

func (r *run) skip(label exchange.Label, why *unsent) {
	r.Journal.Skip(label, why.kind, r.Redactor.Text(why.because))
}

// sweep gives every planned label an end; cause is why the run never began, nil otherwise.
func (r *run) sweep(cause error) {
	because := "nothing that it builds on was found"
	if cause != nil {
		because = cause.Error()
	}
	for _, label := range r.Journal.Log().Planned {
		r.skip(label, unmet("%s", because)) // does nothing for a label that has ended
		r.count(label)
	}
}

// progress counts the labels that have ended.
type progress struct {
	mu      sync.Mutex
	planned map[exchange.Label]bool // true when ended
	done    int
}

func (p *progress) add(labels []exchange.Label) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.planned == nil {
		p.planned = map[exchange.Label]bool{}
	}
	for _, l := range labels {
		if _, known := p.planned[l]; !known {
			p.planned[l] = false
		}
	}
}

// count tells the caller of the run that a label has ended.
func (r *run) count(label exchange.Label) {
	r.progress.mu.Lock()
	defer r.progress.mu.Unlock()
	if r.progress.planned[label] {
		return
	}
	r.progress.planned[label] = true
	r.progress.done++
	r.Progress(r.progress.done, len(r.progress.planned), label)
}
