//go:build !race

package fault_test

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/devtls"
	"github.com/rin-network/rin/sandbox/fault"
)

// make race leaves this file out: its specs send one request after the other to more than 600 nodes, which takes minutes there.

var _ = Describe("The catalogue", func() {
	It("gives each deviation a unique name, its reason, and the requirements that it breaks; habits break none", func() {
		seen, broken := map[string]bool{}, len(fault.Deviations())
		for i, d := range allDeviations() {
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
			for _, id := range d.Opens {
				Expect(d.Breaks).To(ContainElement(id), d.Name)
			}
			Expect(d.Wrap != nil || d.Transport != nil).To(BeTrue(), "%s does nothing", d.Name)
		}
	})

	It("finds a deviation by its name, and suggests names for a misspelt one", func() {
		for _, d := range allDeviations() {
			found, err := fault.FindDeviation(d.Name)
			Expect(err).NotTo(HaveOccurred())
			Expect(found.Why).To(Equal(d.Why))
		}
		_, err := fault.FindDeviation("detail-unprotectde")
		Expect(err).To(MatchError(ContainSubstring("did you mean detail-unprotected")))
		_, err = fault.FindDeviation("zzzzzzzzzzzzzzzzzzzzzzzzzzzz")
		Expect(err).To(MatchError(And(ContainSubstring("is unknown"), Not(ContainSubstring("did you mean")))))
	})

	It("has deviations that each change an answer of the node, and leave the try-out space as it is", func() {
		good := newNode()
		expected, sample := slices.Collect(exerciseAnswers(good)), tryOutAnswers(good)
		Expect(slices.Collect(exerciseAnswers(newNode()))).To(Equal(expected), "two good nodes answer differently")
		for _, d := range fault.Deviations() {
			if d.Transport != nil { // connections are tested below
				continue
			}
			deviating := newNode(d.Name)
			Expect(exampleShows(d, good, deviating) || differs(exerciseAnswers(deviating), expected)).To(BeTrue(), "%s changes nothing", d.Name)
			Expect(tryOutAnswers(deviating) == sample).To(BeTrue(), "%s reaches the try-out space", d.Name)
		}
	})

	It("has habits that each change an answer of the node, and leave the try-out space as it is", func() {
		good := newNode()
		expected, sample := slices.Collect(habitAnswers(good)), tryOutAnswers(good)
		Expect(slices.Collect(habitAnswers(newNode()))).To(Equal(expected), "two good nodes answer differently")
		for _, d := range fault.Habits() {
			if d.Transport != nil {
				continue
			}
			deviating := newNode(d.Name)
			Expect(differs(habitAnswers(deviating), expected)).To(BeTrue(), "%s changes nothing", d.Name)
			Expect(tryOutAnswers(deviating) == sample).To(BeTrue(), "%s reaches the try-out space", d.Name)
		}
	})

	It("has deviations of connections that each change the TLS settings, and need TLS", func() {
		for _, d := range allDeviations() {
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

	It("has deviations that do not panic when a node has all of them", func() {
		var names []string
		for _, d := range allDeviations() {
			names = append(names, d.Name)
		}
		for range 2 {
			Expect(func() { _ = slices.Collect(exerciseAnswers(newNode(names...))) }).NotTo(Panic())
			slices.Reverse(names)
		}
	})
})

var _ = Describe("A suggestion", func() {
	known := []string{"503-twice", "429-then-ok", "slow", "wrong-aud", "wrong-audience", "wrong-audit"}

	DescribeTable("names the nearest names", func(name, want string) { Expect(fault.Suggest(name, known)).To(Equal(want)) },
		Entry("for one wrong letter", "503-twise", "did you mean 503-twice?"),
		Entry("for swapped letters", "lsow", "did you mean slow?"),
		Entry("for a part of a name, the nearest first and three at most", "wrong-au", "did you mean wrong-aud or wrong-audit or wrong-audience?"),
		Entry("or counts the names, if none is near", "zzzzzzzzzzzzzz", `there are 6, from "503-twice" to "wrong-audit"`),
		Entry("or counts them, if the name is empty", "", `there are 6, from "503-twice" to "wrong-audit"`),
		Entry("or counts them at once, if the text is very long", strings.Repeat("503-twice", 1<<16), `there are 6, from "503-twice" to "wrong-audit"`),
	)

	It("says that there are no names, if none is known", func() { Expect(fault.Suggest("slow", nil)).To(Equal("there are none")) })
})
