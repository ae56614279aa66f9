package main_test

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/fault"
)

var _ = Describe("The lists of rin sandbox", func() {
	It("lists only what matches the words by name, text or requirements", func() {
		got := rin(nil, "sandbox", "--deviations", "--about", "paging total")
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.out).To(SatisfyAll(ContainSubstring("total-too-low\n    breaks PAG-01\n"), Not(ContainSubstring("token-status-201"))))
		Expect(strings.Count(got.out, "\n")).To(BeNumerically("<", 120))
		Expect(rin(nil, "sandbox", "--scenarios", "--about", "Retry-After").out).To(SatisfyAll(HavePrefix("429-then-ok\n"), Not(ContainSubstring("wrong-aud"))))
	})

	It("ignores the endings of words if nothing contains the words themselves", func() {
		got := rin(nil, "sandbox", "--scenarios", "--about", "paging")
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.out).To(SatisfyAll(ContainSubstring("empty-page\n"), ContainSubstring("short-page\n"), Not(ContainSubstring("key-rotation\n"))))
		Expect(rin(nil, "sandbox", "--scenarios", "--about", "expires tokens").out).To(ContainSubstring("token-expires-early\n"))
	})

	It("prints all of them as JSON", func() {
		var deviations []struct {
			Name   string
			Benign bool
			Breaks []string
		}
		Expect(json.Unmarshal([]byte(rin(nil, "sandbox", "--deviations", "--json").out), &deviations)).To(Succeed())
		Expect(deviations).To(HaveLen(len(fault.Deviations()) + len(fault.Habits())))
		Expect(deviations[0].Breaks).NotTo(BeEmpty())
		Expect(deviations[len(deviations)-1].Benign).To(BeTrue())
		var scenarios []struct{ Name, Does string }
		Expect(json.Unmarshal([]byte(rin(nil, "sandbox", "--scenarios", "--json").out), &scenarios)).To(Succeed())
		Expect(scenarios).To(HaveLen(len(fault.Scenarios())))
	})

	It("refuses words that match nothing, and words without a list", func() {
		got := rin(nil, "sandbox", "--scenarios", "--about", "unicorns")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring(`nothing is about "unicorns"`))
		for _, args := range [][]string{{"--about", "paging"}, {"--json"}, {"--deviations", "--scenarios"}} {
			Expect(rin(nil, append([]string{"sandbox"}, args...)...).code).To(Equal(2), strings.Join(args, " "))
		}
	})
})

var _ = Describe("rin explain", func() {
	It("wraps both lists to 80 columns", func() {
		expectWithin80Columns(rin(nil, "sandbox", "--deviations").out)
		expectWithin80Columns(rin(nil, "sandbox", "--scenarios").out)
	})

	It("explains deviations, habits and scenarios, with commands that show them", func() {
		Expect(rin(nil, "explain", "page-size-ignored").out).To(SatisfyAll(
			HavePrefix("page-size-ignored  a fault of a node\n"), ContainSubstring("breaks          PAG-02: "), ContainSubstring("rin demo --deviate page-size-ignored\n")))
		Expect(rin(nil, "explain", fault.Habits()[0].Name).out).To(ContainSubstring("a benign habit of a node"))
		Expect(rin(nil, "explain", "503-TWICE").out).To(SatisfyAll(ContainSubstring("client          Waits as long as Retry-After says"), ContainSubstring("rin client-test --scenario 503-twice")))
	})

	It("explains every deviation and scenario within 80 columns", func() {
		for _, name := range append(fault.ScenarioNames(), fault.DeviationNames()[0], fault.DeviationNames()[99]) {
			got := rin(nil, "explain", name)
			Expect(got.code).To(Equal(0), name)
			for _, line := range strings.Split(got.out, "\n") {
				if !strings.HasPrefix(line, "rin ") {
					Expect(len([]rune(line))).To(BeNumerically("<=", 80), "%s: %s", name, line)
				}
			}
		}
	})

	It("suggests names that are spelled similarly", func() {
		got := rin(nil, "explain", "503-twise")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("did you mean 503-twice"))
	})
})
