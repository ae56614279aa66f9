package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/rin-network/rin/conformance/evidence"
)

// display describes where output goes.
type display struct {
	width int  // columns; 80 unless it is a terminal
	live  bool // a terminal, where a line can be overwritten
	color bool
}

// displayOf inspects a stream. Only terminals get colour, unless NO_COLOR, --no-color or TERM=dumb forbids it.
func displayOf(w environment, stream io.Writer, cmd *cobra.Command) display {
	s := display{width: 80}
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return s
	}
	s.live = true
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		s.width = width
	}
	_, colorOff := w.getenv("NO_COLOR")
	if kind, _ := w.getenv("TERM"); kind == "dumb" {
		colorOff, s.live = true, false
	}
	if flag, err := cmd.Flags().GetBool("no-color"); err == nil && flag {
		colorOff = true
	}
	s.color = !colorOff
	return s
}

// progress shows the progress of long work on stderr: one line that is overwritten on a terminal, one line for each quarter elsewhere.
type progress struct {
	to     io.Writer
	screen display

	mu         sync.Mutex // guards what follows
	done, all  int        // steps
	what       string     // the last finished step
	quarter    int        // the last one that was reported, 0 to 4
	drawn      bool
	cause      string // what the work waits for
	until      time.Time
	stopTicker func() // nil unless the line counts down
}

func newProgress(to io.Writer, s display) *progress { return &progress{to: to, screen: s} }

// step shows that done of all steps are finished. Not every step sends a request. what names the last one.
func (p *progress) step(done, all int, what string) {
	if all <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	done = min(done, all)
	if !p.screen.live {
		q := done * 4 / all
		if all != p.all {
			// More steps were planned since the last one. Quarters of the new total count; the line for the last quarter is still to come.
			p.all, p.quarter = all, min(q, 3)
		}
		if q > p.quarter {
			p.quarter = q
			fmt.Fprintf(p.to, "  %d of %d steps\n", done, all)
		}
		return
	}
	p.done, p.all, p.what = done, all, what
	p.draw()
}

// wait shows how long the work waits, and for what: the line counts down on a terminal, another line is printed elsewhere. clear ends the countdown.
func (p *progress) wait(d time.Duration, cause string) {
	if !p.screen.live {
		p.say(fmt.Sprintf("waiting %s for %s", evidence.Duration(d), cause))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until, p.cause = until, cause
	}
	if p.stopTicker == nil {
		ticker, stopped := time.NewTicker(time.Second), make(chan struct{})
		p.stopTicker = func() { ticker.Stop(); close(stopped) }
		go p.countDown(ticker.C, stopped)
	}
	p.draw()
}

// countDown draws the line again at each tick, until stopped is closed. wait starts it in the background.
func (p *progress) countDown(ticks <-chan time.Time, stopped <-chan struct{}) {
	for {
		select {
		case <-stopped:
			return
		case <-ticks:
		}
		p.mu.Lock()
		if p.stopTicker != nil {
			p.draw()
		}
		p.mu.Unlock()
	}
}

// draw overwrites the line. The caller holds the lock.
func (p *progress) draw() {
	line, what := "", p.what
	if p.all > 0 {
		line = fmt.Sprintf("%s %d/%d ", progressBar(p.done, p.all), p.done, p.all)
	}
	if left := time.Until(p.until); left > 0 {
		what = fmt.Sprintf("waiting %s for %s", evidence.Duration(left), p.cause)
	}
	fmt.Fprintf(p.to, "\r\x1b[K%s%s", line, ansi.Truncate(what, max(0, p.screen.width-len(line)-1), ""))
	p.drawn = true
}

// progressBar draws how much of all is done.
func progressBar(done, all int) string {
	const length = 20
	filled := done * length / all
	return "[" + strings.Repeat("#", filled) + strings.Repeat(".", length-filled) + "]"
}

// say removes the progress line and prints a line that stays.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	fmt.Fprintln(p.to, text)
}

// clear ends a countdown and removes the progress line.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopTicker != nil {
		p.stopTicker()
		p.stopTicker, p.until = nil, time.Time{}
	}
	p.erase()
}

// erase removes the line if there is one. The caller holds the lock.
func (p *progress) erase() {
	if p.drawn {
		fmt.Fprint(p.to, "\r\x1b[K")
		p.drawn = false
	}
}

// helpWidth is the width of help texts in columns.
const helpWidth = 80

// printUsage prints the usage of a command in cobra's order, wrapped at [helpWidth] columns.
func printUsage(cmd *cobra.Command) error {
	return writeUsage(cmd, "Available Commands:", cmd.LocalFlags().FlagUsagesWrapped(helpWidth))
}

// writeUsage prints the usage of a command, with a title for its subcommands and the formatted help of its flags.
func writeUsage(cmd *cobra.Command, subcommandsTitle, flags string) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s\n", subcommandsTitle)
		for _, command := range cmd.Commands() {
			if command.IsAvailableCommand() || command.Name() == "help" {
				fmt.Fprintf(&b, "  %-*s %s\n", command.NamePadding(), command.Name(), command.Short)
			}
		}
	}
	fmt.Fprintf(&b, "\nFlags:\n%s", flags)
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(&b, "\nGlobal Flags:\n%s", cmd.InheritedFlags().FlagUsagesWrapped(helpWidth))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more information about a command.\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// groupAnnotation names the annotation of a flag that holds the number and the title of its group. The man pages read it.
const groupAnnotation = "rin-group"

// flagGroup is a group of flags under a title in help.
type flagGroup struct {
	title    string
	register func(*pflag.FlagSet)
}

// group returns a group of all flags that some functions register.
func group(title string, registers ...func(*pflag.FlagSet)) flagGroup {
	return flagGroup{title, func(f *pflag.FlagSet) {
		for _, register := range registers {
			register(f)
		}
	}}
}

// setFlagGroups adds the flags to a command and lists them by group in its help. Of these commands only rin sandbox has subcommands.
func setFlagGroups(cmd *cobra.Command, groups []flagGroup) {
	sets := make([]*pflag.FlagSet, len(groups))
	for i, g := range groups {
		sets[i] = pflag.NewFlagSet(g.title, pflag.ContinueOnError)
		sets[i].SortFlags = false
		g.register(sets[i])
		cmd.Flags().AddFlagSet(sets[i])
		sets[i].VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{groupAnnotation: {strconv.Itoa(i), g.title}} })
	}
	cmd.SetUsageFunc(func(current *cobra.Command) error {
		if current != cmd { // subcommands inherit this function
			return printUsage(current)
		}
		var b strings.Builder
		for i, g := range groups {
			fmt.Fprintf(&b, "\n  %s\n%s", g.title, sets[i].FlagUsagesWrapped(helpWidth))
		}
		return writeUsage(cmd, "Commands to a running sandbox:", b.String())
	})
}
