package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manualCommand writes what packages install besides the binary. It is hidden because few people need it.
func manualCommand(w environment) *cobra.Command {
	return &cobra.Command{
		Use:    "manual DIR",
		Short:  "Write the man pages and the completion of all shells",
		Hidden: true,
		Long: `Manual writes DIR/man with a page for each command, and DIR/completion with the
scripts for bash, zsh, fish and PowerShell. Packages install them. The files
depend on nothing but the binary.`,
		Example: `  rin manual share
  man -l share/man/rin.1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeManual(cmd.Root(), args[0])
		},
	}
}

// writeManual writes the man pages and completions of a command tree to dir.
func writeManual(root *cobra.Command, dir string) error {
	root.InitDefaultCompletionCmd()
	files := map[string][]byte{}
	for _, cmd := range withSubcommands(root) {
		files[filepath.Join("man", manualName(cmd)+".1")] = manualPage(cmd)
	}
	for name, generate := range map[string]func(io.Writer) error{
		"rin.bash": func(out io.Writer) error { return root.GenBashCompletionV2(out, true) },
		"_rin":     root.GenZshCompletion,
		"rin.fish": func(out io.Writer) error { return root.GenFishCompletion(out, true) },
		"rin.ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var script bytes.Buffer
		if err := generate(&script); err != nil {
			return internal(fmt.Errorf("generate %s: %w", name, err))
		}
		files[filepath.Join("completion", name)] = script.Bytes()
	}
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "man"), 0o755), os.MkdirAll(filepath.Join(dir, "completion"), 0o755))
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), content, 0o644))
	}
	if err != nil {
		return usage(err, "name a directory that can be written")
	}
	return nil
}

// withSubcommands returns a command and all visible commands below it.
func withSubcommands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			all = append(all, withSubcommands(c)...)
		}
	}
	return all
}

// manualName returns the name of the man page of a command, such as rin-registry-run.
func manualName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// manualPage returns the man page of a command, in roff. cobra's own generator reads the texts as Markdown, which breaks their tables.
func manualPage(cmd *cobra.Command) []byte {
	cmd.InitDefaultHelpFlag()
	var b bytes.Buffer
	name := manualName(cmd)
	fmt.Fprintf(&b, ".TH %q 1 %q %q %q\n", strings.ToUpper(name), commitDate(), "rin "+version(), "Manual of rin")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", roff(name), roff(cmd.Short))
	if cmd.Runnable() {
		fmt.Fprintf(&b, "\\fB%s\\fR %s\n", roff(cmd.CommandPath()), roff(strings.TrimSpace(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath()))))
	}
	if cmd.HasAvailableSubCommands() {
		if cmd.Runnable() {
			b.WriteString(".br\n")
		}
		fmt.Fprintf(&b, "\\fB%s\\fR \\fIcommand\\fR\n", roff(cmd.CommandPath()))
	}
	b.WriteString(".SH DESCRIPTION\n")
	for i, paragraph := range strings.Split(strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		writeParagraph(&b, paragraph)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(c.Name()), roff(c.Short))
			}
		}
	}
	writeFlags(&b, cmd)
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	writeRelated(&b, cmd)
	return b.Bytes()
}

// writeParagraph writes a paragraph of help. Lines that are indented are a table or commands, and stay as they are.
func writeParagraph(b *bytes.Buffer, paragraph string) {
	keep := false
	for _, line := range strings.Split(paragraph, "\n") {
		if indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"); indented != keep {
			keep = indented
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[keep])
		}
		b.WriteString(roff(line) + "\n")
	}
	if keep {
		b.WriteString(".fi\n")
	}
}

// writeFlags writes the flags of a command, below the titles of their groups.
func writeFlags(b *bytes.Buffer, cmd *cobra.Command) {
	b.WriteString(".SH OPTIONS\n")
	var flags []*pflag.Flag
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f)
		}
	})
	groupOf := func(f *pflag.Flag) (number int, title string) {
		if group := f.Annotations[groupAnnotation]; len(group) == 2 {
			number, _ = strconv.Atoi(group[0])
			return number, group[1]
		}
		return len(flags), "Other" // such as --help
	}
	slices.SortStableFunc(flags, func(a, b *pflag.Flag) int {
		i, _ := groupOf(a)
		j, _ := groupOf(b)
		return i - j
	})
	last := "Other" // the title of the previous flag; commands without groups get no titles
	for _, f := range flags {
		if _, title := groupOf(f); title != last {
			fmt.Fprintf(b, ".SS %s\n", roff(title))
			last = title
		}
		writeFlag(b, f)
	}
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { writeFlag(b, f) })
}

func writeFlag(b *bytes.Buffer, f *pflag.Flag) {
	value, text := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n")
	if f.Shorthand != "" {
		fmt.Fprintf(b, "\\fB\\-%s\\fR, ", f.Shorthand)
	}
	fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", roff(f.Name))
	switch {
	case f.NoOptDefVal != "" && f.Value.Type() != "bool":
		fmt.Fprintf(b, "[=\\fI%s\\fR]", roff(f.NoOptDefVal))
	case value != "":
		fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
	}
	fmt.Fprintf(b, "\n%s", roff(text))
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "0s" {
		fmt.Fprintf(b, " (default %s)", roff(f.DefValue))
	}
	b.WriteByte('\n')
}

// writeRelated names the pages above and below a command.
func writeRelated(b *bytes.Buffer, cmd *cobra.Command) {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, manualName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			pages = append(pages, manualName(c))
		}
	}
	if len(pages) == 0 {
		return
	}
	for i, page := range pages {
		pages[i] = "\\fB" + roff(page) + "\\fR(1)"
	}
	fmt.Fprintf(b, ".SH SEE ALSO\n%s\n", strings.Join(pages, ",\n"))
}

// roff escapes a text for roff: a backslash, a hyphen that can be copied, and a dot or quote that begins a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return regexp.MustCompile(`(?m)^([.'])`).ReplaceAllString(text, `\&$1`)
}
