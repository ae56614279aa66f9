package validate_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
)

var _ = Describe("A body that was judged before", func() {
	It("is recalled, and its own status and headers are judged again", func() {
		doc := openapi.Guard([]byte(spec("3.0.3", `{"type":"array","items":{"type":"object","required":["id"]}}`, `{}`)), openapi.Limits{})
		parsed, err := openapi.Parse(doc.Reduced)
		Expect(err).NotTo(HaveOccurred())
		judge, err := validate.NewJudge(doc)
		Expect(err).NotTo(HaveOccurred())
		op := parsed.Operations[0]

		const body = `[{"id":1},{},{"id":2}]`
		first := judge.Annotate(answer(200, "application/json", body), op)
		Expect(first.Total).To(Equal(1))
		Expect(judge.Annotate(answer(200, "application/json", body), op)).To(Equal(first))

		typed := judge.Annotate(answer(200, "text/plain", body), op)
		Expect(typed.Total).To(BeNumerically(">", 1), "the media type belongs to this answer alone")
		Expect(judge.Annotate(answer(200, "application/json", body), op)).To(Equal(first), "and does not change the other answer")

		broken := judge.Annotate(answer(200, "application/json", body+"]"), op)
		Expect(broken.Judged).To(BeFalse())
		Expect(judge.Annotate(answer(200, "application/json", body+"]"), op)).To(Equal(broken))

		again := judge.Annotate(answer(200, "application/json", `[{"id":2},{"id":3},{},{"id":1}]`), op)
		Expect(again.Items).To(Equal(4))
		Expect(again.Findings).To(HaveExactElements(HaveField("Path", "$[2].id")), "an item is known in another place of another list")
		for _, text := range []string{`[{"id":1} {"id":2}]`, `[{"id":1},]`, `[{"id":1},{"id":2}`, `[{"id":1},tru]`} {
			fresh, err := validate.NewJudge(doc)
			Expect(err).NotTo(HaveOccurred())
			malformed := judge.Annotate(answer(200, "application/json", text), op)
			Expect(malformed.Judged).To(BeFalse(), text)
			Expect(malformed).To(Equal(fresh.Annotate(answer(200, "application/json", text), op)), text)
		}

		Expect(judge.Annotate(answer(200, "application/json", `[{"id":1},tru]`), op).Why).To(ContainSubstring("invalid character ']'"), "the same message as for a list that was never judged")

		cut := answer(200, "application/json", `[{"id":1},{},{"i`)
		whole := judge.Annotate(cut, op)
		cut.Response.Truncated = true
		Expect(whole.Judged).To(BeFalse())
		Expect(judge.Annotate(cut, op).Items).To(Equal(2), "a body that was cut off is another one")
	})
})
