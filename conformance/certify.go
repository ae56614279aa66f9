// Package conformance certifies a live research-information node: against its own OpenAPI document, the network's interface document,
// and the OAuth and bearer rules.
//
// The way of a certification, and the package of each step:
//
//	target      which node, with whose credentials, how politely
//	discover    registry -> token -> info -> document -> operations
//	probe       provokes exchanges in lanes, and never judges
//	exchange    what was said, as data without secrets: the evidence
//	openapi     what the node's document says of its answers
//	requirement the catalogue: pure checks over evidence
//	verdict     judgements -> outcome of the profile
//	report      the verdict in every format
//
// [Certify] walks that way once; [Judge] walks its second half over recorded evidence. Session joins the parts that talk to the
// node, suite runs the catalogue under Ginkgo while evidence arrives, and worker does both in a child process, because
// everything a node sends is hostile.
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

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
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
	Baseline *verdict.Baseline
}

// Result is a certification with the evidence that it rests on.
type Result struct {
	Report report.Report
	Log    *evidence.Log
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
func Judge(log *evidence.Log, suite string) report.Report { return JudgeKnowing(nil, log, suite) }

// JudgeKnowing is [Judge] for an operator who knows of some failures; a nil baseline is none.
func JudgeKnowing(known *verdict.Baseline, log *evidence.Log, suite string) report.Report {
	log = probe.WithWords(log)
	catalogue := requirement.Catalogue()
	judgements := requirement.JudgeAll(catalogue, requirement.Read(log))
	return report.New(verdict.Decide(catalogue, judgements, log, known), log, suite)
}

// inProcess gathers evidence here.
func inProcess(ctx context.Context, t target.Target, o Options) (*evidence.Log, string, error) {
	var recorded io.Writer
	if o.Evidence != "" {
		file, err := create(o.Evidence)
		if err != nil {
			return nil, "", err
		}
		defer file.Close() // the journal has told of every write
		recorded = file
	}
	run, err := worker.NewSession(worker.SessionOptions{
		Target: t, Suite: o.Suite, Evidence: recorded, Clock: o.Clock,
		Planned: func(budget int, at target.Politeness) {
			o.Heard(worker.Event{Kind: worker.Planned, Budget: budget, Politeness: &at})
		},
		Progress: func(done, planned int, label evidence.Label) {
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
func inWorker(ctx context.Context, t target.Target, o Options) (*evidence.Log, string, error) {
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
	end, err := worker.Run(ctx, *o.Worker, job, worker.Redactor(t).Bytes, o.Heard)
	if err != nil {
		return nil, "", err
	}
	if at, err := file.Stat(); err == nil && at.Size() == 0 {
		return nil, "", fmt.Errorf("nothing was recorded: %s%s", cmp.Or(end.Cause, "the worker wrote no evidence"), said(end.Stderr))
	}
	// What was recorded until a child's early end is kept, and says why it ends.
	log, err := evidence.Repair(file, end.Cause)
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
