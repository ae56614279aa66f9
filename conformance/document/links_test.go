package document_test

import (
	"testing"

	"github.com/rin-network/rin/conformance/document"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("References", func() {
	DescribeTable("are found in the shapes in use", func(body string, want ...document.Reference) {
		Expect(document.ReadReferences([]byte(body))).To(HaveExactElements(want))
	},
		Entry("HAL", `{"_links":{"self":{"href":"/c?p=1"},"next":{"href":"/c?p=2"},"find":{"href":"/f"}},"_embedded":{"calls":[{"id":1,"_links":{"self":{"href":"/c/1"}}}]}}`,
			document.Reference{Relation: "next", Target: "/c?p=2", Path: "$._links.next"}, document.Reference{Relation: "self", Target: "/c?p=1", Path: "$._links.self"},
			document.Reference{Relation: "self", Target: "/c/1", Path: "$[0]._links.self"}),
		Entry("HAL, a template", `{"_links":{"self":{"href":"/c{?page}","templated":true}}}`),
		Entry("JSON:API", `{"data":[],"links":{"next":"https://h/c?page%5Bnumber%5D=2","prev":null,"last":{"href":"/c?x"}}}`,
			document.Reference{Relation: "next", Target: "https://h/c?page%5Bnumber%5D=2", Path: "$.links.next"},
			document.Reference{Relation: "last", Target: "/c?x", Path: "$.links.last"}),
		Entry("Spring HATEOAS and ORDS", `{"items":[],"links":[{"rel":"next","href":"https://h/c?offset=2"},{"rel":"describedby","href":"https://m/"}]}`,
			document.Reference{Relation: "next", Target: "https://h/c?offset=2", Path: "$.links[0]"}),
		Entry("Django", `{"count":3,"next":"http://h/c?page=2","previous":null,"results":[{"id":1,"href":"/c/1"}]}`,
			document.Reference{Relation: "next", Target: "http://h/c?page=2", Path: "$.next"},
			document.Reference{Relation: "self", Target: "/c/1", Path: "$[0].href"}),
		Entry("a cursor", `{"next":"b2Zmc2V0","items":[]}`), Entry("content", `[{"id":1,"website":["https://w.example"],"first":"name"}]`),
		Entry("no JSON", `<a href="/x">`), Entry("nothing", ``),
	)
})

func FuzzReadReferences(f *testing.F) {
	for _, seed := range []string{`{"_links":{"next":{"href":"/x"}}}`, `{"links":[{"rel":"next","href":"/x"}]}`, `[{"href":"/x"}]`, `{"next":`, `{"links":[[`, `{"_links":{"next":[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, r := range document.ReadReferences(body) {
			if r.Relation == "" || r.Target == "" || r.Path == "" {
				t.Errorf("%q holds %+v", body, r)
			}
		}
	})
}
