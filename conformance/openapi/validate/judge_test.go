package validate_test

import (
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
)

// responses returns a document with one operation that has these responses.
func responses(json string) string {
	return `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/things":{"get":{"responses":` + json + `}}}}`
}

var _ = Describe("Judging status and media type", func() {
	const object = `{"application/json":{"schema":{"type":"object"}}}`

	DescribeTable("reports a status that is not described",
		func(described string, status int, want []string) {
			f := annotate(responses(described), answer(status, "application/json", `{}`))
			Expect(lines(f)).To(Equal(want))
		},
		Entry("by its code", `{"200":{"content":`+object+`}}`, 200, []string{}),
		Entry("by its range", `{"4XX":{"content":`+object+`}}`, 404, []string{}),
		Entry("by a range in small letters", `{"4xx":{"content":`+object+`}}`, 404, []string{}),
		Entry("by default", `{"default":{"content":`+object+`}}`, 503, []string{}),
		Entry("by default without content", `{"default":{"description":"any"}}`, 503, []string{}),
		Entry("by no response", `{"200":{},"4XX":{}}`, 500, []string{"status $: want 200, 4XX, got 500"}),
		Entry("if no response is described", `{}`, 200, []string{"status $: want no status (none is described), got 200"}),
	)

	DescribeTable("reports a media type that is not described",
		func(described, sent, body string, isJudged bool, want []string) {
			f := annotate(responses(`{"200":{"content":{"`+described+`":{"schema":{"type":"object"}}}}}`), answer(200, sent, body))
			Expect(lines(f)).To(Equal(want))
			Expect(f.Judged).To(Equal(isJudged), f.Why)
		},
		Entry("exactly", "application/json", "application/json", `{}`, true, []string{}),
		Entry("whatever its parameters", "application/json", "Application/JSON;charset=UTF-8", `{}`, true, []string{}),
		Entry("whatever the parameters described", "application/json;charset=UTF-8", "application/json", `{}`, true, []string{}),
		Entry("by a wildcard", "*/*", "application/json", `{}`, true, []string{}),
		Entry("by a wildcard of the subtype", "application/*", "application/problem+json", `{}`, true, []string{}),
		Entry("a wildcard covers text, too", "*/*", "text/csv", `a;b`, false, []string{}),
		Entry("JSON under a wrong name is judged nonetheless", "application/json", "text/html", `{}`, true,
			[]string{"media-type $: want application/json, got text/html"}),
		Entry("JSON without a name", "application/json", "", `[]`, true,
			[]string{"media-type $: want application/json, got no Content-Type", "top-level $: want object, got array"}),
		Entry("a page", "application/json", "text/html", `<html>`, false, []string{"media-type $: want application/json, got text/html"}),
		Entry("another kind of JSON is not judged by the schema", "application/json", "application/problem+json", `[]`, false,
			[]string{"media-type $: want application/json, got application/problem+json"}),
	)

	It("uses the most specific description", func() {
		doc := responses(`{"200":{"content":{"*/*":{"schema":{"type":"string"}},"application/*":{"schema":{"type":"number"}},"application/json":{"schema":{"type":"object"}}}}}`)
		Expect(lines(annotate(doc, answer(200, "application/json", `{}`)))).To(BeEmpty())
	})

	It("reports a body that is not described, in successful answers only", func() {
		doc := responses(`{"200":{"description":"ok"},"404":{"description":"gone"}}`)
		Expect(lines(annotate(doc, answer(200, "application/json", `{}`)))).To(Equal([]string{"media-type $: want no body is described, got application/json"}))
		Expect(lines(annotate(doc, answer(404, "application/json", `{}`)))).To(BeEmpty())
		Expect(lines(annotate(doc, answer(200, "", ``)))).To(BeEmpty())
	})

	DescribeTable("compares header fields",
		func(header string, sent []evidence.Field, want ...string) {
			x := answer(200, "application/json", `{"a":`)
			x.Response.Header = append(x.Response.Header, sent...)
			f := annotate(responses(`{"200":{"headers":{`+header+`},"content":`+object+`}}`), x)
			Expect(f.Judged).To(BeFalse())
			Expect(lines(f)).To(Equal(append([]string{}, want...)))
		},
		Entry("required and missing", `"X-Total":{"required":true,"schema":{"type":"integer"}}`, nil, `header header "X-Total": want a required header field, got nothing`),
		Entry("optional and missing", `"X-Total":{"schema":{"type":"integer"}}`, nil),
		Entry("optional and wrong", `"X-Total":{"schema":{"type":"integer"}}`, []evidence.Field{{Name: "x-total", Value: "many"}}, `header header "X-Total": want integer, got string`),
		Entry("good", `"X-Total":{"schema":{"type":"integer"}},"X-Open":{"schema":{"type":"boolean"}},"X-Next":{"schema":{"type":"string","minLength":2}}`,
			[]evidence.Field{{Name: "x-total", Value: "12"}, {Name: "X-Open", Value: "true"}, {Name: "X-Next", Value: "12"}}),
		Entry("Content-Type is not for headers", `"Content-Type":{"required":true,"schema":{"type":"integer"}}`, nil),
	)

	It("does not expect a body after HEAD", func() {
		x := answer(200, "application/json", "")
		x.Request.Method = "HEAD"
		f := annotate(responses(`{"200":{"content":`+object+`}}`), x)
		Expect(f.Judged).To(BeFalse())
		Expect(f.Findings).To(BeEmpty())
	})

	DescribeTable("gives the reason why a body was not judged",
		func(x evidence.Exchange, schema, why string) {
			f := annotate(spec("3.0.3", schema, `{}`), x)
			Expect(f.Judged).To(BeFalse())
			Expect(f.Why).To(ContainSubstring(why))
			Expect(f.Items).To(BeZero())
		},
		Entry("no schema", answer(200, "application/json", `{}`), `{}`, "no schema"),
		Entry("a schema that is text", answer(200, "application/json", `{}`), `"Thing"`, "no schema: expected one, got a value of type string"),
		Entry("dangling", answer(200, "application/json", `{}`), `{"$ref":"#/components/schemas/Missing"}`, "dangling $ref #/components/schemas/Missing"),
		Entry("empty", answer(200, "application/json", ``), `{"type":"object"}`, "not JSON: the body is empty"),
		Entry("cut off", answer(200, "application/json", `{"a":`), `{"type":"object"}`, "not JSON"),
		Entry("trailing text", answer(200, "application/json", `{} x`), `{"type":"object"}`, "not JSON"),
		Entry("a list with trailing text", answer(200, "application/json", `[] ]`), `{"type":"array","items":{"type":"object"}}`, "not JSON"),
		Entry("a list that ends early", answer(200, "application/json", `[{}`), `{"type":"array","items":{"type":"object"}}`, "not JSON"),
		Entry("no answer", evidence.Exchange{Failure: &evidence.Failure{Kind: evidence.FailureTimeout}}, `{"type":"object"}`, "no answer"),
	)

	It("judges the complete items of a list that was cut off at the read limit", func() {
		x := answer(200, "application/json", `[{"id":1},{"id":"2"},{"id":`)
		x.Response.Truncated = true
		f := annotate(spec("3.0.3", `{"type":"array","minItems":5,"items":{"properties":{"id":{"type":"string"}}}}`, `{}`), x)
		Expect(f.Judged).To(BeTrue(), f.Why)
		Expect(f.Items).To(Equal(2))
		Expect(lines(f)).To(Equal([]string{"type $[0].id: want string, got number"}))
	})

	It("judges Swagger 2.0", func() {
		f := annotateBody(`{"swagger":"2.0","produces":["application/json"],"paths":{"/a":{"get":{"responses":{"200":{"schema":{"type":"array","items":{"$ref":"#/definitions/T"}}}}}}},
			"definitions":{"T":{"type":"object","required":["id"]}}}`, `[{}]`)
		Expect(lines(f)).To(Equal([]string{"required $[0].id: want a required member, got nothing"}))
		Expect(f.Findings[0].Keyword).To(Equal("/definitions/T/required"))
	})

	It("follows references to responses", func() {
		f := annotateBody(`{"openapi":"3.0.3","paths":{"/a":{"get":{"responses":{"200":{"$ref":"#/components/responses/Good"}}}}},
			"components":{"responses":{"Good":{"content":{"application/json":{"schema":{"type":"object"}}}}}}}`, `[]`)
		Expect(lines(f)).To(Equal([]string{"top-level $: want object, got array"}))
		Expect(f.Findings[0].Keyword).To(Equal("/components/responses/Good/content/application~1json/schema/type"))
	})
})

var _ = Describe("Judging bodies", func() {
	DescribeTable("reports precise findings",
		func(version, schema, body string, want ...string) {
			f := annotateBody(spec(version, schema, `{}`), body)
			Expect(f.Judged).To(BeTrue(), f.Why)
			Expect(lines(f)).To(Equal(append([]string{}, want...)))
		},
		Entry("types", "3.0.3", `{"properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"boolean"}}}}`, `{"a":1,"b":[true,"true"]}`,
			"type $.a: want string, got number", "type $.b[1]: want boolean, got string"),
		Entry("5 is a number and 5.0 an integer", "3.0.3", `{"properties":{"a":{"type":"number"},"b":{"type":"integer"},"c":{"type":"integer"}}}`, `{"a":5,"b":5.0,"c":5.5}`,
			"type $.c: want integer, got number"),
		Entry("null", "3.0.3", `{"properties":{"a":{"type":"string"},"b":{"type":"string","nullable":true}}}`, `{"a":null,"b":null}`,
			"type $.a: want string, got null"),
		Entry("null in 3.1", "3.1.0", `{"properties":{"a":{"type":"string","nullable":true},"b":{"type":["string","null"]}}}`, `{"a":null,"b":null}`,
			"type $.a: want string, got null"),
		Entry("null and enum", "3.0.3", `{"properties":{"a":{"type":"string","enum":["X"],"nullable":true},"b":{"enum":["X"]}}}`, `{"a":null,"b":null}`,
			`type $.b: want one of "X", got null`),
		Entry("null and allOf", "3.0.3", `{"properties":{"a":{"nullable":true,"allOf":[{"type":"string","minLength":3}]}}}`, `{"a":null}`),
		Entry("nullable and allOf, not null", "3.0.3", `{"properties":{"a":{"nullable":true,"allOf":[{"type":"string","minLength":3}]}}}`, `{"a":"ab"}`,
			"other $.a: want at least 3 characters, got 2 characters"),
		Entry("enum", "3.0.3", `{"properties":{"a":{"enum":["X","Y",3]}}}`, `{"a":"BANANA"}`, `enum $.a: want one of "X", "Y", 3, got "BANANA"`),
		Entry("enum, bounded", "3.0.3", `{"enum":["X"]}`, `"`+strings.Repeat("ä", 100)+`"`, `enum $: want one of "X", got "`+strings.Repeat("ä", 39)+`…"`),
		Entry("enum of something else", "3.0.3", `{"properties":{"a":{"enum":["X"]}}}`, `{"a":{"secret":1}}`, `enum $.a: want one of "X", got object`),
		Entry("const", "3.1.0", `{"properties":{"a":{"const":"X"}}}`, `{"a":"Y"}`, `enum $.a: want one of "X", got "Y"`),
		Entry("required", "3.0.3", `{"type":"object","required":["a","b c"]}`, `{}`,
			"required $.a: want a required member, got nothing", `required $["b c"]: want a required member, got nothing`),
		Entry("writeOnly is not required of an answer", "3.0.3", `{"required":["p","q"],"properties":{"p":{"type":"string","writeOnly":true},"q":{"readOnly":true}}}`, `{}`,
			"required $.q: want a required member, got nothing"),
		Entry("a property named nullable, enum or properties", "3.0.3", `{"properties":{"nullable":{"type":"boolean"},"enum":{"type":"array"},"properties":{"type":"object"}}}`,
			`{"nullable":1,"enum":1,"properties":1}`,
			"type $.enum: want array, got number", "type $.nullable: want boolean, got number", "type $.properties: want object, got number"),
		Entry("exclusive bounds as flags", "3.0.3", `{"type":"number","minimum":0,"exclusiveMinimum":true}`, `0`, "other $: want more than 0, got a number that is not more"),
		Entry("exclusive bounds as numbers", "3.1.0", `{"type":"number","exclusiveMaximum":1.5}`, `1.5`, "other $: want less than 1.500000, got a number that is not less"),
		Entry("additional members", "3.0.3", `{"additionalProperties":false,"properties":{"a":{}}}`, `{"a":1,"b":2}`,
			"other $.b: want no member beside the declared ones, got a member that is not declared"),
		Entry("further members are fine", "3.0.3", `{"properties":{"a":{}}}`, `{"b":2}`),
		Entry("look-ahead", "3.0.3", `{"type":"string","pattern":"^(?!foo)"}`, `"foobar"`, "other $: want text that matches ^(?!foo), got text that does not"),
		Entry("an invalid pattern", "3.0.3", `{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`, `{"a":"x"}`),
		Entry("counts", "3.0.3", `{"type":"array","minItems":2,"items":{}}`, `[1]`, "other $: want at least 2 items, got 1 item"),
		Entry("unique", "3.0.3", `{"type":"array","uniqueItems":true,"items":{}}`, `[1,2,1.0]`, "other $: want items that all differ, got items 0 and 2 are equal"),
		Entry("the top level", "3.0.3", `{"type":"array","items":{}}`, `{"data":[]}`, "top-level $: want array, got object"),
		Entry("the top level, null", "3.0.3", `{"type":"object"}`, `null`, "top-level $: want object, got null"),
		Entry("malformed keywords are ignored", "3.0.3", `{"type":"objekt","required":true,"properties":{"a":{"type":"string","minLength":-1,"enum":[]},"b":5}}`, `{"a":1}`,
			"type $.a: want string, got number"),
		Entry("prefixItems", "3.1.0", `{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"number"}}`, `[1,2,"3"]`,
			"type $[0]: want string, got number", "type $[2]: want number, got string"),
		Entry("if and else", "3.1.0", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`,
			"required $.c: want a required member, got nothing"),
		Entry("not", "3.0.3", `{"properties":{"a":{"not":{"type":"string"}}}}`, `{"a":"x"}`, "other $.a: want anything but the excluded schema, got a value that it matches"),
		Entry("numbers too large to compute with", "3.0.3", `{"type":"array","items":{"type":"integer","maximum":10,"minimum":-1e999999999}}`, `[1e999999999,-1e999999999,1]`,
			"other $[0]: want at most 10, got a larger number"),
	)

	DescribeTable("formats",
		func(schema, value string, kind evidence.FindingKind, got string) {
			f := annotateBody(spec("3.0.3", `{"properties":{"v":`+schema+`}}`, `{}`), `{"v":`+value+`}`)
			Expect(f.Judged).To(BeTrue(), f.Why)
			if kind == "" {
				Expect(f.Findings).To(BeEmpty())
				return
			}
			Expect(f.Findings).To(HaveExactElements(And(
				HaveField("Kind", kind), HaveField("Got", got), HaveField("Keyword", HaveSuffix("/schema/properties/v/format")))))
		},
		Entry("date-time", `{"format":"date-time"}`, `"2026-11-20T10:00:00+01:00"`, evidence.FindingKind(""), ""),
		Entry("date-time, small and with a fraction", `{"format":"date-time"}`, `"2026-11-20t10:00:00.123456789z"`, evidence.FindingKind(""), ""),
		Entry("a leap second", `{"format":"date-time"}`, `"2016-12-31T23:59:60Z"`, evidence.FindingKind(""), ""),
		Entry("a date for a date-time", `{"format":"date-time"}`, `"2023-05-01"`, evidence.FindingFormat, `"2023-05-01"`),
		Entry("no offset", `{"format":"date-time"}`, `"2023-05-01T00:00:00"`, evidence.FindingFormat, `"2023-05-01T00:00:00"`),
		Entry("a blank for the T", `{"format":"date-time"}`, `"2023-05-01 00:00:00Z"`, evidence.FindingFormat, `"2023-05-01 00:00:00Z"`),
		Entry("an offset without colon", `{"format":"date-time"}`, `"2023-05-01T00:00:00+0100"`, evidence.FindingFormat, `"2023-05-01T00:00:00+0100"`),
		Entry("an hour with a sign", `{"format":"date-time"}`, `"2023-05-01T+1:00:00Z"`, evidence.FindingFormat, `"2023-05-01T+1:00:00Z"`),
		Entry("hour 24", `{"format":"date-time"}`, `"2023-05-01T24:00:00Z"`, evidence.FindingFormat, `"2023-05-01T24:00:00Z"`),
		Entry("an empty fraction", `{"format":"date-time"}`, `"2023-05-01T00:00:00.Z"`, evidence.FindingFormat, `"2023-05-01T00:00:00.Z"`),
		Entry("29 February in a common year", `{"format":"date"}`, `"2027-02-29"`, evidence.FindingFormat, `"2027-02-29"`),
		Entry("31 November", `{"format":"date"}`, `"2027-11-31"`, evidence.FindingFormat, `"2027-11-31"`),
		Entry("a German date", `{"format":"date"}`, `"31.12.2026"`, evidence.FindingFormat, `"31.12.2026"`),
		Entry("a year of five digits", `{"format":"date"}`, `"12026-01-01"`, evidence.FindingFormat, `"12026-01-01"`),
		Entry("uuid", `{"format":"uuid"}`, `"123e4567-e89b-12d3-a456-426614174000"`, evidence.FindingKind(""), ""),
		Entry("no uuid", `{"format":"uuid"}`, `"123e4567"`, evidence.FindingOther, "a malformed uuid"),
		Entry("int32", `{"type":"integer","format":"int32"}`, `2147483648`, evidence.FindingOther, "a number out of its range"),
		Entry("the last int32", `{"type":"integer","format":"int32"}`, `-2147483648`, evidence.FindingKind(""), ""),
		Entry("int64", `{"type":"integer","format":"int64"}`, `9223372036854775808`, evidence.FindingOther, "a number out of its range"),
		Entry("email, without the value", `{"format":"email"}`, `"nobody"`, evidence.FindingFormat, "a malformed email"),
		Entry("an unknown word", `{"format":"ofos-code"}`, `"x"`, evidence.FindingKind(""), ""),
	)

	It("orders findings by place, with indexes as numbers", func() {
		body := `[` + strings.TrimSuffix(strings.Repeat(`{"b":1,"a":1},`, 12), ",") + `]`
		doc := spec("3.0.3", `{"type":"array","items":{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}}`, `{}`)
		first := annotateBody(doc, body)
		Expect(first.Findings[4].Path).To(Equal("$[2].a"))
		Expect(first.Findings[20].Path).To(Equal("$[10].a"))
		for range 20 {
			Expect(annotateBody(doc, body)).To(Equal(first))
		}
	})

	It("keeps 200 findings of all kinds, and counts all", func() {
		items := strings.Repeat(`{"a":1},`, 1000) + `{"a":"x","e":"BANANA"}`
		f := annotateBody(spec("3.0.3", `{"type":"array","items":{"properties":{"a":{"type":"string"},"e":{"enum":["X"]}}}}`, `{}`), `[`+items+`]`)
		Expect(f.Items).To(Equal(1001))
		Expect(f.Total).To(Equal(1001))
		Expect(f.Findings).To(HaveLen(200))
		Expect(ofKind(f, evidence.FindingEnum)).To(HaveExactElements(HaveField("Path", "$[1000].e")))
	})

	It("shares the 200 among kinds", func() {
		f := annotateBody(spec("3.0.3", `{"type":"array","items":{"required":["r"],"properties":{"a":{"type":"string"}}}}`, `{}`), `[`+strings.Repeat(`{"a":1},`, 999)+`{}]`)
		Expect(f.Findings).To(HaveLen(200))
		Expect(ofKind(f, evidence.FindingType)).To(HaveLen(100))
		Expect(ofKind(f, evidence.FindingRequired)).To(HaveLen(100))
	})

	It("shows no values of the body except enumerations and dates", func() {
		f := annotateBody(spec("3.0.3", `{"properties":{"a":{"type":"number"},"b":{"maxLength":3},"c":{"pattern":"^x"},"d":{"format":"email"},"e":{"maximum":5},"f":{"oneOf":[{"type":"number"},{"type":"boolean"}]},"g":{"not":{}}}}`, `{}`),
			`{"a":"secret","b":"secret","c":"secret","d":"secret","e":5551234,"f":"secret","g":"secret"}`)
		Expect(f.Findings).To(HaveLen(7))
		all, err := json.Marshal(f)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(all)).NotTo(Or(ContainSubstring("secret"), ContainSubstring("5551234")))
	})

	It("escapes strange member names in paths", func() {
		f := annotateBody(spec("3.0.3", `{"additionalProperties":{"type":"string"}}`, `{}`), `{"a b":1,"\u001b[31m":1,"`+strings.Repeat("x", 200)+`":1,"12":1}`)
		Expect(f.Findings).To(HaveLen(4))
		for _, found := range f.Findings {
			Expect(found.Path).NotTo(ContainSubstring("\x1b"))
			Expect(len(found.Path)).To(BeNumerically("<", 90))
		}
	})
})

var _ = Describe("Judging alternatives", func() {
	const animals = `{
		"Animal":{"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}],"discriminator":{"propertyName":"kind","mapping":{"cat":"#/components/schemas/Cat"}}},
		"Cat":{"type":"object","required":["kind","claws"],"properties":{"kind":{"type":"string"},"claws":{"type":"integer"}}},
		"Dog":{"type":"object","required":["kind","bark"],"properties":{"kind":{"type":"string"},"bark":{"type":"string"}}}}`

	DescribeTable("judges by the mapped subtype with a discriminator",
		func(body string, want ...string) {
			Expect(lines(annotateBody(spec("3.0.3", `{"$ref":"#/components/schemas/Animal"}`, animals), body))).To(Equal(append([]string{}, want...)))
		},
		Entry("good", `{"kind":"cat","claws":1}`),
		Entry("by mapping", `{"kind":"cat","bark":1}`, "required $.claws: want a required member, got nothing"),
		Entry("by the schema's own name", `{"kind":"Dog","bark":1}`, "type $.bark: want string, got number"),
		Entry("unknown", `{"kind":"cow"}`, `enum $.kind: want one of "Cat", "Dog", "cat", got "cow"`),
		Entry("missing", `{"bark":"x"}`, "required $.kind: want a required member, got nothing"),
		Entry("not an object", `"cat"`, "top-level $: want object, got string"),
	)

	It("judges by the closest alternative without a discriminator", func() {
		doc := spec("3.0.3", `{"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"},{"type":"string"}]}`, animals)
		Expect(lines(annotateBody(doc, `{"kind":"x","bark":1}`))).To(Equal([]string{"type $.bark: want string, got number"}))
	})

	It("joins alternatives that differ in type into one finding", func() {
		doc := spec("3.1.0", `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{}`)
		Expect(lines(annotateBody(doc, `{"a":5}`))).To(Equal([]string{"type $.a: want string or null, got number"}))
	})

	It("reports a value that two alternatives accept", func() {
		f := annotateBody(spec("3.0.3", `{"oneOf":[{"type":"string"},{"minLength":1}]}`, `{}`), `"a"`)
		Expect(lines(f)).To(Equal([]string{"other $: want exactly one of the alternatives, got alternatives 0 and 1 both match"}))
	})

	base := func(rest string) string {
		return `{"Base":{"type":"object","required":["kind"],"properties":{"kind":{"type":"string"}}` + rest + `},
			"Sub":{"allOf":[{"$ref":"#/components/schemas/Base"},{"required":["extra"]}]},
			"Other":{"allOf":[{"$ref":"#/components/schemas/Base"},{"required":["other"]}]},
			"Holder":{"properties":{"held":{"allOf":[{"$ref":"#/components/schemas/Base"}]}}}}`
	}

	DescribeTable("a base that knows its subtypes, which extend it",
		func(rest, ref, body string, want ...string) {
			f := annotateBody(spec("3.0.3", `{"$ref":"#/components/schemas/`+ref+`"}`, base(rest)), body)
			Expect(f.Judged).To(BeTrue(), f.Why)
			Expect(lines(f)).To(Equal(append([]string{}, want...)))
		},
		Entry("mapped", `,"discriminator":{"propertyName":"kind","mapping":{"s":"#/components/schemas/Sub"}}`, "Base", `{"kind":"s"}`, "required $.extra: want a required member, got nothing"),
		Entry("by name", `,"discriminator":{"propertyName":"kind"}`, "Base", `{"kind":"Other"}`, "required $.other: want a required member, got nothing"),
		Entry("unmapped falls back to the base", `,"discriminator":{"propertyName":"kind"}`, "Base", `{"kind":"x"}`),
		Entry("the base is judged, once", `,"discriminator":{"propertyName":"kind"}`, "Sub", `{}`,
			"required $.extra: want a required member, got nothing", "required $.kind: want a required member, got nothing"),
		Entry("a subtype is not judged as its sibling", `,"discriminator":{"propertyName":"kind"}`, "Sub", `{"kind":"Other","extra":1}`),
		Entry("behind an allOf that only wraps it", `,"discriminator":{"propertyName":"kind"}`, "Holder", `{"held":{"kind":"Sub"}}`,
			"required $.held.extra: want a required member, got nothing"),
		Entry("oneOf in the base", `,"oneOf":[{"$ref":"#/components/schemas/Sub"},{"$ref":"#/components/schemas/Other"}]`, "Base", `{"kind":"x","extra":1}`),
		Entry("oneOf in the base, failing", `,"oneOf":[{"$ref":"#/components/schemas/Sub"},{"$ref":"#/components/schemas/Other"}]`, "Sub", `{"kind":"x"}`,
			"required $.extra: want a required member, got nothing"),
	)

	DescribeTable("schemas that lead back to themselves",
		func(schemas, body string, want ...string) {
			f := annotateBody(spec("3.0.3", `{"$ref":"#/components/schemas/A"}`, schemas), body)
			Expect(f.Judged).To(BeTrue(), f.Why)
			Expect(lines(f)).To(Equal(append([]string{}, want...)))
		},
		Entry("recursion", `{"A":{"properties":{"a":{"$ref":"#/components/schemas/A"},"n":{"type":"string"}}}}`, `{"a":{"a":{"n":1}}}`, "type $.a.a.n: want string, got number"),
		Entry("required of itself", `{"A":{"required":["a"],"properties":{"a":{"$ref":"#/components/schemas/A"}}}}`, `{"a":{}}`, "required $.a.a: want a required member, got nothing"),
		Entry("allOf of itself", `{"A":{"type":"object","allOf":[{"$ref":"#/components/schemas/A"}]}}`, `[]`, "top-level $: want object, got array"),
		Entry("allOf in a ring", `{"A":{"type":"object","allOf":[{"$ref":"#/components/schemas/B"}]},"B":{"required":["b"],"allOf":[{"$ref":"#/components/schemas/A"}]}}`, `{}`,
			"required $.b: want a required member, got nothing"),
		Entry("oneOf of one another", `{"A":{"oneOf":[{"$ref":"#/components/schemas/B"}]},"B":{"type":"object","oneOf":[{"$ref":"#/components/schemas/A"}]}}`, `{}`),
	)
})

// nested is an object of 50 levels: {"a":{"a":…}}.
var nested = strings.Repeat(`{"a":`, 50) + `{}` + strings.Repeat(`}`, 50)

var _ = Describe("Hostile schemas and bodies", func() {
	It("are not judged if they are too large or too deep", func() {
		deep := strings.Repeat(`{"items":`, 99) + `{}` + strings.Repeat(`}`, 99)
		Expect(annotateBody(spec("3.0.3", deep, `{}`), `[]`).Judged).To(BeTrue())
		deeper := strings.Repeat(`{"items":`, 150) + `{}` + strings.Repeat(`}`, 150)
		refused := annotateBody(spec("3.0.3", deeper, `{}`), `[]`)
		Expect(refused.Why).To(ContainSubstring("too large or too deeply nested"))
		Expect(refused.Undecided).To(BeTrue(), "otherwise a node could be certified with a schema that nobody can apply")
		var wide strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&wide, `"p%d":{},`, i)
		}
		Expect(annotateBody(spec("3.0.3", `{"properties":{`+strings.TrimSuffix(wide.String(), ",")+`}}`, `{}`), `{}`).Why).To(ContainSubstring("too large"))
	})

	DescribeTable("are judged in bounded time",
		func(link string) {
			var schemas strings.Builder
			for i := range 40 {
				to := fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, i+1)
				fmt.Fprintf(&schemas, `"S%d":{`+link+`},`, i, to, to)
			}
			f := annotateBody(spec("3.0.3", `{"$ref":"#/components/schemas/S0"}`, `{`+schemas.String()+`"S40":{"type":"object"}}`), nested)
			Expect(f.Judged).To(BeFalse())
			Expect(f.Undecided).To(BeTrue())
			Expect(f.Why).To(ContainSubstring("in more ways than can be tried"))
		},
		Entry("by allOf", `"allOf":[%s,%s]`),
		Entry("by oneOf", `"oneOf":[%s,%s]`),
		Entry("by members", `"properties":{"a":{"allOf":[%s,%s]}}`),
	)

	It("are not applied again after the first excess", func() {
		var schemas strings.Builder
		for i := range 40 {
			to := fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, i+1)
			fmt.Fprintf(&schemas, `"S%d":{"properties":{"a":{"allOf":[%s,%s]}}},`, i, to, to)
		}
		guarded := openapi.Guard([]byte(spec("3.0.3", `{"$ref":"#/components/schemas/S0"}`, `{`+schemas.String()+`"S40":{"type":"object"}}`)), openapi.Limits{})
		judge, err := validate.NewJudge(guarded)
		Expect(err).NotTo(HaveOccurred())
		parsed, err := openapi.Parse(guarded.Reduced)
		Expect(err).NotTo(HaveOccurred())
		judgedWith := func(body string) evidence.SchemaFindings {
			return judge.Annotate(answer(200, "application/json", body), parsed.Operations[0])
		}
		Expect(judgedWith(`{}`).Judged).To(BeTrue())
		Expect(judgedWith(nested).Judged).To(BeFalse())
		f := judgedWith(`{ }`)
		Expect(f.Judged).To(BeFalse())
		Expect(f.Why).To(ContainSubstring("in more ways than can be tried"))
	})

	It("cannot exhaust the pattern engine", func() {
		evil := `{"type":"array","items":{"type":"string","pattern":"^(?=(a+)+$)(a|aa)+$"}}`
		f := annotateBody(spec("3.0.3", evil, `{}`), `[`+strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("a", 60)+`!",`, 200), ",")+`]`)
		Expect(f.Judged).To(BeTrue(), f.Why)
	})

	It("are bounded in a body of millions of values", func() {
		list := `[` + strings.TrimSuffix(strings.Repeat(`1,`, 1_100_000), ",") + `]`
		f := annotateBody(spec("3.0.3", `{"type":"array","items":{"type":"string"}}`, `{}`), list)
		Expect(f.Total).To(Equal(1_100_000))
		Expect(f.Findings).To(HaveLen(200))
		f = annotateBody(spec("3.0.3", `{"type":"object"}`, `{}`), `{"data":`+list+`}`)
		Expect(f.Judged).To(BeFalse())
		Expect(f.Why).To(ContainSubstring("more than 1000000 values"))
		f = annotateBody(spec("3.0.3", `{"type":"object"}`, `{}`), `{"a":`+strings.Repeat("[", 600)+strings.Repeat("]", 600)+`}`)
		Expect(f.Why).To(ContainSubstring("deeper than 500"))
	})

	It("are judged alike by many goroutines", func() {
		guarded := openapi.Guard([]byte(spec("3.0.3", `{"type":"array","items":{"$ref":"#/components/schemas/A"}}`, `{"A":{"type":"string","pattern":"^(?!x)"}}`)), openapi.Limits{})
		judge, err := validate.NewJudge(guarded)
		Expect(err).NotTo(HaveOccurred())
		parsed, err := openapi.Parse(guarded.Reduced)
		Expect(err).NotTo(HaveOccurred())
		results := make(chan evidence.SchemaFindings)
		for range 8 {
			go func() {
				results <- judge.Annotate(answer(200, "application/json", `["x","y",1]`), parsed.Operations[0])
			}()
		}
		for range 8 {
			Expect(lines(<-results)).To(Equal([]string{"other $[0]: want text that matches ^(?!x), got text that does not", "type $[2]: want string, got number"}))
		}
	})

	It("cannot come from a refused document", func() {
		_, err := validate.NewJudge(openapi.Guard([]byte(`<html>`), openapi.Limits{}))
		Expect(err).To(MatchError(ContainSubstring("no document to judge by: the URL serves an HTML")))
		_, err = validate.NewJudge(evidence.Document{})
		Expect(err).To(HaveOccurred())
	})
})
