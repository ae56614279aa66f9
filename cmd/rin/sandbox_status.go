package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/sandbox/control"
	"github.com/rin-network/rin/sandbox/fault"
)

// controlVariable is the environment variable with the URL of the control listener.
const controlVariable = "RIN_CONTROL"

// exampleControl is the address of a control listener in hints.
const exampleControl = "127.0.0.1:8081"

// controlTarget holds the flags of commands to a running sandbox: its control listener and the node.
type controlTarget struct{ base, node string }

func (t *controlTarget) register(f *pflag.FlagSet) {
	f.StringVar(&t.base, "control", "", "`URL` of the sandbox's control listener\n(default $"+controlVariable+", else the sandbox that runs)")
}

// registerWithNode registers --control and --node, for commands that act on one node.
func (t *controlTarget) registerWithNode(f *pflag.FlagSet) {
	t.register(f)
	f.StringVar(&t.node, "node", "", "`id` of the node in the registry (default the only one)")
}

// client returns a client for the control listener that --control or the environment names, or for the only running sandbox of this user.
func (t *controlTarget) client(ctx context.Context, w environment) (control.Client, error) {
	base, source := t.base, "--control"
	if base == "" {
		base, _ = w.getenv(controlVariable)
		source = controlVariable
	}
	running := runningSandboxes(w)
	if base == "" {
		switch len(running) {
		case 0:
			return control.Client{}, &exitError{code: exitInconclusive, err: errors.New("no sandbox of this user is running"), hint: "start rin sandbox, or say where it listens: --control URL"}
		case 1:
			return control.Client{Context: ctx, Base: running[0].Control, Token: running[0].Token}, nil
		}
		return control.Client{}, usage(fmt.Errorf("%d sandboxes are running:%s", len(running), describeStates(running)), "say which one: --control "+running[0].Control)
	}
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	address, err := url.Parse(base)
	if err != nil || address.Scheme != "http" || address.Host == "" {
		return control.Client{}, usage(fmt.Errorf("%s: expected the URL of a control listener, got %q", source, base), "rin sandbox prints it: http://"+exampleControl)
	}
	token, _ := w.getenv(tokenVariable)
	if token == "" {
		token = runningToken(running, address)
	}
	return control.Client{Context: ctx, Base: base, Token: token}, nil
}

// runningToken returns the token for the control listener at a URL, if one of the running sandboxes of this user listens there, and otherwise "". All
// names of this machine count as one host.
func runningToken(running []sandboxState, address *url.URL) string {
	for _, s := range running {
		known, err := url.Parse(s.Control)
		sameHost := err == nil && (known.Hostname() == address.Hostname() || evidence.LoopbackHost(known.Hostname()) && evidence.LoopbackHost(address.Hostname()))
		if sameHost && known.Port() == address.Port() {
			return s.Token
		}
	}
	return ""
}

// nodeID returns the value of --node, or the id of the only node.
func (t *controlTarget) nodeID(c control.Client) (string, error) {
	if t.node != "" {
		return t.node, nil
	}
	all, err := c.Nodes()
	if err != nil {
		return "", controlError(err)
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

// forNode returns the RunE of a command that acts on one node.
func (t *controlTarget) forNode(w environment, act func(c control.Client, node string, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := t.client(cmd.Context(), w)
		if err != nil {
			return err
		}
		node, err := t.nodeID(c)
		if err != nil {
			return err
		}
		if err := act(c, node, args); err != nil {
			return controlError(err)
		}
		return nil
	}
}

// changeNode returns the RunE of a command that changes one node and prints its new state.
func (t *controlTarget) changeNode(w environment, change func(c control.Client, node string, args []string) (control.Node, error)) func(*cobra.Command, []string) error {
	return t.forNode(w, func(c control.Client, node string, args []string) error {
		changed, err := change(c, node, args)
		if err != nil {
			return err
		}
		return writeNodes(w.out, changed)
	})
}

// controlError gives an error its exit code: usage if the sandbox refuses the command, and inconclusive if the sandbox cannot be reached.
func controlError(err error) error {
	var exit *exitError
	var refusal *control.Refusal
	switch {
	case errors.As(err, &exit):
		return err
	case errors.As(err, &refusal):
		return usage(err, refusal.Hint)
	}
	return &exitError{code: exitInconclusive, err: err, hint: "start rin sandbox, or say where it listens: --control URL"}
}

func statusCommand(w environment) *cobra.Command {
	var to controlTarget
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the time and the deviations of each node",
		Long: `Status prints the time of a running sandbox, and the deviations, scenarios and
documents of each of its nodes.`,
		Example: `  rin sandbox status
  rin sandbox status --node XB --control http://127.0.0.1:8081
  curl -s http://127.0.0.1:8081/nodes        the same as JSON`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := to.client(cmd.Context(), w)
			if err != nil {
				return err
			}
			return writeStatus(w.out, c, to.node)
		},
	}
	to.register(cmd.Flags())
	cmd.Flags().StringVar(&to.node, "node", "", "`id` of the only node to show (default all)")
	return cmd
}

// writeStatus prints the time and the nodes, or only the named node.
func writeStatus(out io.Writer, c control.Client, only string) error {
	clock, err := c.Clock()
	if err != nil {
		return controlError(err)
	}
	var nodes []control.Node
	if only == "" {
		all, err := c.Nodes()
		if err != nil {
			return controlError(err)
		}
		nodes = all.Nodes
	} else {
		node, err := c.Node(only)
		if err != nil {
			return controlError(err)
		}
		nodes = append(nodes, node)
	}
	if err := writeClock(out, clock); err != nil {
		return err
	}
	return writeNodes(out, nodes...)
}

func resetCommand(w environment) *cobra.Command {
	var to controlTarget
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "Restore the initial state",
		Long: `Reset restores the initial state of a running sandbox: the time, and the
configuration of each node. Clients created since then are removed, unless the
sandbox keeps them with --data. With --state, the records that clients changed
are as before. With --node it restores only that node, and the time stays.`,
		Example: `  rin sandbox reset
  rin sandbox reset --node XB`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := to.client(cmd.Context(), w)
			if err != nil {
				return err
			}
			if to.node == "" {
				err = c.Reset()
			} else {
				_, err = c.ResetNode(to.node)
			}
			if err != nil {
				return controlError(err)
			}
			return writeStatus(w.out, c, to.node)
		},
	}
	to.register(cmd.Flags())
	cmd.Flags().StringVar(&to.node, "node", "", "`id` of the only node to restore (default all, and the time)")
	return cmd
}

// writeNodes describes the deviations, scenarios and APIs of each node.
func writeNodes(out io.Writer, nodes ...control.Node) error {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&b, "%s  %s", n.ID, strings.TrimSpace(n.Name))
		if n.Preset != "" {
			fmt.Fprintf(&b, " (%s)", n.Preset)
		}
		b.WriteByte('\n')
		for _, name := range n.Deviations {
			d, err := fault.FindDeviation(name)
			if err != nil { // the sandbox runs another version, which has deviations that this one does not know
				d.Name = name
			}
			writeEntry(&b, "deviates: "+d.Name, effect(d), d.Why)
		}
		if len(n.Deviations) == 0 {
			b.WriteString("    no deviations\n")
		}
		for _, play := range n.Scenarios {
			writePlay(&b, play)
		}
		if n.API != nil {
			writeDescribedAPI(&b, *n.API)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeEntry writes a heading and indented texts.
func writeEntry(b *strings.Builder, heading string, texts ...string) {
	fmt.Fprintf(b, "    %s\n", heading)
	for _, text := range texts {
		if text != "" {
			b.WriteString(report.Hang(strings.Repeat(" ", 8), text, helpWidth) + "\n")
		}
	}
}
