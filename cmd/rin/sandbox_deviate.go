package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox/control"
	"github.com/rin-network/rin/sandbox/deviation"
)

func deviateCommand(w world) *cobra.Command {
	var to controlTarget
	var none bool
	cmd := &cobra.Command{
		Use:   "deviate NAME...",
		Short: "Put deviations in force, in the place of all others",
		Long: `Deviate makes a node that serves misbehave from the next request on, or behave
in an unusual way: exactly as the names say, in the place of what was in force.
The first sees requests first. They begin afresh, whatever they remembered.`,
		Example: `  rin sandbox deviate token-status-201
  rin sandbox deviate token-type-in-lower-case list-id-missing --node XB
  rin sandbox deviate --none                 a good node again
  rin sandbox --deviations                   all names, with what they break`,
		Args: func(_ *cobra.Command, names []string) error {
			if none == (len(names) > 0) {
				return usage(errors.New("expected names of deviations, or --none"), "rin sandbox --deviations lists them")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return deviation.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: to.toOne(w, func(c control.Client, node string, names []string) error {
			now, err := c.Deviate(node, names...)
			if err != nil {
				return err
			}
			return writeNodes(w.out, now)
		}),
	}
	to.register(cmd.Flags())
	to.registerNode(cmd.Flags())
	cmd.Flags().BoolVar(&none, "none", false, "take back all deviations")
	return cmd
}
