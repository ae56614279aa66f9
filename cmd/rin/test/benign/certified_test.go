package benign_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/cmd/rin/test"
	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/devtls"
)

// now returns the time of every node here, and of the suite.
func now() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }

// calls is the number of funding calls: a short list, with every kind of funding.
const calls = 10

// goodConfig returns the configuration of a node without habits.
func goodConfig() sandbox.Config {
	return sandbox.Config{Seed: 1, Calls: calls, AsOf: now(), Clock: now, Random: rand.NewChaCha8([32]byte{1}), Loopback: true, Clients: test.Clients()}
}

// withTLS adds TLS to a configuration. The suite then uses HTTP/2.
func withTLS(config sandbox.Config) sandbox.Config {
	config.TLS = &devtls.Settings{}
	return config
}

// certify certifies a node for the profile full.
func certify(ctx context.Context, config sandbox.Config) (conformance.Result, error) {
	var failed conformance.Result
	clock := test.NewClock(now())
	// Slow habits move the clock: eight requests wait at the same time.
	config.Clock, config.Pause = clock.Now, func(ctx context.Context, d time.Duration) error { return clock.Pause(ctx, d/8) }
	node, err := sandbox.New(config)
	if err != nil {
		return failed, err
	}
	scheme := "http"
	if config.TLS != nil {
		scheme = "https"
	}
	base, stop, err := test.Serve(node, scheme)
	if err != nil {
		return failed, err
	}
	defer stop()
	t, err := test.FullTarget(base, node, now())
	if err != nil {
		return failed, err
	}
	if slices.Contains(config.Deviations, "document-with-much-besides") { // nothing in the data names a file
		t.Gaps = []evidence.Gap{{Operation: "attachment", Reason: "no test record has a file"}}
	}
	t.Wait = new(target.DefaultWait)
	if t.Seed, err = test.Seed(os.Getenv); err != nil {
		return failed, err
	}
	result, err := conformance.Certify(ctx, t, conformance.Options{Inputs: conformance.Inputs{Suite: "test", Clock: clock.Now, Pause: clock.Pause}})
	if err != nil {
		return failed, err
	}
	if !result.Log.Ended.Complete {
		return failed, fmt.Errorf("the run broke off: %s", result.Log.Ended.Cause)
	}
	return result, nil
}

// judge judges a run for one of the profiles.
func judge(log *evidence.Log, profile requirement.Profile) report.Report {
	log.Run.Profile = string(profile)
	return conformance.Judge(log, "test")
}

// outcomes has the outcome of each requirement.
type outcomes map[requirement.ID]requirement.Outcome

func outcomesOf(r report.Report) outcomes {
	found := outcomes{}
	for _, q := range r.Requirements {
		found[q.ID] = q.Outcome
	}
	return found
}

// describeAlarm describes false alarms: profiles for which a run does not certify the node, and outcomes that are not expected. It returns "" if
// there are none.
func describeAlarm(clean outcomes, found conformance.Result, n node) string {
	var b strings.Builder
	for _, r := range []report.Report{judge(found.Log, requirement.Auth), judge(found.Log, requirement.Funding), found.Report} {
		if decision := r.Verdict.Decision; decision != verdict.Certified {
			fmt.Fprintf(&b, "    for %s it is %s\n", r.Profile, decision)
		}
	}
	for _, r := range found.Report.Requirements {
		if n.expects(r, clean[r.ID]) {
			continue
		}
		fmt.Fprintf(&b, "    %s is %s, without faults it is %s: %s (expected %s, got %s)\n", r.ID, r.Outcome, clean[r.ID], r.Reason, r.Expected, r.Got)
		for _, s := range r.Subjects[:min(3, len(r.Subjects))] {
			fmt.Fprintf(&b, "        %s: expected %s, got %s\n", s.Name, s.Expected, s.Got)
		}
	}
	return b.String()
}

// expects reports whether an outcome is right. A habit may make a requirement not applicable, or applicable and passed. A warning that a
// single habit earns must be there; another habit may hide it.
func (n node) expects(r report.Requirement, clean requirement.Outcome) bool {
	if n.mustWarn(string(r.ID)) && (r.Outcome == requirement.Warn || len(n.habits) == 1) {
		return r.Outcome == requirement.Warn
	}
	return r.Outcome == clean || r.Outcome == requirement.Pass || r.Outcome == requirement.NotApplicable
}
