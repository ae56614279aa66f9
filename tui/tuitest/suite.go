package tuitest

import (
	"context"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/worker"
)

// Suite is what a walk certifies a node with.
type Suite = func(ctx context.Context, t target.Target, heard func(worker.Event)) (report.Report, *exchange.Log, error)

// Suite is the real one, without a child.
func (g *Ground) Suite() Suite {
	return func(ctx context.Context, t target.Target, heard func(worker.Event)) (report.Report, *exchange.Log, error) {
		result, err := conformance.Certify(ctx, t, conformance.Options{Suite: "test", Clock: g.Clock.Now, Heard: heard})
		return result.Report, result.Log, err
	}
}

// Scripted is a suite that asks nothing: it tells its news, and ends.
func Scripted(result report.Report, log *exchange.Log, err error, news ...worker.Event) Suite {
	return func(_ context.Context, _ target.Target, heard func(worker.Event)) (report.Report, *exchange.Log, error) {
		for _, n := range news {
			heard(n)
		}
		return result, log, err
	}
}
