package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/baseline"
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
	// Clock tells the time of a run in this process; nil is the machine's. A worker has its own.
	Clock func() time.Time
	// Heard is called with each event while evidence is gathered; it may be nil.
	Heard func(worker.Event)
	// Baseline lists failures that the operator knows of; nil for none. A run with one is never a certificate.
	Baseline *baseline.Baseline
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
	log, stderr, err := gather(ctx, t, o)
	if err != nil {
		return Result{}, err
	}
	return Result{Report: JudgeKnowing(o.Baseline, log, o.Suite), Log: log, Stderr: stderr}, nil
}

// Judge judges recorded evidence for the profile that it names. It is a pure function: the same evidence gives the same report.
func Judge(log *exchange.Log, suite string) report.Report { return JudgeKnowing(nil, log, suite) }

// JudgeKnowing is [Judge] for an operator who knows of some failures; a nil baseline is none.
func JudgeKnowing(known *baseline.Baseline, log *exchange.Log, suite string) report.Report {
	catalogue := requirement.Catalogue()
	judgements := requirement.Judge(catalogue, requirement.Read(log))
	return report.New(verdict.DecideKnowing(known, catalogue, judgements, log), log, suite)
}

// inProcess gathers evidence here.
func inProcess(ctx context.Context, t target.Target, o Options) (*exchange.Log, string, error) {
	var evidence io.Writer
	if o.Evidence != "" {
		file, err := create(o.Evidence)
		if err != nil {
			return nil, "", err
		}
		defer file.Close() // the journal has told of every write
		evidence = file
	}
	run, err := session.New(session.Options{
		Target: t, Suite: o.Suite, Evidence: evidence, Clock: o.Clock,
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
	return run.Log(), "", nil
}

// grace is what the child has after its own deadline to end by itself.
const grace = 5 * time.Second

// inWorker gathers evidence in a child process.
func inWorker(ctx context.Context, t target.Target, o Options) (*exchange.Log, string, error) {
	if o.Evidence == "" {
		return nil, "", errors.New("a worker needs a path for the evidence file (hint: set Options.Evidence)")
	}
	// The evidence of an earlier run must not be taken for that of a child that died too soon.
	file, err := create(o.Evidence)
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	// The child stops by itself at the deadline; this one is for a child that cannot.
	ctx, cancel := context.WithTimeoutCause(ctx, t.Defaults().Politeness.Deadline+grace, errors.New("the deadline passed"))
	defer cancel()
	job := worker.Job{Target: t, Evidence: o.Evidence, Suite: o.Suite, Memory: worker.DefaultMemory}
	end, err := worker.Run(ctx, *o.Worker, job, session.Redactor(t).Bytes, o.Heard)
	if err != nil {
		return nil, "", err
	}
	if at, err := file.Stat(); err == nil && at.Size() == 0 {
		return nil, "", fmt.Errorf("nothing was recorded: %s%s", cmp.Or(end.Cause, "the worker wrote no evidence"), said(end.Stderr))
	}
	// What was recorded until a child's early end is kept, and says why it ends.
	log, err := exchange.Cut(file, end.Cause)
	if err != nil {
		return nil, "", fmt.Errorf("read the evidence of this run: %w", err)
	}
	return log, end.Stderr, nil
}

// create makes an empty evidence file that only its owner reads.
func create(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the evidence file: %w", err)
	}
	return file, nil
}

// said quotes the end of a worker's stderr, which is short for a cause and long for a crash.
func said(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if lines[0] == "" {
		return ""
	}
	return ": " + strings.Join(lines[:min(len(lines), 5)], "; ")
}
