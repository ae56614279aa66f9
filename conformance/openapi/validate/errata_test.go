package validate_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi/validate"
)

var _ = Describe("Errata of the published documents", func() {
	It("have a unique id, a sentence and a fix", func() {
		seen := map[string]bool{}
		for _, e := range validate.Errata() {
			Expect(seen).NotTo(HaveKey(e.ID))
			seen[e.ID] = true
			Expect(e.Sentence).To(HaveSuffix("."))
			Expect(e.Fix).To(HaveSuffix("."))
		}
		Expect(seen).To(HaveLen(4))
	})

	const schemas = `{"Funding":{"type":"object","required":["id"],"properties":{"level":{"$ref":"#/components/schemas/LevelEnum"}}},
		"Thing":{"type":"object","required":["id"]},"OrgUnit":{"type":"object"},"LevelEnum":{"type":"string","enum":["LEVEL_1","LEVEL_2","Level_3"]}}`

	It("explain an array in place of one published object, whose items are then judged", func() {
		f := annotateBody(spec("3.0.1", `{"$ref":"#/components/schemas/Funding"}`, schemas), `[{"id":"1"},{"level":"LEVEL_3"},{"id":"3","level":"LEVEL_9"}]`)
		Expect(f.Judged).To(BeTrue())
		Expect(f.Items).To(Equal(3))
		Expect(f.Findings).To(HaveExactElements(
			And(HaveField("Kind", evidence.FindingTopLevel), HaveField("Path", "$"), HaveField("Erratum", "M1"), HaveField("Keyword", "/components/schemas/Funding/type")),
			And(HaveField("Kind", evidence.FindingRequired), HaveField("Path", "$[1].id"), HaveField("Erratum", "")),
			And(HaveField("Kind", evidence.FindingEnum), HaveField("Path", "$[1].level"), HaveField("Erratum", "M4")),
			And(HaveField("Kind", evidence.FindingEnum), HaveField("Path", "$[2].level"), HaveField("Erratum", "")),
		))
	})

	DescribeTable("do not explain",
		func(doc, body string) {
			for _, found := range annotateBody(doc, body).Findings {
				Expect(found.Erratum).To(BeEmpty())
			}
		},
		Entry("an array in place of another object", spec("3.0.1", `{"$ref":"#/components/schemas/Thing"}`, schemas), `[{}]`),
		Entry("an array in place of an inline object", spec("3.0.1", `{"type":"object"}`, schemas), `[{}]`),
		Entry("text in place of an object", spec("3.0.1", `{"$ref":"#/components/schemas/Funding"}`, schemas), `"x"`),
		Entry("an array from a detail operation",
			`{"openapi":"3.0.1","paths":{"/fundings/{id}":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Funding"}}}}}}}},"components":{"schemas":`+schemas+`}}`, `[{}]`),
		Entry("LEVEL_3 where it is declared", spec("3.0.1", `{"type":"array","items":{"enum":["LEVEL_3","Level_3"]}}`, `{}`), `["level_3"]`),
		Entry("a misspelling in the data", spec("3.0.1", `{"type":"array","items":{"enum":["IN_PREPARATION"]}}`, `{}`), `["IN_PREPERATION"]`),
	)

	It("do not cover other arrays in place of objects, which are one finding", func() {
		f := annotateBody(spec("3.0.1", `{"$ref":"#/components/schemas/Thing"}`, schemas), `[{},{}]`)
		Expect(f.Items).To(Equal(2))
		Expect(lines(f)).To(Equal([]string{"top-level $: want object, got array"}))
	})

	It("explain a list in place of one unit by M2, and the misspelt status by M3", func() {
		f := annotateBody(spec("3.0.1", `{"$ref":"#/components/schemas/OrgUnit"}`, schemas), `[{}]`)
		Expect(f.Findings).To(HaveExactElements(HaveField("Erratum", "M2")))
		f = annotateBody(spec("3.0.1", `{"type":"array","items":{"enum":["IN_PREPERATION","ACTIVE"]}}`, `{}`), `["IN_PREPARATION"]`)
		Expect(f.Findings).To(HaveExactElements(HaveField("Erratum", "M3")))
	})
})
