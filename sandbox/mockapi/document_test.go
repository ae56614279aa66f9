package mockapi_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/rin-network/rin/sandbox/mockapi"
)

var _ = Describe("a fault of a document", func() {
	const asJSON = `{
  "openapi": "3.0.3",
  "paths": {
    "/a": {
      "get": {
        "parameters": [
          {"name": "x", "in": "query"},
          {"name": "y", "in": "nowhere"}
        ],
        "responses": {"200": {"description": "ok"}}
      }
    }
  }
}`
	const asYAML = `openapi: 3.0.3
paths:
  /a:
    get:
      parameters:
        - {name: x, in: query}
        - name: y
          in: nowhere
      responses: {'200': {description: ok}}
`
	DescribeTable("names its line", func(text string, line int) {
		d, err := mockapi.ReadDocument([]byte(text))
		Expect(err).NotTo(HaveOccurred())
		Expect(d.Operations).To(HaveLen(1))
		fault := d.Operations[0].Fault
		Expect(fault).NotTo(BeNil())
		root, missing, other := sample.NewFault("", "is odd"), sample.NewFault("/paths/~1a/get/responses/404/content", "is odd"), sample.NewFault("/paths/~1a/get/parameters/0", "is odd")
		d.Locate(root, fault, missing, other)
		Expect(root.Line).To(Equal(1))
		Expect(other.Line).To(Equal(line - 1 - strings.Count(text, "- name: y")))
		Expect(missing.Line).To(Equal(line+1+strings.Count(text, `"responses"`)), "the line of responses, the last part of the pointer that exists")
		Expect(fault.Pointer).To(Equal("#/paths/~1a/get/parameters/1/in"))
		Expect(fault.Line).To(Equal(line))
		Expect(fault.Error()).To(ContainSubstring("expected path, query, header or cookie"))
	},
		Entry("in JSON", asJSON, 8),
		Entry("in JSON with tabs", strings.ReplaceAll(asJSON, "  ", "\t"), 8),
		Entry("in YAML", asYAML, 8),
	)

	It("refuses a document with too many operations", func() {
		var paths []string
		for i := range mockapi.MaxOperations + 1 {
			paths = append(paths, `"/`+strings.Repeat("a", 1+i%50)+"/"+string(rune('a'+i%26))+strings.Repeat("b", i/50)+`":{"get":{"responses":{"204":{}}}}`)
		}
		_, err := mockapi.ReadDocument([]byte(`{"openapi":"3.0.0","paths":{` + strings.Join(paths, ",") + `}}`))
		Expect(err).To(MatchError(ContainSubstring("more than 4000 operations")))
	})
})
