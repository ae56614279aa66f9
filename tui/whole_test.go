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

// entered presses enter until the tour ends, and gathers what was seen of each step.
func (t *tour) entered() map[flow.Step]string {
	GinkgoHelper()
	seen := map[flow.Step]string{}
	for range 60 {
		seen[t.at] += t.frame() + "\n"
		if t.left {
			return seen
		}
		t.press("enter")
	}
	Fail("sixty times enter did not end the tour:\n" + t.frame())
	return nil
}

var _ = Describe("The whole tour with enter alone", func() {
	failing := func(news ...worker.Event) tuitest.Suite {
		return tuitest.Scripted(report.Report{Verdict: report.Verdict{Decision: verdict.NotCertified, Headline: "Not certified for profile funding"}, Requirements: []report.Requirement{
			{ID: "TOK-01", Title: "A token is issued", Outcome: requirement.Fail},
		}}, &evidence.Log{}, nil, news...)
	}

	DescribeTable("passes through all ten steps, in any size, and a node that fails leads on as well", func(width, height int, colours string) {
		t := newTour(ground{certify: failing(
			worker.Event{Kind: worker.Planned, Budget: 10}, worker.Event{Kind: worker.Progress, Done: 1, Planned: 1, Label: "token.ok"})}).sized(width, height)
		t.colour(colours)
		seen := t.entered()
		Expect(seen).To(HaveLen(10))
		for at, text := range seen {
			Expect(text).To(ContainSubstring(at.Guide().Title))
		}
		Expect(seen[flow.Certify]).To(ContainSubstring("Not certified"))
		Expect(tuitest.Unstyled(seen[flow.Calls])).To(ContainSubstring("page 1: 1 to 20"))
		Expect(seen[flow.TakeAway]).To(ContainSubstring("rin-tour"))
	},
		Entry("40×15", 40, 15, "none"), Entry("80×24, dark", 80, 24, "dark"), Entry("120×40, light", 120, 40, "light"),
	)

	It("ends with a certificate, by the real suite", func() {
		t := newTour(ground{})
		seen := t.entered()
		Expect(seen[flow.Certify]).To(ContainSubstring("✓ Certified for profile funding"))
		Expect(strings.Join([]string{seen[flow.Token], seen[flow.Reading], seen[flow.Info], seen[flow.WhatIf]}, "")).NotTo(ContainSubstring("✗"))
		Expect(seen[flow.TakeAway]).To(And(ContainSubstring("report.html"), ContainSubstring("✓ The files are in rin-tour.")))
		Expect(t.frames).To(BeNumerically(">", 100), "each frame was looked at for secrets and for the layout")
	})

	It("takes the news of a suite that runs on whatever step the person is meanwhile", func() {
		var news []worker.Event
		for n := range 500 { // a suite whose news nobody takes waits
			news = append(news, worker.Event{Kind: worker.Progress, Done: n, Planned: 500, Label: "info.ok"})
		}
		t := newTour(ground{certify: failing(news...)})
		t.press("enter", "enter", "9")
		_, suite := t.Update(tuitest.Key("enter"))
		t.press("2")
		t.does(suite)
		Expect(t.at).To(Equal(flow.Credentials))
		Expect(t.press("9").frame()).To(ContainSubstring("Not certified"))
	})
})
