package plain

import (
	"context"
	"errors"
	"fmt"
	"io"

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
