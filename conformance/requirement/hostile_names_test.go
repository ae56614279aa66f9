package requirement_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("Judging a node whose members or descriptions are huge", func() {
	// judged returns the judgement of PAG-08 for a list and a detail, at a node whose document has this description.
	judged := func(description, list, detail string) requirement.Judgement {
		s := newStage()
		Expect(s.goodNode()).To(Succeed())
		text, err := json.Marshal(description)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.read("huge", fmt.Sprintf(`document merge {"info":{"description":%s}}`, text))).To(Succeed())
		for label, body := range map[evidence.Label]string{"op/listFundings.ok": list, "op/getFunding.item-first": detail} {
			x := s.exchanges[label]
			answer := *x.Response
			answer.Body, answer.Size = []byte(body), int64(len(body))
			x.Response = &answer
			s.exchanges[label] = x
		}
		return requirement.JudgeAll(requirement.Catalogue(), requirement.Read(s.evidence()))["PAG-08"]
	}

	It("does not die of a long name", func() {
		name := strings.Repeat("A", 1<<20+1<<19)
		j := judged("The list shows names.", `[{"id":"XA-1","`+name+`":1},{"id":"XA-2"}]`, `{"id":"XA-1","`+name+`":2}`)
		Expect(j.Outcome).NotTo(Equal(requirement.Pass))
	})

	It("reads a long description once, and not for each member", func() {
		var list, detail strings.Builder
		for i := range 200 {
			fmt.Fprintf(&list, `,"m%d":1`, i)
			fmt.Fprintf(&detail, `,"m%d":2`, i)
		}
		started := time.Now()
		j := judged(strings.Repeat("The list shows some words of the detail and more words. ", 1<<20/56), `[{"id":"XA-1"`+list.String()+`},{"id":"XA-2"}]`, `{"id":"XA-1"`+detail.String()+`}`)
		Expect(j.Outcome).NotTo(Equal(requirement.Pass))
		Expect(time.Since(started)).To(BeNumerically("<", 15*time.Second)) // reading it for each member takes half a minute
	})
})
