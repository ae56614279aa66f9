// Package plain walks line by line: for screen readers, for pipes, and wherever no screen is. It prints the same steps as the terminal
// interface, in the same words, and asks nothing.
package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/flow"
)

// Options choose what is walked and how it is told.
type Options struct {
	// Width is the number of columns; 80 when 0.
	Width int
	// Language is "de" or "en".
	Language string
	// Steps are walked in their order; all when empty.
	Steps []flow.Step
	// NodeID is the entry of the registry; the first one when empty.
	NodeID string
	// Query is what the list of calls is asked for; Open is the id of the call to open, the first one of the list when empty.
	Query flow.Query
	Open  string
	// Operation is the one of the document that is told in full, by its operationId or path; empty for none.
	Operation string
	// Mistakes are those to make; when empty, all that are made without a question.
	Mistakes []flow.Mistake
	// Save writes the files of the last step, and says where they are; nil lists them only.
	Save func([]flow.File) (place string, err error)
}

// ErrTrouble says that a step did not reach its aim; what happened was told.
var ErrTrouble = errors.New("a step of the walk did not reach its aim")

// ErrNotCertified says that the node was certified and failed.
var ErrNotCertified = errors.New("the node was not certified")

// teller walks and tells.
type teller struct {
	*flow.Walk
	Options
	out   io.Writer
	fault error
}

// Run walks all steps and tells each on out.
func Run(ctx context.Context, w *flow.Walk, out io.Writer, o Options) error {
	if o.Width == 0 {
		o.Width = 80
	}
	t := &teller{Walk: w, Options: o, out: out}
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
		if t.fault != nil {
			return t.fault
		}
	}
	return nil
}

// step does what one step is for. The error ends the walk.
func (t *teller) step(ctx context.Context, step flow.Step) error {
	switch step {
	case flow.Node:
		return t.node(ctx)
	case flow.Credentials:
		t.credentials()
		return nil
	case flow.Token:
		return t.scene(t.FetchToken(ctx))
	case flow.Reading:
		return t.scene(t.ReadToken(ctx))
	case flow.Info:
		return t.scene(t.CallInfo(ctx))
	case flow.Specification:
		return t.specification(ctx)
	case flow.Calls:
		return t.calls(ctx)
	case flow.WhatIf:
		return t.mistakes(ctx)
	case flow.Certify:
		return t.certify(ctx)
	case flow.TakeAway:
		return t.takeAway()
	}
	return fmt.Errorf("step %d is unknown", step)
}

// intro tells what a step is for.
func (t *teller) intro(step flow.Step) {
	g := step.Guide()
	if step > 0 {
		t.line("")
	}
	head := fmt.Sprintf("%d. %s", int(step)+1, g.Title)
	t.line("%s", head)
	t.line("%s", strings.Repeat("=", len([]rune(head))))
	t.paragraph("", g.Why)
	t.paragraph("Rule: ", g.Rule)
	t.line("")
}

// scene tells what an action came to; its error ends the walk.
func (t *teller) scene(s flow.Result) error {
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

// maxLines bounds how much of a body is printed.
const maxLines = 12

func (t *teller) exchange(x evidence.Exchange) {
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
		t.line("< %s", clip(l.Text, t.Width-2))
	}
	if body > maxLines {
		t.line("< (%s)", evidence.Count(body-maxLines, "more line"))
	}
	t.line("")
}

// clip cuts a text that is longer than a line; the rest is in the recording.
func clip(text string, width int) string {
	if report.Columns(text) <= width {
		return text
	}
	n := 0
	for i, r := range text {
		if n += report.Columns(string(r)); n > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}

func (t *teller) verdict(v flow.Verdict) {
	outcome := report.Word(v.Outcome)
	if v.Outcome == requirement.Fail {
		outcome = strings.ToUpper(outcome) // to be noticed without colour
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

func (t *teller) list(head string, items []string) {
	if len(items) == 0 {
		return
	}
	t.line("%s", head)
	for _, item := range items {
		t.paragraph("  - ", item)
	}
}

// paragraph wraps a text behind a lead, which may come from a node.
func (t *teller) paragraph(lead, text string) {
	if text == "" {
		return
	}
	indent := report.Columns(lead)
	if indent > t.Width/2 { // a lead that long stands alone
		t.line("%s", clip(strings.TrimRight(lead, " "), t.Width))
		lead, indent = "    ", 4
	}
	for i, line := range report.Wrap(report.Plain(text), max(10, t.Width-indent)) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		t.line("%s%s", lead, line)
	}
}

// line writes one line; the first fault of the writer ends the walk.
func (t *teller) line(format string, args ...any) {
	if t.fault != nil {
		return
	}
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = report.Plain(s)
		}
	}
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	if _, err := io.WriteString(t.out, text+"\n"); err != nil {
		t.fault = fmt.Errorf("print the walk: %w", err)
	}
}
