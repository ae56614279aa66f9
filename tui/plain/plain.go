package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/conformance/worker"
	"github.com/rin-network/rin/tui/message"
	"github.com/rin-network/rin/tui/walk"
)

// Options choose what is walked and how it is told.
type Options struct {
	// Width is the number of columns; 80 when 0.
	Width int
	// Language is "de" or "en".
	Language string
	// Steps are walked in their order; all when empty.
	Steps []walk.Step
	// NodeID is the entry of the registry; the first one when empty.
	NodeID string
	// Query is what the list of calls is asked for; Open is the id of the call to open, the first one of the list when empty.
	Query walk.Query
	Open  string
	// Operation is the one of the document that is told in full, by its operationId or path; empty for none.
	Operation string
	// Mistakes are those to make; when empty, all that are made without a question.
	Mistakes []walk.Mistake
	// Save writes the files of the last step, and says where they are; nil lists them only.
	Save func([]walk.File) (place string, err error)
}

// ErrTrouble says that a step did not reach its aim; what happened was told.
var ErrTrouble = errors.New("a step of the walk did not reach its aim")

// ErrNotCertified says that the node was certified and failed.
var ErrNotCertified = errors.New("the node was not certified")

// teller walks and tells.
type teller struct {
	*walk.Walk
	Options
	out   io.Writer
	fault error
}

// Run walks all steps and tells each on out.
func Run(ctx context.Context, w *walk.Walk, out io.Writer, o Options) error {
	if o.Width == 0 {
		o.Width = 80
	}
	t := &teller{Walk: w, Options: o, out: out}
	steps := o.Steps
	if len(steps) == 0 {
		for _, g := range walk.Guides() {
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
func (t *teller) step(ctx context.Context, step walk.Step) error {
	switch step {
	case walk.Node:
		return t.node(ctx)
	case walk.Credentials:
		t.credentials()
		return nil
	case walk.Token:
		return t.scene(t.FetchToken(ctx))
	case walk.Reading:
		if _, ok := t.Issued(); !ok { // this step alone was asked for
			if fetched := t.FetchToken(ctx); !fetched.Well() {
				return t.scene(fetched)
			}
		}
		return t.scene(t.ReadToken(ctx))
	case walk.Info:
		return t.scene(t.CallInfo(ctx))
	case walk.Specification:
		return t.specification(ctx)
	case walk.Calls:
		return t.calls(ctx)
	case walk.WhatIf:
		return t.mistakes(ctx)
	case walk.Certify:
		return t.certify(ctx)
	case walk.TakeAway:
		return t.takeAway()
	}
	return fmt.Errorf("step %d is unknown", step)
}

func (t *teller) node(ctx context.Context) error {
	if at := t.Target(); at.Registry != "" || len(at.RegistryDocument) > 0 {
		scene, entries := t.ReadRegistry(ctx)
		if err := t.scene(scene); err != nil {
			return err
		}
		for _, e := range entries {
			t.paragraph(fmt.Sprintf("  %-10s ", report.Plain(e.ID)), e.Name)
		}
		if err := t.choose(entries); err != nil {
			return err
		}
		t.line("")
		t.paragraph("Chosen: ", t.Target().NodeID)
	}
	target := t.Target()
	t.paragraph("token URL: ", target.TokenURL)
	t.paragraph("info URL:  ", target.InfoURL)
	return nil
}

// choose takes the node that was named, or the first one.
func (t *teller) choose(entries []walk.Entry) error {
	id := t.NodeID
	if id == "" && len(entries) > 0 {
		id = entries[0].ID
	}
	if err := t.Choose(id); err != nil {
		return fmt.Errorf("choose a node: %w", err)
	}
	return nil
}

func (t *teller) credentials() {
	c := t.Target().Credentials
	t.paragraph("client ID:     ", c.ClientID)
	t.paragraph("client secret: ", fmt.Sprintf("%d characters, not shown", len([]rune(c.ClientSecret.Reveal()))))
	for _, caution := range walk.Cautions(c) {
		t.paragraph("! ", caution)
	}
}

func (t *teller) specification(ctx context.Context) error {
	scene, operations := t.ReadSpecification(ctx)
	if err := t.scene(scene); err != nil {
		return err
	}
	t.line("")
	found := t.Operation == ""
	for _, o := range operations {
		full := t.Operation != "" && (t.Operation == o.ID || t.Operation == o.Path)
		found = found || full
		t.operation(o, full)
	}
	if !found {
		return t.scene(walk.Scene{Step: walk.Specification, Trouble: &walk.Trouble{What: "the document has no operation " + t.Operation,
			Causes: []string{"it is called otherwise here"}, Try: []string{"name one of the list above, by its path or its operationId"}}})
	}
	return nil
}

// operation is one of the document; in full with what its parameters take and what it answers.
func (t *teller) operation(o walk.Operation, full bool) {
	role := ""
	switch {
	case o.List:
		role = " (the list of the next step)"
	case o.Detail:
		role = " (one call)"
	}
	t.paragraph("  ", fmt.Sprintf("%s %s%s", o.Method, o.Path, role))
	if !full {
		for _, name := range o.Required {
			t.paragraph("      ", name+" (required)")
		}
		t.paragraph("      ", strings.Join(o.Optional, ", "))
		return
	}
	for _, p := range o.Parameters {
		need := "in the " + p.In
		if p.Required {
			need = "required, " + need
		}
		text := fmt.Sprintf("%s (%s): %s", p.Name, need, p.Type)
		if len(p.Values) > 0 {
			text += ", one of " + strings.Join(p.Values, ", ")
		}
		t.paragraph("      ", text)
	}
	if o.Body {
		t.line("      a body (required)")
	}
	for _, a := range o.Answers {
		t.paragraph("      ", strings.TrimSpace("answers "+a.Status+" "+strings.Join(a.Types, ", ")))
	}
}

func (t *teller) calls(ctx context.Context) error {
	if err := t.scene(t.ListCalls(ctx, t.Query)); err != nil {
		return err
	}
	t.line("")
	calls := t.Calls()
	for _, c := range calls {
		until := "no deadline"
		if !c.Until.IsZero() {
			until = "until " + c.Until.Format("2006-01-02")
		}
		t.paragraph("  ", fmt.Sprintf("%s, %s, %s: %s. %s", c.ID, c.Type, until, walk.In(c.Name, t.Language), walk.In(c.Funder, t.Language)))
	}
	id := t.Open
	if id == "" && len(calls) > 0 {
		id = calls[0].ID
	}
	if id == "" {
		return nil
	}
	t.line("")
	t.paragraph("", "One of them, "+id+":")
	return t.scene(t.OpenCall(ctx, id))
}

func (t *teller) mistakes(ctx context.Context) error {
	chosen := t.Mistakes
	if len(chosen) == 0 {
		for _, m := range walk.Mistakes() {
			if m.Asks == "" {
				chosen = append(chosen, m)
			}
		}
	}
	for _, m := range chosen {
		t.line("")
		t.paragraph("", "What if "+m.Title+"?")
		if err := t.scene(t.Make(ctx, m)); err != nil {
			return err
		}
	}
	return nil
}

func (t *teller) certify(ctx context.Context) error {
	scene, result := t.CertifyNode(ctx, func(worker.Event) {})
	if err := t.scene(scene); err != nil {
		return err
	}
	t.line("")
	if err := report.WriteText(t.out, result, report.TextOptions{Width: t.Width}); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	if result.Verdict.Decision != verdict.Certified {
		t.fault = ErrNotCertified
	}
	return nil
}

func (t *teller) takeAway() error {
	files := t.Takeaways()
	for _, f := range files {
		t.paragraph(fmt.Sprintf("  %-12s ", f.Name), f.What)
	}
	if t.Save == nil {
		t.line("")
		t.line("--take-away DIR writes them.")
		return nil
	}
	place, err := t.Save(files)
	if err != nil {
		return err
	}
	t.line("")
	t.paragraph("", "written to "+place)
	return nil
}

// intro tells what a step is for.
func (t *teller) intro(step walk.Step) {
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
func (t *teller) scene(s walk.Scene) error {
	for _, x := range s.Exchanges {
		t.exchange(x)
	}
	for _, text := range s.Says {
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

func (t *teller) exchange(x exchange.Exchange) {
	for _, l := range message.Request(x, exchange.Masked) {
		t.line("> %s", l.Text)
	}
	body := 0
	for _, l := range message.Response(x, exchange.Masked) {
		if l.Kind == message.Body {
			if body++; body > maxLines {
				continue
			}
		}
		t.line("< %s", clipped(l.Text, t.Width-2))
	}
	if body > maxLines {
		t.line("< (%d more lines)", body-maxLines)
	}
	t.line("")
}

// clipped cuts a text that is longer than a line; the rest is in the recording.
func clipped(text string, width int) string {
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

func (t *teller) verdict(v walk.Verdict) {
	t.paragraph(fmt.Sprintf("%-12s %s  ", word(v.Outcome), v.ID), v.Title)
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

// word is an outcome in a word.
func word(o requirement.Outcome) string {
	switch o {
	case requirement.Pass:
		return "passed"
	case requirement.Warn:
		return "warning"
	case requirement.Fail:
		return "FAILED"
	}
	return string(o)
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
		t.line("%s", clipped(strings.TrimRight(lead, " "), t.Width))
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
