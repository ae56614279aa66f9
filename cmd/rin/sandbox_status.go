package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox/control"
	"github.com/rin-network/rin/sandbox/deviation"
)

func statusCommand(w world) *cobra.Command {
	var to controlTarget
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell the time and what each node does on purpose",
		Long: `Status tells the time of a sandbox that serves, and what each of its nodes does
on purpose.`,
		Example: `  rin sandbox status
  rin sandbox status --node XB --control http://127.0.0.1:8081
  curl -s http://127.0.0.1:8081/nodes        the same as JSON`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := to.client(cmd.Context(), w)
			if err != nil {
				return err
			}
			return status(w.out, c, to.node)
		},
	}
	to.register(cmd.Flags())
	cmd.Flags().StringVar(&to.node, "node", "", "`id` of the one node to tell of (default all)")
	return cmd
}

func status(out io.Writer, c control.Client, only string) error {
	time, err := c.Clock()
	if err != nil {
		return refused(err)
	}
	var nodes []control.Node
	if only == "" {
		all, err := c.Nodes()
		if err != nil {
			return refused(err)
		}
		nodes = all.Nodes
	} else {
		one, err := c.Node(only)
		if err != nil {
			return refused(err)
		}
		nodes = append(nodes, one)
	}
	if err := writeClock(out, time); err != nil {
		return err
	}
	return writeNodes(out, nodes...)
}

func resetCommand(w world) *cobra.Command {
	var to controlTarget
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "Put everything back to its start",
		Long: `Reset puts a sandbox that serves back to its start: the time, and each node to
what it was configured to be. Clients that were made since are gone, unless the
sandbox keeps them with --data. With --node it is that node alone, and the time
stays.`,
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
				return refused(err)
			}
			return status(w.out, c, to.node)
		},
	}
	to.register(cmd.Flags())
	cmd.Flags().StringVar(&to.node, "node", "", "`id` of the one node to put back (default all, and the time)")
	return cmd
}

// writeNodes says of each node what it does on purpose.
func writeNodes(out io.Writer, nodes ...control.Node) error {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&b, "%s  %s", n.ID, strings.TrimSpace(n.Name))
		if n.Flavour != "" {
			fmt.Fprintf(&b, " (%s)", n.Flavour)
		}
		b.WriteByte('\n')
		for _, name := range n.Deviations {
			d, err := deviation.Find(name)
			if err != nil { // a sandbox of another version
				d.Name = name
			}
			writeEntry(&b, "deviates: "+d.Name, effect(d), d.Why)
		}
		if len(n.Deviations) == 0 {
			b.WriteString("    deviates in nothing\n")
		}
		for _, play := range n.Scenarios {
			writePlay(&b, play)
		}
		if n.API != nil {
			writeDescribed(&b, *n.API)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeEntry writes a heading with texts below it.
func writeEntry(b *strings.Builder, heading string, texts ...string) {
	fmt.Fprintf(b, "    %s\n", heading)
	for _, text := range texts {
		for _, line := range folded(text, helpWidth-8) {
			fmt.Fprintf(b, "        %s\n", line)
		}
	}
}
