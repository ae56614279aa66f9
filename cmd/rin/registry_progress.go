package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
)

// nightProgress shows a night on stderr: a line for each node that was tested and, on a terminal, a table of those at work. The delayed checks, which
// follow, have one line.
type nightProgress struct {
	*progress
	table   *nodeTable // nil if stderr is not a terminal
	night   registry.Night
	certify registry.Certify
	checks  map[registry.CheckResult]int

	mu      sync.Mutex
	all     int
	results map[registry.Result]int
}

// showProgress returns the progress of a night, and a function that certifies a node and shows its progress.
func (r registryDir) showProgress(cmd *cobra.Command, w environment) (*nightProgress, error) {
	p := &nightProgress{
		progress: newProgress(w.err, displayOf(w, w.err, cmd)), night: registry.NightOf(r.Now()), certify: r.Certify,
		checks: map[registry.CheckResult]int{}, results: map[registry.Result]int{},
	}
	file, isFile := w.err.(*os.File)
	if !p.screen.live || !isFile {
		return p, nil
	}
	p.table = newNodeTable(file, func() (int, int) {
		columns, rows, err := term.GetSize(int(file.Fd()))
		if err != nil || columns <= 0 || rows <= 0 {
			return 80, 24
		}
		return columns, rows
	}, time.Now)
	var err error
	p.certify, err = newCertifier(w, p.table.event)
	return p, err
}

// begin shows that the test of a node begins.
func (p *nightProgress) begin(node string, all int) {
	if p.table == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = all
	p.table.headline(p.headline())
	p.table.begin(node)
}

func (p *nightProgress) headline() string {
	n := p.results
	return fmt.Sprintf("night of %s: %d of %d nodes tested, %d passed, %d failed, %d untested", p.night,
		n[registry.Passed]+n[registry.Failed]+n[registry.Untested], p.all, n[registry.Passed], n[registry.Failed], n[registry.Untested])
}

// step shows what a test or a delayed check showed.
func (p *nightProgress) step(step registry.Step) {
	out := step.Outcome
	if c := out.DelayedCheck; c != nil {
		p.endTable()
		if p.checks[c.Result]++; c.Result != registry.CheckPassed {
			p.say(fmt.Sprintf("%s %-8s %-12s delayed check: %s", resultSymbol(out.Result), out.Result, report.Plain(out.Node), report.Plain(c.String())))
		}
		if p.screen.live {
			p.progress.step(step.Done, step.All, "delayed check of "+report.Plain(out.Node))
		}
		return
	}
	text := fmt.Sprintf("%s %-8s %-12s %5.1f s  %s", resultSymbol(out.Result), out.Result, report.Plain(out.Node), out.Seconds, out.Headline)
	if out.Why != "" {
		text += ": " + out.Why
	}
	if p.table == nil {
		p.say(text)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.results[out.Result]++
	p.table.end(out.Node, text)
	p.table.headline(p.headline())
}

// wait waits until the delayed checks are due, or ctx ends.
func (p *nightProgress) wait(ctx context.Context, d time.Duration) {
	p.endTable()
	p.progress.wait(d, "the delayed checks; you may interrupt: the same command continues")
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	p.progress.clear()
}

// clear removes the table and the progress line.
func (p *nightProgress) clear() {
	p.endTable()
	p.progress.clear()
}

// endTable removes the table: the tests have ended.
func (p *nightProgress) endTable() {
	if p.table != nil {
		p.table.clear()
	}
}

func resultSymbol(r registry.Result) string {
	switch r {
	case registry.Passed:
		return "✓"
	case registry.Failed:
		return "✗"
	}
	return "?"
}
