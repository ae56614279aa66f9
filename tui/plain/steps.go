package plain

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/tui/flow"
)

func (t *printer) node(ctx context.Context) error {
	if t.HasRegistry() {
		if err := t.result(t.ReadRegistry(ctx)); err != nil {
			return err
		}
		entries := t.Entries()
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

// choose chooses the node that was named, or the first one.
func (t *printer) choose(entries []flow.Entry) error {
	id := t.NodeID
	if id == "" && len(entries) > 0 {
		id = entries[0].ID
	}
	if err := t.ChooseNode(id); err != nil {
		return fmt.Errorf("choose a node: %w", err)
	}
	return nil
}

func (t *printer) credentials() {
	c := t.Target().Credentials
	t.paragraph("client ID:     ", c.ClientID)
	t.paragraph("client secret: ", evidence.Count(len([]rune(c.ClientSecret.Reveal())), "character")+", not shown")
	for _, mistake := range flow.CheckCredentials(c) {
		t.paragraph("! ", mistake)
	}
}

func (t *printer) specification(ctx context.Context) error {
	if err := t.result(t.ReadSpecification(ctx)); err != nil {
		return err
	}
	t.line("")
	found := t.Operation == ""
	for _, o := range t.Operations() {
		full := t.Operation != "" && (t.Operation == o.ID || t.Operation == o.Path)
		found = found || full
		t.operation(o, full)
	}
	if !found {
		return t.result(flow.Result{Step: flow.Specification, Trouble: &flow.Trouble{What: "the document has no operation " + t.Operation,
			Causes: []string{"the operation has another name in this document"}, Try: []string{"name one of the operations above, by its path or its operationId"}}})
	}
	return nil
}

// operation prints an operation; full adds its parameters and answers.
func (t *printer) operation(o flow.Operation, full bool) {
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

func (t *printer) calls(ctx context.Context) error {
	if err := t.result(t.ListCalls(ctx, t.Query)); err != nil {
		return err
	}
	t.line("")
	calls := t.Calls()
	for _, c := range calls {
		until := "no deadline"
		if !c.Until.IsZero() {
			until = "until " + c.Until.Format(time.DateOnly)
		}
		t.paragraph("  ", fmt.Sprintf("%s, %s, %s: %s. %s", c.ID, c.Type, until, flow.Localized(c.Name, t.Language), flow.Localized(c.Funder, t.Language)))
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
	return t.result(t.OpenCall(ctx, id))
}

func (t *printer) mistakes(ctx context.Context) error {
	chosen := t.Mistakes
	if len(chosen) == 0 {
		for _, m := range flow.Mistakes() {
			if m.Warning == "" {
				chosen = append(chosen, m)
			}
		}
	}
	for _, m := range chosen {
		t.line("")
		t.paragraph("", "What if "+m.Title+"?")
		if err := t.result(t.MakeMistake(ctx, m)); err != nil {
			return err
		}
	}
	return nil
}

func (t *printer) faults(ctx context.Context) error {
	chosen := t.Faults
	if len(chosen) == 0 {
		chosen = flow.NodeFaults()
	}
	for _, f := range chosen {
		t.line("")
		t.paragraph("", "When "+f.Title)
		if err := t.result(t.ShowFault(ctx, f)); err != nil {
			return err
		}
	}
	return nil
}

func (t *printer) certify(ctx context.Context) error {
	if err := t.result(t.CertifyNode(ctx, func(worker.Event) {})); err != nil {
		return err
	}
	t.line("")
	result, _, _ := t.Report()
	if err := report.WriteText(t.out, result, report.TextOptions{Width: t.Width}); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	if result.Verdict.Decision != verdict.Certified {
		return ErrNotCertified
	}
	return nil
}

func (t *printer) takeAway() error {
	files := t.Takeaways()
	for _, f := range files {
		t.paragraph(fmt.Sprintf("  %-12s ", f.Name), f.Purpose)
	}
	if command := t.RestartCommand(); command != "" {
		t.line("")
		t.paragraph("", flow.NodeEnds)
		t.line("  %s", command)
	}
	if t.Save == nil {
		t.line("")
		t.line("--take-away DIR writes these files.")
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
