package validate_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// kin-openapi, an independent validator, judges the same cases. Where it disagrees, the case says why.
var _ = Describe("A second opinion", func() {
	const schemas = `{
		"Text":{"type":"object","required":["lang","text"],"properties":{"lang":{"type":"string","enum":["de","en"]},"text":{"type":"string","minLength":1}}},
		"Unit":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"partOf":{"$ref":"#/components/schemas/Unit"},"name":{"type":"array","items":{"$ref":"#/components/schemas/Text"}}}},
		"Call":{"allOf":[{"$ref":"#/components/schemas/Unit"},{"type":"object","required":["start"],"properties":{"start":{"type":"string","format":"date-time"},"day":{"type":"string","format":"date"},"n":{"type":"integer","format":"int32"},"x":{"type":"number"},"open":{"type":"boolean"},"end":{"type":"string","nullable":true}}}]},
		"Cat":{"type":"object","required":["kind","claws"],"properties":{"kind":{"type":"string"},"claws":{"type":"integer"}}},
		"Dog":{"type":"object","required":["kind","bark"],"properties":{"kind":{"type":"string"},"bark":{"type":"string"}}},
		"Animal":{"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}],"discriminator":{"propertyName":"kind","mapping":{"cat":"#/components/schemas/Cat","dog":"#/components/schemas/Dog"}}}}`

	// placesOfKin returns the places that kin-openapi objects to, in its own notation; empty for a valid value.
	placesOfKin := func(schema, body string) []string {
		GinkgoHelper()
		doc, err := openapi3.NewLoader().LoadFromData([]byte(spec("3.0.3", schema, schemas)))
		Expect(err).NotTo(HaveOccurred())
		var value any
		Expect(json.Unmarshal([]byte(body), &value)).To(Succeed())
		response := doc.Paths.Value("/things").Get.Responses.Value("200").Value
		err = response.Content.Get("application/json").Schema.Value.VisitJSON(value, openapi3.MultiErrors(), openapi3.VisitAsResponse(), openapi3.EnableFormatValidation())
		places := []string{}
		var walk func(error)
		walk = func(err error) {
			// A type switch, because errors.As would find only the first of several errors.
			switch e := err.(type) {
			case openapi3.MultiError:
				for _, inner := range e {
					walk(inner)
				}
			case *openapi3.SchemaError:
				if many, ok := e.Origin.(openapi3.MultiError); ok {
					walk(many)
					return
				}
				places = append(places, "/"+strings.Join(e.JSONPointer(), "/"))
			default:
				places = append(places, err.Error())
			}
		}
		if err != nil {
			walk(err)
		}
		slices.Sort(places)
		return slices.Compact(places)
	}

	DescribeTable("agrees on validity",
		func(schema, body, difference string) {
			ours := annotateBody(spec("3.0.3", schema, schemas), body)
			Expect(ours.Judged).To(BeTrue(), ours.Why)
			theirs := placesOfKin(schema, body)
			if difference == "" {
				Expect(len(ours.Findings) == 0).To(Equal(len(theirs) == 0), "%v and %v", lines(ours), theirs)
				return
			}
			Expect(len(ours.Findings) == 0).NotTo(Equal(len(theirs) == 0), "the difference is gone: %s", difference)
		},
		Entry("good", `{"$ref":"#/components/schemas/Call"}`, `{"id":"1","start":"2026-01-01T00:00:00Z","day":"2026-01-01","n":5.0,"x":5,"open":true,"end":null,"more":1}`, ""),
		Entry("recursion, good", `{"$ref":"#/components/schemas/Unit"}`, `{"id":"1","partOf":{"id":"2","partOf":{"id":"3"}}}`, ""),
		Entry("recursion, bad", `{"$ref":"#/components/schemas/Unit"}`, `{"id":"1","partOf":{"id":"2","partOf":{}}}`, ""),
		Entry("required", `{"$ref":"#/components/schemas/Call"}`, `{"id":"1"}`, ""),
		Entry("required in the base", `{"$ref":"#/components/schemas/Call"}`, `{"start":"2026-01-01T00:00:00Z"}`, ""),
		Entry("type", `{"$ref":"#/components/schemas/Unit"}`, `{"id":1}`, ""),
		Entry("text for a boolean", `{"$ref":"#/components/schemas/Call"}`, `{"id":"1","start":"2026-01-01T00:00:00Z","open":"true"}`, ""),
		Entry("null", `{"$ref":"#/components/schemas/Unit"}`, `{"id":null}`, ""),
		Entry("enum", `{"$ref":"#/components/schemas/Text"}`, `{"lang":"fr","text":"x"}`, ""),
		Entry("length", `{"$ref":"#/components/schemas/Text"}`, `{"lang":"de","text":""}`, ""),
		Entry("object for array", `{"$ref":"#/components/schemas/Unit"}`, `{"id":"1","name":{"lang":"de","text":"x"}}`, ""),
		Entry("array for object", `{"$ref":"#/components/schemas/Unit"}`, `[]`, ""),
		Entry("object for a list", `{"type":"array","items":{"$ref":"#/components/schemas/Unit"}}`, `{"data":[]}`, ""),
		Entry("third item", `{"type":"array","items":{"$ref":"#/components/schemas/Unit"}}`, `[{"id":"1"},{"id":"2"},{}]`, ""),
		Entry("date for date-time", `{"$ref":"#/components/schemas/Call"}`, `{"id":"1","start":"2026-01-01"}`, ""),
		Entry("31 November", `{"$ref":"#/components/schemas/Call"}`, `{"id":"1","start":"2026-01-01T00:00:00Z","day":"2026-11-31"}`,
			"kin-openapi compares dates with a pattern, which knows days 1 to 31 of every month"),
		Entry("German date", `{"$ref":"#/components/schemas/Call"}`, `{"id":"1","start":"2026-01-01T00:00:00Z","day":"31.12.2026"}`, ""),
		Entry("5.5 for an integer", `{"$ref":"#/components/schemas/Call"}`, `{"id":"1","start":"2026-01-01T00:00:00Z","n":5.5}`, ""),
		Entry("too large for int32", `{"$ref":"#/components/schemas/Call"}`, `{"id":"1","start":"2026-01-01T00:00:00Z","n":3000000000}`, ""),
		Entry("discriminator, good", `{"$ref":"#/components/schemas/Animal"}`, `{"kind":"cat","claws":1}`, ""),
		Entry("discriminator, bad member", `{"$ref":"#/components/schemas/Animal"}`, `{"kind":"cat","claws":"1"}`, ""),
		Entry("discriminator, unmapped", `{"$ref":"#/components/schemas/Animal"}`, `{"kind":"cow"}`, ""),
		Entry("discriminator, missing", `{"$ref":"#/components/schemas/Animal"}`, `{"claws":1}`, ""),
		Entry("discriminator by the schema's own name", `{"$ref":"#/components/schemas/Animal"}`, `{"kind":"Cat","claws":1}`,
			"OAS 3.0.3 lets the schema's name stand beside a mapping; kin-openapi takes mapped names alone"),
		Entry("nullable and allOf", `{"nullable":true,"allOf":[{"$ref":"#/components/schemas/Unit"}]}`, `null`, ""),
		Entry("not", `{"not":{"type":"string"}}`, `"x"`, ""),
		Entry("anyOf, none", `{"anyOf":[{"type":"string"},{"type":"boolean"}]}`, `5`, ""),
		Entry("oneOf, two", `{"oneOf":[{"type":"string"},{"minLength":0,"type":"string"}]}`, `"x"`, ""),
		Entry("additional members refused", `{"type":"object","additionalProperties":false,"properties":{"a":{}}}`, `{"b":1}`, ""),
		Entry("additional members typed", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"b":1}`, ""),
		Entry("exclusive minimum", `{"type":"number","minimum":0,"exclusiveMinimum":true}`, `0`, ""),
		Entry("multiple of a decimal", `{"type":"number","multipleOf":0.01}`, `0.07`, ""),
		Entry("pattern", `{"type":"string","pattern":"^[0-9]{3}$"}`, `"12a"`, ""),
		Entry("unique items", `{"type":"array","items":{},"uniqueItems":true}`, `[1,1]`, ""),
		Entry("writeOnly absent", `{"type":"object","required":["p"],"properties":{"p":{"type":"string","writeOnly":true}}}`, `{}`, ""),
	)

	It("agrees on the places", func() {
		body := `[{"id":1},{"id":"2","name":[{"lang":"fr"}]},{"id":"3","partOf":{}}]`
		schema := `{"type":"array","items":{"$ref":"#/components/schemas/Unit"}}`
		var ours []string
		for _, found := range annotateBody(spec("3.0.3", schema, schemas), body).Findings {
			ours = append(ours, found.Path)
		}
		Expect(ours).To(Equal([]string{"$[0].id", "$[1].name[0].lang", "$[1].name[0].text", "$[2].partOf.id"}))
		Expect(placesOfKin(schema, body)).To(Equal([]string{"/0/id", "/1/name/0/lang", "/1/name/0/text", "/2/partOf/id"}))
	})
})
