package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// helpWidth is the number of columns that a help text takes.
const helpWidth = 80

// tellUsage tells how a command is used, in the order that cobra tells it and within [helpWidth] columns.
func tellUsage(of *cobra.Command) error {
	return writeUsage(of, "Available Commands:", of.LocalFlags().FlagUsagesWrapped(helpWidth))
}

// writeUsage tells it with a title for the commands below and a text for the flags.
func writeUsage(of *cobra.Command, below, flags string) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if of.Runnable() {
		fmt.Fprintf(&b, "  %s\n", of.UseLine())
	}
	if of.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", of.CommandPath())
	}
	if of.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", of.Example)
	}
	if of.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s\n", below)
		for _, command := range of.Commands() {
			if command.IsAvailableCommand() || command.Name() == "help" {
				fmt.Fprintf(&b, "  %-*s %s\n", command.NamePadding(), command.Name(), command.Short)
			}
		}
	}
	fmt.Fprintf(&b, "\nFlags:\n%s", flags)
	if of.HasAvailableInheritedFlags() {
		fmt.Fprintf(&b, "\nGlobal Flags:\n%s", of.InheritedFlags().FlagUsagesWrapped(helpWidth))
	}
	if of.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more information about a command.\n", of.CommandPath())
	}
	_, err := io.WriteString(of.OutOrStderr(), b.String())
	return err
}
