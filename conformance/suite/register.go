package suite

import (
	"context"
	"slices"
	"sync"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
)

// Gathering is evidence that is being gathered while the suite judges it.
type Gathering interface {
	// Run gathers until everything planned has ended or ctx ends.
	Run(ctx context.Context) error
	// Wait returns when every label has ended one way or the other.
	Wait(ctx context.Context, labels ...exchange.Label) error
	// Log is a snapshot of what was recorded so far.
	Log() *exchange.Log
}

// Options choose what is judged and who hears of it.
type Options struct {
	Profile requirement.Profile
	// Only restricts a partial run to these requirements; empty judges all of the profile.
	Only []requirement.ID
	// Judged hears of each judgement at once; it may be nil.
	Judged func(requirement.ID, requirement.Judgement)
}

// Register adds the certification to the Ginkgo tree under construction, as one Ordered, ContinueOnFailure container.
func Register(g Gathering, o Options) { register(g, o) }

func register(g Gathering, o Options) *judging {
	catalogue := requirement.Catalogue()
	live := &judging{gathering: g, catalogue: catalogue, judged: o.Judged}
	ginkgo.Describe("node", ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		ginkgo.BeforeAll(func() { live.start() })
		ginkgo.AfterAll(func(ctx ginkgo.SpecContext) { live.stop(ctx) })
		for _, r := range catalogue {
			if !o.Profile.Includes(r.Profile) || len(o.Only) > 0 && !slices.Contains(o.Only, r.ID) {
				continue
			}
			ginkgo.It(string(r.ID)+" "+r.Title, labels(r), func(ctx ginkgo.SpecContext) {
				j, err := live.of(ctx, r)
				gomega.Expect(err).NotTo(gomega.HaveOccurred())
				ginkgo.AddReportEntry(string(r.ID), j, ginkgo.ReportEntryVisibilityNever)
				switch j.Outcome {
				case requirement.NotApplicable:
					ginkgo.Skip(j.Reason)
				default:
					gomega.Expect(j).To(Conform(r.Gate))
				}
			})
		}
	})
	return live
}

// labels are what a label filter can choose by. Ginkgo ends the process on characters such as '/' in a label, so
// nothing but these fixed words goes in.
func labels(r requirement.Requirement) ginkgo.Labels {
	return ginkgo.Label(string(r.ID), r.ID.Group(), "level:"+string(r.Level), "gate:"+string(r.Gate), "profile:"+string(r.Profile))
}

// judging joins the gathering with the judge. Its runs on one goroutine, as Ordered containers do.
type judging struct {
	gathering Gathering
	catalogue []requirement.Requirement
	judged    func(requirement.ID, requirement.Judgement)

	judge  *requirement.Judging
	cancel context.CancelCauseFunc // nil until the gathering started
	ended  sync.WaitGroup
}

func (l *judging) start() {
	// Not the node's context: BeforeAll's ends with BeforeAll, the gathering must not.
	ctx, cancel := context.WithCancelCause(context.Background())
	l.cancel = cancel
	l.judge = requirement.NewJudge(l.catalogue, requirement.Evidence{Log: &exchange.Log{}})
	l.ended.Go(func() { _ = l.gathering.Run(ctx) }) // how it ended stands in the log
}

// stop lets the gathering end by itself, because a recording ends with its run; only an interrupted suite cuts it short.
func (l *judging) stop(ctx context.Context) {
	if l.cancel == nil {
		return // the suite was interrupted before it began
	}
	defer context.AfterFunc(ctx, func() { l.cancel(context.Cause(ctx)) })()
	l.ended.Wait()
	l.cancel(nil)
}

// cut ends a gathering that [judging.stop] did not: Ginkgo leaves AfterAll out when an interruption falls between two specs, or comes twice.
func (l *judging) cut(cause error) {
	if l.cancel == nil {
		return
	}
	l.cancel(cause)
	l.ended.Wait()
}

// of waits for what the requirement reads, and judges. An interruption while it waits is one of the whole suite.
func (l *judging) of(ctx context.Context, r requirement.Requirement) (requirement.Judgement, error) {
	if err := l.gathering.Wait(ctx, l.judge.Reads(r.ID)...); err != nil {
		l.cancel(context.Cause(ctx))
		return requirement.Judgement{}, err
	}
	l.judge.Update(l.gathering.Log())
	j := l.judge.Of(r.ID)
	if l.judged != nil {
		l.judged(r.ID, j)
	}
	return j, nil
}
