package fault_test

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/devtls"
	"github.com/rin-network/rin/sandbox/fault"
)

// everything is what breaks something and what does not.
func everything() []fault.Deviation { return slices.Concat(fault.Deviations(), fault.Habits()) }

var _ = Describe("the catalogue", func() {
	It("names each deviation once, says why, and what it breaks or, if it is benign, what it is warned about", func() {
		seen, broken := map[string]bool{}, len(fault.Deviations())
		for i, d := range everything() {
			Expect(d.Name).To(MatchRegexp(`^[a-z0-9]+(-[a-z0-9]+)*$`))
			Expect(seen).NotTo(HaveKey(d.Name))
			seen[d.Name] = true
			Expect(d.Why).To(HaveSuffix("."), d.Name)
			if i < broken {
				Expect(d.Breaks).NotTo(BeEmpty(), d.Name)
				Expect(d.Warns).To(BeEmpty(), d.Name)
			} else {
				Expect(d.Breaks).To(BeEmpty(), d.Name)
			}
			for _, id := range slices.Concat(d.Breaks, d.Warns) {
				Expect(id).To(MatchRegexp(`^[A-Z]{3}-[0-9]{2}$`), d.Name)
			}
			Expect(d.Wrap != nil || d.Transport != nil).To(BeTrue(), "%s does nothing", d.Name)
		}
	})

	It("finds a deviation by its name, and helps with a misspelt one", func() {
		for _, d := range everything() {
			found, err := fault.FindDeviation(d.Name)
			Expect(err).NotTo(HaveOccurred())
			Expect(found.Why).To(Equal(d.Why))
		}
		_, err := fault.FindDeviation("detail-unprotectde")
		Expect(err).To(MatchError(ContainSubstring("did you mean detail-unprotected")))
		_, err = fault.FindDeviation("zzzzzzzzzzzzzzzzzzzzzzzzzzzz")
		Expect(err).To(MatchError(And(ContainSubstring("is unknown"), Not(ContainSubstring("did you mean")))))
	})

	It("holds deviations that each change what the node answers, and leave the try-out space alone", func() {
		good := newNode()
		expected, sample := slices.Collect(exercised(good)), triedOut(good)
		Expect(slices.Collect(exercised(newNode()))).To(Equal(expected), "the exercise depends on chance")
		for _, d := range fault.Deviations() {
			if d.Transport != nil { // what changes is below the answers, see the next test
				continue
			}
			deviating := newNode(d.Name)
			Expect(exampleShows(d, good, deviating) || deviates(exercised(deviating), expected)).To(BeTrue(), "%s changes nothing", d.Name)
			Expect(triedOut(deviating) == sample).To(BeTrue(), "%s reaches the try-out space", d.Name)
		}
	})

	It("holds benign deviations that each change what the node answers to odd requests, too, and leave the try-out space alone", func() {
		good := newNode()
		expected, sample := slices.Collect(indulged(good)), triedOut(good)
		Expect(slices.Collect(indulged(newNode()))).To(Equal(expected), "the exercise depends on chance")
		for _, d := range fault.Habits() {
			if d.Transport != nil {
				continue
			}
			deviating := newNode(d.Name)
			Expect(deviates(indulged(deviating), expected)).To(BeTrue(), "%s changes nothing", d.Name)
			Expect(triedOut(deviating) == sample).To(BeTrue(), "%s reaches the try-out space", d.Name)
		}
	})

	It("holds deviations of TLS that each change how a node offers it, and need TLS", func() {
		for _, d := range everything() {
			if d.Transport == nil {
				continue
			}
			var settings devtls.Settings
			d.Transport(&settings)
			Expect(settings).NotTo(BeZero(), d.Name)
			_, err := sandbox.New(sandbox.Config{Deviations: []string{d.Name}})
			Expect(err).To(MatchError(ContainSubstring("needs TLS, which")), d.Name)
		}
	})

	It("holds deviations that a node can have all at once", func() {
		var names []string
		for _, d := range everything() {
			names = append(names, d.Name)
		}
		for range 2 {
			Expect(func() { _ = slices.Collect(exercised(newNode(names...))) }).NotTo(Panic())
			slices.Reverse(names)
		}
	})
})
