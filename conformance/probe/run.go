// Package probe sends a node every request that a certification needs, and records the answers. It never judges.
//
// The requests are rows of one table, see cases.go. A row has the label in the evidence, the words in reports, when the request is planned, and how it is
// sent. A requirement names the labels that it needs. Package requirement imports no network and so cannot read the table: each exchange records the words
// of its row, and reports take them from there. [WithWords] adds them to older evidence, so that it gives the same report. To add a request, add a row to
// the file that fits (tokens.go, bearer.go, hygiene.go …) and its sender below; the table is the only list of requests.
//
// A run is a [Plan]: lanes of requests. Requests of one lane are sent one after the other, lanes run concurrently, and a lane starts when the stages that it
// waits for have ended. Plans are pure functions of the target and of the node's document, so the number of requests is known before the first one. A row
// decides on recorded facts only ("there is a token"); a request that cannot be sent is recorded as not sent, with the reason. Every planned label ends as
// answered, failed or not sent, also if the run ends early.
//
// Token requests of the first client come before the first authorized call, and the run continues with the token of the last one, the session token. That
// request is sent alone, because the authorization server may revoke a token with each new one. On each protected URL the anonymous call comes before the
// first authorized one (shared caches, RFC 9111 §3.5), and forged credentials come after it, since a node may ban a client for them.
package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// Inputs are what the command passes to the probes: the target, and the clock and randomness of the machine. As JSON they are part of the job of a child
// process, which has a clock and randomness of its own.
type Inputs struct {
	Target target.Target `json:"target"`
	// Suite is the version of rin that evidence and report name.
	Suite string `json:"suite"`

	Clock func() time.Time `json:"-"`
	// Random yields the seed of the run, unless the target has one.
	Random io.Reader `json:"-"`
	// Pause waits for d. If ctx ends earlier, it returns the cause of ctx. If Pause is nil, the run waits in real time.
	Pause func(ctx context.Context, d time.Duration) error `json:"-"`
}

// Options are the options of a run. All are required unless their comment says otherwise.
type Options struct {
	Inputs
	Journal  *evidence.Journal
	Redactor *redact.Redactor
	// Recorder opens the recorder for a target with a budget of requests. It is called when the node's URLs are known, because the origins that may receive a
	// token and the rate of requests depend on them. It is also called once before, to read a registry.
	Recorder func(t target.Target, budget int) (*recorder.Recorder, error)
	// Guard reduces a document from the node to parts that are safe to read.
	Guard func(body []byte) evidence.Document
	// Annotator returns a function that compares answers with a document; optional. Without it, or if it fails, there are no schema findings.
	Annotator func(evidence.Document) (func(evidence.Exchange, openapi.Operation) evidence.SchemaFindings, error)
	// Wanted restricts a partial run to these labels, which may have roles, and to the requests that discovery needs. If it is empty, the run is complete.
	Wanted []evidence.Label
	// Planned is called before the first request to the node, with the number of requests until its document is read, and again after that, with the budget of
	// the whole run; at limits the rate. Optional.
	Planned func(budget int, at target.Politeness)
	// Chosen is called with the profile that rin chose, and the reason; and again if the node has no document. Optional.
	Chosen func(profile, reason string)
	// Waiting is called before a lane waits, with the duration and the cause. Optional.
	Waiting func(d time.Duration, cause string)
	// Progress is called when a label has ended; done is how many of the planned labels have ended. It is called from one goroutine at a time. The number of
	// planned labels may grow. Optional.
	Progress func(done, planned int, label evidence.Label)
}

func (o Options) complete() (Options, error) {
	var faults []error
	for _, need := range []struct {
		missing bool
		what    string
	}{
		{o.Journal == nil, "a journal"}, {o.Redactor == nil, "a redactor"}, {o.Recorder == nil, "a recorder"},
		{o.Clock == nil, "a clock"}, {o.Random == nil, "a source of randomness"}, {o.Guard == nil, "a guard"},
	} {
		if need.missing {
			faults = append(faults, errors.New("probe: expected "+need.what))
		}
	}
	if o.Pause == nil {
		o.Pause = recorder.Pause
	}
	if o.Planned == nil {
		o.Planned = func(int, target.Politeness) {}
	}
	if o.Progress == nil {
		o.Progress = func(int, int, evidence.Label) {}
	}
	return o, errors.Join(faults...)
}

// errDeadline is the cause if a run takes longer than the operator allows.
var errDeadline = errors.New("the deadline of the run passed")

// Run discovers the node and sends it every planned request. It always ends the journal. Whatever the node does is evidence; an error is about the
// options or the journal only.
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
	if o.Target.Seed == 0 {
		if o.Target.Seed, err = draw.NewSeed(o.Random); err != nil {
			return err
		}
	}
	r := &run{Options: o, planned: o.Target, started: o.Clock(), drawn: drawValues(o.Target.Seed, o.Target.Credentials), budget: Budget(o.Target), stages: newStages(), facts: newFacts(), unrenewed: map[string]bool{}, ownKeys: map[string]tokenforge.Key{}}
	cause := r.start(ctx)
	r.lanes.Wait()
	if cause == nil {
		r.finish(ctx)
	}
	if r.recorder != nil {
		r.recorder.Close()
	}
	r.sweep(cause)
	ended := evidence.Ended{Complete: cause == nil && ctx.Err() == nil, Requests: r.sent()}
	if r.recorder != nil {
		if s := r.recorder.Slowdown(); s.Refusals > 0 {
			ended.Slowdown = &s
		}
	}
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
	var problem *target.Problem
	if r.recorder == nil && errors.As(cause, &problem) && (problem.Flag == "--node" || problem.Flag == "--blind") {
		return problem
	}
	return nil
}

// run is the state of a run.
type run struct {
	Options
	drawn    drawn
	started  time.Time
	budget   int
	entry    RegistryEntry // the node's entry in the registry, if there is one
	recorder *recorder.Recorder
	before   int // how many requests the recorder of the registry sent
	// entryRoom is the part of the budget for the URLs of the registry entry, if the operator gave other URLs.
	entryRoom int
	// renewing guards the renewal of tokens; unrenewed holds the names of those whose renewal failed.
	renewing  sync.Mutex
	unrenewed map[string]bool

	// specDerived is true if the specification URL was derived from the info URL.
	specDerived bool
	// baseGiven is true if the operator gave the base URL.
	baseGiven bool

	// node and judge are set before the first lane of an operation starts.
	node   Node
	judge  func(evidence.Exchange, openapi.Operation) evidence.SchemaFindings
	queue  *queue
	facts  *facts
	stages *stages
	lanes  sync.WaitGroup
	last   []Lane // the lanes that run after all others have ended
	// planned is the target that discovery plans with. Its profile may change during discovery. Only discovery reads planned; requests read Target.
	planned target.Target
	// forging guards ownKeys, which are the keys of the run by algorithm.
	forging  sync.Mutex
	ownKeys  map[string]tokenforge.Key
	progress progress
}

// start starts the lanes and returns when everything is planned. An error means that the run could not begin, or that discovery failed.
func (r *run) start(ctx context.Context) error {
	r.register()
	r.Journal.Begin(r.header())
	plan := ForTarget(r.Target)
	r.plan(plan)
	t, err := r.locate(ctx)
	if err != nil {
		return err
	}
	r.specDerived, r.baseGiven = r.Target.SpecURL == "" && t.SpecURL != "", r.Target.BaseURL != ""
	r.Target, r.planned = t, t
	r.reportProfile()
	// Now that the URLs are known, more can be planned.
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
	r.queue = newQueue(t.Politeness.Concurrency, t.Seed.Source("order"))
	r.facts.urls[evidence.Info] = Resource{Name: evidence.Info, URL: t.InfoURL, JSONType: true}
	r.node = NewNode(t, nil)
	r.launch(ctx, plan)
	return r.discover(ctx)
}

// reportProfile reports a profile that the operator left to rin.
func (r *run) reportProfile() {
	if r.Chosen != nil && r.planned.ProfileReason != "" {
		r.Chosen(r.planned.Profile, r.Redactor.Text(r.planned.ProfileReason))
	}
}

// register registers the secrets of the run with the redactor before anything is sent.
func (r *run) register() {
	for _, s := range Secrets(r.Target) {
		r.Redactor.Secret(s.Name, s.Value.Reveal())
	}
	r.Redactor.Secret(UnknownSecret, r.drawn.unknownSecret)
}

func (r *run) header() evidence.Run {
	t := r.planned
	run := evidence.Run{
		Suite: r.Suite, Started: r.started, Operator: r.Redactor.Text(t.Operator), Profile: t.Profile,
		TokenURL: r.Redactor.Text(t.TokenURL), InfoURL: r.Redactor.Text(t.InfoURL), SpecURL: r.Redactor.Text(t.SpecURL), BaseURL: r.Redactor.Text(t.BaseURL),
		Registry: r.Redactor.Text(t.Registry), NodeID: t.NodeID, ClientID: t.Credentials.ClientID,
		Loopback: t.Loopback(), Authorities: len(t.CACert) > 0, Second: t.Second != nil, Partial: restriction(t), Only: t.Only, Failed: t.Failed, ShortSecret: hasShortSecret(t), Budget: r.budget,
		Other: t.Other != nil, Spare: t.Spare != nil, ExpiredToken: !t.ExpiredToken.IsZero(), Wait: t.Patience(), TokenInURL: t.AllowTokenInURL, SecretInURL: t.AllowSecretInURL, Blind: t.Blind,
	}
	run.DocumentFile = t.DocumentFile
	for _, g := range t.Gaps {
		run.Gaps = append(run.Gaps, evidence.Gap{Operation: r.Redactor.Text(g.Operation), Reason: r.Redactor.Text(g.Reason)})
	}
	run.Seed, run.Effort, run.Families = t.Seed.String(), string(t.Effort), families(t)
	if t.Effort == draw.Deep {
		run.DeepBudget = t.Budget
	}
	run.Values = slices.Sorted(maps.Keys(t.Values))
	run.ProfileReason, run.SpecDerived = r.Redactor.Text(t.ProfileReason), r.specDerived
	run.BaseGiven = r.baseGiven
	run.ListOperation, run.DetailOperation = r.Redactor.Text(t.ListOperation), r.Redactor.Text(t.DetailOperation)
	run.AuthoritiesDigest = evidence.DigestOf(t.CACert)
	for _, origin := range t.AllowOrigins {
		run.AllowedOrigins = append(run.AllowedOrigins, r.Redactor.Text(origin))
	}
	if t.Staging != nil {
		run.StagingTokenURL = r.Redactor.Text(t.Staging.TokenURL)
	}
	if a := t.BruteForce; a != nil {
		run.BruteForce = &evidence.Attestation{Holds: a.Holds, How: r.Redactor.Text(a.How)}
	}
	return run
}

// hasShortSecret reports whether a client secret is so short that the redactor treats it as an ordinary word.
func hasShortSecret(t target.Target) bool {
	short := func(s target.Secret) bool { return len(s.Reveal()) < redact.ShortSecret }
	return short(t.Credentials.ClientSecret) || t.Second != nil && short(t.Second.ClientSecret) || t.Spare != nil && short(t.Spare.ClientSecret)
}

func restriction(t target.Target) string {
	switch {
	case len(t.Only) > 0:
		return cmp.Or(t.ChosenBy, "--only")
	case t.Quick():
		return "--effort quick"
	}
	return ""
}

func (r *run) sent() int {
	if r.recorder == nil {
		return r.before
	}
	return r.before + r.recorder.Sent()
}
