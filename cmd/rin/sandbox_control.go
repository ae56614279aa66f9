package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/sandbox/control"
)

const (
	// defaultControl is the address of the control listener without --control: any free port. noControl switches the listener off.
	defaultControl, noControl = "127.0.0.1:0", "off"
	// tokenVariable is the environment variable with the token of the control listener, for the sandbox and for the commands to it.
	tokenVariable = "RIN_CONTROL_TOKEN"
	// minControlToken is the length of the shortest token that the environment may set.
	minControlToken = 16
)

// controlFlags hold the address of the control listener.
type controlFlags struct{ addr string }

func (c *controlFlags) register(f *pflag.FlagSet) {
	f.StringVar(&c.addr, "control", defaultControl, "address of the control listener for the commands below, rin client and Prometheus (/metrics), or "+noControl+" for none; changes need its token, which the commands find; reads need it only if the address is not on loopback")
}

// controlListener is the control listener of a sandbox, with its handler. The methods of a nil controlListener do nothing.
type controlListener struct {
	listener net.Listener
	access   control.Access
	handler  http.Handler
	// state is the path of the file by which the commands find the sandbox; "" if it could not be written.
	state string
}

// open creates the control listener. It returns nil with --control off.
func (c *controlFlags) open(w environment) (*controlListener, error) {
	if c.addr == noControl {
		return nil, nil
	}
	token, err := controlToken(w)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(c.addr)
	if err != nil {
		return nil, usage(fmt.Errorf("--control: %w", err), "give a host and a port, such as "+exampleControl+", or "+noControl)
	}
	listener, err := net.Listen("tcp", c.addr)
	if err != nil {
		return nil, usage(fmt.Errorf("--control: %w", err), "choose a free address, such as "+defaultControl)
	}
	opened := &controlListener{listener: listener, access: control.Access{Token: token, Loopback: evidence.LoopbackHost(host)}}
	if !opened.access.Loopback {
		fmt.Fprintf(w.err, "warning: other machines reach the control listener at %s; they need its token, and plain http does not hide it\n", listener.Addr())
	}
	return opened, nil
}

// controlToken returns the token of the environment, or a random one of 128 bits.
func controlToken(w environment) (string, error) {
	if token, set := w.getenv(tokenVariable); set && token != "" {
		if len(token) < minControlToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return "", usage(fmt.Errorf("%s: expected at least %d printable ASCII characters without spaces", tokenVariable, minControlToken), "leave it out for a random token")
		}
		return token, nil
	}
	var random [16]byte
	if _, err := io.ReadFull(w.random, random[:]); err != nil {
		return "", internal(fmt.Errorf("make the token of the control listener: %w", err))
	}
	return base64.RawURLEncoding.EncodeToString(random[:]), nil
}

// url returns the base URL of the listener, for clients on this machine; "" without a listener.
func (o *controlListener) url() string {
	if o == nil {
		return ""
	}
	return "http://" + dialAddress(o.listener.Addr().String())
}

// prepare makes the handler, and writes the state file. Without the file the sandbox serves all the same.
func (o *controlListener) prepare(w environment, network listeningNetwork) error {
	if o == nil {
		return nil
	}
	o.handler = control.New(network.Network, o.access)
	state := sandboxState{Format: stateFormat, Control: o.url(), Token: o.access.Token, Sandbox: network.base, Started: w.now().UTC().Truncate(time.Second)}
	for _, n := range network.Nodes() {
		state.Nodes = append(state.Nodes, n.Member().ID)
	}
	var err error
	if o.state, err = state.write(w); err != nil {
		fmt.Fprintf(w.err, "warning: commands will not find this sandbox by themselves: %v\n", err)
	}
	return nil
}

// close closes the listener, and removes the state file.
func (o *controlListener) close() {
	if o == nil {
		return
	}
	_ = o.listener.Close()
	removeState(o.state)
}

// serve answers requests until ctx ends.
func (o *controlListener) serve(ctx context.Context) error {
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
