package main

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/exchange"
)

func judgeCommand(w world) *cobra.Command {
	var output outputFlags
	var knowing baselineFlags
	var profile string
	cmd := &cobra.Command{
		Use:   "judge FILE",
		Short: "Judge recorded evidence again",
		Long: `Judge reads the evidence.jsonl of a run and judges it again, without a network:
the same evidence gives the same report. FILE may be - for standard input.`,
		Example: `  rin judge rin-report/evidence.jsonl
  rin judge rin-report/evidence.jsonl --profile auth --report-dir again
  rin judge - < evidence.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			known, err := knowing.read(w)
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
			if !cmd.Flags().Changed("report-dir") {
				output.formats = nil // judging again prints; files are made where they are asked for
			} else if err := os.MkdirAll(output.dir, 0o755); err != nil {
				return usage(fmt.Errorf("--report-dir: %w", err), "name a directory that can be written")
			}
			if err := output.write(result); err != nil {
				return err
			}
			if err := knowing.write(w, result.Report); err != nil {
				return err
			}
			return conclude(cmd, w, result.Report, output)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "auth, funding or full (default: the profile of the run)")
	knowing.register(cmd.Flags())
	output.register(cmd.Flags())
	return cmd
}

func readEvidence(w world, path string) (*exchange.Log, error) {
	var from io.Reader = w.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, usage(err, "name the evidence.jsonl of a run")
		}
		defer file.Close()
		from = file
	}
	log, err := exchange.ReadLog(from)
	if err != nil {
		return nil, usage(fmt.Errorf("%s is no evidence of rin: %w", path, err), "name the evidence.jsonl of a run")
	}
	return log, nil
}
