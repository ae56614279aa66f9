package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/flavour"
	"github.com/rin-network/rin/sandbox/setup"
)

// networkFlags say how many nodes a sandbox has, and of what make they are.
type networkFlags struct {
	nodes   int
	flavour string
}

func (n *networkFlags) register(f *pflag.FlagSet) {
	f.IntVar(&n.nodes, "nodes", 1, fmt.Sprintf("number of nodes, up to %d, each with its own authorization server, clients and data", setup.MaxNodes))
	f.StringVar(&n.flavour, "flavour", "", "make of the node, one of "+strings.Join(flavour.Names(), ", ")+" (default: none for a single node, all in turn for several)")
}

// configure makes the nodes of one: as the file lists them, or so many.
func (n *networkFlags) configure(first sandbox.Config, file setup.File) ([]sandbox.Config, error) {
	if n.nodes < 1 || n.nodes > setup.MaxNodes {
		return nil, usage(fmt.Errorf("--nodes: %d is not from 1 to %d", n.nodes, setup.MaxNodes), "say how many nodes there are, such as 3")
	}
	if n.flavour != "" {
		made, err := flavour.Find(n.flavour)
		if err != nil {
			return nil, usage(fmt.Errorf("--flavour: %w", err), "rin sandbox --help says what they are")
		}
		first.Flavour = made
	}
	if file.Lists() {
		return file.Nodes(first), nil
	}
	return setup.Many(first, n.nodes), nil
}

// flavourTable explains the flavours in the help of the command.
func flavourTable() string {
	var b strings.Builder
	for _, f := range flavour.All() {
		why := f.Why
		if len(f.Warns) > 0 {
			why += " Warnings: " + strings.Join(f.Warns, ", ") + "."
		}
		fmt.Fprintf(&b, "  %-12s %s\n", f.Name, strings.Join(folded(why, 64), "\n"+strings.Repeat(" ", 15)))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
