package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/registry"
	"github.com/rin-network/rin/sandbox/transport"
)

func demoCommand(w world) *cobra.Command {
	var output outputFlags
	var config sandbox.Config
	var overTLS bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Certify a sandbox node and leave the report",
		Long: `Demo starts a sandbox on a free port of loopback, certifies it for the profile
funding as a stranger would, prints the summary and leaves the report.`,
		Example: `  rin demo
  rin demo --deviate token-status-201       see a fault caught and explained
  rin demo --tls                            over https: TLS is judged as well`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config.Logger = discard()
			if overTLS {
				config.TLS = &transport.Settings{}
			}
			opened, err := open(w, "127.0.0.1:0", sandbox.NetworkConfig{Nodes: []sandbox.Config{config}, JournalLimit: -1})
			if err != nil {
				return err
			}
			ctx, stop := context.WithCancel(cmd.Context())
			served := make(chan error, 1)
			go func() { served <- opened.serve(ctx) }()
			t := demoTarget(opened.base, opened.first().Credentials())
			if overTLS {
				// The registry of the field is another host: a fault of this one's TLS must not hide it.
				document, err := registryOf(cmd.Context(), opened.first(), t.Registry)
				if err != nil {
					stop()
					return errors.Join(internal(err), <-served)
				}
				t.CACert, t.Registry, t.RegistryDocument = opened.first().Authority(), "", document
			}
			fmt.Fprintf(w.err, "a sandbox node is up at %s\n", opened.base)
			err = certify(cmd, w, t, output, baselineFlags{})
			stop()
			return errors.Join(err, <-served)
		},
	}
	cmd.Flags().StringSliceVar(&config.Deviations, "deviate", nil, "let the node misbehave in this way (rin sandbox --deviations)")
	cmd.Flags().BoolVar(&overTLS, "tls", false, "serve the node over https, with a certificate authority made on the spot")
	cmd.Flags().Uint64Var(&config.Seed, "seed", 1, "chooses the sample data")
	cmd.Flags().IntVar(&config.Calls, "calls", sandbox.DefaultCalls, "number of funding calls")
	output.register(cmd.Flags())
	return cmd
}

// demoTarget is the sandbox as its registry describes it.
func demoTarget(base string, clients []sandbox.Credential) target.Target {
	t := target.Target{
		Registry: base + address.Map{}.Registry(),
		NodeID:   registry.NodeID,
		Profile:  "funding",
	}
	t.Credentials = credentials(clients[0])
	for _, c := range clients[1:] {
		if c.Role == "" {
			second := credentials(c)
			t.Second = &second
			break
		}
	}
	return t
}

func credentials(c sandbox.Credential) target.Credentials {
	return target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)}
}
