// Package plain prints the tour line by line, for screen readers and for pipes. It has the same steps in the same words as the terminal
// interface, and asks no questions.
package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/flow"
)

// Options choose the steps and how they are printed.
type Options struct {
	// Width in columns; 0 means 80.
	Width int
	// Language of the funding calls: "de" or "en".
	Language string
	// Steps to print, in this order; empty means all.
	Steps []flow.Step
	// NodeID is an entry of the registry; empty means the first one.
	NodeID string
	// Query selects calls; Open is the ID of the call to open, empty for the first one of the list.
	Query flow.Query
	Open  string
	// Operation is the operationId or path of an operation to describe in full, or empty.
	Operation string
	// Mistakes to make; empty means all that need no question.
	Mistakes []flow.Mistake
	// Faults of the node to show; empty means all.
	Faults []flow.NodeFault
	// Save writes the files of the last step and returns where they are; nil only lists them.
	Save func([]flow.File) (place string, err error)
}

// ErrTrouble says that a step failed. The output explains why.
var ErrTrouble = errors.New("a step of the tour failed")

// ErrNotCertified says that the node failed its certification.
var ErrNotCertified = errors.New("the node was not certified")

// printer runs the steps and prints them.
type printer struct {
	*flow.Walk
	Options
	out io.Writer
	err error // the first error of out
}

// Run prints all steps to out.
func Run(ctx context.Context, w *flow.Walk, out io.Writer, o Options) error {
	if o.Width == 0 {
		o.Width = 80
	}
	t := &printer{Walk: w, Options: o, out: out}
	steps := o.Steps
	if len(steps) == 0 {
		for _, g := range flow.Guides() {
			steps = append(steps, g.Step)
		}
	}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.intro(step)
		if err := t.step(ctx, step); err != nil {
			return err
		}
		if t.err != nil {
			return t.err
		}
	}
	return nil
}

// step runs and prints one step. Its error ends the tour.
func (t *printer) step(ctx context.Context, step flow.Step) error {
	switch step {
	case flow.Node:
		return t.node(ctx)
	case flow.Credentials:
		t.credentials()
		return nil
	case flow.Token:
		return t.result(t.FetchToken(ctx))
	case flow.Reading:
		return t.result(t.ReadToken(ctx))
	case flow.Info:
		return t.result(t.CallInfo(ctx))
	case flow.Specification:
		return t.specification(ctx)
	case flow.Calls:
		return t.calls(ctx)
	case flow.WhatIf:
		return t.mistakes(ctx)
	case flow.Faults:
		return t.faults(ctx)
	case flow.Certify:
		return t.certify(ctx)
	case flow.TakeAway:
		return t.takeAway()
	}
	return fmt.Errorf("step %d is unknown", step)
}

// intro prints what a step is for.
func (t *printer) intro(step flow.Step) {
	g := step.Guide()
	if step > 0 {
		t.line("")
	}
	head := fmt.Sprintf("%d. %s", int(step)+1, g.Title)
	t.line("%s", head)
	t.line("%s", strings.Repeat("=", len([]rune(head))))
	t.paragraph("", g.Why)
	t.paragraph(g.RuleLabel()+": ", g.Rule)
	t.line("")
}

// result prints the result of an action. It returns ErrTrouble if the action failed.
func (t *printer) result(s flow.Result) error {
	for _, x := range s.Exchanges {
		t.exchange(x)
	}
	for _, text := range s.Notes {
		t.paragraph("", text)
	}
	for _, v := range s.Verdicts {
		t.verdict(v)
	}
	if s.Trouble == nil {
		return nil
	}
	t.paragraph("Trouble: ", s.Trouble.What)
	t.list("What usually causes it:", s.Trouble.Causes)
	t.list("What to try:", s.Trouble.Try)
	return ErrTrouble
}

// maxLines is the number of lines of a body that are printed.
const maxLines = 12

func (t *printer) exchange(x evidence.Exchange) {
	for _, l := range flow.RequestLines(x, redact.Mask) {
		t.line("> %s", l.Text)
	}
	body := 0
	for _, l := range flow.ResponseLines(x, redact.Mask) {
		if l.Kind == flow.BodyLine {
			if body++; body > maxLines {
				continue
			}
		}
		t.line("< %s", ansi.Truncate(l.Text, t.Width-2, "…"))
	}
	if body > maxLines {
		t.line("< (%s)", evidence.Count(body-maxLines, "more line"))
	}
	t.line("")
}

func (t *printer) verdict(v flow.Verdict) {
	outcome := report.Word(v.Outcome)
	if v.Outcome == requirement.Fail {
		outcome = strings.ToUpper(outcome) // visible without colours
	}
	t.paragraph(fmt.Sprintf("%-12s %s  ", outcome, v.ID), v.Title)
	if v.Outcome == requirement.Pass {
		return
	}
	t.paragraph("    reason:   ", v.Reason)
	if v.Expected != "" {
		t.paragraph("    expected: ", v.Expected)
		t.paragraph("    got:      ", v.Got)
	}
	t.paragraph("    rule:     ", v.Source+": “"+v.Quote+"”")
	t.paragraph("    fix:      ", v.Fix)
}

func (t *printer) list(head string, items []string) {
	if len(items) == 0 {
		return
	}
	t.line("%s", head)
	for _, item := range items {
		t.paragraph("  - ", item)
	}
}

// paragraph prints a text after a lead, with a hanging indent.
func (t *printer) paragraph(lead, text string) {
	if text == "" {
		return
	}
	indent := ansi.StringWidth(lead)
	if indent > t.Width/2 { // a long lead gets a line of its own
		t.line("%s", ansi.Truncate(strings.TrimRight(lead, " "), t.Width, "…"))
		lead, indent = "    ", 4
	}
	for i, line := range report.Wrap(report.Plain(text), max(10, t.Width-indent)) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		t.line("%s%s", lead, line)
	}
}

// line prints one line. It makes its arguments safe for the terminal.
func (t *printer) line(format string, args ...any) {
	if t.err != nil {
		return
	}
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = report.Plain(s)
		}
	}
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	if _, err := io.WriteString(t.out, text+"\n"); err != nil {
		t.err = fmt.Errorf("print the tour: %w", err)
	}
}
