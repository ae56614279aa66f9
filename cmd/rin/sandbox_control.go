package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/control"
)

// defaultControl is where commands look for a control listener.
const defaultControl = "127.0.0.1:8081"

// controlFlags say whether a sandbox has a control listener.
type controlFlags struct{ addr string }

func (c *controlFlags) register(f *pflag.FlagSet) {
	f.StringVar(&c.addr, "control", "", "also listen here, on loopback, for rin client, commands to this sandbox and Prometheus (/metrics), such as "+defaultControl)
}

// openControl is a control listener with its handler.
type openControl struct {
	listener net.Listener
	handler  http.Handler
}

// open takes the address of the control listener; nil when none is asked for.
func (c *controlFlags) open(network *sandbox.Network) (*openControl, error) {
	if c.addr == "" {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(c.addr)
	if err == nil && !target.LoopbackHost(host) {
		err = fmt.Errorf("%q is not on loopback", host)
	}
	if err != nil {
		return nil, usage(fmt.Errorf("--control: %w", err), "who reaches it rules the sandbox: give an address of this machine alone, such as "+defaultControl)
	}
	listener, err := net.Listen("tcp", c.addr)
	if err != nil {
		return nil, usage(fmt.Errorf("--control: %w", err), "choose a free address, such as 127.0.0.1:0")
	}
	return &openControl{listener, control.New(network)}, nil
}

func (o *openControl) url() string { return "http://" + o.listener.Addr().String() }

// serve answers until ctx is done.
func (o *openControl) serve(ctx context.Context) error {
	server := &http.Server{Handler: o.handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, MaxHeaderBytes: 16 << 10}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(o.listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the control listener: %w", err)
	case <-ctx.Done():
	}
	err := server.Close()
	if ended := <-ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
