package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/fixtures"
	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/sandbox"
)

func fixturesCommand(w world) *cobra.Command {
	var config generate.Config
	var format, asOf, path string
	cmd := &cobra.Command{
		Use:   "fixtures",
		Short: "Write generated funding calls and programmes",
		Long: `Fixtures writes sample data as JSON or NDJSON: programmes, calls and other fundings
as a node would list them. The same seed, number and day give the same bytes.`,
		Example: `  rin fixtures --calls 20 --as-of 2026-03-01 > fundings.json
  rin fixtures --calls 100000 --format ndjson --out fundings.ndjson
  rin fixtures --format ndjson | jq -r .id`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kind, err := fixtures.ParseFormat(format)
			if err != nil {
				return usage(err, "one array, or one record on each line")
			}
			if config.AsOf, err = day("--as-of", asOf); err != nil {
				return err
			}
			if config.AsOf.IsZero() {
				config.AsOf = w.now()
			}
			generator, err := generate.New(config)
			if err != nil {
				return usage(err, "see rin fixtures --help")
			}
			shown := newProgress(w.err, screenOf(w, w.err, cmd))
			write := func(out io.Writer) error {
				return fixtures.Write(cmd.Context(), out, generator, kind, unhurried(w.now, shown))
			}
			if path == "" {
				err = write(w.out)
			} else {
				err = replace(path, write)
			}
			shown.clear()
			if errors.Is(err, context.Canceled) {
				return &exitError{code: exitInconclusive, err: err, hint: "run it again to get all records"}
			}
			if err != nil {
				return usage(fmt.Errorf("write fixtures: %w", err), "is the place writable, and is there room?")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&config.Seed, "seed", 1, "chooses the sample data")
	f.IntVar(&config.Calls, "calls", sandbox.DefaultCalls, "number of calls; programmes and other fundings come on top")
	f.StringVar(&asOf, "as-of", "", "day around which calls run, 2026-03-01 (default today)")
	f.StringVar(&format, "format", string(fixtures.JSON), "json or ndjson")
	f.StringVar(&path, "out", "", "file to write (default: standard output)")
	return cmd
}

// unhurried shows progress of work that takes a while, and none of work that is done before anybody looks.
func unhurried(now func() time.Time, p *progress) func(done, all int) {
	const patience, pause = 500 * time.Millisecond, 100 * time.Millisecond
	next := now().Add(patience)
	return func(done, all int) {
		if done%256 != 0 && done != all {
			return
		}
		if t := now(); !t.Before(next) {
			p.step(done, all, "records")
			next = t.Add(pause)
		}
	}
}
