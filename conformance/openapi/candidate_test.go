package openapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

// get returns the JSON of a path with a GET whose answer has this schema; rest is inserted into the operation.
func get(path, rest, schema string) string {
	return `"` + path + `":{"get":{` + rest + `"responses":{"200":{"content":{"application/json":{"schema":` + schema + `}}}}}}`
}

func paths(list ...string) *openapi.Document {
	GinkgoHelper()
	text := `{"openapi":"3.0.1","paths":{`
	for i, p := range list {
		if i > 0 {
			text += ","
		}
		text += p
	}
	return parsed(text + `}}`)
}

var _ = Describe("Finding operations", func() {
	const array, object = `{"type":"array","items":{}}`, `{"type":"object"}`

	DescribeTable("finds the list of funding calls",
		func(want string, list ...string) {
			found, ok := paths(list...).ListCandidate()
			Expect(ok).To(Equal(want != ""))
			Expect(found.Path).To(Equal(want))
		},
		Entry("by path", "/v1/fundings", get("/v1/info", "", object), get("/v1/fundings", "", array)),
		Entry("declared as one object", "/v1/fundings", get("/v1/fundings", "", object)),
		Entry("with an unusable schema in a oneOf", "/fundings", get("/fundings", "", `{"oneOf":[{}]}`)),
		Entry("by tag", "/v1/all", get("/v1/all", `"tags":["Funding calls"],`, array)),
		Entry("by operationId", "/v1/all", get("/v1/all", `"operationId":"listCalls",`, array)),
		Entry("the path says more than the tag", "/calls", get("/types", `"tags":["fundings"],`, array), get("/calls", "", object)),
		Entry("the array rather than the object", "/fundings/all", get("/fundings/summary", "", object), get("/fundings/all", "", array)),
		Entry("the list with details below", "/calls", get("/calls/funding", "", array), get("/calls", "", array), get("/calls/{id}", "", object)),
		Entry("the current list", "/v2/fundings", get("/v1/fundings", `"deprecated":true,`, array), get("/v2/fundings", "", array)),
		Entry("the protected list rather than a public one", "/calls", get("/open/calls", `"security":[],`, array), get("/calls", `"security":[{"oauth":[]}],`, array)),
		Entry("a public one if there is no other", "/open/calls", get("/open/calls", `"security":[],`, array), get("/things", `"security":[{"oauth":[]}],`, array)),
		Entry("the first of equals", "/b/calls", get("/b/calls", "", array), get("/a/calls", "", array)),
		Entry("but not an operation with a template", "", get("/fundings/{id}", "", object)),
		Entry("but not a callback", "", get("/callbacks", `"operationId":"recallAll",`, array)),
		Entry("but not a text", "", get("/fundings/count", "", `{"type":"string"}`)),
		Entry("but not an operation without a schema", "", `"/fundings":{"get":{"responses":{"200":{"description":"ok"}}}}`),
		Entry("but not the API document", "", get("/funding/v3/api-docs", "", object)),
		Entry("but not the API document of a group", "", get("/v3/api-docs/funding", "", object), get("/funding/openapi.json", "", object)),
		Entry("but neither health nor info of the funding service", "", get("/funding/v1/info", "", object), get("/funding/health", `"tags":["funding"],`, object)),
		Entry("the list beside its document", "/funding/v3/all", get("/funding/v3/api-docs", "", array), get("/funding/v3/all", "", object)),
		Entry("but not a POST", "", `"/fundings":{"post":{"responses":{"200":{"content":{"application/json":{"schema":{"type":"array"}}}}}}}`),
	)

	DescribeTable("finds the list of funding calls by its description",
		func(want string, list ...string) {
			found, ok := paths(list...).DescribedListCandidate()
			Expect(ok).To(Equal(want != ""))
			Expect(found.Path).To(Equal(want))
		},
		Entry("by summary", "/opportunities", get("/organisations", `"summary":"The funders",`, array), get("/opportunities", `"summary":"Open funding calls",`, array)),
		Entry("by description, with details below", "/opportunities", get("/opportunities", `"description":"Calls for proposals of all programmes.",`, object), get("/opportunities/{id}", "", object)),
		Entry("but not two of them", "", get("/opportunities", `"summary":"Open funding calls",`, array), get("/regions", `"summary":"Where funding is given",`, array)),
		Entry("but not a list that clients call", "", get("/regions", `"summary":"Vocabulary. Clients call this once a day.",`, array)),
		Entry("but not a single object", "", get("/statistics", `"description":"Number of calls by region.",`, object)),
		Entry("but not another list", "", get("/organisations", `"summary":"The funders",`, array)),
	)

	DescribeTable("finds a list of anything",
		func(want string, list ...string) {
			found, ok := paths(list...).AnyListCandidate()
			Expect(ok).To(Equal(want != ""))
			Expect(found.Path).To(Equal(want))
		},
		Entry("an array", "/v1/projects", get("/v1/me", "", object), get("/v1/projects", "", array)),
		Entry("an object with details below", "/v1/projects", get("/v1/me", "", object), get("/v1/projects", "", object), get("/v1/projects/{id}", "", object)),
		Entry("the array rather than the object", "/units", get("/projects", "", object), get("/projects/{id}", "", object), get("/units", "", array)),
		Entry("no single resource", "", get("/me", "", object)),
		Entry("nothing about the service", "", get("/actuator/health", "", array)),
	)

	DescribeTable("finds the detail operation",
		func(want string, list ...string) {
			d := paths(append([]string{get("/v1/fundings", "", array)}, list...)...)
			found, ok := d.DetailCandidate(d.Operations[0])
			Expect(ok).To(Equal(want != ""))
			Expect(found.Path).To(Equal(want))
		},
		Entry("one template segment below", "/v1/fundings/{id}", get("/v1/fundings/{id}/stages", "", array), get("/v1/fundings/{id}", "", object)),
		Entry("with a slash at the end", "/v1/fundings/{id}/", get("/v1/fundings/{id}/", "", object)),
		Entry("but not a plain segment", "", get("/v1/fundings/latest", "", object)),
		Entry("but not a segment that is only partly a template", "", get("/v1/fundings/{a}-{b}", "", object), get("/v1/fundings/{id}.xml", "", object)),
		Entry("but not a path that only begins alike", "", get("/v1/fundingsold/{id}", "", object)),
	)

	DescribeTable("finds the successful response",
		func(responses, want string) {
			status, _, ok := parsed(`{"paths":{"/a":{"get":{"responses":` + responses + `}}}}`).Operations[0].Success()
			Expect(status).To(Equal(want))
			Expect(ok).To(Equal(want != ""))
		},
		Entry("200", `{"200":{},"201":{},"default":{}}`, "200"), Entry("the lowest", `{"206":{},"202":{}}`, "202"),
		Entry("a code before its range", `{"2XX":{},"204":{}}`, "204"), Entry("range", `{"2XX":{},"default":{}}`, "2XX"),
		Entry("default", `{"404":{},"default":{}}`, "default"), Entry("or none", `{"404":{}}`, ""),
	)

	DescribeTable("asks for the media types of the good answer",
		func(content, want string) {
			o := parsed(`{"paths":{"/a":{"get":{"responses":{"200":{"content":` + content + `}}}}}}`).Operations[0]
			Expect(o.Accept()).To(Equal(want))
		},
		Entry("JSON among others", `{"text/markdown":{},"application/json;charset=utf-8":{}}`, "application/json"),
		Entry("JSON within a range", `{"*/*":{}}`, "application/json"),
		Entry("JSON where none is described", `{}`, "application/json"),
		Entry("the only one", `{"text/markdown":{}}`, "text/markdown"),
		Entry("a type of JSON of its own", `{"application/vnd.node.v3+json":{}}`, "application/vnd.node.v3+json"),
		Entry("several", `{"text/plain":{},"application/pdf":{}}`, "application/pdf, text/plain"),
		Entry("but nothing that is not a media type", `{"text/plain\r\nX-Header: 1":{}}`, "application/json"),
	)

	It("finds the operation that lists the values of each segment of a path", func() {
		d := parsed(`{"paths":{"/calls":{"get":{}},"/calls/{id}/files":{"get":{}},"/calls/{call}/files/{file}":{"get":{"operationId":"file"}}}}`)
		o, found := d.Operation("file")
		Expect(found).To(BeTrue())
		files, _ := d.Collection(o)
		Expect(files.Path).To(Equal("/calls/{id}/files"))
		calls, _ := d.Source(o, "call")
		Expect(calls.Path).To(Equal("/calls"))
		_, ok := d.Source(o, "other")
		Expect(ok).To(BeFalse())
	})

	DescribeTable("lists template parameters",
		func(path string, want ...string) {
			Expect(openapi.Operation{Path: path}.TemplateParameters()).To(HaveExactElements(want))
		},
		Entry("two", "/a/{b}/{c}", "b", "c"), Entry("inside a segment", "/a/{b}.{c}", "b", "c"), Entry("unclosed", "/a/{b"),
		Entry("repeated", "/{a}/{a}", "a", "a"),
	)
})
