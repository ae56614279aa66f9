package probe

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
	"github.com/rin-network/rin/conformance/target"
)

// Options are what a run works with. Everything is required unless it says otherwise.
type Options struct {
	Target target.Target
	// Suite is the version of rin, for the evidence.
	Suite    string
	Journal  *exchange.Journal
	Redactor *exchange.Redactor
	// Recorder opens the recorder for a target with that many requests to spend. It is called once the node's URLs are known,
	// because they decide which origins may receive a token and how gently to ask; before that once more to read a registry.
	Recorder func(t target.Target, budget int) (*record.Recorder, error)
	Clock    func() time.Time
	// Random yields the bytes of unknown ids and wrong secrets.
	Random io.Reader
	// Guard reduces a document from the node to what is safe to read.
	Guard func(body []byte) exchange.Document
	// Annotator prepares judging answers by a document; optional. Without it, and when it fails, there are no schema findings.
	Annotator func(exchange.Document) (func(exchange.Exchange, document.Operation) exchange.SchemaFindings, error)
	// Pause waits for d or until ctx ends, whose cause it then returns; optional, nil waits in real time.
	Pause func(ctx context.Context, d time.Duration) error
	// Wanted restricts a partial run to these labels, roles allowed, and to what discovery needs; empty asks for everything.
	Wanted []exchange.Label
	// Planned is told how many requests the run takes until the node's document is read, and how politely they are sent, before the
	// node is asked; and the budget of the whole run once the document says what there is to ask. Optional.
	Planned func(budget int, at target.Politeness)
	// Progress is told that done of planned labels have ended, the last of them label; optional. It is called from one
	// goroutine at a time. More labels may be planned as more of the node is known.
	Progress func(done, planned int, label exchange.Label)
}

func (o Options) complete() (Options, error) {
	var faults []error
	for _, need := range []struct {
		missing bool
		what    string
	}{
		{o.Journal == nil, "a journal"}, {o.Redactor == nil, "a redactor"}, {o.Recorder == nil, "a recorder"},
		{o.Clock == nil, "a clock"}, {o.Random == nil, "a source of randomness"}, {o.Guard == nil, "a guard"},
	} {
		if need.missing {
			faults = append(faults, errors.New("probe: expected "+need.what))
		}
	}
	if o.Pause == nil {
		o.Pause = pause
	}
	if o.Planned == nil {
		o.Planned = func(int, target.Politeness) {}
	}
	if o.Progress == nil {
		o.Progress = func(int, int, exchange.Label) {}
	}
	return o, errors.Join(faults...)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
