package evidence_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
)

var _ = Describe("A JSON object", func() {
	It("finds members by their exact names", func() {
		o, ok := evidence.ParseObject([]byte(`{"access_token":"a","ACCESS_TOKEN":"b","n":1,"list":[{"Id":1},2,{"id":"x"}]}`))
		Expect(ok).To(BeTrue())
		Expect(o.Text("access_token")).To(Equal("a"))
		Expect(o.Text("Access_Token")).To(BeEmpty())
		Expect(o.Text("n")).To(BeEmpty(), "it is not a text")
		Expect(o.Value("n")).To(BeEquivalentTo(1))
		Expect(o.Value("absent")).To(BeNil())
		Expect(o.Objects("list")).To(HaveLen(2))
		Expect(o.Objects("n")).To(BeEmpty())
	})

	DescribeTable("is not", func(text string) {
		_, ok := evidence.ParseObject([]byte(text))
		Expect(ok).To(BeFalse())
	}, Entry("null", `null`), Entry("a list", `[]`), Entry("cut off", `{"a":`), Entry("nothing", ``))
})
