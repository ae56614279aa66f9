package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/session"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/conformance/worker"
)

// Options choose how a certification runs. The zero value runs in this process and keeps the evidence in memory.
type Options struct {
	// Suite is the version of rin that evidence and report name.
	Suite string
	// Evidence is the path of the evidence file; the worker needs one.
	Evidence string
	// Worker starts the child process that talks to the node. Nil gathers in this process, for a node that you trust.
	Worker *worker.Command
	// Heard is called with each event while evidence is gathered; it may be nil.
	Heard func(worker.Event)
}

// Result is a certification with the evidence that it rests on.
type Result struct {
	Report report.Report
	Log    *exchange.Log
	// Stderr is what the worker wrote beside its events, redacted; empty in a good run.
	Stderr string
}

// Certify tests the node once and judges what was seen. The error is about the target or this machine; whatever the node
// did is in the result.
func Certify(ctx context.Context, t target.Target, o Options) (Result, error) {
	if err := t.Defaults().Validate(); err != nil {
		return Result{}, err
	}
	if o.Heard == nil {
		o.Heard = func(worker.Event) {}
	}
	gather := inProcess
	if o.Worker != nil {
		gather = inWorker
	}
	evidence, stderr, err := gather(ctx, t, o)
	if err != nil {
		return Result{}, err
	}
	log, err := exchange.ReadLog(evidence)
	if err != nil {
		return Result{}, fmt.Errorf("read the evidence of this run: %w", err)
	}
	return Result{Report: Judge(log, o.Suite), Log: log, Stderr: stderr}, nil
}

// Judge judges recorded evidence for the profile that it names. It is a pure function: the same evidence gives the same report.
func Judge(log *exchange.Log, suite string) report.Report {
	catalogue := requirement.Catalogue()
	judgements := requirement.Judge(catalogue, requirement.Read(log))
	return report.New(verdict.Decide(catalogue, judgements, log), log, suite)
}

// inProcess gathers evidence here.
func inProcess(ctx context.Context, t target.Target, o Options) (io.Reader, string, error) {
	evidence := &bytes.Buffer{}
	run, err := session.New(session.Options{
		Target: t, Suite: o.Suite, Evidence: evidence,
		Planned: func(budget int, at target.Politeness) {
			o.Heard(worker.Event{Kind: worker.Planned, Budget: budget, Politeness: &at})
		},
		Progress: func(done, planned int, label exchange.Label) {
			o.Heard(worker.Event{Kind: worker.Progress, Done: done, Planned: planned, Label: label})
		},
	})
	if err != nil {
		return nil, "", err
	}
	if err := run.Run(ctx); err != nil {
		return nil, "", err
	}
	if o.Evidence != "" {
		if err := os.WriteFile(o.Evidence, evidence.Bytes(), 0o600); err != nil {
			return nil, "", fmt.Errorf("write the evidence file: %w", err)
		}
	}
	return evidence, "", nil
}

// grace is what the child has after its own deadline to end by itself.
const grace = 5 * time.Second

// inWorker gathers evidence in a child process.
func inWorker(ctx context.Context, t target.Target, o Options) (io.Reader, string, error) {
	if o.Evidence == "" {
		return nil, "", errors.New("a worker needs a path for the evidence file; hint: set Options.Evidence")
	}
	// The child stops by itself at the deadline; this one is for a child that cannot.
	ctx, cancel := context.WithTimeoutCause(ctx, t.Defaults().Politeness.Deadline+grace, errors.New("the deadline passed"))
	defer cancel()
	job := worker.Job{Target: t, Evidence: o.Evidence, Suite: o.Suite, Memory: worker.DefaultMemory}
	end, err := worker.Run(ctx, *o.Worker, job, session.Redactor(t).Bytes, o.Heard)
	if err != nil {
		return nil, "", err
	}
	evidence, err := os.ReadFile(o.Evidence)
	if err != nil {
		return nil, "", fmt.Errorf("read the evidence file: %w", errors.Join(err, errors.New(end.Cause), errors.New(end.Stderr)))
	}
	if !end.Finished {
		// What was recorded until then is kept, and says why it ends.
		if evidence, err = exchange.Cut(evidence, end.Cause); err == nil {
			err = os.WriteFile(o.Evidence, evidence, 0o600)
		}
		if err != nil {
			return nil, "", fmt.Errorf("close the evidence file: %w", err)
		}
	}
	return bytes.NewReader(evidence), end.Stderr, nil
}
