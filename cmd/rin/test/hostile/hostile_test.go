package hostile_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// atOnce is how many attacks run side by side. Most of them wait for time to pass.
const atOnce = 6

// pending is the outcome of an attack that may still run.
type pending struct {
	done chan struct{}
	outcome
	fault error
}

// launch runs the attacks side by side, in their order.
func launch(all []attack) []*pending {
	out := make([]*pending, len(all))
	for i := range all {
		out[i] = &pending{done: make(chan struct{})}
	}
	slots := make(chan struct{}, atOnce)
	go func() {
		for i, a := range all {
			slots <- struct{}{}
			go func() {
				defer func() { <-slots; close(out[i].done) }()
				out[i].outcome, out[i].fault = run(a)
			}()
		}
	}()
	return out
}

var _ = Describe("A hostile node", Ordered, ContinueOnFailure, func() {
	all, selectionErr := attacks()
	var outcomes []*pending
	BeforeAll(func() {
		outcomes = launch(all)
	})
	if selectionErr != nil {
		It("is chosen", func() { Expect(selectionErr).NotTo(HaveOccurred()) })
	}
	for i, a := range all {
		It("does no harm with "+a.name, func() {
			p := outcomes[i]
			<-p.done
			Expect(p.fault).NotTo(HaveOccurred())
			fmt.Fprintf(GinkgoWriter, "%-60s %d %6.2fs parent %4d MB, child %4d MB, together %4d MB\n",
				a.name, p.code, p.took.Seconds(), p.memory.Parent>>20, p.memory.Child>>20, p.memory.Together>>20)
			fmt.Fprintf(GinkgoWriter, "%.2000s\n", p.output)
			Expect(p.code).To(BeElementOf(a.codes()), p.output)
			for _, words := range a.says {
				Expect(p.output).To(ContainSubstring(words))
			}
			Expect(p.took).To(BeNumerically("<", a.limit()))
			if a.within > 0 {
				Expect(p.output).To(MatchRegexp(`https?://127\.0\.0\.1:\d+ stopped answering`))
			}
			Expect(p.memory.Most()).To(BeNumerically("<", memory), "bytes of memory")
			Expect(p.trapped).To(BeZero(), "connections to a place that the node named")
			Expect(p.harm).To(BeEmpty())
		})
	}
})
