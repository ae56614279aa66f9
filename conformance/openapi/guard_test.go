package openapi_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

func guard(body string) evidence.Document { return openapi.Guard([]byte(body), openapi.Limits{}) }

// spec writes a document with one operation; schema and schemas are JSON.
func spec(version, schema, schemas string) string {
	return fmt.Sprintf(`{"openapi":%q,"info":{"title":"t","version":"1"},
		"paths":{"/things":{"get":{"operationId":"test","responses":{"200":{"description":"ok","content":{"application/json":{"schema":%s}}}}}}},
		"components":{"schemas":%s}}`, version, schema, schemas)
}

var _ = Describe("The guard", func() {
	DescribeTable("refuses a text that is not a document and says what it is",
		func(body, words string) {
			doc := guard(body)
			Expect(doc.Reduced).To(BeEmpty())
			Expect(doc.Refused).To(ContainSubstring(words))
		},
		Entry("nothing", " \n", "is empty"),
		Entry("Swagger UI", `<!DOCTYPE html><html><body><div id="swagger-ui"></div>`, "Swagger UI page"),
		Entry("another page", "<html><h1>It works!</h1>", "HTML or XML page"),
		Entry("YAML", "# the API\nopenapi: 3.0.1\ninfo:\n  title: t\n", "is YAML"),
		Entry("YAML with a marker", "---\nswagger: '2.0'\n", "is YAML"),
		Entry("truncated JSON", `{"openapi":"3.0.1","paths":{"/a":`, "ends in the middle, after 33 bytes"),
		Entry("truncated in a string", `{"openapi":"3.0`, "ends in the middle"),
		Entry("text", "Internal Server Error", "is not JSON"),
		Entry("trailing text", `{} {}`, "more text follows"),
		Entry("UTF-16", "\xff\xfe{\x00}\x00", "UTF-16"),
		Entry("a list", `[]`, "a list at the top"),
		Entry("null", `null`, "JSON null"),
		Entry("JSON encoded twice", `"{\"openapi\":\"3.0.1\"}"`, "encoded twice"),
		Entry("base64", `"eyJvcGVuYXBpIjoiMy4wLjEifQ=="`, "base64"),
		Entry("an alias bomb in YAML", "a: &a [x,x]\nb: &b [*a,*a]\n", "not JSON"),
	)

	It("bounds size and depth", func() {
		Expect(openapi.Guard([]byte(`{"a":"0123456789"}`), openapi.Limits{Size: 10}).Refused).To(ContainSubstring("18 bytes"))
		deep := func(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }
		Expect(guard(deep(200)).Refused).To(BeEmpty())
		Expect(guard(deep(201)).Refused).To(ContainSubstring("nested deeper than 200"))
		Expect(guard(strings.Repeat("[", 1_000_000)).Refused).To(ContainSubstring("nested deeper"))
		By("no caller can lift the bound of the depth")
		Expect(openapi.Guard([]byte(deep(300)), openapi.Limits{Depth: 1000}).Refused).NotTo(BeEmpty())
	})

	DescribeTable("refuses references that refer only to one another",
		func(schemas string) {
			Expect(guard(spec("3.0.1", `{}`, schemas)).Refused).To(ContainSubstring("refer only to one another"))
		},
		Entry("itself", `{"A":{"$ref":"#/components/schemas/A"}}`),
		Entry("in a ring", `{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/C"},"C":{"$ref":"#/components/schemas/A"}}`),
		Entry("a reference to a ring", `{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/B"}}`),
		Entry("under another spelling", `{"A B":{"$ref":"#/components/schemas/A%20B"}}`),
	)

	It("accepts recursion and chains that end", func() {
		Expect(guard(spec("3.0.1", `{}`, `{"A":{"properties":{"a":{"$ref":"#/components/schemas/A"}},"required":["a"]},
			"B":{"$ref":"#/components/schemas/C"},"C":{"$ref":"#/components/schemas/A"},"D":{"allOf":[{"$ref":"#/components/schemas/D"}]}}`)).Refused).To(BeEmpty())
	})

	It("removes examples, extensions and dialects, but no names and data", func() {
		doc := guard(`{"openapi":"3.1.0","$schema":"https://a.example/s","jsonSchemaDialect":"https://a.example/d","x-top":{"$ref":"http://a.example/"},
			"paths":{"x-note":1,"/a":{"get":{"responses":{"200":{"content":{"application/json":{"example":{"$ref":"http://a.example/"},"examples":{"e":{"$ref":"http://a.example/"}},
			"schema":{"$id":"https://a.example/","properties":{"example":{"type":"string"},"$id":{"type":"string"},"$ref":{"type":"string"},"x-y":{"enum":[{"$ref":"http://a.example/"}],"default":{"$ref":"f.json"}}}}}}}}}}}}`)
		Expect(doc.Refused).To(BeEmpty())
		Expect(string(doc.Reduced)).To(Equal(`{"openapi":"3.1.0",` +
			`"paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{` +
			`"schema":{"properties":{"example":{"type":"string"},"$id":{"type":"string"},"$ref":{"type":"string"},"x-y":{"enum":[{"$ref":"http://a.example/"}],"default":{"$ref":"f.json"}}}}}}}}}}}}`))
		Expect(doc.Removed).To(HaveExactElements(
			evidence.Removed{Pointer: "/$schema", Keyword: "$schema", Value: "https://a.example/s"},
			evidence.Removed{Pointer: "/jsonSchemaDialect", Keyword: "jsonSchemaDialect", Value: "https://a.example/d"},
			evidence.Removed{Pointer: "/paths/~1a/get/responses/200/content/application~1json/schema/$id", Keyword: "$id", Value: "https://a.example/"},
		))
	})

	It("keeps an extension to which a reference leads", func() {
		const paths = `"paths":{"/a":{"get":{"x-stage":{"type":"integer"},"responses":{"200":{"content":{"application/json":{"schema":{"properties":{"a":{"$ref":"#/x-shared/Stage"},"b":{"$ref":"#/paths/~1a/get/x-stage"}}}}}}}}}}`
		doc := guard(`{"openapi":"3.1.0","x-shared":{"Stage":{"$id":"https://a.example/","type":"integer"}},"x-note":{"Stage":1},` + paths + `}`)
		Expect(string(doc.Reduced)).To(Equal(`{"openapi":"3.1.0","x-shared":{"Stage":{"type":"integer"}},` + paths + `}`))
		parsed, err := openapi.Parse(doc.Reduced)
		Expect(err).NotTo(HaveOccurred())
		for _, ref := range parsed.Refs() {
			Expect(ref.Resolves).To(BeTrue(), ref.Target)
		}
	})

	It("removes an extension that has references", func() {
		doc := guard(spec("3.1.0", `{"$ref":"#/components/x-a"}`, `{},"x-a":{"$ref":"#/components/x-b"},"x-b":{"$ref":"#/components/x-a"}`))
		Expect(string(doc.Reduced)).NotTo(ContainSubstring("x-b"))
	})

	DescribeTable("replaces references that leave the document",
		func(version, schema, left, keyword string) {
			doc := guard(spec(version, schema, `{}`))
			Expect(string(doc.Reduced)).To(ContainSubstring(`"application/json":{"schema":` + left + `}`))
			Expect(doc.Removed).To(HaveLen(1))
			Expect(doc.Removed[0].Keyword).To(Equal(keyword))
			Expect(doc.Removed[0].Pointer).To(HaveSuffix("/schema/" + keyword))
		},
		Entry("a URL", "3.0.1", `{"$ref":"https://a.example/s.json"}`, `{}`, "$ref"),
		Entry("a file", "3.0.1", `{"$ref":"file:///etc/passwd"}`, `{}`, "$ref"),
		Entry("a neighbour", "3.0.1", `{"$ref":"common.json#/A"}`, `{}`, "$ref"),
		Entry("siblings that 3.0 ignores", "3.0.1", `{"$ref":"common.json#/A","type":"string"}`, `{}`, "$ref"),
		Entry("siblings that 3.1 counts", "3.1.0", `{"$ref":"common.json#/A","type":"string"}`, `{"type":"string"}`, "$ref"),
		Entry("dynamic", "3.1.0", `{"$dynamicRef":"#node"}`, `{}`, "$dynamicRef"),
		Entry("recursive", "3.1.0", `{"$recursiveRef":"#"}`, `{}`, "$recursiveRef"),
	)

	It("keeps the operations beside a foreign reference of a path", func() {
		doc := guard(`{"openapi":"3.0.1","paths":{"/a":{"$ref":"paths.json","get":{"responses":{}}}}}`)
		Expect(string(doc.Reduced)).To(Equal(`{"openapi":"3.0.1","paths":{"/a":{"get":{"responses":{}}}}}`))
	})

	It("drops discriminator values that are mapped to other documents", func() {
		doc := guard(spec("3.0.1", `{"discriminator":{"propertyName":"t","mapping":{"a":"https://a.example/A.json","b":"B","c":"#/components/schemas/C"}}}`, `{}`))
		Expect(string(doc.Reduced)).To(ContainSubstring(`"mapping":{"b":"B","c":"#/components/schemas/C"}`))
		Expect(doc.Removed).To(HaveExactElements(HaveField("Keyword", "mapping")))
	})

	It("keeps local references that lead nowhere", func() {
		doc := guard(spec("3.0.1", `{"$ref":"#/components/schemas/Missing"}`, `{}`))
		Expect(doc.Removed).To(BeEmpty())
		Expect(string(doc.Reduced)).To(ContainSubstring("Missing"))
	})

	It("ignores a byte order mark, uses the last of repeated names and keeps the order of members", func() {
		doc := guard("\xef\xbb\xbf" + `{"b":1,"a":{"z":1},"b":2}`)
		Expect(string(doc.Reduced)).To(Equal(`{"b":2,"a":{"z":1}}`))
	})

	It("keeps numbers as written and markup unescaped", func() {
		Expect(string(guard(`{"n":1.50,"m":12345678901234567890,"t":"<b>&"}`).Reduced)).To(Equal(`{"n":1.50,"m":12345678901234567890,"t":"<b>&"}`))
	})

	It("bounds the list of removals", func() {
		many := strings.Repeat(`{"$ref":"http://a.example/`+strings.Repeat("a", 400)+`"},`, 1000)
		doc := guard(`{"allOf":[` + strings.TrimSuffix(many, ",") + `]}`)
		Expect(len(doc.Removed)).To(Equal(500))
		Expect(len(doc.Removed[0].Value)).To(BeNumerically("<", 210))
	})
})
