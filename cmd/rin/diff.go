package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
)

func diffCommand(w environment) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two runs of a node",
		Long: `Diff says what changed between two runs: requirements that broke, were fixed,
have another outcome, are new or gone; then what was seen differently:
operations of the document, and status and media type of the answers to the same
request. It leaves out what differs in every run: seed, times, tokens, made-up
values, and the requests that each run draws at random.

OLD and NEW are directories of runs, reports (report.json) or evidence
(evidence.jsonl.gz). Without evidence only requirements and operations are
compared.

Exit codes: 0 nothing broke, 1 a requirement fails now that did not fail before,
2 usage.`,
		Example: `  rin diff spring/rin-report rin-report
  rin diff old/report.json new/report.json --format markdown`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			write, ok := map[string]func(io.Writer, report.Comparison) error{
				"text": report.WriteComparisonText, "markdown": report.WriteComparisonMarkdown, "json": report.WriteComparisonJSON,
			}[format]
			if !ok {
				return usage(fmt.Errorf("--format: unknown format %q", format), "choose from text, markdown and json")
			}
			old, oldLog, err := readRunToCompare(w, args[0])
			if err != nil {
				return err
			}
			later, newLog, err := readRunToCompare(w, args[1])
			if err != nil {
				return err
			}
			c := report.Compare(old, later, oldLog, newLog)
			if err := write(w.out, c); err != nil {
				return fmt.Errorf("write the comparison: %w", err)
			}
			if c.Breaks() {
				return exitWith(exitNotCertified)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, markdown or json")
	return cmd
}

// readRunToCompare reads the report of a run, and its evidence if there is any. If there is only evidence, readRunToCompare judges it.
func readRunToCompare(w environment, path string) (report.Report, *evidence.Log, error) {
	info, err := os.Stat(path)
	if err != nil {
		return report.Report{}, nil, usage(err, "name the directory of a run, its report.json or its evidence")
	}
	reportPath, evidencePath := path, ""
	switch {
	case info.IsDir():
		reportPath, evidencePath = filepath.Join(path, certificate.ReportFile), filepath.Join(path, certificate.EvidenceFile)
	case filepath.Ext(path) != ".json":
		reportPath, evidencePath = "", path
	}
	var log *evidence.Log
	if evidencePath != "" {
		log, err = readEvidence(w, evidencePath, io.Discard)
		if err != nil && !(info.IsDir() && errors.Is(err, fs.ErrNotExist)) { // a directory may lack evidence
			return report.Report{}, nil, err
		}
	}
	if reportPath == "" {
		return conformance.Judge(log, version()), log, nil
	}
	text, err := certificate.ReadBounded(reportPath)
	if errors.Is(err, fs.ErrNotExist) && log != nil {
		return conformance.Judge(log, version()), log, nil
	}
	if err != nil {
		return report.Report{}, nil, usage(err, "name the directory that rin certify left its report and evidence in")
	}
	r, err := report.ReadJSON(bytes.NewReader(text))
	if err != nil {
		return r, nil, usage(fmt.Errorf("%s is not a report of rin: %w", reportPath, err), "name a report.json")
	}
	return r, log, nil
}
