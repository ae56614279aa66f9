package openapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = Describe("A schema", func() {
	schemaOf := func(text string) openapi.Schema {
		d, err := openapi.Parse([]byte(`{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a","parameters":[{"name":"p","in":"query","schema":` + text + `}],"responses":{"200":{"description":"ok"}}}}}}`))
		Expect(err).NotTo(HaveOccurred())
		return d.Operations[0].Parameters[0].Schema
	}
	DescribeTable("surely allows a value",
		func(text, value string) { Expect(schemaOf(text).Allows(value)).To(BeTrue()) },
		Entry("of its vocabulary", `{"type":"string","enum":["A","B"]}`, "B"),
		Entry("that is any text", `{"type":"string"}`, "Öl & Gas"),
		Entry("of its pattern", `{"type":"string","pattern":"^[0-9]+$"}`, "42"),
		Entry("that is as long as it may be", `{"type":"string","minLength":2,"maxLength":2}`, "äö"),
		Entry("that is a day", `{"type":"string","format":"date"}`, "2027-02-28"),
		Entry("that is a time", `{"type":"string","format":"date-time"}`, "2027-02-28T12:00:00Z"),
		Entry("that is a UUID", `{"type":"string","format":"uuid"}`, "927ad19f-b2e1-42b0-8947-01f2582de76f"),
		Entry("that is true", `{"type":"boolean"}`, "true"),
		Entry("at a bound", `{"type":"integer","minimum":1,"maximum":10}`, "10"),
		Entry("with a fraction", `{"type":"number","exclusiveMinimum":true,"minimum":0}`, "0.5"),
		Entry("of several", `{"type":"array","minItems":2,"items":{"type":"string","enum":["A","B"]}}`, "A,B"),
	)
	DescribeTable("does not surely allow a value",
		func(text, value string) { Expect(schemaOf(text).Allows(value)).To(BeFalse()) },
		Entry("outside of its vocabulary", `{"type":"string","enum":["A","B"]}`, "a"),
		Entry("that is empty", `{"type":"string"}`, ""),
		Entry("against its pattern", `{"type":"string","pattern":"^[0-9]+$"}`, "x"),
		Entry("where Go cannot compile the pattern", `{"type":"string","pattern":"^(?!x)"}`, "y"),
		Entry("that is too long", `{"type":"string","maxLength":2}`, "abc"),
		Entry("that is no day of the calendar", `{"type":"string","format":"date"}`, "2027-02-30"),
		Entry("that is a day at the end of the calendar", `{"type":"string","format":"date"}`, "9999-12-31"),
		Entry("of a format that is not known", `{"type":"string","format":"email"}`, "a@b.example"),
		Entry("that is no boolean", `{"type":"boolean"}`, "yes"),
		Entry("beyond a bound", `{"type":"integer","maximum":10}`, "11"),
		Entry("at a bound that is excluded", `{"type":"number","exclusiveMinimum":true,"minimum":0}`, "0"),
		Entry("beyond 32 bits", `{"type":"integer"}`, "4294967296"),
		Entry("alone where two are needed", `{"type":"array","minItems":2,"items":{"type":"string"}}`, "A"),
		Entry("without a type", `{}`, "A"),
		Entry("in an unusual notation", `{"type":"integer"}`, "+5"),
		Entry("with zeros before it", `{"type":"integer"}`, "007"),
		Entry("in hexadecimal", `{"type":"number"}`, "0x1p-2"),
		Entry("where another keyword may forbid it", `{"type":"string","not":{"enum":["x"]}}`, "y"),
		Entry("where two parts restrict it", `{"type":"string","allOf":[{"pattern":"^a"},{"pattern":"b$"}]}`, "ab"),
	)
})
