package requirement_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("The rules of the interface document", func() {
	It("are each cited by a requirement, or listed with the reason why no test covers them", func() {
		cited := map[string]bool{}
		for _, r := range requirement.Catalogue() {
			for _, c := range r.Source.Citations {
				if rule, ok := requirement.InterfaceRule(c); ok {
					cited[rule.Name] = true
				}
			}
		}
		uncovered := map[string]requirement.Uncovered{}
		for _, u := range requirement.UncoveredRules() {
			uncovered[u.Rule.Name] = u
			Expect(u.Because).NotTo(BeEmpty(), u.Rule.ShortName())
			Expect(cited[u.Rule.Name]).To(Equal(u.Part != ""), "%s: a part is named exactly if requirements cite the rest", u.Rule.ShortName())
		}
		for _, rule := range requirement.InterfaceRules() {
			_, listed := uncovered[rule.Name]
			Expect(cited[rule.Name] || listed).To(BeTrue(), "%s is neither cited nor listed as uncovered", rule.ShortName())
		}
		Expect(uncovered["R3"].Part).To(ContainSubstring("reference documentation"))
		Expect(uncovered["R17"].Part).To(ContainSubstring("affiliation"))
	})
})
