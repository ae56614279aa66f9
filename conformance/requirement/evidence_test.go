package requirement_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("The evidence under testdata", func() {
	catalogue := requirement.Catalogue()
	cases, err := readCases()
	if err != nil {
		It("can be read", func() { Expect(err).NotTo(HaveOccurred()) })
	}

	for _, c := range cases {
		It(string(c.id)+" "+string(c.outcome)+": "+c.title, func() {
			s, err := c.perform()
			Expect(err).NotTo(HaveOccurred())
			got := requirement.NewJudge(catalogue, requirement.Read(s.evidence())).Judge(c.id)
			Expect(got.Outcome).To(Equal(c.outcome), "reason: %s", got.Reason)
			if c.outcome != requirement.Pass {
				Expect(s.want.reason).NotTo(BeEmpty(), "the case says no \"because\"; the reason is: %s", got.Reason)
			}
			Expect(got.Reason).To(ContainSubstring(s.want.reason))
			Expect(got.Got).To(ContainSubstring(s.want.got))
			Expect(got.Hint).To(ContainSubstring(s.want.hint))
			Expect(strings.Join(got.Notes, "\n")).To(ContainSubstring(s.want.note))
			if s.want.unlisted > 0 {
				Expect(got.Unlisted).To(Equal(s.want.unlisted))
			}
			if s.want.blockedBy != "" {
				Expect(got.BlockedBy).To(Equal(requirement.ID(s.want.blockedBy)))
			}
			Expect(subjects(got)).To(ContainElement(ContainSubstring(s.want.subject)))
			if got.Outcome == requirement.Warn && strings.Contains(got.Reason, "Keycloak") {
				Expect(got.Makers).To(ContainElement("Keycloak"), "a warning that names its maker is folded with the maker's others")
			}
			explained(got)
			toldApart(got)
		})
	}

	It("shows for every requirement a node that keeps it and one that does not", func() {
		kept, broken := map[requirement.ID]bool{}, map[requirement.ID]bool{}
		for _, c := range cases {
			switch c.outcome {
			case requirement.Pass:
				kept[c.id] = true
			case requirement.Warn, requirement.Fail:
				broken[c.id] = true
			}
		}
		for _, r := range catalogue {
			Expect(kept).To(HaveKey(r.ID), "testdata/%s.txtar has no passing case", r.ID)
			Expect(broken).To(HaveKey(r.ID), "testdata/%s.txtar has no failing case", r.ID)
		}
	})

	It("belongs to requirements of the catalogue", func() {
		for _, c := range cases {
			_, known := requirement.Find(c.id)
			Expect(known).To(BeTrue(), "testdata/%s.txtar names no requirement", c.id)
		}
	})

	It("has a good node that keeps every rule", func() {
		s := newStage()
		Expect(s.goodNode()).To(Succeed())
		judged := requirement.JudgeAll(catalogue, requirement.Read(s.evidence()))
		for _, r := range catalogue {
			Expect(judged[r.ID].Outcome).To(Equal(requirement.Pass), "%s: %s", r.ID, judged[r.ID].Reason)
		}
	})
})

// subjects lists what a judgement is about; the empty name is for a case that expects nothing of them.
func subjects(j requirement.Judgement) []string {
	names := []string{""}
	for _, s := range j.Subjects {
		names = append(names, s.Name+" "+string(s.Label))
	}
	return names
}

// explained holds what a reader of a report needs of every judgement.
func explained(j requirement.Judgement) {
	GinkgoHelper()
	if j.Outcome == requirement.Pass {
		return
	}
	Expect(j.Reason).NotTo(BeEmpty())
	Expect(j.Reason).NotTo(HaveSuffix("."), "a reason is a sentence without a final dot")
	if j.Outcome == requirement.Warn || j.Outcome == requirement.Fail {
		Expect(j.Expected).NotTo(BeEmpty(), "expected")
		Expect(j.Got).NotTo(BeEmpty(), "got")
		Expect(j.Fault).NotTo(BeEmpty(), "fault")
		Expect(j.Subjects).NotTo(BeEmpty(), "subjects")
	}
}

// toldApart asserts that a reader finds no subject twice.
func toldApart(j requirement.Judgement) {
	GinkgoHelper()
	seen := map[[3]string]bool{}
	for _, s := range j.Subjects {
		what := [3]string{s.Name, s.Expected, s.Got}
		Expect(seen).NotTo(HaveKey(what), "two subjects read the same")
		seen[what] = s.Name != ""
	}
}
