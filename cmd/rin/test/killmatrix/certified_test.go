package killmatrix_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/rin-network/rin/cmd/rin/test"
	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/devtls"
	"github.com/rin-network/rin/sandbox/fault"
)

// calls keeps the list small; every kind of funding is among the records.
const calls = 10

// now is the time at which every run begins.
func now() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }

// outcomes are what a run found, by requirement.
type outcomes map[requirement.ID]report.Requirement

// drawnRarely reports whether a run of standard effort may miss a deviation.
func drawnRarely(deviations []string) bool {
	return slices.ContainsFunc(deviations, func(name string) bool {
		d, err := fault.FindDeviation(name)
		return err == nil && d.Rare
	})
}

// certified certifies a node with the deviations and returns the outcome of each requirement. A node without deviations is served over TLS.
func certified(ctx context.Context, deviations ...string) (outcomes, error) {
	return certifiedAt(ctx, func(*target.Target) {}, deviations...)
}

// certifiedAt is [certified] for a target that is changed first.
func certifiedAt(ctx context.Context, change func(t *target.Target), deviations ...string) (outcomes, error) {
	result, err := resultAt(ctx, change, deviations...)
	return outcomesOf(result.Report), err
}

// outcomesOf returns the outcomes of a report.
func outcomesOf(r report.Report) outcomes {
	found := outcomes{}
	for _, q := range r.Requirements {
		found[q.ID] = q
	}
	return found
}

// resultAt returns the result from which [certifiedAt] takes the outcomes.
func resultAt(ctx context.Context, change func(t *target.Target), deviations ...string) (conformance.Result, error) {
	var none conformance.Result
	shared := test.NewClock(now())
	config := sandbox.Config{
		Seed: 1, Calls: calls, AsOf: now(), Clock: shared.Now, Pause: shared.Pause, Random: rand.NewChaCha8([32]byte{1}), Loopback: true, Deviations: deviations, Clients: test.Clients(),
	}
	serve := inCleartext
	if needsTLS(deviations) {
		config.TLS, serve = &devtls.Settings{}, overTLS
	}
	node, err := sandbox.New(config)
	if err != nil {
		return none, err
	}
	base, stop, err := serve(node)
	if err != nil {
		return none, err
	}
	defer stop()
	t, err := test.FullTarget(base, node, now())
	if err != nil {
		return none, err
	}
	if worksOnTLS(deviations) { // a real registry is another host, with a certificate of its own
		t.Registry, t.RegistryDocument = "", registryOf(node, t.Registry)
	}
	t.Wait = new(target.DefaultWait)
	if t.Seed, err = test.Seed(os.Getenv); err != nil {
		return none, err
	}
	if drawnRarely(deviations) {
		t.Effort = draw.Deep
	}
	change(&t)
	t.Politeness.Concurrency = cmp.Or(t.Politeness.Concurrency, 1) // requests share the clock: a pause of one would count for all that are on their way
	result, err := conformance.Certify(ctx, t, conformance.Options{Inputs: conformance.Inputs{Suite: "test", Clock: shared.Now, Pause: shared.Pause}})
	if err != nil {
		return none, err
	}
	if !result.Log.Ended.Complete {
		return none, fmt.Errorf("the run broke off: %s", result.Log.Ended.Cause)
	}
	return result, nil
}
