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

// calls is the number of funding calls: a short list that has every kind of funding.
const calls = 10

// now returns the time at which every run begins.
func now() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }

// outcomes holds the results of a run, by requirement.
type outcomes map[requirement.ID]report.Requirement

// drawnRarely reports whether a run of standard effort may miss a deviation.
func drawnRarely(deviations []string) bool {
	return slices.ContainsFunc(deviations, func(name string) bool {
		d, err := fault.FindDeviation(name)
		return err == nil && d.Rare
	})
}

// certify certifies a node with the deviations and returns the outcome of each requirement. A node without deviations is served over TLS.
func certify(ctx context.Context, deviations ...string) (outcomes, error) {
	return certifyChanged(ctx, func(*target.Target) {}, deviations...)
}

// certifyChanged is [certify] for a target that is changed first.
func certifyChanged(ctx context.Context, change func(t *target.Target), deviations ...string) (outcomes, error) {
	result, err := certifyResult(ctx, change, deviations...)
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

// certifyResult returns the result from which [certifyChanged] takes the outcomes.
func certifyResult(ctx context.Context, change func(t *target.Target), deviations ...string) (conformance.Result, error) {
	var failed conformance.Result
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
		return failed, err
	}
	base, stop, err := serve(node)
	if err != nil {
		return failed, err
	}
	defer stop()
	t, err := test.FullTarget(base, node, now())
	if err != nil {
		return failed, err
	}
	if worksOnTLS(deviations) { // a real registry is another host, with a certificate of its own
		t.Registry, t.RegistryDocument = "", registryOf(node, t.Registry)
	}
	t.Wait = new(target.DefaultWait)
	if t.Seed, err = test.Seed(os.Getenv); err != nil {
		return failed, err
	}
	if drawnRarely(deviations) {
		t.Effort = draw.Deep
	}
	change(&t)
	t.Politeness.Concurrency = cmp.Or(t.Politeness.Concurrency, 1) // requests share the clock: a pause of one request would count for all others in flight
	result, err := conformance.Certify(ctx, t, conformance.Options{Inputs: conformance.Inputs{Suite: "test", Clock: shared.Now, Pause: shared.Pause}})
	if err != nil {
		return failed, err
	}
	if !result.Log.Ended.Complete {
		return failed, fmt.Errorf("the run broke off: %s", result.Log.Ended.Cause)
	}
	return result, nil
}
