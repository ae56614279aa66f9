package screen_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
)

var _ = Describe("When things go wrong", func() {
	It("shows one fault after the other with enter alone, and leads on after the last", func() {
		b := newFixture(flow.Faults, options{})
		Expect(b.frame(80, 24)).To(And(ContainSubstring("Nodes restart, limit the rate of requests"), ContainSubstring("0 of 5 shown")))
		b.golden("faults-list")
		for _, want := range []string{"a good token is refused", "the node limits the rate of requests", "the node restarts", "an answer ends too early", "the token expires earlier than announced"} {
			Expect(b.outgoing).To(BeEmpty())
			b.press("enter")
			Expect(b.frame(80, 24)).To(And(ContainSubstring("When "+want), ContainSubstring("nothing is lost")))
		}
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
		b.press("left")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("5 of 5 shown"), ContainSubstring("✓ the node restarts · recovered")))
	})

	It("shows each answer, and what the client did after it", func() {
		b := newFixture(flow.Faults, options{}).press("down", "down", "enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("1 Status 503, Retry-After: 1. The client waits 1 second"), ContainSubstring("3 Status 200 with 20 records")))
		Expect(b.frame(120, 40)).To(ContainSubstring("exchange 3 of 3"))
		b.golden("faults-unavailable")
		b.press("[", "tab", "tab")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("503 Service Unavailable"), ContainSubstring("[Response]"), Not(ContainSubstring("Verdict"))))
		Expect(b.press("tab").frame(80, 24)).To(ContainSubstring("[Why]"))
		Expect(b.press("shift+tab").frame(80, 24)).To(ContainSubstring("[Response]"))
	})
})
