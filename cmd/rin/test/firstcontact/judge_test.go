//go:build unix

package firstcontact_test

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
)

// These reports are small, but have the form of a true one.
const (
	approved          = `{"verdict": {"decision": "certified"}, "requirements": [{"id": "TER-01", "outcome": "warn", "costs": false}]}`
	undecided         = `{"verdict": {"decision": "repeat", "reasons": [{"requirements": ["BRR-10"], "text": "no wait"}]}}`
	refusedForTER     = `{"verdict": {"decision": "not-certified", "failed": true}, "requirements": [{"id": "TER-01", "outcome": "fail", "costs": true}]}`
	refusedForTOK     = `{"verdict": {"decision": "not-certified", "failed": true}, "requirements": [{"id": "TOK-01", "outcome": "fail", "costs": true}]}`
	refusedWithAdvice = `{"verdict": {"decision": "not-certified", "failed": true}, "requirements": [{"id": "TER-01", "outcome": "fail"}, {"id": "TOK-01", "outcome": "fail", "costs": true}]}`
)

var _ = DescribeTable("The result of a node", func(writer, reader, written string, want result) {
	var r report
	Expect(json.Unmarshal([]byte(written), &r)).To(Succeed())
	n := node{Name: "n", Kind: writer, reading: reading{Kind: reader, IDs: []requirement.ID{"TER-01", "TER-02"}}}
	Expect(judge(n, r).Result).To(Equal(want))
},
	Entry("a wrong node is caught by one of the requirements that it breaks", "wrong", "wrong", refusedForTER, caught),
	Entry("another requirement does not count as caught", "wrong", "wrong", refusedForTOK, refusedOtherwise),
	Entry("advice beside another requirement does not count as caught", "wrong", "wrong", refusedWithAdvice, refusedOtherwise),
	Entry("a wrong node that is certified is missed", "wrong", "wrong", approved, missed),
	Entry("a wrong node without a decision", "wrong", "wrong", undecided, open),
	Entry("a right node", "right", "right", approved, certified),
	Entry("a right node that is refused, for whatever reason", "right", "right", refusedForTER, blamed),
	Entry("a right node without a decision", "right", "right", undecided, inconclusive),
	Entry("a reader who doubts", "right", "doubtful", approved, disputed),
	Entry("a reader who finds a wrong node right", "wrong", "right", refusedForTER, disputed),
)

var _ = It("counts an equivalent requirement as caught, but only in rounds after its declaration", func() {
	var r report
	Expect(json.Unmarshal([]byte(`{"verdict": {"decision": "not-certified", "failed": true}, "requirements": [{"id": "PAG-10", "outcome": "fail", "costs": true}]}`), &r)).To(Succeed())
	n := node{Name: "n", Kind: "wrong", folder: "round13/writer", reading: reading{Kind: "wrong", IDs: []requirement.ID{"PAG-03"}}}
	Expect(judge(n, r).Result).To(Equal(caught))
	n.folder = "round12/writer"
	Expect(judge(n, r).Result).To(Equal(refusedOtherwise))
})
