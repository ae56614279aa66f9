package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox/control"
)

// controlVariable is the environment variable that says where the control listener is.
const controlVariable = "RIN_CONTROL"

// controlTarget are the flags of a command to a sandbox that serves: its control listener, and the node that is meant.
type controlTarget struct{ base, node string }

func (t *controlTarget) register(f *pflag.FlagSet) {
	f.StringVar(&t.base, "control", "", "`URL` of the sandbox's control listener\n(default $"+controlVariable+", else http://"+defaultControl+")")
}

func (t *controlTarget) registerNode(f *pflag.FlagSet) {
	f.StringVar(&t.node, "node", "", "`id` of the node in the registry (default the only one)")
}

// client speaks to the control listener that was named, or to the one that is there by default.
func (t *controlTarget) client(ctx context.Context, w world) (control.Client, error) {
	base, from := t.base, "--control"
	if base == "" {
		base, _ = w.getenv(controlVariable)
		from = controlVariable
	}
	if base == "" {
		base = defaultControl
	}
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	at, err := url.Parse(base)
	if err != nil || at.Scheme != "http" || at.Host == "" {
		return control.Client{}, usage(fmt.Errorf("%s: expected the URL of a control listener, got %q", from, base), "rin sandbox --control prints it: http://"+defaultControl)
	}
	return control.Client{Context: ctx, Base: base}, nil
}

// one is the id of the node that is meant: the one that was named, or the only one.
func (t *controlTarget) one(c control.Client) (string, error) {
	if t.node != "" {
		return t.node, nil
	}
	all, err := c.Nodes()
	if err != nil {
		return "", refused(err)
	}
	if len(all.Nodes) == 1 {
		return all.Nodes[0].ID, nil
	}
	ids := make([]string, len(all.Nodes))
	for i, n := range all.Nodes {
		ids[i] = n.ID
	}
	return "", usage(fmt.Errorf("--node: the sandbox has %d nodes, %s", len(ids), strings.Join(ids, ", ")), "say which one: --node "+ids[0])
}

// toOne makes a command of what it tells one node.
func (t *controlTarget) toOne(w world, tell func(c control.Client, node string, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := t.client(cmd.Context(), w)
		if err != nil {
			return err
		}
		node, err := t.one(c)
		if err != nil {
			return err
		}
		if err := tell(c, node, args); err != nil {
			return refused(err)
		}
		return nil
	}
}

// refused tells a sandbox that will not from one that is not there.
func refused(err error) error {
	var said *exitError
	var no *control.Refused
	switch {
	case errors.As(err, &said):
		return err
	case errors.As(err, &no):
		return usage(err, no.Hint)
	}
	return &exitError{code: exitInconclusive, err: err, hint: "start rin sandbox --control " + defaultControl + ", or say where it listens: --control URL"}
}
