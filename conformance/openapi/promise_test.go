package openapi_test

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = Describe("The promise that no page is empty", func() {
	DescribeTable("is read in the operation and in its schemas",
		func(operation, next string, want bool) {
			text, err := json.Marshal(map[string]any{
				"openapi": "3.0.3", "info": map[string]any{"title": "t", "version": "1"},
				"paths": map[string]any{"/calls": map[string]any{"get": map[string]any{
					"operationId": "calls", "description": operation,
					"responses": map[string]any{"200": map[string]any{"description": "ok", "content": map[string]any{
						"application/json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/Page"}}}}},
				}}},
				"components": map[string]any{"schemas": map[string]any{"Page": map[string]any{"type": "object", "properties": map[string]any{
					"previous": map[string]any{"$ref": "#/components/schemas/Page"}, "next": map[string]any{"type": "string", "description": next}}}}},
			})
			Expect(err).NotTo(HaveOccurred())
			d, err := openapi.Parse(text)
			Expect(err).NotTo(HaveOccurred())
			o, ok := d.Operation("calls")
			Expect(ok).To(BeTrue())
			Expect(d.PromisesFullPages(o)).To(Equal(want))
		},
		Entry("of the operation", "No page is empty.", "", true),
		Entry("of the next page", "", "It is missing on the last page, and only there: no page after the first is empty.", true),
		Entry("in other words", "Pages are never empty.", "", true),
		Entry("an end that may be empty", "", "It is missing on the last page. The last page may be empty.", false),
		Entry("a page that may be empty", "", "A page may be shorter than pageSize, and it may be empty, although more follow.", false),
		Entry("nothing", "", "", false),
	)
})
