package main_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// drawnBy returns the seed of a run and its families of requests by name, with the kinds that the run drew from each.
func drawnBy(dir string) (seed string, families map[string]family) {
	made := reportIn(dir).Made
	families = map[string]family{}
	for _, f := range made.Families {
		families[f.Name] = f
	}
	return made.Seed, families
}

var _ = Describe("The kinds of requests that a run draws at random", func() {
	It("are the same with the same seed", func() {
		n := newNode(nil)
		_, first := n.certify("--profile", "auth", "--seed", "4711")
		_, second := n.certify("--profile", "auth", "--seed", "4711")
		_, other := n.certify("--profile", "auth")
		seed, drawn := drawnBy(first)
		Expect(seed).To(Equal("4711"))
		repeatedSeed, drawnAgain := drawnBy(second)
		Expect(repeatedSeed).To(Equal("4711"))
		Expect(drawnAgain).To(Equal(drawn))
		seed, drawnElse := drawnBy(other)
		Expect(seed).NotTo(Or(BeEmpty(), Equal("4711")))
		Expect(drawnElse).NotTo(Equal(drawn))
	})

	It("are first those that earlier runs at the node did not draw, so that a few runs draw everything", func() {
		n, history := newNode(nil), filepath.Join(GinkgoT().TempDir(), "history")
		certify := func() map[string]family {
			got, dir := n.certify("--profile", "auth", "--history", history)
			Expect(got.code).To(Equal(0), got.out+got.err)
			_, families := drawnBy(dir)
			return families
		}
		first := certify()
		Expect(first).NotTo(BeEmpty())
		second := certify()
		for name, f := range first {
			Expect(second[name].Earlier).To(Equal(len(f.Drawn)), name)
		}
		var sixth map[string]family
		for range 4 {
			sixth = certify()
		}
		drawn := func(families map[string]family) (ever, kinds int) {
			for _, f := range families {
				ever, kinds = ever+f.Ever, kinds+f.Kinds
			}
			return ever, kinds
		}
		ever, kinds := drawn(sixth)
		Expect(float64(ever)).To(BeNumerically(">=", 0.9*float64(kinds)), "not all, because some kinds do not apply to this node")
		ever, kinds = drawn(first)
		Expect(float64(ever)).To(BeNumerically("<", 0.8*float64(kinds)), "one run draws only a part")
		file, err := os.ReadFile(filepath.Join(history, "runs.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Count(string(file), "\n")).To(Equal(6))
	})

	It("do not depend on runs at other nodes; a damaged line of the history is reported", func() {
		history := GinkgoT().TempDir()
		_, dir := newNode(nil).certify("--profile", "auth", "--history", history)
		_, families := drawnBy(dir)
		_, dir = newNode(nil).certify("--profile", "auth", "--history", history)
		_, others := drawnBy(dir)
		for name := range families {
			Expect(others[name].Earlier).To(BeZero(), name)
		}
		Expect(os.WriteFile(filepath.Join(history, "runs.jsonl"), []byte("{}\n{"), 0o600)).To(Succeed())
		got, _ := newNode(nil).certify("--profile", "auth", "--history", history)
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("line 2 is not a run"))
	})

	DescribeTable("need valid flags",
		func(message string, args ...string) {
			got, _ := newNode(nil).certify(args...)
			Expect(got.code).To(Equal(2))
			Expect(got.err).To(ContainSubstring(message))
		},
		Entry("a seed", "--seed: expected a number", "--seed", "abc"),
		Entry("an effort", "is not an effort", "--effort", "huge"),
		Entry("a budget without a deep run", "belongs to --effort deep", "--budget", "300"),
	)

	It("fit into the budget of a deep run", func() {
		got, dir := newNode(nil).certify("--effort", "deep", "--budget", "2000")
		Expect(got.code).To(Equal(0), got.out+got.err)
		r := reportIn(dir)
		Expect(r.Budget.Sent).To(BeNumerically("<=", 2000))
		Expect(r.Made.Effort).To(Equal("deep"))
	})
})
