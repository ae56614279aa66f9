package spec_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/spec"
)

// golden is the document from which the client in testdata/generated is generated.
const golden = "testdata/generated/openapi.json"

var _ = Describe("Document", func() {
	protected := spec.Description{
		Places: address.Map{Prefix: "ris-synergy", Realm: "ris"},
		Origin: "https://node.example",
		Paging: funding.PagingOffset,
		Errors: content.ShapeProblem,
	}

	It("equals the document from which the client was generated", func() {
		document, err := spec.Document(protected)
		Expect(err).NotTo(HaveOccurred())
		if update {
			Expect(os.WriteFile(golden, append(document, '\n'), 0o644)).To(Succeed())
		}
		kept, err := os.ReadFile(golden)
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.TrimSpace(string(kept))).To(Equal(string(document)),
			"run 'RIN_UPDATE_GOLDEN=1 go test ./sandbox/spec' and then 'go generate ./sandbox/spec'")
	})

	It("describes the parameters that the service reads, and the meaning of page[page]", func() {
		var described []string
		for _, p := range parametersOf(protected) {
			described = append(described, p.Name)
		}
		Expect(described).To(ConsistOf(funding.Parameters()))

		number := protected
		number.Paging = funding.PagingNumber
		page := func(d spec.Description) string {
			all := parametersOf(d)
			return all[slices.IndexFunc(all, func(p parameter) bool { return p.Name == funding.ParamPage })].Description
		}
		Expect(page(protected)).To(ContainSubstring("records to skip"))
		Expect(page(number)).To(ContainSubstring("number of the page"))
	})

	It("describes errors only in the shape of the node", func() {
		text := protected
		text.Errors = content.ShapeText
		document, err := spec.Document(text)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(document)).To(SatisfyAll(ContainSubstring(`"error": "401 Error: Unauthorized"`), ContainSubstring(`#/components/schemas/Error"`),
			Not(ContainSubstring("problem+json")), Not(ContainSubstring("Problem"))))
	})

	It("requires no token in the try-out space", func() {
		tryOut := protected
		tryOut.Places, tryOut.TryOut = protected.Places.TryOut(), true
		document, err := spec.Document(tryOut)
		Expect(err).NotTo(HaveOccurred())
		var read struct {
			Servers    []struct{ URL string }
			Security   []any
			Components map[string]any
			Paths      map[string]struct{ Get struct{ Security []any } }
		}
		Expect(json.Unmarshal(document, &read)).To(Succeed())
		Expect(read.Servers[0].URL).To(Equal("https://node.example/ris-synergy/try-out"))
		Expect(read.Security).To(BeNil())
		Expect(read.Components).NotTo(HaveKey("securitySchemes"))
		for path, item := range read.Paths {
			Expect(item.Get.Security).To(Equal([]any{}), path)
		}
	})
})

type parameter struct{ Name, Description string }

func parametersOf(d spec.Description) []parameter {
	GinkgoHelper()
	document, err := spec.Document(d)
	Expect(err).NotTo(HaveOccurred())
	var read struct {
		Paths map[string]struct {
			Get struct{ Parameters []parameter }
		}
	}
	Expect(json.Unmarshal(document, &read)).To(Succeed())
	return read.Paths["/funding/v3/fundings"].Get.Parameters
}

var _ = Describe("the schemas", func() {
	const fundings = "/ris-synergy/try-out/funding/v3/fundings"

	DescribeTable("reject an invalid record of the list",
		func(kind, mutation, reason string, mutate func(record map[string]any)) {
			b := newValidatedNode("/ris-synergy/try-out/funding/v3/api-docs", sandbox.Config{Clock: fixedClock})
			e := b.get(fundings+"?page%5Bsize%5D=12", nil)
			var records []map[string]any
			Expect(json.Unmarshal(e.body, &records)).To(Succeed())
			index := slices.IndexFunc(records, func(r map[string]any) bool { return r["type"] == kind })
			Expect(index).To(BeNumerically(">=", 0), "no record of type "+kind)
			mutate(records[index])
			var err error
			e.body, err = json.Marshal(records)
			Expect(err).NotTo(HaveOccurred())
			e.response.Header = http.Header{"Content-Type": {"application/json"}, "Etag": {`"x"`}, "Cache-Control": {"no-cache"}, "Vary": {"Accept-Encoding"}}

			objection := b.kinObjections(e)
			Expect(objection).To(HaveOccurred(), mutation)
			Expect(objection.Error()).To(ContainSubstring(reason), mutation)
			var reasons []string
			for _, objection := range b.libopenapiObjections(e) {
				for _, leaf := range objection.SchemaValidationErrors {
					reasons = append(reasons, leaf.Reason)
				}
			}
			Expect(reasons).To(ContainElement(ContainSubstring(reason)), mutation)
		},
		func(kind, mutation, _ string, _ func(map[string]any)) string { return kind + ": " + mutation },
		Entry(nil, "CALL", "a member of calls is missing", "minInkind", func(r map[string]any) { delete(r, "minInkind") }),
		Entry(nil, "CALL", "a member of all fundings is missing", "legalType", func(r map[string]any) { delete(r, "legalType") }),
		Entry(nil, "PROGRAMME", "a member of programmes is missing", "subjects", func(r map[string]any) { delete(r, "subjects") }),
		Entry(nil, "CALL", "a member has another type", "boolean", func(r map[string]any) { r["fullyFunded"] = "true" }),
	)
})
