package main

import (
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/deviation"
)

func sandboxCommand(w world) *cobra.Command {
	var flags sandboxFlags
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve a node with generated sample data",
		Long: `Sandbox serves a whole node: token endpoints, info, OpenAPI document, a guarded
funding API, the same API to try out without a token, and a registry that lists it.

It listens on loopback unless told otherwise, and prints demo credentials and
commands that work. The same seed and day give the same data everywhere.`,
		Example: `  rin sandbox
  rin sandbox --addr 127.0.0.1:0 --seed 7 --calls 1000 --as-of 2026-03-01
  rin sandbox --token-format opaque --paging number --error-shape text
  rin sandbox --deviate token-status-201     a node with a fault
  rin sandbox --deviate token-opaque         an unusual node without one
  rin sandbox --deviations                   the faults and habits that it knows
  rin sandbox --tls                          over https, with its own authority
  rin sandbox --control 127.0.0.1:8081       is told what to do while it serves`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.list {
				return writeDeviations(w.out)
			}
			config, err := flags.read(cmd.Context(), w)
			if err != nil {
				return err
			}
			opened, err := open(w, flags.addr, config)
			if err != nil {
				return err
			}
			opened.control, err = flags.control.open(opened.Network)
			if err == nil {
				err = flags.tls.keep(w, opened.first())
			}
			if err == nil {
				err = greet(w.out, flags.tls.authorityFile(), config, opened)
			}
			if err != nil {
				opened.close()
				return err
			}
			// A sandbox stands beside a developer's other programs: memory matters more to it than the last request a second.
			debug.SetGCPercent(50)
			if err := opened.serve(cmd.Context()); err != nil {
				return internal(err)
			}
			return nil
		},
	}
	grouped(cmd, flags.groups())
	cmd.AddCommand(statusCommand(w), deviateCommand(w), clockCommand(w), resetCommand(w))
	return cmd
}

// greet says where the node is and how to use it. The secrets are its own, made for this run.
func greet(out io.Writer, authority string, config sandbox.Config, opened openNetwork) error {
	base, node := opened.base, opened.first()
	at := address.Map{Prefix: strings.Trim(config.Prefix, "/"), Realm: config.Realm}
	var b strings.Builder
	fmt.Fprintf(&b, "listening on %s\n\n", base)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  registry\t%s\n", base+at.Registry())
	fmt.Fprintf(t, "  token\t%s\n", base+at.Token())
	fmt.Fprintf(t, "  info\t%s\n", base+at.Info())
	fmt.Fprintf(t, "  document\t%s\n", base+at.Spec())
	fmt.Fprintf(t, "  funding\t%s\n", base+at.Fundings())
	fmt.Fprintf(t, "  try-out\t%s (no token)\n", base+at.TryOut().Fundings())
	if authority != "" {
		fmt.Fprintf(t, "  authority\t%s (curl --cacert, rin certify --cacert)\n", authority)
	}
	if opened.control != nil {
		fmt.Fprintf(t, "  control\t%s (this machine only)\n", opened.control.url())
	}
	_ = t.Flush()
	credentials := node.Credentials()
	for _, c := range credentials {
		role := "role " + c.Role
		if c.Role == "" {
			role = "no role"
		}
		if c.Audience != "" {
			role += ", tokens for " + c.Audience
		}
		fmt.Fprintf(&b, "\n  client  %s (%s)\n  secret  %s\n", c.ClientID, role, c.Secret)
	}
	staging := node.Staging()
	fmt.Fprintf(&b, "\n  staging %s\n  client  %s (its tokens are refused here)\n  secret  %s\n", base+at.Staging().Token(), staging.ClientID, staging.Secret)
	for _, name := range config.Deviations {
		if d, err := deviation.Find(name); err == nil {
			fmt.Fprintf(&b, "\n  deviates: %s, %s\n            %s\n", d.Name, effect(d), d.Why)
		}
	}
	if len(credentials) > 0 {
		fmt.Fprintf(&b, "\n%s", commands(base, authority, at, credentials[0]))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// commands are three curl commands that work as they stand.
func commands(base, authority string, at address.Map, c sandbox.Credential) string {
	curl := "curl"
	if authority != "" {
		curl += " --cacert " + quoted(authority)
	}
	return fmt.Sprintf(`TOKEN=$(%[1]s -s %[2]s -d grant_type=client_credentials \
  -d client_id=%[3]s -d client_secret=%[4]s | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
%[1]s -s -H "Authorization: Bearer $TOKEN" %[5]s
%[1]s -sg -H "Authorization: Bearer $TOKEN" '%[6]s?runningCalls=true&page[size]=2'
`, curl, base+at.Token(), c.ClientID, c.Secret, base+at.Info(), base+at.Fundings())
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
