package screen_test

import (
	"context"
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
	decision "github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
	"github.com/rin-network/rin/tui/tuitest"
)

var _ = Describe("Certify", func() {
	It("shows the progress of the suite, and then the verdict by group; enter alone leads on", func() {
		b := newFixture(flow.Certify, options{})
		Expect(b.frame(80, 24)).To(And(ContainSubstring("The conformance suite sends"), ContainSubstring("enter certify the node")))
		b.press("enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("✓ Certified for profile funding"), ContainSubstring("✓ Token endpoint: success"), Not(ContainSubstring("failed"))))
		b.golden("certify-certified")
		Expect(b.hints()).To(HavePrefix("enter next step, → open"))
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
	})

	It("opens a failure with its reason, rule, fix and exchange", func() {
		b := newFixture(flow.Certify, options{config: sandbox.Config{Deviations: []string{"role-not-checked"}}}).press("enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("✗ Not certified"), ContainSubstring("› ✗ BRR-18 failed")))
		b.golden("certify-failed")
		b.press("right")
		seen := b.frame(80, 40)
		for _, part := range []string{"BRR-18: failed", "reason", "expected", "got", "rule", "fix", "> GET /", "< HTTP/1.1 200 OK"} {
			Expect(seen).To(ContainSubstring(part))
		}
		b.golden("certify-failure")
		Expect(b.press("tab").frame(80, 24)).To(MatchRegexp(`Authorization: Bearer ‹access_token2(\.\w+)?›`))
		Expect(b.press("tab").frame(80, 24)).To(ContainSubstring("HTTP/1.1 200 OK"))
		x, ok := b.Exchange()
		Expect(ok).To(BeTrue())
		Expect(x.Status()).To(Equal(200))
		b.press("/", "s", "enter")
		Expect(b.outgoing).To(BeEmpty(), "enter ends the search and does not go to the next step")
		Expect(b.hints()).To(And(HavePrefix("enter next step, ← back to list"), ContainSubstring("s run again"), Not(ContainSubstring("send again"))))
		Expect(b.press("left").frame(80, 24)).To(ContainSubstring("› ✗ BRR-18 failed"))
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}), "a node that is not certified leads on, too")
	})

	It("says beside a certificate that failed advice costs only the profile full", func() {
		b := newFixture(flow.Certify, options{config: sandbox.Config{Deviations: []string{"lifetime-of-a-year"}}}).press("enter")
		Expect(b.frame(120, 40)).To(And(
			ContainSubstring("✓ Certified for profile funding"), ContainSubstring("✗ TOK-10 failed (advice, costs only the profile full)"),
			MatchRegexp(`✗ Token endpoint: success +1 of \d+ failed \(advice, costs only the profile full\)`),
		))
	})

	It("opens a group, and each requirement in it", func() {
		b := newFixture(flow.Certify, options{}).press("enter", "end", "up", "up")
		b.press("right")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("Access token content"), ContainSubstring("✓ JWT-01 passed")))
		b.golden("certify-group")
		Expect(b.press("o").frame(80, 24)).To(And(ContainSubstring("JWT-01: passed"), ContainSubstring("rule")))
		Expect(b.press("left", "left").frame(80, 24)).To(ContainSubstring("Certified for profile"))
	})

	It("keeps the layout whatever a node has put into the findings, thousands of them", func() {
		evil := strings.Repeat("x\x1b]0;owned\a\x1b[2J\u202e漢\u0301\u009b31m ", 500)
		label := evidence.Label("op/" + evil + ".ok")
		r := report.Report{Verdict: report.Verdict{Decision: decision.NotCertified, Headline: evil}, Run: report.Run{Cause: evil}}
		for range 3000 {
			r.Requirements = append(r.Requirements, report.Requirement{ID: "API-01", Title: evil, Outcome: requirement.Fail, Reason: evil, Expected: evil, Got: evil, Fix: evil,
				Source: report.Source{Text: evil}, Quote: evil, Subjects: []report.Subject{{Name: evil, Label: label, Got: evil}, {Name: evil}}})
		}
		log := &evidence.Log{Exchanges: []evidence.Exchange{{Label: label, Request: evidence.Request{Method: evil, URL: "https://a.example/" + evil, Header: []evidence.Field{{Name: evil, Value: evil}}},
			Response: &evidence.Response{Status: 200, Proto: evil, Header: []evidence.Field{{Name: evil, Value: evil}}, Body: []byte(evil)}}}}
		event := worker.Event{Kind: worker.Progress, Done: 1, Planned: 1 << 40, Label: label}
		newFixture(flow.Certify, options{certify: tuitest.ScriptedSuite(r, log, nil, event)}).press("enter").checkLayout("end", "right", "tab", "tab", "tab")
	})

	Describe("while the suite runs", func() {
		var events chan worker.Event
		forwardEvents := func(ctx context.Context, _ target.Target, onEvent func(worker.Event)) (report.Report, *evidence.Log, error) {
			for {
				select {
				case e, open := <-events:
					if !open {
						return report.Report{}, nil, errors.New("the worker ended early")
					}
					onEvent(e)
				case <-ctx.Done():
					return report.Report{}, nil, ctx.Err()
				}
			}
		}
		BeforeEach(func() { events = make(chan worker.Event) })

		It("shows share, counts, time and the latest request", func() {
			b := newFixture(flow.Certify, options{certify: forwardEvents})
			u := b.begin("enter")
			Expect(b.hints()).To(Equal("x stop"))
			events <- worker.Event{Kind: worker.Planned, Budget: 312}
			events <- worker.Event{Kind: worker.Progress, Done: 1, Planned: 130, Label: "token.ok"}
			events <- worker.Event{Kind: worker.Progress, Done: 2, Planned: 130, Label: "token.basic"}
			events <- worker.Event{Kind: worker.Progress, Done: 52, Planned: 130, Label: "op/listFundings.garbage"}
			b.deliver(u, 4)
			b.node.Clock.Add(83e9)
			Expect(b.frame(80, 24)).To(And(ContainSubstring(" 40%"), ContainSubstring("52 of 130 cases, 1:23, at most 312 requests"), ContainSubstring("op/listFundings.garbage"), MatchRegexp(`token endpoint +2`)))
			b.golden("certify-running")
			passed, failed := requirement.Judgement{Outcome: requirement.Pass}, requirement.Judgement{Outcome: requirement.Fail}
			events <- worker.Event{Kind: worker.Judged, ID: "TOK-01", Judgement: &passed}
			events <- worker.Event{Kind: worker.Judged, ID: "BRR-01", Judgement: &failed}
			b.deliver(u, 2)
			Expect(b.frame(80, 24)).To(And(MatchRegexp(`✓ Token endpoint: success +1 passed`), MatchRegexp(`✗ Bearer rules on protected resources +1 of 1 failed`), Not(ContainSubstring("Sent so far"))))
			b.golden("certify-judging")
			b.press("enter", "s")
			Expect(b.outgoing).To(BeEmpty(), "only x has an effect")
			b.press("x")
			Expect(b.frame(80, 24)).To(ContainSubstring("Stopping …"))
			b.deliver(u, -1)
			Expect(b.frame(80, 24)).To(And(ContainSubstring("the suite was stopped"), ContainSubstring("enter try again")))
			Expect(b.hints()).To(HavePrefix("enter try again, x next step"))
			Expect(b.press("x").outgoing).To(ConsistOf(screen.NextStep{}))
		})

		It("shows the findings until it was stopped, and why it was stopped", func() {
			b := newFixture(flow.Certify, options{certify: func(ctx context.Context, _ target.Target, _ func(worker.Event)) (report.Report, *evidence.Log, error) {
				<-ctx.Done()
				return report.Report{Verdict: report.Verdict{Headline: "Not certified yet", Decision: decision.Repeat}, Run: report.Run{Cause: "stopped by rin: " + context.Cause(ctx).Error()}}, &evidence.Log{}, nil
			}})
			u := b.begin("enter")
			b.press("x")
			b.deliver(u, -1)
			Expect(b.frame(80, 24)).To(And(ContainSubstring("! Not certified yet"), ContainSubstring("stopped by rin: on your request")))
			Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
		})

		It("says why the suite failed, and tries again", func() {
			b := newFixture(flow.Certify, options{certify: forwardEvents})
			close(events)
			Expect(b.press("enter").frame(80, 24)).To(ContainSubstring("the worker ended early"))
			Expect(b.press("enter").frame(80, 24)).To(ContainSubstring("the worker ended early"))
		})
	})
})

// ignoreEvent does nothing with an event.
func ignoreEvent(worker.Event) {}
