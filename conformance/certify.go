// Package conformance certifies a live research-information node: against its own OpenAPI document, the network's interface document,
// and the OAuth and bearer rules.
//
// The steps of a certification, and the package of each:
//
//	target      which node, with whose credentials, how politely
//	probe       finds the parts of the node, plans and sends the requests of the table of cases, and never judges
//	recorder    sends them and records the answers
//	evidence    the exchanges, as data without secrets
//	openapi     the node's document, and what it declares about the answers
//	requirement the catalogue: pure checks over evidence
//	verdict     judgements -> outcome of the profile
//	report      the verdict in every format
//
// [Certify] takes these steps once; [Judge] takes those from openapi on, with recorded evidence. Package suite runs the catalogue under Ginkgo while
// evidence arrives, and suite/worker does that in a child process, because everything a node sends is hostile.
package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// Options are the options of one run. [Certify] sets the target. The zero value runs in this process and keeps the evidence in memory.
type Options = worker.Options

// Inputs are the options that are handed on to the probes.
type Inputs = probe.Inputs

// Result is a certification with the evidence that it rests on.
type Result struct {
	Report report.Report
	Log    *evidence.Log
	// Stderr is what the worker wrote to stderr, redacted; empty in a good run.
	Stderr string
}

// Certify tests the node once and judges what was seen. The error is about the target or this machine; whatever the node
// did is in the result.
func Certify(ctx context.Context, t target.Target, o Options) (Result, error) {
	if err := t.Defaults().Validate(); err != nil {
		return Result{}, err
	}
	o.Target = t
	if o.Worker == nil {
		log, err := gatherInProcess(ctx, o)
		if err != nil {
			return Result{}, err
		}
		return Result{Report: JudgeWithBaseline(o.Baseline, log, o.Suite), Log: log}, nil
	}
	// The child judges the requirements of the profile; its judgements are those of the run.
	judged, next := map[requirement.ID]requirement.Judgement{}, o.OnEvent
	o.OnEvent = func(e worker.Event) {
		if e.Kind == worker.Judged {
			judged[e.ID] = *e.Judgement
		}
		if next != nil {
			next(e)
		}
	}
	log, stderr, err := gatherInWorker(ctx, o)
	if err != nil {
		return Result{}, err
	}
	return Result{Report: decide(o.Baseline, log, judged, o.Suite), Log: log, Stderr: stderr}, nil
}

// Judge judges recorded evidence for the profile that it names. It is a pure function: the same evidence gives the same report.
func Judge(log *evidence.Log, suite string) report.Report { return JudgeWithBaseline(nil, log, suite) }

// JudgeWithBaseline is [Judge] with the failures that the operator knows of; baseline may be nil.
func JudgeWithBaseline(baseline *verdict.Baseline, log *evidence.Log, suite string) report.Report {
	return decide(baseline, log, nil, suite)
}

// Try judges recorded evidence by a catalogue that is not in force. It has the requirements of this version, but the level of each, and the profile from
// which it applies, may differ.
func Try(catalogue []requirement.Requirement, log *evidence.Log) verdict.Verdict {
	log = probe.WithWords(log)
	return verdict.Decide(catalogue, requirement.JudgeRest(catalogue, requirement.Read(log), nil), log, nil)
}

// decide reports on a run. It judges the requirements that are not in judged: those outside the profile, and those that a child did not reach before it died.
func decide(known *verdict.Baseline, log *evidence.Log, judged map[requirement.ID]requirement.Judgement, suite string) report.Report {
	log = probe.WithWords(log) // old evidence lacks the descriptions of its requests
	catalogue := requirement.Catalogue()
	read := requirement.Read(log)
	judgements := requirement.JudgeRest(catalogue, read, judged)
	return report.New(verdict.Decide(catalogue, judgements, log, known), read, suite)
}

// gatherInProcess gathers evidence in this process.
func gatherInProcess(ctx context.Context, o Options) (*evidence.Log, error) {
	var recorded io.Writer
	var file *recording
	if o.Evidence != "" {
		var err error
		if file, err = newRecording(o.Evidence); err != nil {
			return nil, err
		}
		defer file.end() // the journal reports errors of writing
		recorded = file
	}
	run, err := worker.NewSession(o, recorded)
	if err != nil {
		return nil, err
	}
	if err := run.Run(ctx); err != nil {
		return nil, err
	}
	if file != nil {
		if err := file.place(); err != nil {
			return nil, err
		}
	}
	return run.Log(), nil
}

// grace is the time that the child has to end by itself after its own deadline.
const grace = 5 * time.Second

// gatherInWorker gathers evidence in a child process.
func gatherInWorker(ctx context.Context, o Options) (*evidence.Log, string, error) {
	if o.Evidence == "" {
		return nil, "", errors.New("a worker needs a path for the evidence file (hint: set Options.Evidence)")
	}
	file, err := newRecording(o.Evidence)
	if err != nil {
		return nil, "", err
	}
	defer file.end()
	var rejected *target.Problem
	next := o.OnEvent
	o.Evidence = file.Name()
	o.OnEvent = func(e worker.Event) {
		switch e.Kind {
		case worker.Planned:
			_ = file.place() // if the system cannot rename an open file, the end of the run tries again
		case worker.Rejected:
			rejected = e.Problem
		}
		if next != nil {
			next(e)
		}
	}
	// The child stops by itself at its deadline; this later deadline is for a child that cannot.
	ctx, cancel := context.WithTimeoutCause(ctx, o.Target.Defaults().Politeness.Deadline+grace, errors.New("the deadline passed"))
	defer cancel()
	end, err := worker.Run(ctx, o)
	switch {
	case err != nil:
		return nil, "", err
	case rejected != nil:
		return nil, "", rejected
	}
	if at, err := file.Stat(); err == nil && at.Size() == 0 {
		return nil, "", fmt.Errorf("nothing was recorded: %s%s", cmp.Or(end.Cause, "the worker wrote no evidence"), stderrExcerpt(end.Stderr))
	}
	// If the child ended early, its evidence is kept, with the cause of the end.
	log, err := evidence.Repair(file, end.Cause)
	if err != nil {
		return nil, "", fmt.Errorf("read the evidence of this run: %w", err)
	}
	return log, end.Stderr, file.place()
}

// recording is the evidence file of a run, which only its owner can read. It replaces an earlier file only once the node is found, so
// that a mistyped node id keeps the evidence of the earlier run.
type recording struct {
	*os.File
	path   string
	placed bool
}

// newRecording creates an empty evidence file beside the path.
func newRecording(path string) (*recording, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return nil, fmt.Errorf("create the evidence file: %w", err)
	}
	r := &recording{File: file, path: path}
	r.removeLeftovers()
	return r, nil
}

// abandonedAfter limits how much older than this run's file an unplaced file may be before it counts as left by a killed run. A run places its file
// after it has read the registry, which takes less time.
const abandonedAfter = 10 * time.Minute

// removeLeftovers removes the files of runs that were killed before their node was found. What cannot be removed does no harm.
func (r *recording) removeLeftovers() {
	own, err := r.Stat()
	if err != nil {
		return
	}
	dir, prefix := filepath.Dir(r.path), "."+filepath.Base(r.path)+"-"
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasPrefix(e.Name(), prefix) && own.ModTime().Sub(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// place gives the file its path.
func (r *recording) place() error {
	if r.placed {
		return nil
	}
	if err := os.Rename(r.Name(), r.path); err != nil {
		return fmt.Errorf("create the evidence file: %w", err)
	}
	r.placed = true
	return nil
}

// end closes the file, and removes it unless it was placed.
func (r *recording) end() {
	_ = r.Close()
	if !r.placed {
		_ = os.Remove(r.Name())
	}
}

// stderrExcerpt quotes the first lines of what a worker wrote to stderr. They hold a whole error message, or the beginning of a stack trace.
func stderrExcerpt(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if lines[0] == "" {
		return ""
	}
	return ": " + strings.Join(lines[:min(len(lines), 5)], "; ")
}
