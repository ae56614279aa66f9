package requirement_test

import (
	"runtime"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("Judging", func() {
	DescribeTable("takes little memory for answers that hold millions of values",
		func(name, body string) {
			s := newStage()
			Expect(s.goodNode()).To(Succeed())
			label := evidence.Label(name)
			x := s.exchanges[label]
			answer := *x.Response
			answer.Body, answer.Size = []byte(body), int64(len(body))
			x.Response = &answer
			s.exchanges[label] = x
			e := requirement.Read(s.evidence())
			hungry := map[requirement.ID]uint64{}
			for _, r := range requirement.Catalogue() {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				r.Check(e)
				runtime.ReadMemStats(&after)
				limit := uint64(16 << 20)
				if r.ID == "PAG-10" { // which needs the judgements of four others
					limit = 24 << 20
				}
				if took := after.TotalAlloc - before.TotalAlloc; took > limit {
					hungry[r.ID] = took >> 20 // MiB
				}
			}
			Expect(hungry).To(BeEmpty())
		},
		Entry("the list", "op/listFundings.ok", "["+strings.Repeat("1,", 10<<20)+"1]"),
		Entry("the list, in an envelope", "op/listFundings.ok", `{"items":[`+strings.Repeat("[],", 6<<20)+"1]}"),
		Entry("a page of escapes", "op/listFundings.size-2", `["\u00fc`+strings.Repeat(`\n`, 2<<20)+`"]`),
		Entry("a page", "op/listFundings.size-2", "["+strings.Repeat("1,", 2<<20)+"1]"),
		Entry("the info answer", "info.ok", `{"endpoints":{"a":[`+strings.Repeat("{},", 1<<20)+"1]}}"),
		Entry("the token answer", "token.ok", `{"access_token":"[[access_token:00000000:plain]]","a":[`+strings.Repeat("1,", 2<<20)+"1]}"),
	)

	It("finds a member that the last record of a long list has twice", func() {
		s := newStage()
		Expect(s.goodNode()).To(Succeed())
		x := s.exchanges["op/listFundings.ok"]
		answer := *x.Response
		item := `{"id":"XA-1","type":"CALL","tags":[` + strings.Repeat(`{"name":"n","value":"v"},`, 40) + `1]}`
		answer.Body = []byte("[" + strings.Repeat(item+",", 1200) + `{"id":"XA-2","id":"XA-3","type":"CALL"}]`)
		answer.Size = int64(len(answer.Body))
		Expect(answer.Size).To(BeNumerically(">", 1<<20))
		x.Response = &answer
		s.exchanges[x.Label] = x
		j := requirement.JudgeAll(requirement.Catalogue(), requirement.Read(s.evidence()))["API-03"]
		Expect(j.Outcome).To(Equal(requirement.Fail), j.Reason)
		Expect(j.Reason).To(ContainSubstring("/*/id is there twice"))
	})

	It("says when a list is too long to compare all of it", func() {
		s := newStage()
		Expect(s.goodNode()).To(Succeed())
		x := s.exchanges["op/listFundings.filter-seen"]
		answer := *x.Response
		answer.Body = []byte("[" + strings.Repeat(`{"type":"CALL"},`, openapi.MaxItems) + `{"type":"CALL"}]`)
		x.Response = &answer
		s.exchanges[x.Label] = x
		j := requirement.JudgeAll(requirement.Catalogue(), requirement.Read(s.evidence()))["PAG-07"]
		Expect(j.Outcome).To(Equal(requirement.Pass), j.Reason)
		Expect(j.Notes).To(ContainElement(ContainSubstring("the first 20000 items were compared")))
	})
})
