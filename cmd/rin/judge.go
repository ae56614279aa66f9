package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/report"
)

func judgeCommand(w environment) *cobra.Command {
	var output outputFlags
	var baseline baselineFlags
	var profile string
	cmd := &cobra.Command{
		Use:   "judge FILE",
		Short: "Judge recorded evidence again",
		Long: `Judge reads the evidence.jsonl.gz of a run and judges it again, without a
network: the same evidence gives the same report. The files of the report go to
--report-dir. FILE may be - for standard input. Evidence of earlier versions of
rin (evidence.jsonl) is read as well.

Evidence that contradicts itself is not judged: a body that does not match its
digest or its recorded length, times that run backwards, an exchange that is
missing, a plan that is not the one of this target, profile, document and seed.
Judge says what is wrong and where, and ends with exit code 1; with 3 if this
version of rin cannot read the evidence. Other exit codes are those of rin
certify.`,
		Example: `  rin judge rin-report/evidence.jsonl.gz
  rin judge rin-report/evidence.jsonl.gz --profile auth --report-dir again
  rin judge rin-report/evidence.jsonl.gz --format har   HAR, for a browser
  rin judge - < evidence.jsonl.gz`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.validate(); err != nil {
				return err
			}
			knownFailures, err := baseline.read(w)
			if err != nil {
				return err
			}
			digest := sha256.New()
			log, err := readEvidence(w, args[0], digest)
			if err != nil {
				return err
			}
			if by := log.Run.Suite; by != version() {
				fmt.Fprintf(w.err, "rin %s recorded this evidence, and this is rin %s: it cannot notice requests that somebody removed from the plan\n", report.Plain(evidence.Clip(by, 40)), version())
			}
			p, err := parseProfile(cmp.Or(profile, log.Run.Profile))
			if err != nil {
				return err
			}
			if profile != "" {
				log.Run.ProfileReason = ""
			}
			log.Run.Profile = string(p)
			judged := conformance.JudgeWithBaseline(knownFailures, log, version())
			result := conformance.Result{Report: judged.JudgedAgain(evidenceName(args[0]), fmt.Sprintf("sha256:%x", digest.Sum(nil))), Log: log}
			if _, err := output.makeDir(); err != nil {
				return err
			}
			return conclude(cmd, w, result, output, baseline)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "auth, api, funding or full (default: the profile of the run)")
	baseline.register(cmd.Flags())
	output.register(cmd.Flags(), "directory for the report")
	return cmd
}

// readEvidence reads the evidence at path, or from standard input if path is "-". Its bytes go to digest as well.
func readEvidence(w environment, path string, digest io.Writer) (*evidence.Log, error) {
	var source io.Reader = w.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, usage(err, "name the evidence.jsonl.gz of a run")
		}
		defer file.Close()
		source = file
	}
	source = io.TeeReader(source, digest)
	log, err := evidence.ReadLog(source)
	var contradiction *evidence.Inconsistency
	switch {
	case errors.As(err, &contradiction):
		return nil, &exitError{code: exitNotCertified, err: fmt.Errorf("%s contradicts itself and is not judged: %w", path, err),
			hint: "take the file as rin certify wrote it, or certify the node again"}
	case errors.Is(err, evidence.ErrVersion):
		return nil, &exitError{code: exitInconclusive, err: fmt.Errorf("%s cannot be judged: %w", path, err), hint: "rin version says which version this is"}
	case err != nil:
		return nil, usage(fmt.Errorf("%s is not evidence that rin recorded: %w", path, err), "name the evidence.jsonl.gz of a run")
	}
	if _, err := io.Copy(io.Discard, source); err != nil { // the digest covers the whole file, also what the reader left unread
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return log, comparePlan(path, log)
}

// comparePlan returns an error for evidence whose plan differs from the one that follows from its target, profile, document and seed: somebody removed or
// added requests. It does not compare evidence of another version of rin, whose plan may differ.
func comparePlan(path string, log *evidence.Log) error {
	if log.Ended == nil || !log.Ended.Complete || log.Run.Suite != version() {
		return nil
	}
	run, err := probe.Replan(log)
	if err != nil {
		return &exitError{code: exitInconclusive, err: fmt.Errorf("%s cannot be judged: %w", path, err), hint: "take the file as rin certify wrote it, or certify the node again"}
	}
	if label, why := run.Difference(); label != "" {
		return &exitError{code: exitNotCertified, err: fmt.Errorf("%s is not the evidence of a whole run and is not judged: label %.100q: %s", path, label, why),
			hint: "take the file as rin certify wrote it, or certify the node again"}
	}
	return nil
}

// evidenceName names the file of the evidence in a report, without the directories of this machine.
func evidenceName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return filepath.Base(path)
}

// evidenceFile is the file of the evidence. Certify always writes it, because judge can make every report from it again.
const evidenceFile = certificate.EvidenceFile

// reportFormats lists the values of --format.
func reportFormats() []string {
	var out []string
	for _, f := range report.Files(version()) {
		out = append(out, f.Format)
	}
	return out
}

// defaultFormats lists the formats that are written without --format.
func defaultFormats() []string {
	var out []string
	for _, f := range report.Files(version()) {
		if !f.OnDemand {
			out = append(out, f.Format)
		}
	}
	return out
}

// validate rejects unknown formats before any request is sent.
func (o outputFlags) validate() error {
	for _, f := range o.formats {
		if !slices.Contains(reportFormats(), f) {
			return usage(fmt.Errorf("--format: unknown report format %q", f), fmt.Sprintf("choose from %v", reportFormats()))
		}
	}
	return nil
}

// makeDir creates the directory of the report. cleanup removes it again, if it is new and nothing was written into it.
func (o outputFlags) makeDir() (cleanup func(), err error) {
	cleanup = func() {}
	if _, err := os.Stat(o.dir); errors.Is(err, fs.ErrNotExist) {
		cleanup = func() { _ = os.Remove(o.dir) } // fails for a directory with files
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return cleanup, usage(fmt.Errorf("--report-dir: %w", err), "name a directory that can be written")
	}
	return cleanup, nil
}

// mainFile returns the file that a person opens first.
func (o outputFlags) mainFile() string {
	for _, f := range report.Files(version()) {
		if slices.Contains(o.formats, f.Format) {
			return filepath.Join(o.dir, f.Name)
		}
	}
	return o.dir
}

// ownerOnly is the mode of every file of a run: evidence and reports contain what a node answered to a client with credentials.
const ownerOnly = 0o600

// write writes the report files that --format chooses. Each file is written completely or not at all.
func (o outputFlags) write(r conformance.Result) error {
	for _, f := range report.Files(version()) {
		if !slices.Contains(o.formats, f.Format) {
			continue
		}
		if err := replace(filepath.Join(o.dir, f.Name), ownerOnly, func(w io.Writer) error { return f.Write(w, r.Report, r.Log) }); err != nil {
			return internal(fmt.Errorf("write %s: %w", f.Name, err))
		}
	}
	return nil
}

// replace replaces the file at path. It writes a temporary file in the same directory and renames it, so that path never holds half a file.
func replace(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err = errors.Join(write(file), file.Chmod(mode), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
