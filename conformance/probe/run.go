package probe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
	"github.com/rin-network/rin/conformance/forge"
	"github.com/rin-network/rin/conformance/target"
)

// errDeadline is the cause of a run that took longer than its operator allows.
var errDeadline = errors.New("the deadline of the run passed")

// Run discovers the node and asks it everything that was planned. It ends the journal in any case. Whatever the node does is
// evidence; the error is about the options or the journal alone.
func Run(ctx context.Context, o Options) error {
	o, err := o.complete()
	if err != nil {
		return err
	}
	o.Target = o.Target.Defaults()
	if o.Target.Politeness.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Target.Politeness.Deadline, errDeadline)
		defer cancel()
	}
	values, err := draw(o.Target.Credentials.ClientSecret.Reveal(), o.Random)
	if err != nil {
		return err
	}
	r := &run{Options: o, started: o.Clock(), drawn: values, budget: Budget(o.Target), stages: newStages(), facts: newFacts()}
	cause := r.start(ctx)
	r.lanes.Wait()
	if cause == nil {
		r.finish(ctx)
	}
	if r.recorder != nil {
		r.recorder.Close()
	}
	r.sweep(cause)
	ended := exchange.Ended{Complete: cause == nil && ctx.Err() == nil, Requests: r.sent()}
	switch {
	case cause != nil:
		ended.Cause = o.Redactor.Text(cause.Error())
	case ctx.Err() != nil:
		ended.Cause = o.Redactor.Text(context.Cause(ctx).Error())
	}
	o.Journal.End(ended)
	if err := o.Journal.Err(); err != nil {
		return fmt.Errorf("keep the evidence of the run: %w", err)
	}
	return nil
}

// run is one run while it goes on.
type run struct {
	Options
	drawn    drawn
	started  time.Time
	budget   int
	entry    discover.Entry // the node's entry in the registry, if there is one
	recorder *record.Recorder
	before   int // requests of the recorder that read the registry
	// entryRoom is the part of the budget that the URLs of the registry entry take, where others were given.
	entryRoom int
	// renewing guards renewal of a client's token; unrenewed says that it failed.
	renewing                   sync.Mutex
	unrenewed, secondUnrenewed bool
	// node and judge are set before the first lane of an operation starts.
	node   discover.Node
	judge  func(exchange.Exchange, document.Operation) exchange.SchemaFindings
	queue  *queue
	facts  *facts
	stages *stages
	lanes  sync.WaitGroup
	last   []Lane // what is asked when all other lanes have ended
	// forging guards the keys of the run, by algorithm.
	forging  sync.Mutex
	ownKeys  map[string]forge.Key
	progress progress
}

// start brings the run on its way and returns when nothing more will be planned; an error means that there is no node to ask.
func (r *run) start(ctx context.Context) error {
	r.register()
	r.Journal.Begin(r.header())
	plan := ForTarget(r.Target)
	r.plan(plan)
	t, err := r.locate(ctx)
	if err != nil {
		return err
	}
	r.Target = t
	// More can be planned and counted now that the URLs are known; what is not planned by the second header never will be, see exchange.
	recorded := forEntry(t, r.entry)
	plan = plan.With(ForTarget(t)).With(recorded)
	r.entryRoom = 2 * recorded.Requests()
	r.budget = Budgeted(t, 0) + r.entryRoom
	r.plan(plan)
	r.Journal.Begin(r.header())
	r.Planned(r.budget, t.Politeness)
	r.recorder, err = r.Recorder(t, Budget(t)+r.entryRoom-r.before)
	if err != nil {
		return fmt.Errorf("prepare requests to %s: %w", t, err)
	}
	r.queue = newQueue(t.Politeness.Concurrency)
	r.facts.urls[exchange.Info] = discover.Resource{Name: exchange.Info, URL: t.InfoURL, JSONType: true}
	r.node = discover.NewNode(t, nil)
	r.launch(ctx, plan)
	return r.discover(ctx)
}

// register makes the secrets of the run known to the redactor before anything is sent.
func (r *run) register() {
	for _, s := range discover.Secrets(r.Target) {
		r.Redactor.Secret(s.Name, s.Value.Reveal())
	}
}

func (r *run) header() exchange.Run {
	t := r.Target
	run := exchange.Run{
		Suite: r.Suite, Started: r.started, Profile: t.Profile,
		TokenURL: r.Redactor.Text(t.TokenURL), InfoURL: r.Redactor.Text(t.InfoURL), SpecURL: r.Redactor.Text(t.SpecURL), BaseURL: r.Redactor.Text(t.BaseURL),
		Registry: r.Redactor.Text(t.Registry), NodeID: t.NodeID, ClientID: t.Credentials.ClientID,
		Loopback: t.Loopback(), Authorities: len(t.CACert) > 0, Second: t.Second != nil, Partial: partial(t), Only: t.Only, ShortSecret: shortSecret(t), Budget: r.budget,
		Other: t.Other != nil, ExpiredToken: !t.ExpiredToken.IsZero(), Wait: t.Patience(), TokenInURL: t.AllowTokenInURL, SecretInURL: t.AllowSecretInURL,
	}
	if t.Staging != nil {
		run.StagingTokenURL = r.Redactor.Text(t.Staging.TokenURL)
	}
	if a := t.BruteForce; a != nil {
		run.BruteForce = &exchange.Attestation{Holds: a.Holds, How: r.Redactor.Text(a.How)}
	}
	return run
}

// shortSecret reports a client secret that the redactor takes for a word of the language.
func shortSecret(t target.Target) bool {
	short := func(s target.Secret) bool { return len(s.Reveal()) < exchange.ShortSecret }
	return short(t.Credentials.ClientSecret) || t.Second != nil && short(t.Second.ClientSecret)
}

func partial(t target.Target) string {
	switch {
	case len(t.Only) > 0:
		return "--only"
	case t.Quick:
		return "--quick"
	}
	return ""
}

func (r *run) sent() int {
	if r.recorder == nil {
		return r.before
	}
	return r.before + r.recorder.Sent()
}
