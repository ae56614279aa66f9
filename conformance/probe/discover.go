package probe

import (
	"context"
	"fmt"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
)

// discover follows what becomes known of the node and starts the lanes that build on it, the operations first: they are the
// longest way. It returns when nothing more is to be planned.
// An error means that what the node sent was too much for rin; what was asked until then goes on.
func (r *run) discover(ctx context.Context) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("discovery failed inside rin: %v", fault)
		}
	}()
	var target exchange.Resource
	choose := func(name exchange.Resource) {
		target = name
		r.facts.with(func(f *facts) { f.protected = name })
		r.launch(ctx, r.unplanned(ForProbeTarget(r.Target, name)))
	}
	defer func() { r.Journal.Roles(r.roles(target)) }()
	r.stages.wait(ctx, anonymous(exchange.Info)) // first: it is the probe target of a run that is cut short
	operations := r.discoverOperations(ctx)
	r.stages.wait(ctx, opened(exchange.Info))
	info := exchange.Info
	if discover.InfoIsTarget(r.facts.status(info.With(exchange.NoToken)), r.facts.status(info.With(exchange.OK))) {
		choose(info) // the best there is: no need to wait for the operations
	}
	if wantsFunding(r.Target) {
		r.facts.mu.Lock()
		listed := len(r.facts.endpoints)
		r.facts.mu.Unlock()
		r.launch(ctx, ForEndpoints(listed, operations))
	}
	for _, o := range r.node.Executable {
		r.stages.wait(ctx, opened(exchange.OperationResource(o.Key)))
	}
	if target == "" {
		if found, ok := r.node.ProbeTarget(r.facts.status); ok {
			choose(found)
		}
	}
	return nil
}

// discoverOperations reads the document and starts the lanes of its operations. It returns the stages of their anonymous calls,
// which come before any other call of the same URL.
func (r *run) discoverOperations(ctx context.Context) []Stage {
	if !wantsFunding(r.Target) {
		return nil
	}
	r.stages.wait(ctx, anonymous(exchange.Specification))
	if !r.documentRead() {
		r.stages.wait(ctx, opened(exchange.Specification))
	}
	r.adopt()
	plan, left := ForDocument(r.node, Room(r.Target))
	r.announce(plan)
	r.plan(Plan{Lanes: []Lane{{Labels: left}}})
	for _, label := range left {
		r.skip(label, cutShort("the document describes more operations than the request budget of %d has room for", r.budget))
		r.count(label)
	}
	r.launch(ctx, plan)
	var out []Stage
	for _, o := range r.node.Executable {
		out = append(out, anonymous(exchange.OperationResource(o.Key)))
	}
	return out
}

// announce tells the budget of the whole run, now that its document is known, and keeps to it.
func (r *run) announce(forDocument Plan) {
	r.budget = Budgeted(r.Target, forDocument.Requests()) + r.entryRoom
	r.recorder.Limit(r.budget - r.before)
	r.Journal.Begin(r.header())
	if forDocument.Requests() > 0 {
		r.Planned(r.budget, r.Target.Politeness)
	}
}

// documentRead reports that a document was accepted by the guard.
func (r *run) documentRead() bool {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.document != nil && r.facts.document.Refused == ""
}

// unplanned is what of a plan is not part of the run yet.
func (r *run) unplanned(p Plan) Plan {
	r.progress.mu.Lock()
	defer r.progress.mu.Unlock()
	var out Plan
	for _, l := range p.Lanes {
		var labels []exchange.Label
		for _, label := range l.Labels {
			if _, known := r.progress.planned[label]; !known {
				labels = append(labels, label)
			}
		}
		if l.Labels = labels; len(labels) > 0 {
			out.Lanes = append(out.Lanes, l)
		}
	}
	return out
}
