package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/devtls"
	"github.com/rin-network/rin/sandbox/funding"
)

func demoCommand(w environment) *cobra.Command {
	var output outputFlags
	var config sandbox.Config
	var overTLS bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Certify a sandbox node and write the report",
		Long: `Demo starts a sandbox on a free port of loopback, certifies it for the profile
funding as an outsider would, prints the summary and writes the report.`,
		Example: `  rin demo
  rin demo --deviate token-status-201       see a fault caught and explained
  rin demo --tls                            over https: TLS is judged as well`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config.Logger = discardLogger()
			if overTLS {
				config.TLS = &devtls.Settings{}
			}
			const noJournal = -1
			opened, err := open(w, "127.0.0.1:0", sandbox.NetworkConfig{Nodes: []sandbox.Config{config}, JournalLimit: noJournal})
			if err != nil {
				return err
			}
			ctx, stop := context.WithCancel(cmd.Context())
			served := make(chan error, 1)
			go func() { served <- opened.serve(ctx) }()
			t := demoTarget(opened.base, opened.first().Credentials())
			if overTLS {
				// In the network another host serves the registry, so a TLS fault of the node must not keep rin from reading it.
				document, err := registryDocument(cmd.Context(), opened.first(), t.Registry)
				if err != nil {
					stop()
					return errors.Join(internal(err), <-served)
				}
				t.CACert, t.Registry, t.RegistryDocument = opened.first().Authority(), "", document
			}
			fmt.Fprintf(w.err, "a sandbox node is up at %s\n", opened.base)
			const noHistory = ""
			err = certify(cmd, w, t, output, baselineFlags{}, noHistory)
			stop()
			return errors.Join(err, <-served)
		},
	}
	cmd.Flags().StringSliceVar(&config.Deviations, "deviate", nil, "let the node misbehave in this way (rin sandbox --deviations)")
	cmd.Flags().BoolVar(&overTLS, "tls", false, "serve the node over https, with a certificate authority created at the start")
	cmd.Flags().Uint64Var(&config.Seed, "seed", 1, "chooses the sample data")
	cmd.Flags().IntVar(&config.Calls, "calls", sandbox.DefaultCalls, "number of funding calls")
	output.register(cmd.Flags(), "directory for the report and the evidence")
	return cmd
}

// demoTarget returns the sandbox at base as a target. Its first client has the role, its second one has no role.
func demoTarget(base string, clients []sandbox.Credential) target.Target {
	t := target.Target{
		Registry: base + address.Map{}.Registry(),
		NodeID:   funding.NodeID,
		Profile:  "funding",
	}
	t.Credentials = targetCredentials(clients[0])
	for _, c := range clients[1:] {
		if c.Role == "" {
			second := targetCredentials(c)
			t.Second = &second
			break
		}
	}
	return t
}

// targetCredentials converts the credentials of a sandbox client.
func targetCredentials(c sandbox.Credential) target.Credentials {
	return target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)}
}

// registryDocument returns the registry document with https URLs. It calls the handler without a connection, which a TLS fault would break.
func registryDocument(ctx context.Context, node http.Handler, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("ask the sandbox for its registry: %w", err)
	}
	request.TLS = &tls.ConnectionState{} // makes the URLs in the document https
	var w documentWriter
	node.ServeHTTP(&w, request)
	return w.body.Bytes(), nil
}

// documentWriter is an http.ResponseWriter that keeps the body.
type documentWriter struct {
	header http.Header
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (d *documentWriter) Header() http.Header {
	if d.header == nil {
		d.header = http.Header{}
	}
	return d.header
}

// Write implements http.ResponseWriter.
func (d *documentWriter) Write(p []byte) (int, error) { return d.body.Write(p) }

// WriteHeader implements http.ResponseWriter. The status does not matter: an error document has no registry entries.
func (d *documentWriter) WriteHeader(int) {}
