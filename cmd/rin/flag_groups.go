package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is flags that belong together, under a title in the help of their command.
type flagGroup struct {
	title    string
	register func(*pflag.FlagSet)
}

// group makes one of several topics that register their flags themselves.
func group(title string, registers ...func(*pflag.FlagSet)) flagGroup {
	return flagGroup{title, func(f *pflag.FlagSet) {
		for _, register := range registers {
			register(f)
		}
	}}
}

// grouped adds the flags to a command whose help shows them group by group, in the order of their registration.
func grouped(cmd *cobra.Command, groups []flagGroup) {
	sets := make([]*pflag.FlagSet, len(groups))
	for i, g := range groups {
		sets[i] = pflag.NewFlagSet(g.title, pflag.ContinueOnError)
		sets[i].SortFlags = false
		g.register(sets[i])
		cmd.Flags().AddFlagSet(sets[i])
	}
	cmd.SetUsageFunc(func(of *cobra.Command) error {
		if of != cmd { // cobra asks a parent how its subcommands look
			return tellUsage(of)
		}
		var b strings.Builder
		for i, g := range groups {
			fmt.Fprintf(&b, "\n  %s\n%s", g.title, sets[i].FlagUsagesWrapped(helpWidth))
		}
		return writeUsage(cmd, "Commands to one that serves:", b.String())
	})
}
