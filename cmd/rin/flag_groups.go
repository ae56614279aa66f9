package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the number of columns that a help text takes.
const helpWidth = 80

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
	plain := new(cobra.Command).UsageFunc()
	cmd.SetUsageFunc(func(of *cobra.Command) error {
		if of != cmd { // cobra asks a parent how its subcommands look
			return plain(of)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
		if cmd.HasExample() {
			fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
		}
		writeSubcommands(&b, cmd)
		b.WriteString("\nFlags:\n")
		for i, g := range groups {
			fmt.Fprintf(&b, "\n  %s\n%s", g.title, sets[i].FlagUsagesWrapped(helpWidth))
		}
		fmt.Fprintf(&b, "\nGlobal Flags:\n%s", cmd.InheritedFlags().FlagUsagesWrapped(helpWidth))
		_, err := io.WriteString(cmd.OutOrStderr(), b.String())
		return err
	})
}

// writeSubcommands lists the commands below a command, one a line.
func writeSubcommands(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	fmt.Fprintf(b, "\nCommands to one that serves, see %s COMMAND --help:\n", cmd.CommandPath())
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			fmt.Fprintf(b, "  %-*s %s\n", below.NamePadding(), below.Name(), below.Short)
		}
	}
}
