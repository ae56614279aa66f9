package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/sandbox"
)

func fixturesCommand(w environment) *cobra.Command {
	var config generate.Config
	var format, asOf, path string
	var count int
	cmd := &cobra.Command{
		Use:   "fixtures [fundings|clients|accounts|members]",
		Short: "Write generated fundings, clients, accounts or registry members",
		Long: `Fixtures writes sample data as JSON or NDJSON: fundings (programmes, calls and
others, as a node lists them), clients without secrets, the service accounts
behind them, or members of the registry. The same seed, number and day give the
same bytes.`,
		Example: `  rin fixtures --calls 20 --as-of 2026-03-01 > fundings.json
  rin fixtures --calls 100000 --format ndjson --out fundings.ndjson
  rin fixtures accounts --count 5 --format ndjson`,
		ValidArgs: []string{"fundings", "clients", "accounts", "members"},
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			encoding, err := generate.ParseFormat(format)
			if err != nil {
				return usage(err, "json writes one array, ndjson one record on each line")
			}
			if config.AsOf, err = parseDay("--as-of", asOf); err != nil {
				return err
			}
			if config.AsOf.IsZero() {
				config.AsOf = w.now()
			}
			generator, err := generate.New(config)
			if err != nil {
				return usage(err, "see rin fixtures --help")
			}
			list := generator.Fundings()
			if len(args) == 1 {
				list = listOf(args[0], generator, count)
			}
			progress := newProgress(w.err, displayOf(w, w.err, cmd))
			write := func(out io.Writer) error {
				return generate.Write(cmd.Context(), out, list, encoding, throttledProgress(w.now, progress))
			}
			if path == "" {
				err = write(w.out)
			} else {
				err = replace(path, 0o644, write)
			}
			progress.clear()
			if errors.Is(err, context.Canceled) {
				return &exitError{code: exitInconclusive, err: err, hint: "run it again to get all records"}
			}
			if err != nil {
				return usage(fmt.Errorf("write fixtures: %w", err), "check that the file can be written and that the disk has space")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&config.Seed, "seed", 1, "number that chooses the sample data")
	f.IntVar(&config.Calls, "calls", sandbox.DefaultCalls, "number of calls; programmes and other fundings are added")
	f.IntVar(&count, "count", 10, "number of clients, accounts or members")
	f.StringVar(&asOf, "as-of", "", "day around which calls run, such as 2026-03-01 (default today)")
	f.StringVar(&format, "format", string(generate.JSON), "json or ndjson")
	f.StringVar(&path, "out", "", "file to write (default: standard output)")
	return cmd
}

// listOf returns the list that the argument names; cobra has validated the name. count is the length of all lists except fundings.
func listOf(name string, g *generate.Generator, count int) generate.List {
	count = max(count, 0)
	switch name {
	case "clients":
		return g.Clients(count)
	case "accounts":
		return g.Accounts(count)
	case "members":
		return g.Members(count)
	}
	return g.Fundings()
}

// throttledProgress returns a function that shows progress at most every 100 ms, and none within the first half second.
func throttledProgress(now func() time.Time, p *progress) func(done, all int) {
	const delay, interval = 500 * time.Millisecond, 100 * time.Millisecond
	next := now().Add(delay)
	return func(done, all int) {
		if done%256 != 0 && done != all { // reading the clock for each record would be slow
			return
		}
		if t := now(); !t.Before(next) {
			p.step(done, all, "items")
			next = t.Add(interval)
		}
	}
}
