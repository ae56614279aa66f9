package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/configfile"
	"github.com/rin-network/rin/sandbox/mockapi"
)

func sandboxCommand(w environment) *cobra.Command {
	var flags sandboxFlags
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve a node with generated sample data",
		Long: `Sandbox serves a whole node: token endpoints, info, OpenAPI document, a
protected funding API, the same API to try out without a token, and a registry
that lists it.

It listens on loopback by default, and prints demo credentials and
commands that work. The same seed and day give the same data everywhere.

With --nodes it is a network: nodes of different flavours in one process, each
below a path of its own with its own authorization server, clients, data and
documents, all in one registry. A token of one node is refused by the others.
The flavours are
` + presetTable(),
		Example: `  rin sandbox
  rin sandbox --addr 127.0.0.1:0 --seed 7 --calls 1000 --as-of 2026-03-01
  rin sandbox --token-format opaque --paging number --error-shape text
  rin sandbox --deviate token-status-201     a node with a fault
  rin sandbox --deviate token-opaque         an unusual but correct node
  rin sandbox --deviations --about paging    the faults and habits that it knows
  rin sandbox --scenario 503-twice:times=3   faults for each client, then none
  rin sandbox --scenarios                    the scenarios that it can play
  rin sandbox --nodes 4                      a network of four nodes
  rin sandbox --nodes 4 --credentials all.json   with all its secrets in a file
  rin sandbox --example-config > net.yaml    a file that says what each node is
  rin sandbox --config net.yaml              the network in that file
  rin sandbox --flavour keycloak             a node behind Keycloak
  rin sandbox --spec api.yaml                any API, from its OpenAPI document
  rin sandbox --spec https://api.example/openapi.json   the same, by its URL
  rin sandbox --spec api.yaml --examples ignore   drawn values only
  rin sandbox --spec api.yaml --state        keeps what clients change in it
  rin sandbox --replay xa                    a real node's records, offline
  rin sandbox --tls                          over https, with its own authority
  rin sandbox --cors http://localhost:5173   pages of this origin may call it
  rin sandbox --rate-limit 5/s -v            429 beyond that; requests logged
  rin sandbox --data books                   keeps its clients
  rin sandbox --tls --data books             and its authority
  rin sandbox --key-file k --secret-file s   a replica: see cmd/rin/deploy
  rin sandbox play 503-twice                 drives the running sandbox
  rin sandbox --control off                  without the control listener`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.lists.isSet() {
				return flags.lists.write(w.out)
			}
			if flags.file.example {
				_, err := io.WriteString(w.out, configfile.Example())
				return err
			}
			nodes, err := flags.read(cmd.Context(), w, cmd.Flags())
			if err != nil {
				return err
			}
			flags.deriveSecrets(w, cmd.Flags(), nodes)
			journalLimit, err := flags.journal.limit()
			if err != nil {
				return err
			}
			log, err := flags.operation.log(w.err)
			if err != nil {
				return err
			}
			defer log.close(cmd.Context())
			network := sandbox.NetworkConfig{Nodes: nodes, JournalLimit: journalLimit, Logger: log.Logger}
			closeData, err := flags.data.open(w, &network)
			if err != nil {
				return err
			}
			if err := flags.replica.configure(w, &network); err != nil {
				return errors.Join(err, closeData())
			}
			listener, err := flags.control.open(w)
			if err != nil {
				return errors.Join(err, closeData())
			}
			network.Control = listener.url()
			opened, err := open(w, flags.addr, network)
			if err != nil {
				listener.close()
				return errors.Join(err, closeData())
			}
			opened.control = listener
			if err := flags.announce(w, &opened); err != nil {
				opened.close()
				return errors.Join(err, closeData())
			}
			// A sandbox runs beside other programs of a developer: less memory is worth more than the highest throughput.
			debug.SetGCPercent(20)
			if err := errors.Join(opened.serve(cmd.Context()), closeData()); err != nil {
				return internal(err)
			}
			return nil
		},
	}
	setFlagGroups(cmd, flags.groups())
	cmd.AddCommand(reportCommand(w), journalCommand(w), statusCommand(w), deviateCommand(w), playCommand(w), stopCommand(w), clockCommand(w), resetCommand(w), recordCommand(w), driftCommand(w))
	return cmd
}

// announce prepares the control listener, writes the files that the flags name, and prints the greeting.
func (s *sandboxFlags) announce(w environment, opened *listeningNetwork) error {
	if err := opened.control.prepare(w, *opened); err != nil {
		return err
	}
	if err := s.tls.writeAuthority(w, opened.first()); err != nil {
		return err
	}
	if err := s.credentials.write(w, *opened); err != nil {
		return err
	}
	if err := opened.recordShownSecrets(); err != nil {
		return err
	}
	if err := (greeting{*opened, s.tls.authorityFile(), s.credentials.file}).write(w.out); err != nil {
		return err
	}
	return warnOfAPIs(w.err, opened.Nodes())
}

func discardLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// listeningNetwork is a sandbox with its open listeners.
type listeningNetwork struct {
	*sandbox.Network
	listener net.Listener
	// control is the control listener; nil with --control off.
	control *controlListener
	// base is the URL at which clients reach the sandbox.
	base string
}

// first returns the node at the root of the host.
func (o listeningNetwork) first() *sandbox.Server { return o.Nodes()[0] }

// open creates a sandbox and its listener, so that the base URL is known before the first request.
func open(w environment, addr string, config sandbox.NetworkConfig) (listeningNetwork, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return listeningNetwork{}, usage(fmt.Errorf("--addr: %w", err), "choose a free address, such as 127.0.0.1:0")
	}
	opened, err := openOn(w, listener, config)
	if err != nil {
		_ = listener.Close()
	}
	return opened, err
}

// openOn creates a sandbox that will serve on listener.
func openOn(w environment, listener net.Listener, config sandbox.NetworkConfig) (listeningNetwork, error) {
	nodes := config.Nodes
	host, _, _ := net.SplitHostPort(listener.Addr().String())
	base := "http://" + dialAddress(listener.Addr().String())
	for i := range nodes {
		c := &nodes[i]
		c.Loopback = evidence.LoopbackHost(host)
		if c.TLS != nil {
			base = "https://" + dialAddress(listener.Addr().String())
			c.TLS.Hosts = certificateHosts(host, c.PublicURL)
		}
	}
	if nodes[0].PublicURL != "" {
		base = nodes[0].PublicURL
	}
	config.Clock, config.Random, config.Origin = w.now, w.random, base
	network, err := sandbox.NewNetwork(config)
	if err != nil {
		var explained *exitError // an error of storedAuthority, which has a hint of its own
		if errors.As(err, &explained) {
			return listeningNetwork{}, explained
		}
		var needsTLS *sandbox.NeedsTLSError
		if errors.As(err, &needsTLS) {
			return listeningNetwork{}, usage(err, "add --tls")
		}
		var document *mockapi.FileError
		if errors.As(err, &document) {
			return listeningNetwork{}, usage(fmt.Errorf("--spec: %w", document), "fix the document, or give another one: OpenAPI 3.0 or 3.1, as JSON or YAML")
		}
		return listeningNetwork{}, usage(err, "see rin sandbox --help")
	}
	return listeningNetwork{Network: network, listener: listener, base: base}, nil
}

// serve answers requests until ctx ends.
func (o listeningNetwork) serve(ctx context.Context) error {
	if o.control == nil {
		return sandbox.Serve(ctx, o.listener, o.Network)
	}
	servers, ctx := errgroup.WithContext(ctx)
	servers.Go(func() error { return sandbox.Serve(ctx, o.listener, o.Network) })
	servers.Go(func() error { return o.control.serve(ctx) })
	defer o.control.close()
	return servers.Wait()
}

// recordShownSecrets records that the secrets of the nodes are about to be printed. From then on they must survive a crash.
func (o listeningNetwork) recordShownSecrets() error {
	for _, n := range o.Nodes() {
		if err := n.RecordShown(); err != nil {
			return internal(err)
		}
	}
	return nil
}

// close closes the listeners of a sandbox that was not served.
func (o listeningNetwork) close() {
	_ = o.listener.Close()
	o.control.close()
}

// dialAddress returns an address that a local client can connect to: "localhost" for a listener on all addresses.
func dialAddress(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return address
}

// defaultSandbox is the address at which a sandbox listens by default.
const defaultSandbox = "127.0.0.1:8080"
