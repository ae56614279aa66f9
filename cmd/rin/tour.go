package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/worker"
	"github.com/rin-network/rin/tui"
	"github.com/rin-network/rin/tui/plain"
	"github.com/rin-network/rin/tui/walk"
)

func tourCommand(w world) *cobra.Command {
	var flags tourFlags
	cmd := &cobra.Command{
		Use:   "tour",
		Short: "Walk the authorization flow step by step",
		Long: `Tour walks from the registry to the first funding call, one step at a time, with
the real requests on the wire: why, what is sent, what comes back, and by which
rule it is judged. Afterwards you know what a client has to do, and take the
commands with you.

It talks to any node. With nothing given it starts a sandbox inside and walks
there.`,
		Example: `  rin tour
  rin tour --plain                          the whole walk, line by line
  rin tour --registry https://registry.example/ris.json --node XA \
      --client-id my-client --client-secret env:MY_SECRET
  rin tour --plain --step token --step info
  rin tour --plain --step specification --operation /funding/v3/fundings
  rin tour --plain --step what-if --what-if garbage
  rin tour --plain --step calls --filter region=TYROL --page 2
  rin tour --plain --take-away my-client    scripts, code and the recording`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(cmd, w)
		},
	}
	grouped(cmd, flags.groups())
	return cmd
}

// run begins the walk, on a node of its own if no other is given.
func (t *tourFlags) run(cmd *cobra.Command, w world) error {
	o, err := t.options(w)
	if err != nil {
		return err
	}
	begin, err := t.target(w)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	own := &inside{w: w}
	in, out, screened := t.terminal(w, cmd)
	if t.builtIn(begin) && !screened {
		if begin, err = own.start(ctx); err != nil {
			return err
		}
	}
	way, err := walk.New(walk.Options{
		Target: begin, Suite: version(), Clock: w.now, Random: w.random,
		Certify: func(ctx context.Context, t target.Target, heard func(worker.Event)) (report.Report, *exchange.Log, error) {
			return certifyQuietly(ctx, w, t, heard)
		},
	})
	if err != nil {
		return errors.Join(internal(err), own.end(stop))
	}
	if screened {
		return errors.Join(ended(t.show(ctx, cmd, w, way, own, in, out)), own.end(stop))
	}
	o.Width = min(screenOf(w, w.out, cmd).width, 100)
	return errors.Join(ended(plain.Run(ctx, way, w.out, o)), own.end(stop))
}

// ended turns how a walk ended into an exit code.
func ended(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, tui.ErrBroken):
		return internal(err)
	case errors.Is(err, plain.ErrTrouble):
		return &exitError{code: exitInconclusive, err: err, hint: "see what to try above"}
	case errors.Is(err, plain.ErrNotCertified):
		return told(exitNotCertified)
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitInconclusive, err: errors.New("the walk was interrupted"), hint: "start again at a step with --step"}
	}
	return usage(err, "see rin tour --help")
}

// certifyQuietly runs the whole suite in a child process, and keeps no file.
func certifyQuietly(ctx context.Context, w world, t target.Target, heard func(worker.Event)) (report.Report, *exchange.Log, error) {
	process, err := child(w)
	if err != nil {
		return report.Report{}, nil, err
	}
	evidence, remove, err := temporaryFile("rin-tour-evidence")
	if err != nil {
		return report.Report{}, nil, fmt.Errorf("make room for the evidence: %w", err)
	}
	defer remove()
	result, err := conformance.Certify(ctx, t, conformance.Options{Suite: version(), Evidence: evidence, Worker: process, Heard: heard})
	return result.Report, result.Log, err
}
