package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
)

func certifyCommand(w environment) *cobra.Command {
	var flags certifyFlags
	cmd := &cobra.Command{
		Use:   "certify",
		Short: "Certify a live node",
		Long: `Certify tests one live node and judges what it answered. The node is named by
its registry entry, or by its URLs. Secrets are read from the environment, a
file or standard input; they never appear in a report.

With --baseline a run fails if a failure is not listed there, if a listed one
has passed, and if an entry has expired. Such a run never gives a certificate.

Exit codes: 0 certified (or a partial run in which nothing failed), 1 a gating
requirement failed, 2 usage, 3 inconclusive, 4 internal error.`,
		Example: `  # a node of the registry
  rin certify --registry https://registry.example/ris.json --node XA \
      --client-id my-client --client-secret env:MY_SECRET

  # a node that is not registered yet
  rin certify --token-url https://sso.example/oauth/token \
      --info-url https://api.example/ris/info/v1/oauth/info/ \
      --spec-url https://api.example/ris/funding/v3/api-docs \
      --client-id my-client --client-secret file:secret.txt --profile funding

  # run one failing requirement again, or all that did not pass
  rin certify ... --only BRR-02
  rin certify ... --rerun-failed rin-report/report.json

  # live with known failures for a while
  rin certify ... --write-baseline known.yaml
  rin certify ... --baseline known.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := flags.read(w, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			if t.ChosenBy != "" && !cmd.Flags().Changed("report-dir") {
				flags.output.dir += "-partial" // keeps the report of the whole run, which --rerun-failed reads
			}
			return certify(cmd, w, t, flags.output, flags.baseline, flags.history)
		},
	}
	setFlagGroups(cmd, flags.groups())
	cmd.MarkFlagsMutuallyExclusive("only", "rerun-failed") // both choose requirements
	return cmd
}

// parentMemory is the soft memory limit of this process while it reads evidence, in bytes.
const parentMemory = 400 << 20

// certify runs one certification, writes its files, prints the summary and returns the exit code as an error.
func certify(cmd *cobra.Command, w environment, t target.Target, output outputFlags, baseline baselineFlags, history string) error {
	if err := output.validate(); err != nil {
		return err
	}
	known, err := baseline.read(w)
	if err != nil {
		return err
	}
	cleanup, err := output.makeDir()
	if err != nil {
		return err
	}
	// Parent and child together stay under 512 MB, whatever the node sends.
	debug.SetMemoryLimit(parentMemory)
	process, err := workerCommandLine(w)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.err, "certifying the %s\n", t)
	progress := newProgress(w.err, displayOf(w, w.err, cmd))
	announced := false
	result, err := conformance.Certify(cmd.Context(), t, conformance.Options{
		Inputs:   conformance.Inputs{Suite: version()},
		Evidence: filepath.Join(output.dir, evidenceFile),
		Worker:   process,
		Baseline: known,
		OnEvent: func(e worker.Event) {
			switch e.Kind {
			case worker.Planned:
				load := budgetText(*e.Politeness, e.Budget)
				switch {
				case announced:
					load = "the document is read: " + load + ", in all"
				case t.Profile != string(requirement.Auth):
					load += ", until the node's document is read"
				}
				announced = true
				progress.say(load)
			case worker.Slowed:
				progress.say(e.Slowdown.String())
			case worker.Waiting:
				progress.wait(e.Wait, e.Cause)
			case worker.Chosen:
				progress.say(fmt.Sprintf("profile %s: %s (--profile chooses another)", e.Profile, e.Cause))
			case worker.Progress:
				progress.step(e.Done, e.Planned, string(e.Label))
			}
		},
	})
	progress.clear()
	if err != nil {
		cleanup()
		return runError(cmd.Context(), err)
	}
	if result.Stderr != "" {
		fmt.Fprintf(w.err, "the worker said:\n%s\n", report.PlainLines(result.Stderr))
	}
	if err := addHistory(history, t, result.Report); err != nil {
		return err
	}
	if note := unrepeatedNote(t.Labels, result.Log); note != "" {
		fmt.Fprintln(w.err, note)
	}
	if t.DocumentFile != nil && !output.annotates() {
		fmt.Fprintln(w.err, "--document was given and not used: only --format github and --format gitlab name its lines.")
	}
	outcome := conclude(cmd, w, result, output, baseline)
	if failed := slices.IndexFunc(result.Report.Requirements, func(q report.Requirement) bool { return q.Costs && q.Outcome == requirement.Fail }); failed >= 0 && slices.Contains(output.formats, "json") {
		fmt.Fprintf(w.err, "next:   rin explain %s says what this requirement asks for and how to fix the node;\n        then judge again what failed: --rerun-failed %s\n",
			result.Report.Requirements[failed].ID, filepath.Join(output.dir, "report.json"))
	}
	return outcome
}

// runError classifies the error of a run without a result.
func runError(ctx context.Context, err error) error {
	var problem *target.Problem
	switch {
	case errors.As(err, &problem):
		return usage(err, "see rin certify --help")
	case ctx.Err() != nil:
		return &exitError{code: exitInconclusive, err: err, hint: "the run was interrupted before anything was recorded; run it again"}
	}
	return internal(err)
}

// budgetText describes the load on the node before a run starts.
func budgetText(p target.Politeness, budget int) string {
	text := fmt.Sprintf("at most %s, %d at a time", evidence.Count(budget, "request"), p.Concurrency)
	if p.Rate > 0 {
		longest := time.Duration(float64(budget) / p.Rate * float64(time.Second))
		text += fmt.Sprintf(", %g a second: up to %s", p.Rate, longest.Round(time.Second))
	}
	return text
}

// conclude writes the files of a run, prints the summary and turns the decision into an exit code.
func conclude(cmd *cobra.Command, w environment, result conformance.Result, output outputFlags, baseline baselineFlags) error {
	r := result.Report
	if err := output.write(result); err != nil {
		return err
	}
	if err := baseline.write(w, r); err != nil {
		return err
	}
	s := displayOf(w, w.out, cmd)
	if err := report.WriteText(w.out, r, report.TextOptions{Width: s.width, Color: s.color}); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	for _, input := range r.Made.Unused {
		fmt.Fprintln(w.err, report.Plain(input))
	}
	if len(output.formats) > 0 {
		fmt.Fprintf(w.err, "report: %s\n", output.mainFile())
	}
	if cmd.Context().Err() != nil && errors.Is(cmd.Context().Err(), context.Canceled) {
		fmt.Fprintln(w.err, "hint: the run was interrupted; what was recorded until then is kept, and rin judge reads it")
	}
	if code := exitCode(r.Verdict); code != exitOK {
		return exitWith(code)
	}
	return nil
}

// exitCode returns the exit code of a verdict. Partial runs are judged by the same rules.
func exitCode(v report.Verdict) int {
	switch {
	case v.Failed:
		return exitNotCertified
	case v.Unsettled || v.Decision == verdict.Repeat:
		return exitInconclusive
	case v.Decision == verdict.Certified, v.Decision == verdict.Partial:
		return exitOK
	}
	return exitInternal
}

// baselineFlags hold the files of known failures.
type baselineFlags struct{ path, writePath string }

func (b *baselineFlags) register(f *pflag.FlagSet) {
	f.StringVar(&b.path, "baseline", "", "YAML file of known failures: fail on new, fixed and expired ones; never a certificate")
	f.StringVar(&b.writePath, "write-baseline", "", "write what failed to this file, as a baseline to complete")
}

// read returns the baseline, or nil if no file is named.
func (b baselineFlags) read(w environment) (*verdict.Baseline, error) {
	if b.path == "" {
		return nil, nil
	}
	data, err := w.readFile(b.path)
	if err != nil {
		return nil, usage(fmt.Errorf("--baseline: %w", err), "name a readable file; --write-baseline makes one")
	}
	known, err := verdict.ReadBaseline(data)
	if err != nil {
		hint := "fix the file; --write-baseline shows the format"
		var mistake *verdict.BaselineError
		if errors.As(err, &mistake) {
			hint = mistake.Hint
		}
		return nil, usage(fmt.Errorf("--baseline %s: %w", b.path, err), hint)
	}
	return &known, nil
}

// excusePeriod is how long a written baseline excuses a failure. It is long enough to fix a node, and too short to forget the failure.
const excusePeriod = 30 * 24 * time.Hour

// write writes the failures that cost the certificate, and keeps reasons and days of the baseline that was read.
func (b baselineFlags) write(w environment, r report.Report) error {
	if b.writePath == "" {
		return nil
	}
	var known verdict.Baseline
	for _, q := range r.Requirements {
		switch {
		case q.Outcome != requirement.Fail:
		case q.Known != nil:
			known.Known = append(known.Known, verdict.KnownFailure{ID: q.ID, Reason: q.Known.Reason, Until: q.Known.Until})
		case q.Costs:
			known.Known = append(known.Known, verdict.KnownFailure{
				ID: q.ID, Reason: cmp.Or(report.Plain(q.Reason), q.Title), Until: verdict.DayOf(r.Date.Add(excusePeriod)),
			})
		}
	}
	if err := replace(b.writePath, ownerOnly, func(to io.Writer) error { return verdict.WriteBaseline(to, known) }); err != nil {
		return usage(fmt.Errorf("--write-baseline: %w", err), "name a file in a directory that can be written")
	}
	fmt.Fprintf(w.err, "known failures in %s: %d; say in each reason who will fix it\n", b.writePath, len(known.Known))
	return nil
}

// earlierRun is the run that --rerun-failed repeats in part.
type earlierRun struct {
	path      string
	report    report.Report
	notPassed []string // requirements that did not pass, in catalogue order
}

// readEarlier reads the report.json of an earlier run.
func readEarlier(w environment, path string) (earlierRun, error) {
	const hint = "name the report.json that an earlier rin certify left in its --report-dir"
	data, err := w.readFile(path)
	if err != nil {
		return earlierRun{}, usage(fmt.Errorf("--rerun-failed: %w", err), hint)
	}
	e := earlierRun{path: path}
	if e.report, err = report.ReadJSON(bytes.NewReader(data)); err != nil {
		return earlierRun{}, usage(fmt.Errorf("--rerun-failed: %s is not a report of rin: %w", path, err), hint)
	}
	for _, q := range e.report.Requirements {
		if _, known := requirement.Find(q.ID); known && q.Outcome != requirement.Pass && q.Outcome != requirement.NotApplicable {
			e.notPassed = append(e.notPassed, string(q.ID))
		}
	}
	if len(e.notPassed) == 0 {
		return earlierRun{}, usage(fmt.Errorf("--rerun-failed: nothing to judge again, all that applies in %s had passed", path),
			"leave out --rerun-failed to certify the whole node")
	}
	return e, nil
}

// faults returns the chosen requirements that had failed or got a warning, and the labels of the requests that showed these faults.
func (e earlierRun) faults(chosen []string) (failed []string, labels []evidence.Label) {
	for _, q := range e.report.Requirements {
		if !slices.Contains(chosen, string(q.ID)) || q.Outcome != requirement.Fail && q.Outcome != requirement.Warn {
			continue
		}
		failed = append(failed, string(q.ID))
		for _, s := range q.Subjects {
			if s.Label != "" {
				labels = append(labels, s.Label)
			}
		}
	}
	return failed, labels
}

// repeat restricts a run to the requirements that the earlier run did not pass, and sets the same seed, unless the operator chose one.
func (e earlierRun) repeat(t *target.Target) error {
	t.Only = e.notPassed
	t.Profile = cmp.Or(t.Profile, string(e.report.Profile))
	if t.Seed != 0 || e.report.Made.Seed == "" {
		return nil
	}
	var err error
	t.Seed, err = draw.ParseSeed(e.report.Made.Seed)
	return err
}

// unrepeatedNote says how many of the requests that had shown a fault were not sent again; "" if all were.
func unrepeatedNote(faulty []evidence.Label, log *evidence.Log) string {
	var missing []evidence.Label
	for _, role := range faulty {
		for _, label := range log.Resolve(role) {
			_, sent := log.Get(label)
			if _, connected := log.Handshake(label); !sent && !connected && !slices.Contains(missing, label) {
				missing = append(missing, label)
			}
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf("%s that had shown a fault could not be repeated (such as %s): certify the whole node to be sure", evidence.Count(len(missing), "request"), report.Plain(string(missing[0])))
}

// announce prints which requirements are judged again.
func (e earlierRun) announce(to io.Writer) {
	fmt.Fprintf(to, "judging again what had not passed on %s: %s\n", e.report.Date.Format("2006-01-02 15:04 UTC"), strings.Join(e.notPassed, ", "))
}
