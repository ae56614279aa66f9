package openapi_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

// parsed returns the document that Parse reads from the text.
func parsed(text string) *openapi.Document {
	GinkgoHelper()
	d, err := openapi.Parse([]byte(text))
	Expect(err).NotTo(HaveOccurred())
	return d
}

// library is an OpenAPI 3.0 document with the quirks of real ones: repeated and missing operationIds, and references everywhere.
const library = `{
 "openapi":"3.0.1","info":{"title":"Funding Api","version":1.0},
 "servers":[{"url":"https://node.example/{prefix}/funding","variables":{"prefix":{"default":"ris-synergy"}}},{"description":"no url"}],
 "security":[{"bearer":[]}],
 "paths":{
  "/v1/fundings/{id}":{"parameters":[{"$ref":"#/components/parameters/id"},{"name":"lang","in":"query","schema":{"type":"string"}}],
   "get":{"operationId":"findByKey","parameters":[{"name":"lang","in":"query","required":true,"schema":{"type":"string","enum":["de","en"],"default":"de"}}],
    "responses":{"200":{"$ref":"#/components/responses/one"},"default":{"description":"any"},"x-note":{}}}},
  "x-internal":{"get":{}},
  "/v1/fundings":{"get":{"operationId":"findAll","tags":["Fundings"],"deprecated":true,"security":[{},{"bearer":[]}],
   "parameters":[{"name":"page[size]","in":"query","schema":{"type":"integer","minimum":1,"maximum":1e3}},{"$ref":"#/components/parameters/none"}],
   "responses":{"200":{"content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Call"}}}}}}},
   "post":{"operationId":"findAll","requestBody":{"$ref":"#/components/requestBodies/call"}}},
  "/v1/info":{"get":{"responses":{"204":{"description":"nothing"},"2XX":{"description":"other"}}}}
 },
 "components":{
  "parameters":{"id":{"name":"id","in":"path","required":true,"schema":{"type":"string"}}},
  "responses":{"one":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Missing"}}}}},
  "requestBodies":{"call":{"required":true}},
  "securitySchemes":{"bearer":{"type":"http","scheme":"bearer"}},
  "schemas":{
   "Funding":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"partOf":{"$ref":"#/components/schemas/Funding"}}},
   "Call":{"allOf":[{"$ref":"#/components/schemas/Funding"},{"required":["stage"],"properties":{"stage":{"type":["null","integer"]}}}]}}}
}`

var _ = DescribeTable("An array in a query", func(document, separator string) {
	d, err := openapi.Parse([]byte(document))
	Expect(err).NotTo(HaveOccurred())
	Expect(d.Operations[0].Parameters[0].Separator).To(Equal(separator))
},
	Entry("repeats the parameter", parameterDocument(`"openapi":"3.0.3"`, ``), ""),
	Entry("is separated by commas if it is not exploded", parameterDocument(`"openapi":"3.0.3"`, `"explode":false,`), ","),
	Entry("is separated by bars", parameterDocument(`"openapi":"3.1.0"`, `"style":"pipeDelimited",`), "|"),
	Entry("is separated by spaces", parameterDocument(`"openapi":"3.0.3"`, `"style":"spaceDelimited","explode":false,`), " "),
	Entry("is separated by commas in Swagger 2.0", parameterDocument(`"swagger":"2.0"`, ``), ","),
	Entry("repeats the parameter in Swagger 2.0 if it says multi", parameterDocument(`"swagger":"2.0"`, `"collectionFormat":"multi",`), ""),
)

func parameterDocument(version, more string) string {
	return `{` + version + `,"paths":{"/calls":{"get":{"parameters":[{"name":"kind","in":"query",` + more +
		`"schema":{"type":"array","items":{"type":"string"}},"type":"array","items":{"type":"string"}}]}}}}`
}

var _ = Describe("A document", func() {
	It("has a head, servers with variables filled in, and security", func() {
		d := parsed(library)
		Expect(d.Version).To(Equal("3.0.1"))
		Expect(d.Title).To(Equal("Funding Api"))
		Expect(d.APIVersion).To(Equal("1.0"))
		Expect(d.Servers).To(Equal([]string{"https://node.example/ris-synergy/funding"}))
		Expect(d.Schemes).To(Equal(map[string]string{"bearer": "http"}))
		Expect(d.Security).To(Equal(&openapi.Security{Schemes: []string{"bearer"}}))
	})

	It("lists its operations in the order of the text, under unique keys", func() {
		var got []string
		for _, o := range parsed(library).Operations {
			got = append(got, fmt.Sprint(o.Key, " ", o.Method, " ", o.Path))
		}
		Expect(got).To(Equal([]string{
			"findByKey GET /v1/fundings/{id}", "findAll GET /v1/fundings", "findAll-2 POST /v1/fundings", "get-v1-info GET /v1/info",
		}))
	})

	It("has unique and safe keys for any operationIds", func() {
		d := parsed(`{"paths":{"/a":{"get":{"operationId":"x"},"put":{"operationId":"x-2"},"post":{"operationId":"x"},"delete":{"operationId":"../.. ä"},
			"head":{"operationId":"日本"},"patch":{"operationId":"` + strings.Repeat("y", 500) + `"},"trace":{"operationId":7}}}}`)
		seen := map[string]bool{}
		for _, o := range d.Operations {
			Expect(o.Key).To(MatchRegexp(`^[A-Za-z0-9_-]{1,90}$`))
			Expect(seen).NotTo(HaveKey(o.Key))
			seen[o.Key] = true
			again, ok := d.Operation(o.Key)
			Expect(ok).To(BeTrue())
			Expect(again.Method).To(Equal(o.Method))
		}
		Expect(seen).To(HaveLen(7))
		_, ok := d.Operation("nothing")
		Expect(ok).To(BeFalse())
	})

	It("merges parameters of path and operation, and follows references", func() {
		o, _ := parsed(library).Operation("findByKey")
		Expect(o.Pointer).To(Equal("/paths/~1v1~1fundings~1{id}/get"))
		Expect(o.Parameters).To(HaveLen(2))
		Expect(o.Parameters[0]).To(And(HaveField("Name", "id"), HaveField("In", "path"), HaveField("Required", true)))
		Expect(o.Parameters[1].Required).To(BeTrue())
		Expect(o.Parameters[1].Schema.Enum).To(Equal([]string{"de", "en"}))
		Expect(string(o.Parameters[1].Schema.Default)).To(Equal(`"de"`))
		Expect(o.Responses).To(HaveLen(2))
		Expect(o.Responses["200"].Content["application/json"]).To(And(HaveField("Declared", true), HaveField("Dangling", "#/components/schemas/Missing")))
	})

	It("reads schemas through allOf and references, to a bounded depth", func() {
		o, _ := parsed(library).Operation("findAll")
		Expect(o.Deprecated).To(BeTrue())
		Expect(o.Tags).To(Equal([]string{"Fundings"}))
		Expect(o.Security).To(Equal(&openapi.Security{Open: true, Schemes: []string{"bearer"}}))
		Expect(*o.Parameters[0].Schema.Maximum).To(Equal(1000.0))
		s := o.Responses["200"].Content["application/json"]
		Expect(s.Type).To(Equal("array"))
		Expect(s.Items.Type).To(Equal("object"))
		Expect(s.Items.Required).To(ConsistOf("id", "stage"))
		Expect(s.Items.Properties["stage"].Type).To(Equal("integer"))
		Expect(s.Items.Properties["partOf"].Properties["partOf"].Properties["id"].Type).To(Equal("string"))
	})

	It("knows which operations require a body", func() {
		o, _ := parsed(library).Operation("findAll-2")
		Expect(o.RequiresBody).To(BeTrue())
		Expect(o.Security).To(Equal(&openapi.Security{Schemes: []string{"bearer"}}))
	})

	It("reads Swagger 2.0", func() {
		d := parsed(`{"swagger":"2.0","host":"node.example","basePath":"/ris","schemes":["https","http"],"produces":["application/json"],
			"securityDefinitions":{"oauth":{"type":"oauth2"}},"security":[],
			"paths":{"/calls":{"get":{"parameters":[{"name":"region","in":"query","type":"string","enum":["VIENNA"]},{"name":"b","in":"body","required":true}],
			"responses":{"200":{"schema":{"$ref":"#/definitions/Calls"}}}},"put":{"produces":["text/csv"],"responses":{"200":{"schema":{}},"404":{}}}}},
			"definitions":{"Calls":{"type":"array","items":{"type":"object"}}}}`)
		Expect(d.Version).To(Equal("2.0"))
		Expect(d.Servers).To(Equal([]string{"https://node.example/ris", "http://node.example/ris"}))
		Expect(d.Schemes).To(Equal(map[string]string{"oauth": "oauth2"}))
		Expect(d.Security.Open).To(BeTrue())
		get := d.Operations[0]
		Expect(get.RequiresBody).To(BeTrue())
		Expect(get.Parameters).To(HaveLen(1))
		Expect(get.Parameters[0].Schema.Enum).To(Equal([]string{"VIENNA"}))
		Expect(get.Responses["200"].Content["application/json"].Items.Type).To(Equal("object"))
		Expect(d.Operations[1].Responses["200"].Content).To(HaveKey("text/csv"))
		Expect(d.Operations[1].Responses["404"].Content).To(BeEmpty())
	})

	DescribeTable("has the servers of Swagger 2.0",
		func(head string, want ...string) {
			Expect(parsed(`{"swagger":"2.0",` + head + `}`).Servers).To(Equal(want))
		},
		Entry("path alone", `"basePath":"/ris"`, "/ris"),
		Entry("no scheme", `"host":"node.example","basePath":"/ris"`, "//node.example/ris"),
	)

	DescribeTable("is read as far as possible",
		func(text string, operations int) { Expect(parsed(text).Operations).To(HaveLen(operations)) },
		Entry("an empty object", `{}`, 0),
		Entry("wrong types everywhere", `{"openapi":3,"info":[],"servers":{},"security":{},"paths":{"/a":{"get":{"parameters":{},"responses":[],"tags":"x","security":[1],"requestBody":1}},"/b":[],"/c":{"get":7}},"components":"x"}`, 1),
		Entry("paths as a list", `{"paths":[{"get":{}}]}`, 0),
		Entry("a parameter that refers to itself", `{"paths":{"/a":{"get":{"parameters":[{"$ref":"#/paths/~1a/get/parameters/0"}]}}}}`, 1),
		Entry("repeated paths", `{"paths":{"/a":{"get":{}},"/a":{"get":{},"put":{}}}}`, 2),
		Entry("repeated paths objects", `{"paths":{"/a":{"get":{}}},"paths":{"/b":{"get":{}}}}`, 1),
	)

	DescribeTable("is refused unless it is a JSON object",
		func(text string) {
			_, err := openapi.Parse([]byte(text))
			Expect(err).To(HaveOccurred())
		},
		Entry("empty", ``), Entry("a list", `[]`), Entry("null", `null`), Entry("an incomplete object", `{"paths":`), Entry("two values", `{} {}`), Entry("an HTML page", `<html>`),
	)

	It("bounds the size of its schemas, even with many references", func() {
		var schemas strings.Builder
		for i := range 20 {
			fmt.Fprintf(&schemas, `"S%d":{"properties":{`, i)
			for j := range 40 {
				fmt.Fprintf(&schemas, `"p%d":{"$ref":"#/components/schemas/S%d"},`, j, (i+1)%20)
			}
			schemas.WriteString(`"last":{}}},`)
		}
		var paths strings.Builder
		for i := range 300 {
			fmt.Fprintf(&paths, `"/p%d":{"get":{"responses":{"200":{"content":{"a/b":{"schema":{"$ref":"#/components/schemas/S0"}}}}}}},`, i)
		}
		d := parsed(`{"openapi":"3.0.0","paths":{` + strings.TrimSuffix(paths.String(), ",") + `},"components":{"schemas":{` + strings.TrimSuffix(schemas.String(), ",") + `}}}`)
		nodes := 0
		for _, o := range d.Operations {
			nodes += countNodes(o.Responses["200"].Content["a/b"])
		}
		Expect(d.Operations).To(HaveLen(300))
		Expect(nodes).To(And(BeNumerically(">", 100_000), BeNumerically("<", 250_000)))
	})
})

// countNodes counts a schema and the schemas inside it.
func countNodes(s openapi.Schema) int {
	n := 1
	if s.Items != nil {
		n += countNodes(*s.Items)
	}
	for _, p := range s.Properties {
		n += countNodes(p)
	}
	return n
}

var _ = It("reads each of many references to references once", func() {
	var schemas []string
	for i := range 40 { // each names the next one twice: 2^40 ways
		schemas = append(schemas, fmt.Sprintf(`"S%d":{"properties":{"a":{"$ref":"#/components/schemas/S%d"},"b":{"$ref":"#/components/schemas/S%d"}}}`, i, i+1, i+1))
	}
	d, err := openapi.Parse([]byte(`{"openapi":"3.0.3","components":{"schemas":{` + strings.Join(schemas, ",") + `,"S40":{}}},"paths":{"/things":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}}}}}}`))
	Expect(err).NotTo(HaveOccurred())
	Expect(d.SaysNothing(d.Operations[0])).To(BeTrue())
})

var _ = DescribeTable("A schema that allows any answer says nothing",
	func(schema string, nothing bool) {
		d, err := openapi.Parse([]byte(`{"openapi":"3.0.3","components":{"schemas":{"Any":{},"Item":{"type":"object","properties":{"id":{"type":"string"}}},"Loop":{"allOf":[{"$ref":"#/components/schemas/Loop"}]}}},"paths":{"/things":{"get":{"responses":{"200":{"content":{"application/json":{"schema":` + schema + `}}}}}}}}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(d.SaysNothing(d.Operations[0])).To(Equal(nothing))
	},
	Entry("{}", `{}`, true),
	Entry("an object without properties", `{"type":"object","title":"Thing"}`, true),
	Entry("an array of anything", `{"type":"array","items":{}}`, true),
	Entry("a reference to nothing", `{"type":"array","items":{"$ref":"#/components/schemas/Any"}}`, true),
	Entry("a map of anything", `{"type":"object","additionalProperties":true}`, true),
	Entry("an object whose members may be anything", `{"type":"object","properties":{"data":{},"meta":{"type":"object"}}}`, true),
	Entry("an object that must have a member", `{"type":"object","required":["data"],"properties":{"data":{}}}`, false),
	Entry("an envelope of objects with properties", `{"type":"object","properties":{"meta":{},"data":{"type":"array","items":{"$ref":"#/components/schemas/Item"}}}}`, false),
	Entry("a schema that refers only to itself", `{"$ref":"#/components/schemas/Loop"}`, false),
	Entry("an array of objects with properties", `{"type":"array","items":{"$ref":"#/components/schemas/Item"}}`, false),
	Entry("a map of texts", `{"type":"object","additionalProperties":{"type":"string"}}`, false),
	Entry("a text", `{"type":"string"}`, false),
)
