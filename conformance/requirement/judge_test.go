package requirement_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("A needed exchange without a record", func() {
	judge := func(ended *evidence.Ended) requirement.Judgement {
		log := &evidence.Log{Ended: ended}
		return requirement.NewJudge(requirement.Catalogue(), requirement.Read(log)).Judge("TOK-01")
	}

	It("is nobody's fault when the run ended first", func() {
		for _, ended := range []*evidence.Ended{nil, {Cause: "interrupt"}} {
			j := judge(ended)
			Expect(j.Outcome).To(Equal(requirement.Inconclusive))
			Expect(j.Reason).To(Equal("the run ended before token.ok had an answer"))
			Expect(j.Fault).To(Equal(requirement.Environment))
		}
	})

	It("is a fault of the suite in a complete run", func() {
		j := judge(&evidence.Ended{Complete: true})
		Expect(j.Outcome).To(Equal(requirement.Inconclusive))
		Expect(j.Fault).To(Equal(requirement.Suite))
	})
})
