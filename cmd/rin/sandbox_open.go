package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/described"
)

// openNetwork is a sandbox with the listener that it will be served on.
type openNetwork struct {
	*sandbox.Network
	listener net.Listener
	// control is the second listener with its handler; nil unless asked for.
	control *openControl
	base    string
}

// first is the node at the root of the host.
func (o openNetwork) first() *sandbox.Server { return o.Nodes()[0] }

// open makes a sandbox and takes its address, so that its base URL is known before the first request.
func open(w world, addr string, config sandbox.NetworkConfig) (openNetwork, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return openNetwork{}, usage(fmt.Errorf("--addr: %w", err), "choose a free address, such as 127.0.0.1:0")
	}
	opened, err := openOn(w, listener, config)
	if err != nil {
		_ = listener.Close()
	}
	return opened, err
}

func openOn(w world, listener net.Listener, config sandbox.NetworkConfig) (openNetwork, error) {
	nodes := config.Nodes
	host, _, _ := net.SplitHostPort(listener.Addr().String())
	base := "http://" + reachable(listener.Addr().String())
	for i := range nodes {
		c := &nodes[i]
		c.Loopback = target.LoopbackHost(host)
		if c.TLS != nil {
			base = "https://" + reachable(listener.Addr().String())
			c.TLS.Hosts = hosts(host, c.PublicURL)
		}
	}
	if nodes[0].PublicURL != "" {
		base = nodes[0].PublicURL
	}
	config.Clock, config.Random, config.Origin = w.now, w.random, base
	network, err := sandbox.NewNetwork(config)
	if err != nil {
		var need *sandbox.NeedsTLSError
		if errors.As(err, &need) {
			return openNetwork{}, usage(err, "add --tls")
		}
		var document *described.FileError
		if errors.As(err, &document) {
			return openNetwork{}, usage(fmt.Errorf("--spec: %w", document), "mend the document, or give another one: OpenAPI 3.0 or 3.1, as JSON or YAML")
		}
		return openNetwork{}, usage(err, "see rin sandbox --help")
	}
	return openNetwork{Network: network, listener: listener, base: base}, nil
}

// serve answers requests until ctx is done.
func (o openNetwork) serve(ctx context.Context) error {
	if o.control == nil {
		return sandbox.Serve(ctx, o.listener, o.Network)
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return sandbox.Serve(ctx, o.listener, o.Network) })
	both.Go(func() error { return o.control.serve(ctx) })
	return both.Wait()
}

// close gives the addresses back, when it was not served.
func (o openNetwork) close() {
	_ = o.listener.Close()
	if o.control != nil {
		_ = o.control.listener.Close()
	}
}

// reachable is an address that a client on this machine can use: a listener on all addresses has none of its own.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return address
}
