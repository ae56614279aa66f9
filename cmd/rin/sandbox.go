package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/deviation"
	"github.com/rin-network/rin/sandbox/setup"
)

func sandboxCommand(w world) *cobra.Command {
	var flags sandboxFlags
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve a node with generated sample data",
		Long: `Sandbox serves a whole node: token endpoints, info, OpenAPI document, a guarded
funding API, the same API to try out without a token, and a registry that lists
it.

It listens on loopback unless told otherwise, and prints demo credentials and
commands that work. The same seed and day give the same data everywhere.

With --nodes it is a network: nodes of different makes in one process, each
below a path of its own with its own authorization server, clients, data and
documents, all in one registry. A token of one node is refused by the others.
The makes are
` + flavourTable(),
		Example: `  rin sandbox
  rin sandbox --addr 127.0.0.1:0 --seed 7 --calls 1000 --as-of 2026-03-01
  rin sandbox --token-format opaque --paging number --error-shape text
  rin sandbox --deviate token-status-201     a node with a fault
  rin sandbox --deviate token-opaque         an unusual node without one
  rin sandbox --deviations                   the faults and habits that it knows
  rin sandbox --scenario 503-twice:times=3   faults for each client, then none
  rin sandbox --scenarios                    what it can play
  rin sandbox --nodes 4                      a network of four nodes
  rin sandbox --nodes 4 --credentials all.json   with all its secrets in a file
  rin sandbox --example-config > net.yaml    a file that says what each node is
  rin sandbox --config net.yaml              a network as it says
  rin sandbox --flavour keycloak             a node behind Keycloak
  rin sandbox --spec api.yaml                any API, from its OpenAPI document
  rin sandbox --tls                          over https, with its own authority
  rin sandbox --cors http://localhost:5173   pages of this origin may call it
  rin sandbox --rate-limit 5/s -v            429 beyond that; requests logged
  rin sandbox --control 127.0.0.1:8081       is told what to do while it serves
  rin sandbox --control 127.0.0.1:8081 --data books   and keeps its clients`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.list {
				return writeDeviations(w.out)
			}
			if flags.file.example {
				_, err := io.WriteString(w.out, setup.Example())
				return err
			}
			if flags.scenarios.list {
				return writeScenarios(w.out)
			}
			nodes, err := flags.read(cmd.Context(), w, cmd.Flags())
			if err != nil {
				return err
			}
			remembered, err := flags.journal.limit()
			if err != nil {
				return err
			}
			log, err := flags.operation.log(w.err)
			if err != nil {
				return err
			}
			defer log.end(cmd.Context())
			network := sandbox.NetworkConfig{Nodes: nodes, JournalLimit: remembered, Logger: log.Logger}
			closeData, err := flags.data.open(&network)
			if err != nil {
				return err
			}
			opened, err := open(w, flags.addr, network)
			if err != nil {
				return errors.Join(err, closeData())
			}
			opened.control, err = flags.control.open(opened.Network)
			if err == nil {
				err = flags.tls.keep(w, opened.first())
			}
			if err == nil {
				err = flags.credentials.write(w, opened)
			}
			if err == nil {
				err = opened.shown()
			}
			if err == nil {
				err = greeting{opened, flags.tls.authorityFile(), flags.credentials.file}.write(w.out)
			}
			if err == nil {
				err = warnOfAPIs(w.err, opened.Nodes())
			}
			if err != nil {
				opened.close()
				return errors.Join(err, closeData())
			}
			// A sandbox stands beside a developer's other programs: memory matters more to it than the last request a second.
			debug.SetGCPercent(20)
			if err := errors.Join(opened.serve(cmd.Context()), closeData()); err != nil {
				return internal(err)
			}
			return nil
		},
	}
	grouped(cmd, flags.groups())
	cmd.AddCommand(reportCommand(w), journalCommand(w), statusCommand(w), deviateCommand(w), playCommand(w), stopCommand(w), clockCommand(w), resetCommand(w))
	return cmd
}

// writeDeviations lists what the sandbox can do wrong, and then what it can do in unusual ways and right.
func writeDeviations(out io.Writer) error {
	var b strings.Builder
	for _, d := range deviation.All() {
		fmt.Fprintf(&b, "%s\n    %s\n    %s\n", d.Name, effect(d), d.Why)
	}
	b.WriteString("\nBenign: unusual, and right all the same. None of them costs a certificate.\n\n")
	for _, d := range deviation.Benign() {
		fmt.Fprintf(&b, "%s\n    %s\n    %s\n", d.Name, effect(d), d.Why)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// effect says what a deviation means to the requirements.
func effect(d deviation.Deviation) string {
	switch {
	case len(d.Breaks) > 0:
		return "breaks " + strings.Join(d.Breaks, " ")
	case len(d.Warns) > 0:
		return "breaks nothing, earns a warning from " + strings.Join(d.Warns, " ")
	}
	return "breaks nothing"
}

// discard is the logger of a sandbox that nobody listens to.
func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
