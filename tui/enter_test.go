package tui

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/tuitest"
)

// pressEnterToEnd presses enter until the tour ends, and returns the frames of each step.
func (t *tour) pressEnterToEnd() map[flow.Step]string {
	GinkgoHelper()
	seen := map[flow.Step]string{}
	for range 60 {
		seen[t.step] += t.frame() + "\n"
		if t.ended {
			return seen
		}
		t.press("enter")
	}
	Fail("the tour did not end after enter was pressed 60 times:\n" + t.frame())
	return nil
}

var _ = Describe("The whole tour with enter alone", func() {
	failing := func(events ...worker.Event) tuitest.Suite {
		return tuitest.ScriptedSuite(report.Report{Verdict: report.Verdict{Decision: verdict.NotCertified, Headline: "Not certified for profile funding"}, Requirements: []report.Requirement{
			{ID: "TOK-01", Title: "A token is issued", Outcome: requirement.Fail},
		}}, &evidence.Log{}, nil, events...)
	}

	DescribeTable("passes through all eleven steps in any size, even if the node is not certified", func(width, height int, colours string) {
		t := newTour(tourOptions{certify: failing(
			worker.Event{Kind: worker.Planned, Budget: 10}, worker.Event{Kind: worker.Progress, Done: 1, Planned: 1, Label: "token.ok"})}).resize(width, height)
		t.colour(colours)
		seen := t.pressEnterToEnd()
		Expect(seen).To(HaveLen(11))
		for step, text := range seen {
			Expect(text).To(ContainSubstring(step.Guide().Title))
		}
		Expect(seen[flow.Certify]).To(ContainSubstring("Not certified"))
		Expect(tuitest.StripStyles(seen[flow.Calls])).To(ContainSubstring("page 1: 1 to 20"))
		Expect(seen[flow.TakeAway]).To(ContainSubstring("rin-tour"))
	},
		Entry("40×15", 40, 15, "none"), Entry("80×24, dark", 80, 24, "dark"), Entry("120×40, light", 120, 40, "light"),
	)

	It("ends with a certificate from the real suite", func() {
		t := newTour(tourOptions{})
		seen := t.pressEnterToEnd()
		Expect(seen[flow.Certify]).To(ContainSubstring("✓ Certified for profile funding"))
		Expect(strings.Join([]string{seen[flow.Token], seen[flow.Reading], seen[flow.Info], seen[flow.WhatIf]}, "")).NotTo(ContainSubstring("✗"))
		Expect(seen[flow.TakeAway]).To(And(ContainSubstring("report.html"), ContainSubstring("✓ The files are in rin-tour.")))
		Expect(t.frames).To(BeNumerically(">", 100), "each frame was checked for secrets and layout")
	})

	It("handles the events of a running suite while another step is visible", func() {
		var events []worker.Event
		for n := range 500 { // a suite blocks while nobody receives its events
			events = append(events, worker.Event{Kind: worker.Progress, Done: n, Planned: 500, Label: "info.ok"})
		}
		t := newTour(tourOptions{certify: failing(events...)})
		t.press("enter", "enter", "0")
		_, suite := t.Update(tuitest.Key("enter"))
		t.press("2")
		t.settle(suite)
		Expect(t.step).To(Equal(flow.Credentials))
		Expect(t.press("0").frame()).To(ContainSubstring("Not certified"))
	})
})
