//go:build unix

package suite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/extensions/globals"
	"github.com/onsi/ginkgo/v2/formatter"
	"github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite"
)

// line is one message of a suite in another process to its test.
type line struct {
	Kind   string                 `json:"kind"` // spec, judged, released, waiting, cut, ended, over
	ID     requirement.ID         `json:"id,omitempty"`
	Text   string                 `json:"text,omitempty"`
	State  string                 `json:"state,omitempty"`
	Labels []string               `json:"labels,omitempty"`
	Entry  *requirement.Judgement `json:"entry,omitempty"`
}

// lineWriter writes lines as JSON. Several goroutines may use it.
type lineWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (t *lineWriter) write(l line) {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.to, string(text))
}

// gathering is a [suite.Gathering] whose evidence a function makes.
type gathering struct {
	*evidence.Journal
	run     func(ctx context.Context, j *evidence.Journal)
	waiting func()
}

func (g gathering) Run(ctx context.Context) error {
	g.run(ctx, g.Journal)
	return errors.New("the log says how the run ended")
}

func (g gathering) Wait(ctx context.Context) error {
	if g.waiting != nil {
		g.waiting()
	}
	return g.Journal.Wait(ctx)
}

func exchangeFor(label evidence.Label) evidence.Exchange {
	return evidence.Exchange{Label: label, Attempts: 1, Request: evidence.Request{Method: "GET", URL: "https://node.example/"},
		Response: &evidence.Response{Proto: "HTTP/1.1", Status: 200}}
}

// play runs the suite that part names in this process, and writes to stdout what happens in it.
func play(part string) int {
	out := &lineWriter{to: os.Stdout}
	formatter.ColorableStdOut = os.Stderr
	options := suite.Options{Profile: requirement.Auth, Judged: func(id requirement.ID, j requirement.Judgement) {
		out.write(line{Kind: "judged", ID: id, State: string(j.Outcome)})
	}}
	g := gathering{Journal: evidence.NewJournal(nil)}
	g.Begin(evidence.Run{})
	// waitForCut gathers until the suite is interrupted.
	waitForCut := func(ctx context.Context, j *evidence.Journal) {
		<-ctx.Done()
		out.write(line{Kind: "cut", Text: context.Cause(ctx).Error()})
		j.End(evidence.Ended{Cause: "cut"})
	}
	var first sync.Once
	waiting := func() { first.Do(func() { out.write(line{Kind: "waiting"}) }) }

	switch part {
	case "within": // a container of somebody else's suite
		g.run = func(_ context.Context, j *evidence.Journal) { j.End(evidence.Ended{Complete: true}) }
		return runForeign(out, func() {
			ginkgo.Describe("our service", func() {
				ginkgo.It("does something of its own", func() {})
				suite.Register(g, options)
			})
		})
	case "interrupted":
		g.run, g.waiting = waitForCut, waiting
		return runForeign(out, func() { suite.Register(g, options) })
	case "patient": // the answers are recorded long before the run ends
		g.run = func(_ context.Context, j *evidence.Journal) {
			j.Add(exchangeFor("token.ok"))
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
			out.write(line{Kind: "ended"})
			j.End(evidence.Ended{Complete: true})
		}
		g.waiting = waiting
		return runForeign(out, func() { suite.Register(g, options) })
	case "alone":
		for range 2 { // a process may certify more than once
			g := gathering{Journal: evidence.NewJournal(nil), run: func(_ context.Context, j *evidence.Journal) { j.End(evidence.Ended{Complete: true}) }}
			suite.Run(context.Background(), g, options)
			out.write(line{Kind: "over"})
		}
	case "alone-signalled": // the signal falls anywhere, between two specs as well
		for i := range 40 {
			ctx, cancel := context.WithCancelCause(context.Background())
			waits := 0
			g := gathering{Journal: evidence.NewJournal(nil), run: func(ctx context.Context, j *evidence.Journal) {
				<-ctx.Done()
				<-time.After(10 * time.Millisecond) // requests in flight take about as long to end
				j.End(evidence.Ended{Cause: context.Cause(ctx).Error()})
			}, waiting: func() {
				cancel(errors.New("the process was asked to end"))
				if waits++; waits == i%8+1 {
					_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
				}
			}}
			suite.Run(ctx, g, options)
			l := line{Kind: "over"}
			if ended := g.Log().Ended; ended != nil {
				l.Text = ended.Cause
			}
			out.write(l)
		}
	case "alone-cut":
		ctx, cancel := context.WithCancelCause(context.Background())
		g.run, g.waiting = waitForCut, func() { cancel(errors.New("the deadline passed")) }
		suite.Run(ctx, g, options)
		out.write(line{Kind: "over"})
	}
	return 0
}

// runForeign runs a suite that somebody else could have written, and writes a line for each spec.
func runForeign(out *lineWriter, build func()) int {
	globals.Reset()
	gomega.RegisterFailHandler(ginkgo.Fail)
	build()
	ginkgo.ReportAfterEach(func(r ginkgo.SpecReport) {
		l := line{Kind: "spec", Text: r.FullText(), State: r.State.String(), Labels: r.Labels()}
		if len(r.ReportEntries) > 0 {
			j, _ := r.ReportEntries[0].GetRawValue().(requirement.Judgement)
			l.ID, l.Entry = requirement.ID(r.ReportEntries[0].Name), &j
		}
		out.write(l)
	})
	config, reporter := ginkgo.GinkgoConfiguration()
	config.RandomSeed = 1
	reporter.NoColor = true
	exit := &exitStatus{}
	ginkgo.RunSpecs(exit, "somebody else's suite", config, reporter)
	out.write(line{Kind: "over"})
	return exit.status
}

// exitStatus is 1 after a failure.
type exitStatus struct{ status int }

func (e *exitStatus) Fail() { e.status = 1 }
