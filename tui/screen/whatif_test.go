package screen_test

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
)

var _ = Describe("What if", func() {
	It("makes one mistake after the other with enter alone, and leads on after the last", func() {
		b := newFixture(flow.WhatIf, options{})
		Expect(b.frame(80, 24)).To(And(ContainSubstring("A good client handles errors well"), ContainSubstring("0 of 7 made. Enter leaves out “the token is in the URL”, which asks first.")))
		Expect(b.frame(40, 15)).To(And(ContainSubstring("Mistakes, made on purpose"), ContainSubstring("the token is in the URL")))
		b.golden("what-if-list")
		for _, want := range []string{"the token is missing", "the token is garbage", "the token has expired", "somebody changed a letter", "the secret is wrong", "the account lacks the role"} {
			Expect(b.outgoing).To(BeEmpty())
			b.press("enter")
			Expect(b.frame(80, 24)).To(ContainSubstring("What if " + want))
		}
		Expect(b.hints()).To(HavePrefix("enter next step, ← back to list"))
		Expect(strings.Join(strings.Fields(b.frame(80, 24)), " ")).To(ContainSubstring("Enter leaves out “the token is in the URL”, which asks first. To try it, choose it in the list. ✓ 2 of 2 rules passed"))
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
		b.press("left")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("5 of 7 made"), ContainSubstring("the token has expired · in 5:00"), ContainSubstring("✓ the token is garbage · passed")))
		b.golden("what-if-made")
		Expect(b.hints()).To(HavePrefix("enter next step, → look at it"))
		Expect(b.press("enter").outgoing).To(HaveLen(2), "from the list as well")
	})

	It("shows what was sent, the challenge, the lesson and each rule", func() {
		b := newFixture(flow.WhatIf, options{}).press("down", "enter")
		seen := b.frame(80, 40)
		for _, part := range []string{"> GET /", "< HTTP/1.1 401 Unauthorized", "sent      Authorization: Bearer conformance.invalid.token", `challenge Bearer`, `error="invalid_token"`, "fetch a new token once", "3 of 3 rules passed", "BRR-06", "(RFC 6750 §3"} {
			Expect(seen).To(ContainSubstring(part))
		}
		Expect(b.frame(120, 40)).To(ContainSubstring("✓ the token is garbage · passed"), "the list is visible beside it")
		b.golden("what-if-garbage")
		Expect(b.press("left", "up", "enter").frame(80, 40)).To(ContainSubstring("sent      no Authorization"))
	})

	It("counts down to when an expired token can be sent, and sends it then", func() {
		b := newFixture(flow.WhatIf, options{}).press("down", "down", "enter")
		b.node.Clock.Add(30 * time.Second)
		b.settle(b.Update(screen.Tick{}))
		Expect(b.frame(80, 24)).To(And(ContainSubstring("s makes the mistake: in 4:30")))
		b.golden("what-if-waits")
		b.node.Clock.Add(5 * time.Minute)
		b.settle(b.Update(screen.Tick{}))
		Expect(b.frame(80, 24)).To(ContainSubstring("s makes the mistake: possible now"))
		Expect(b.press("left").frame(80, 24)).To(ContainSubstring("the token has expired · possible now"))
		Expect(b.press("enter").frame(80, 40)).To(And(ContainSubstring("401 Unauthorized"), ContainSubstring("BRR-10")))
	})

	It("asks before a token goes into a URL", func() {
		b := newFixture(flow.WhatIf, options{}).press("end", "enter")
		Expect(b.Typing()).To(BeTrue())
		Expect(b.frame(40, 15)).To(ContainSubstring("y/n"))
		b.golden("what-if-asks")
		b.press("n")
		Expect(b.Walk.History()).To(HaveLen(1), "only the registry was read")
		b.press("right", "y")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("access_token="), ContainSubstring("BRR-14"), Not(ContainSubstring("leaves out"))))
	})

	It("names the rule that a node breaks", func() {
		b := newFixture(flow.WhatIf, options{config: sandbox.Config{Deviations: []string{"info-open"}}}).press("enter")
		Expect(b.frame(80, 40)).To(And(ContainSubstring("as if nothing were wrong"), ContainSubstring("✗ BRR-01"), ContainSubstring("fix")))
		b.golden("what-if-fault")
		Expect(b.press("left").frame(80, 24)).To(ContainSubstring("✗ the token is missing · failed"))
	})

	It("forgets what another node answered", func() {
		b := newFixture(flow.WhatIf, options{}).press("enter", "left")
		Expect(b.frame(80, 24)).To(ContainSubstring("1 of 7 made"))
		b.Walk.SetTarget(b.Walk.Target())
		b.settle(b.Open())
		Expect(b.frame(80, 24)).To(ContainSubstring("0 of 7 made"))
		Expect(strings.Count(b.frame(80, 24), "✓")).To(BeZero())
	})
})
