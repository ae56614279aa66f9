// Package suite runs the certification as a Ginkgo suite: one It per requirement, in catalogue order.
//
// The worker runs it, and other suites can include it: [Register] adds one ordered container to the tree that is being built. The
// container's BeforeAll starts discovery and probing, and never fails. Each It waits for the end of the run, because a later answer may break a rule that
// the earlier ones keep. Then it judges its requirement, and fails only if the outcome blocks the profile. Judging is the same pure function as for
// recorded evidence; this package adds waiting and reporting. Outside of tests, nothing else imports Ginkgo.
package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/extensions/globals"
	"github.com/onsi/ginkgo/v2/formatter"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

// Gathering gathers the evidence that the suite judges.
type Gathering interface {
	// Run gathers until everything planned has ended or ctx ends.
	Run(ctx context.Context) error
	// Wait returns when the gathering has ended.
	Wait(ctx context.Context) error
	// Log is a snapshot of what was recorded so far.
	Log() *evidence.Log
}

// Options choose what is judged and who is notified.
type Options struct {
	Profile requirement.Profile
	// Only restricts a partial run to these requirements; empty judges all of the profile.
	Only []requirement.ID
	// Judged is called with each judgement; it may be nil.
	Judged func(requirement.ID, requirement.Judgement)
}

// Register adds the certification to the Ginkgo tree under construction, as one Ordered, ContinueOnFailure container.
func Register(g Gathering, o Options) { register(g, o) }

// register is [Register]. It returns the state of the run, so that [Run] can abort it.
func register(g Gathering, o Options) *certification {
	catalogue := requirement.Catalogue()
	c := &certification{gathering: g, catalogue: catalogue, judged: o.Judged}
	ginkgo.Describe("node", ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		ginkgo.BeforeAll(func() { c.start() })
		ginkgo.AfterAll(func(ctx ginkgo.SpecContext) { c.stop(ctx) })
		for _, r := range catalogue {
			if named := slices.Contains(o.Only, r.ID); !named && (len(o.Only) > 0 || !o.Profile.Includes(r.Profile)) {
				continue
			}
			ginkgo.It(string(r.ID)+" "+r.Title, labels(r), func(ctx ginkgo.SpecContext) {
				j, err := c.await(ctx, r)
				gomega.Expect(err).NotTo(gomega.HaveOccurred())
				ginkgo.AddReportEntry(string(r.ID), j, ginkgo.ReportEntryVisibilityNever)
				if j.Outcome == requirement.NotApplicable {
					ginkgo.Skip(j.Reason)
				}
				gomega.Expect(j).To(Conform(r.Gate))
			})
		}
	})
	return c
}

// labels returns the labels of a requirement for label filters. Ginkgo ends the process on characters such as '/' in a label, so the labels
// consist of fixed words.
func labels(r requirement.Requirement) ginkgo.Labels {
	return ginkgo.Label(string(r.ID), r.ID.Group(), "level:"+string(r.Level), "gate:"+string(r.Gate), "profile:"+string(r.Profile))
}

// certification judges the requirements after their evidence was gathered. All specs use it from one goroutine, because their container is Ordered.
type certification struct {
	gathering Gathering
	catalogue []requirement.Requirement
	judged    func(requirement.ID, requirement.Judgement)

	judgements map[requirement.ID]requirement.Judgement // nil until the run has ended
	cancel     context.CancelCauseFunc                  // nil until the gathering started
	running    sync.WaitGroup                           // the gathering
}

func (c *certification) start() {
	// The context of BeforeAll ends with BeforeAll; the gathering continues.
	ctx, cancel := context.WithCancelCause(context.Background())
	c.cancel = cancel
	c.running.Go(func() { _ = c.gathering.Run(ctx) }) // the log says how it ended
}

// stop waits until the gathering ends by itself, so that the evidence is complete. Only an interruption of the suite cancels the gathering.
func (c *certification) stop(ctx context.Context) {
	if c.cancel == nil {
		return // the suite was interrupted before it began
	}
	defer context.AfterFunc(ctx, func() { c.cancel(context.Cause(ctx)) })()
	c.running.Wait()
	c.cancel(nil)
}

// abort ends a gathering that [certification.stop] did not end: Ginkgo skips AfterAll when an interruption falls between two specs, or comes
// twice.
func (c *certification) abort(cause error) {
	if c.cancel == nil {
		return
	}
	c.cancel(cause)
	c.running.Wait()
}

// await waits for the end of the gathering, and judges the requirement. An interruption while it waits ends the whole gathering.
func (c *certification) await(ctx context.Context, r requirement.Requirement) (requirement.Judgement, error) {
	if err := c.gathering.Wait(ctx); err != nil {
		c.cancel(context.Cause(ctx))
		return requirement.Judgement{}, err
	}
	if c.judgements == nil {
		c.judgements = requirement.JudgeAll(c.catalogue, requirement.Read(c.gathering.Log()))
	}
	j := c.judgements[r.ID]
	if c.judged != nil {
		c.judged(r.ID, j)
	}
	return j, nil
}

// Conform succeeds for a judgement that does not cost the certificate at that gate: any outcome of an advice or information
// requirement, and pass, warn or not-applicable of a gating one.
func Conform(gate requirement.Gate) gomegatypes.GomegaMatcher { return conform{gate} }

type conform struct{ gate requirement.Gate }

func (c conform) Match(actual any) (bool, error) {
	j, ok := actual.(requirement.Judgement)
	if !ok {
		return false, fmt.Errorf("conform: expected a requirement.Judgement, got %T", actual)
	}
	return !requirement.Blocks(c.gate, j.Outcome), nil
}

func (c conform) FailureMessage(actual any) string {
	j := actual.(requirement.Judgement)
	lines := []string{string(j.Outcome) + ": " + j.Reason}
	if j.Expected != "" {
		lines = append(lines, "expected: "+j.Expected)
	}
	if j.Got != "" {
		lines = append(lines, "got:      "+j.Got)
	}
	return strings.Join(lines, "\n")
}

func (c conform) NegatedFailureMessage(actual any) string {
	return fmt.Sprintf("expected a judgement that costs the certificate, got %s", actual.(requirement.Judgement).Outcome)
}

// errInterrupted ends a gathering whose suite was interrupted.
var errInterrupted = errors.New("the suite was interrupted")

// Choose lists the requirements of the catalogue that match a Ginkgo label filter, such as "gate:gating && (TOK || TER)".
func Choose(filter string) ([]requirement.ID, error) {
	matches, err := types.ParseLabelFilter(filter) // checked here, because Ginkgo ends the process on an invalid filter
	if err != nil {
		return nil, fmt.Errorf("label filter %q: %w", filter, err)
	}
	var ids []requirement.ID
	for _, r := range requirement.Catalogue() {
		if matches(labels(r)) {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

// Run builds the suite and runs it in this process, which must not be running another Ginkgo suite. It owns Ginkgo's global state
// while it runs; therefore the worker is a separate process.
func Run(ctx context.Context, g Gathering, o Options) {
	globals.Reset()
	gomega.RegisterFailHandler(ginkgo.Fail)
	formatter.ColorableStdOut = io.Discard // Ginkgo's own reporter writes here
	c := register(g, o)

	config, reporter := ginkgo.GinkgoConfiguration() // an earlier suite may have changed them, so every field that matters is set
	config.LabelFilter = ""
	config.RandomSeed = 1
	config.Timeout = 0
	reporter.NoColor = true
	ginkgo.RunSpecs(ignore{}, "rin", config, reporter, ginkgo.AroundNode(func(nodeCtx context.Context) context.Context {
		// The context of each Ginkgo node, such as an It, ends with ctx too.
		merged, cancel := context.WithCancelCause(nodeCtx)
		stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(nodeCtx, func() { stop() })
		return merged
	}))
	signal.Reset(os.Interrupt, syscall.SIGTERM) // RunSpecs does not stop capturing them
	c.abort(cmp.Or(context.Cause(ctx), errInterrupted))
}

// ignore discards the failure of the suite, because the judgements say more.
type ignore struct{}

func (ignore) Fail() {}
