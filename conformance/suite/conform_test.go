//go:build unix

package suite_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite"
)

var _ = Describe("Conform", func() {
	costs := map[requirement.Outcome]bool{
		requirement.Pass: false, requirement.Warn: false, requirement.NotApplicable: false,
		requirement.Fail: true, requirement.Blocked: true, requirement.Inconclusive: true,
	}

	It("fails if the outcome costs the certificate, and only then", func() {
		for outcome, costly := range costs {
			j := requirement.Judgement{Outcome: outcome}
			for _, gate := range []requirement.Gate{requirement.Gating, requirement.Advice, requirement.Information} {
				ok, err := suite.Conform(gate).Match(j)
				Expect(err).NotTo(HaveOccurred())
				Expect(ok).To(Equal(gate != requirement.Gating || !costly), "%s on %s", outcome, gate)
			}
		}
	})

	It("names the reason, the expected value and the value that came", func() {
		m := suite.Conform(requirement.Gating)
		Expect(m.FailureMessage(requirement.Failed("the answer is stored", "no-store", "max-age=60"))).
			To(Equal("fail: the answer is stored\nexpected: no-store\ngot:      max-age=60"))
		Expect(m.FailureMessage(requirement.Unclear("no answer"))).To(Equal("inconclusive: no answer"))
		Expect(m.NegatedFailureMessage(requirement.Passed())).To(Equal("expected a judgement that costs the certificate, got pass"))
	})

	It("refuses a value that is not a judgement", func() {
		_, err := suite.Conform(requirement.Gating).Match("pass")
		Expect(err).To(MatchError("conform: expected a requirement.Judgement, got string"))
	})

	It("can be used and negated as any other matcher", func() {
		Expect(requirement.Passed()).To(suite.Conform(requirement.Gating))
		Expect(requirement.Failed("a", "b", "c")).NotTo(suite.Conform(requirement.Gating))
		messages := InterceptGomegaFailures(func() {
			Expect(requirement.Failed("a", "b", "c")).To(suite.Conform(requirement.Gating))
			Expect(requirement.Passed()).NotTo(suite.Conform(requirement.Gating))
		})
		Expect(messages).To(Equal([]string{"fail: a\nexpected: b\ngot:      c", "expected a judgement that costs the certificate, got pass"}))
	})
})

var _ = Describe("Choose", func() {
	matching := func(keep func(requirement.Requirement) bool) []requirement.ID {
		var out []requirement.ID
		for _, r := range requirement.Catalogue() {
			if keep(r) {
				out = append(out, r.ID)
			}
		}
		return out
	}

	DescribeTable("lists the matching requirements in catalogue order",
		func(filter string, keep func(requirement.Requirement) bool) {
			ids, err := suite.Choose(filter)
			Expect(err).NotTo(HaveOccurred())
			Expect(ids).To(Equal(matching(keep)))
			Expect(ids).NotTo(BeEmpty())
		},
		Entry("everything", "", func(requirement.Requirement) bool { return true }),
		Entry("an id", "BRR-02", func(r requirement.Requirement) bool { return r.ID == "BRR-02" }),
		Entry("a group, in any case", "brr", func(r requirement.Requirement) bool { return r.ID.Group() == "BRR" }),
		Entry("a gate", "gate:gating", func(r requirement.Requirement) bool { return r.Gate == requirement.Gating }),
		Entry("a level", "level:standard-must", func(r requirement.Requirement) bool { return r.Level == requirement.StandardMust }),
		Entry("a set", "level: containsAny {network, recommended}", func(r requirement.Requirement) bool {
			return r.Level == requirement.Network || r.Level == requirement.Recommended
		}),
		Entry("an expression", "gate:gating && (TOK || TER) && !TOK-01", func(r requirement.Requirement) bool {
			return r.Gate == requirement.Gating && (r.ID.Group() == "TOK" || r.ID.Group() == "TER") && r.ID != "TOK-01"
		}),
		Entry("a pattern", "/^TOK-0[12]$/", func(r requirement.Requirement) bool { return r.ID == "TOK-01" || r.ID == "TOK-02" }),
	)

	It("returns nothing if no requirement matches", func() {
		Expect(suite.Choose("gate:nowhere")).To(BeEmpty())
	})

	DescribeTable("refuses an invalid filter, and does not end the process",
		func(filter string) {
			_, err := suite.Choose(filter)
			Expect(err).To(MatchError(ContainSubstring("label filter")))
		},
		Entry(nil, "("), Entry(nil, "a &&"), Entry(nil, "/[/"), Entry(nil, "|| b"),
	)
})
