package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
)

func judgeCommand(w environment) *cobra.Command {
	var output outputFlags
	var baseline baselineFlags
	var profile string
	cmd := &cobra.Command{
		Use:   "judge FILE",
		Short: "Judge recorded evidence again",
		Long: `Judge reads the evidence.jsonl of a run and judges it again, without a network:
the same evidence gives the same report. The files of the report go to
--report-dir. FILE may be - for standard input.`,
		Example: `  rin judge rin-report/evidence.jsonl
  rin judge rin-report/evidence.jsonl --profile auth --report-dir again
  rin judge - < evidence.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.validate(); err != nil {
				return err
			}
			known, err := baseline.read(w)
			if err != nil {
				return err
			}
			log, err := readEvidence(w, args[0])
			if err != nil {
				return err
			}
			p, err := parseProfile(cmp.Or(profile, log.Run.Profile))
			if err != nil {
				return err
			}
			log.Run.Profile = string(p)
			result := conformance.Result{Report: conformance.JudgeKnowing(known, log, version()), Log: log}
			if err := output.makeDir(); err != nil {
				return err
			}
			if err := output.write(result); err != nil {
				return err
			}
			if err := baseline.write(w, result.Report); err != nil {
				return err
			}
			return conclude(cmd, w, result.Report, output)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "auth, funding or full (default: the profile of the run)")
	baseline.register(cmd.Flags())
	output.register(cmd.Flags(), "directory for the report")
	return cmd
}

func readEvidence(w environment, path string) (*evidence.Log, error) {
	var from io.Reader = w.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, usage(err, "name the evidence.jsonl of a run")
		}
		defer file.Close()
		from = file
	}
	log, err := evidence.ReadLog(from)
	if err != nil {
		return nil, usage(fmt.Errorf("%s is not evidence of rin: %w", path, err), "name the evidence.jsonl of a run")
	}
	return log, nil
}

// evidenceFile is always written: every report can be made from it again.
const evidenceFile = "evidence.jsonl"

// reportFile is one file of a report.
type reportFile struct {
	format, name string
	write        func(io.Writer, conformance.Result) error
}

func reportFiles() []reportFile {
	return []reportFile{
		{"html", "report.html", func(w io.Writer, r conformance.Result) error { return report.WriteHTML(w, r.Report, r.Log) }},
		{"json", "report.json", func(w io.Writer, r conformance.Result) error { return report.WriteJSON(w, r.Report) }},
		{"junit", "junit.xml", func(w io.Writer, r conformance.Result) error { return report.WriteJUnit(w, r.Report) }},
		{"har", "exchanges.har", func(w io.Writer, r conformance.Result) error { return evidence.WriteHAR(w, r.Log, version()) }},
		{"markdown", "report.md", func(w io.Writer, r conformance.Result) error { return report.WriteMarkdown(w, r.Report) }},
	}
}

func reportNames() []string {
	var out []string
	for _, f := range reportFiles() {
		out = append(out, f.format)
	}
	return out
}

// validate rejects unknown formats before any request is sent.
func (o outputFlags) validate() error {
	for _, f := range o.formats {
		if !slices.Contains(reportNames(), f) {
			return usage(fmt.Errorf("--format: unknown report format %q", f), fmt.Sprintf("choose from %v", reportNames()))
		}
	}
	return nil
}

// makeDir creates the directory of the report.
func (o outputFlags) makeDir() error {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return usage(fmt.Errorf("--report-dir: %w", err), "name a directory that can be written")
	}
	return nil
}

// mainFile returns the file that a person opens first.
func (o outputFlags) mainFile() string {
	for _, f := range reportFiles() {
		if slices.Contains(o.formats, f.format) {
			return filepath.Join(o.dir, f.name)
		}
	}
	return o.dir
}

// ownerOnly is the mode of every file of a run: evidence and reports show what a node answered to a client with credentials.
const ownerOnly = 0o600

// write writes every chosen file. A file is complete or absent.
func (o outputFlags) write(r conformance.Result) error {
	for _, f := range reportFiles() {
		if !slices.Contains(o.formats, f.format) {
			continue
		}
		if err := replace(filepath.Join(o.dir, f.name), ownerOnly, func(w io.Writer) error { return f.write(w, r) }); err != nil {
			return internal(fmt.Errorf("write %s: %w", f.name, err))
		}
	}
	return nil
}

// replace writes a temporary file beside path and renames it.
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
