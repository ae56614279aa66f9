package probe

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/target"
)

// described parses a parameter as part of a document.
func described(parameter string) openapi.Parameter {
	GinkgoHelper()
	d, err := openapi.Parse([]byte(`{"openapi":"3.0.3","paths":{"/a/{id}":{"get":{"parameters":[` + parameter + `]}}}}`))
	Expect(err).NotTo(HaveOccurred())
	Expect(d.Operations[0].Parameters).To(HaveLen(1))
	return d.Operations[0].Parameters[0]
}

// trialTexts writes trials in short: "at-minimum=1" for what is allowed, "below-minimum≠0" for what is not.
func trialTexts(list []trial) []string {
	out := []string{}
	for _, t := range list {
		switch {
		case t.value == nil:
			out = append(out, string(t.try))
		case t.legal:
			out = append(out, fmt.Sprintf("%s=%s", t.try, *t.value))
		default:
			out = append(out, fmt.Sprintf("%s≠%s", t.try, *t.value))
		}
	}
	return out
}

var _ = Describe("Trials of a parameter", func() {
	DescribeTable("follow its schema",
		func(parameter string, want ...string) {
			Expect(trialTexts(trialsOf(described(`{"name":"p","in":"query",`+parameter+`}`), "unknown"))).To(Equal(append([]string{}, want...)))
		},
		Entry("a small vocabulary", `"schema":{"enum":["A","B","C"]}`, "value-2=B", "value-3=C", "outside-enum≠unknown"),
		Entry("a large one", `"schema":{"enum":["1","2","3","4","5","6","7","8","9"]}`, "value-9=9", "outside-enum≠unknown"),
		Entry("a list of a vocabulary", `"schema":{"type":"array","items":{"enum":["A","B"]}}`, "value-2=B", "outside-enum≠unknown"),
		Entry("bounds", `"schema":{"type":"integer","minimum":1,"maximum":9}`, "at-minimum=1", "below-minimum≠0", "at-maximum=9", "above-maximum≠10", "wrong-type≠unknown"),
		Entry("bounds of OpenAPI 3.0 that exclude", `"schema":{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":5,"exclusiveMaximum":true}`,
			"at-minimum=1", "below-minimum≠0", "at-maximum=4", "above-maximum≠5", "wrong-type≠unknown"),
		Entry("bounds of OpenAPI 3.1 that exclude", `"schema":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":5.5}`,
			"at-minimum=1", "below-minimum≠0", "at-maximum=5", "above-maximum≠6", "wrong-type≠unknown"),
		Entry("fractions", `"schema":{"type":"number","minimum":0.5,"exclusiveMaximum":true,"maximum":2}`,
			"at-minimum=0.5", "below-minimum≠-0.5", "above-maximum≠3", "wrong-type≠unknown"),
		Entry("no legal value at a bound that may not be a multiple", `"schema":{"type":"integer","minimum":1,"multipleOf":5}`, "below-minimum≠0", "wrong-type≠unknown"),
		Entry("a number of 32 bits", `"schema":{"type":"integer","format":"int32"}`, "above-maximum≠2147483648", "wrong-type≠unknown"),
		Entry("a bound that no number reaches", `"schema":{"type":"integer","maximum":1e300}`, "wrong-type≠unknown"),
		Entry("true and false", `"schema":{"type":"boolean"}`, "value-2=false", "wrong-type≠unknown"),
		Entry("a day", `"schema":{"type":"string","format":"date"}`, "wrong-type≠unknown"),
		Entry("lengths", `"schema":{"type":"string","minLength":2,"maxLength":4}`, "shortest=uu", "too-short≠u", "longest=uuuu", "too-long≠uuuuu"),
		Entry("an empty value is never sent as the shortest", `"schema":{"type":"string","minLength":1}`, "shortest=u"),
		Entry("no value of a length that is too large to send", `"schema":{"type":"string","maxLength":100000}`),
		Entry("a pattern", `"schema":{"type":"string","pattern":"^[0-9]+$","minLength":2}`, "against-pattern≠unknown", "too-short≠a"),
		Entry("a pattern that Go can't read", `"schema":{"type":"string","pattern":"^(?=x)","maxLength":3}`, "too-long≠aaaa"),
		Entry("no legal value of the longest length for a format", `"schema":{"type":"string","format":"email","maxLength":3}`, "too-long≠uuuu"),
		Entry("a schema without rules", `"schema":{"type":"string"}`),
		Entry("an object", `"schema":{"type":"object"}`),
		Entry("required", `"required":true,"schema":{"type":"string"}`, "absent"),
		Entry("Swagger 2.0", `"type":"integer","minimum":3`, "at-minimum=3", "below-minimum≠2", "wrong-type≠unknown"),
	)

	DescribeTable("depend on the place of the parameter",
		func(parameter string, want ...string) {
			Expect(trialTexts(trialsOf(described(parameter), "unknown"))).To(Equal(append([]string{}, want...)))
		},
		Entry("a header is tried with all values", `{"name":"X-Language","in":"header","schema":{"enum":["de","en"]}}`, "value-1=de", "value-2=en", "outside-enum≠unknown"),
		Entry("no header that OpenAPI ignores", `{"name":"Authorization","in":"header","required":true,"schema":{"enum":["de","en"]}}`),
		Entry("no header that steers the request", `{"name":"Host","in":"header","schema":{"enum":["stranger.example"]}}`),
		Entry("no header whose name HTTP forbids", `{"name":"a b","in":"header","schema":{"enum":["x"]}}`),
		Entry("no value that adds a line", `{"name":"X-L","in":"header","schema":{"enum":["a\r\nX-Evil: 1"]}}`, "outside-enum≠unknown"),
		Entry("no path segment with a meaning of its own", `{"name":"id","in":"path","required":true,"schema":{"enum":["..","a"]}}`, "value-2=a", "outside-enum≠unknown"),
		Entry("a path parameter is never left out", `{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}`, "wrong-type≠unknown"),
		Entry("no cookies", `{"name":"c","in":"cookie","required":true,"schema":{"enum":["a","b"]}}`),
		Entry("no large pages", `{"name":"limit","in":"query","schema":{"type":"integer","maximum":10000}}`, "above-maximum≠10001", "wrong-type≠unknown"),
	)

	node := func(t target.Target, parameters string) Node {
		var others strings.Builder
		for i := range 40 {
			fmt.Fprintf(&others, `,"/things%d":{"get":{"operationId":"things%d","parameters":[%s],"responses":{"200":{}}}}`, i, i, parameters)
		}
		d, err := openapi.Parse([]byte(`{"openapi":"3.0.3","paths":{"/fundings":{"get":{"operationId":"list","parameters":[
			{"name":"page[size]","in":"query","schema":{"type":"integer","minimum":1}},{"name":"fundingType","in":"query","schema":{"enum":["CALL","GRANT"]}},
			{"name":"funderId","in":"query","schema":{"type":"string","maxLength":20}}],
			"responses":{"200":{"content":{"application/json":{"schema":{"type":"array"}}}}}}}` + others.String() + `}}`))
		Expect(err).NotTo(HaveOccurred())
		return NewNode(t, d)
	}
	far := target.Target{TokenURL: "https://sso.example/t", InfoURL: "https://api.example/i", BaseURL: "https://api.example"}

	It("do not include the pages and filters of the list, which have rules of their own", func() {
		n := node(far, `{"name":"q","in":"query","schema":{"type":"string"}}`)
		list, _ := n.Operation("list")
		Expect(trialTexts(trialsOn(n, list))).To(Equal([]string{"outside-enum≠" + n.unknownWord(), "longest=" + strings.Repeat(n.unknownWord()[:1], 20), "too-long≠" + strings.Repeat(n.unknownWord()[:1], 21)}))
	})

	It("are few in a large document, the most useful ones first", func() {
		n := node(far, `{"name":"lang","in":"query","schema":{"enum":["de","en","fr"]}}`)
		all := parameterPlan(n).Labels()
		Expect(len(n.Executable)).To(BeNumerically(">", maxSampled))
		Expect(len(all)).To(BeNumerically("<=", maxTrials))
		operations := map[evidence.Resource]bool{}
		for _, l := range all {
			operations[l.Resource()] = true
		}
		Expect(len(operations)).To(BeNumerically("<=", maxSampled))
		Expect(string(all[0].Case())).To(HavePrefix("outside-enum"))
		deep := far
		deep.Effort = draw.Deep
		Expect(parameterPlan(node(deep, `{"name":"lang","in":"query","schema":{"enum":["de","en","fr"]}}`)).Labels()).To(
			ContainElements(evidence.Label("op/things39.param-lang"), evidence.Label("op/things39.value-3-lang")))
	})
})

var _ = Describe("Languages", func() {
	tried := func(o openapi.Operation) []string {
		var out []string
		for _, w := range representations(Node{Target: target.Target{Seed: 7}}, o) {
			if w.isLanguage() {
				out = append(out, w.header[0].Value)
			}
		}
		return out
	}
	withHeader := func(parameter string) openapi.Operation {
		return openapi.Operation{Key: "a", Parameters: []openapi.Parameter{described(parameter)}}
	}

	It("are English, and German or any other that a node may speak", func() {
		Expect(tried(openapi.Operation{Key: "a"})).To(HaveExactElements(
			And(ContainSubstring("sv;"), ContainSubstring("pt;"), Not(ContainSubstring("en")), MatchRegexp(`^de, ([a-z]{2};q=0\.[0-9]{2}, ){21}\*;q=0\.01$`)), Equal("en")))
	})
	DescribeTable("begin with those that the document names",
		func(text, parameter, others string) {
			o := openapi.Operation{Key: "a", Description: text}
			if parameter != "" {
				o = withHeader(parameter)
			}
			Expect(tried(o)[0]).To(HavePrefix(others))
		},
		Entry("in the words of the operation", "Texts are in Portuguese or English.", "", "pt, de;"),
		Entry("German before others", "Texts are in French, German or English.", "", "de, fr;"),
		Entry("in the description of the header", "", `{"name":"accept-language","in":"header","description":"en or sv","schema":{"type":"string"}}`, "sv, "),
		Entry("as an example", "", `{"name":"Accept-Language","in":"header","schema":{"type":"string","example":"fi"}}`, "fi, "),
		Entry("as the default", "", `{"name":"Accept-Language","in":"header","schema":{"type":"string","default":"nl"}}`, "nl, "),
	)
	It("are spelled as the document enumerates them", func() {
		Expect(tried(withHeader(`{"name":"Accept-Language","in":"header","schema":{"type":"string","enum":["en-GB","fr-CH","de-CH"]}}`))).To(HaveExactElements("de-CH", "en-GB"))
		Expect(tried(withHeader(`{"name":"Accept-Language","in":"header","schema":{"type":"string","enum":["en","de"]}}`))).To(HaveExactElements("de", "en"))
		Expect(tried(withHeader(`{"name":"Accept-Language","in":"header","schema":{"type":"string","enum":["en","sv-SE"]}}`))).To(HaveExactElements("sv-SE", "en"))
	})
})
