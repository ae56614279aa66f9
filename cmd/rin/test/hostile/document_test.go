package hostile_test

import (
	"fmt"
	"net/http"
	"strings"
)

// documentWith returns an OpenAPI document of the list operation with a schema, and with more schemas beside it.
func documentWith(version, schema, more string) string {
	return fmt.Sprintf(`{"openapi":%q,"info":{"title":"t","version":"1"},"paths":{"/v3/fundings":{"get":{"operationId":"listFundings","responses":{"200":{"description":"d","content":{"application/json":{"schema":%s}}}}}}},"components":{"schemas":{%s}}}`,
		version, schema, more)
}

// answerDocument serves a document.
func answerDocument(body string) wrapper { return answerAt(specPath, answerJSON(body)) }

// answerLargeDocument serves a large document.
func answerLargeDocument(body func() string) wrapper { return largeAnswerAt(specPath, body) }

// badDocuments returns nodes with documents that are too large, or not documents at all.
func badDocuments() []attack {
	aliases := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'k'; c++ {
		aliases += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	paths := func(n int, path string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"`+path+`":{"get":{"responses":{"200":{"description":"d"}}}}`, i)
		}
		return `{"openapi":"3.0.1","info":{"title":"t","version":"1"},"paths":{` + b.String() + `}}`
	}
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	return []attack{
		{name: "a YAML alias bomb", typical: true, profile: "funding", wrap: answerAt(specPath, answerText("application/yaml", "openapi: 3.0.1\n"+aliases)), says: []string{"YAML"}},
		{name: "a YAML alias bomb that is called JSON", profile: "funding", wrap: answerAt(specPath, answerJSON(aliases)), says: []string{"YAML"}},
		{name: "a document of 30 MB", profile: "funding", wrap: answerLargeDocument(func() string { return documentWith("3.0.1", `{"description":"`+strings.Repeat("x", 30<<20)+`"}`, "") }), says: []string{"more than the limit of 8388608"}},
		{name: "a document of 8 MB", profile: "funding", wrap: answerLargeDocument(func() string { return documentWith("3.0.1", `{"enum":[`+many(1_600_000, "1.5")+`]}`, "") }), harmless: true},
		{name: "a document of brackets", profile: "funding", wrap: answerLargeDocument(func() string { return `{"openapi":"3.0.1","paths":[` + many(2_500_000, "[]") + `]}` })},
		{name: "a document of names", profile: "funding", wrap: answerLargeDocument(func() string { return documentWith("3.0.1", `{"properties":{`+manyMembers(400_000)+`}}`, "") })},
		{name: "twenty thousand operations", profile: "funding", wrap: answerLargeDocument(func() string { return paths(20_000, "/v%d") })},
		{name: "twenty thousand operations of one name", profile: "funding", wrap: answerLargeDocument(func() string { return paths(20_000, `/{a}/{b%d}`) })},
		{name: "a path with ten thousand parameters", profile: "funding", wrap: answerLargeDocument(func() string { return paths(1, "/%d"+strings.Repeat("{a}", 10_000)) })},
		{name: "ten thousand parameters", profile: "funding", wrap: answerDocument(`{"openapi":"3.0.1","info":{"title":"t","version":"1"},"paths":{"/v3/fundings":{"get":{"parameters":[` +
			many(10_000, `{"name":"a","in":"query","required":true,"schema":{"type":"string","enum":["x","y"]}}`) + `],"responses":{"200":{"description":"d"}}}}}}`)},
		{name: "ten thousand servers", profile: "funding", wrap: answerWithTrapAt(specPath, func(trap string) http.HandlerFunc {
			return answerJSON(`{"openapi":"3.0.1","servers":[` + many(10_000, fmt.Sprintf(`{"url":%q}`, trap)) + `],"paths":{"/v3/fundings":{"servers":[{"url":"` + trap + `"}],"get":{"servers":[{"url":"file:///etc"}],"responses":{"200":{"description":"d"}}}}}}`)
		})},
		{name: "a server with variables of itself", profile: "funding", wrap: answerDocument(`{"openapi":"3.0.1","servers":[{"url":"` + strings.Repeat("{a}", 10_000) + `","variables":{"a":{"default":"` + strings.Repeat("{a}", 10_000) + `"}}}],"paths":{"/v3/fundings":{"get":{"responses":{"200":{"description":"d"}}}}}}`)},
		{name: "everything of the wrong type", typical: true, profile: "funding", wrap: answerDocument(`{"openapi":[],"info":7,"servers":{"url":1},"paths":{"/v3/fundings":{"get":[],"parameters":{}},"":null,"/b":{"get":{"responses":[],"parameters":[null,1,[]],"security":7}}},"components":[]}`)},
	}
}

// documentReferences returns nodes with documents whose references lead to files, to other hosts,
// or in circles.
func documentReferences() []attack {
	ring := func(n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"S%d":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/S%d"},"b":{"$ref":"#/components/schemas/S%d"}}}`, i, (i+1)%n, (i*7+3)%n)
		}
		return b.String()
	}
	doubling := func(n int, keyword string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"S%d":{%q:[{"$ref":"#/components/schemas/S%d"},{"$ref":"#/components/schemas/S%d"}]},`, i, keyword, i+1, i+1)
		}
		fmt.Fprintf(&b, `"S%d":{"type":"string"}`, n)
		return b.String()
	}
	first := `{"type":"array","items":{"$ref":"#/components/schemas/S0"}}`
	foreign := func(version, keyword string) wrapper {
		return answerWithTrapAt(specPath, func(trap string) http.HandlerFunc {
			var more []string
			for i, target := range []string{trap + "/schema.json", trap + "/schema.json#/a", "file:///etc/passwd", "/etc/passwd", "../../etc/passwd", "//" + strings.TrimPrefix(trap, "http://") + "/x", "urn:" + marker, "\\\\127.0.0.1\\share"} {
				more = append(more, fmt.Sprintf(`"S%d":{"type":"object",%q:%q,"properties":{"a":{%q:%q},%q:{"type":"string"}}}`, i, keyword, target, keyword, target, keyword))
			}
			return answerJSON(documentWith(version, fmt.Sprintf(`{"type":"array","items":{"anyOf":[{"$ref":"#/components/schemas/S0"},{%q:%q}]}}`, keyword, trap+"/x"), strings.Join(more, ",")))
		})
	}
	return []attack{
		{name: "references to files and hosts", typical: true, profile: "funding", wrap: foreign("3.0.1", "$ref"), harmless: true},
		{name: "references to files and hosts in 3.1", profile: "funding", wrap: foreign("3.1.0", "$ref"), harmless: true},
		{name: "dynamic references to files and hosts", profile: "funding", wrap: foreign("3.1.0", "$dynamicRef"), harmless: true},
		{name: "recursive references to files and hosts", profile: "funding", wrap: foreign("3.1.0", "$recursiveRef"), harmless: true},
		{name: "dialects at files and hosts", profile: "funding", wrap: foreign("3.1.0", "$schema"), harmless: true},
		{name: "names of schemas at files and hosts", profile: "funding", wrap: foreign("3.1.0", "$id"), harmless: true},
		{name: "anchors like URLs", profile: "funding", wrap: foreign("3.1.0", "$anchor"), harmless: true},
		{name: "a dialect of the document on another host", profile: "funding", wrap: answerWithTrapAt(specPath, func(trap string) http.HandlerFunc {
			return answerJSON(`{"openapi":"3.1.0","jsonSchemaDialect":"` + trap + `/d","$schema":"` + trap + `/s","$self":"` + trap + `/self","externalDocs":{"url":"` + trap + `"},"info":{"title":"t","version":"1","termsOfService":"` + trap + `","license":{"name":"x","url":"` + trap + `"}},"paths":{"/v3/fundings":{"$ref":"` + trap + `/path.json"}},"webhooks":{"x":{"$ref":"` + trap + `/hook"}}}`)
		})},
		{name: "a mapping to another host", profile: "funding", wrap: answerWithTrapAt(specPath, func(trap string) http.HandlerFunc {
			return answerJSON(documentWith("3.0.1", `{"type":"array","items":{"oneOf":[{"$ref":"#/components/schemas/S"}],"discriminator":{"propertyName":"type","mapping":{"a":"`+trap+`/a.json","b":"file:///etc/passwd"}}}}`, `"S":{"type":"object"}`))
		})},
		{name: "examples and links on another host", profile: "funding", wrap: answerWithTrapAt(specPath, func(trap string) http.HandlerFunc {
			return answerJSON(documentWith("3.0.1", `{"type":"array","externalDocs":{"url":"`+trap+`"},"xml":{"namespace":"`+trap+`"},"example":{"externalValue":"`+trap+`"}}`, ""))
		}), harmless: true},
		{name: "references that name only one another", profile: "funding", wrap: answerDocument(documentWith("3.0.1", first, `"S0":{"$ref":"#/components/schemas/S1"},"S1":{"$ref":"#/components/schemas/S0"}`)), says: []string{"refer only to one another"}},
		{name: "a reference to itself", profile: "funding", wrap: answerDocument(documentWith("3.0.1", first, `"S0":{"$ref":"#/components/schemas/S0"}`)), says: []string{"refer only to one another"}},
		{name: "a reference to the whole document", profile: "funding", wrap: answerDocument(documentWith("3.0.1", `{"$ref":"#"}`, "")), harmless: true},
		{name: "a chain of ten thousand references", profile: "funding", wrap: answerDocument(documentWith("3.0.1", first, chain(10_000))), harmless: true},
		{name: "a thousand schemas in a ring", profile: "funding", wrap: answerDocument(documentWith("3.0.1", first, ring(1000))), harmless: true},
		{name: "alternatives that double sixty times", profile: "funding", wrap: answerDocument(documentWith("3.0.1", first, doubling(60, "anyOf"))), says: []string{"in more ways than can be tried"}},
		{name: "unions that double sixty times", profile: "funding", wrap: answerDocument(documentWith("3.0.1", first, doubling(60, "allOf"))), says: []string{"in more ways than can be tried"}},
		{name: "choices that double sixty times", profile: "funding", wrap: answerDocument(documentWith("3.1.0", first, doubling(60, "oneOf"))), says: []string{"in more ways than can be tried"}},
		{name: "an endless allOf of itself", profile: "funding", wrap: answerDocument(documentWith("3.0.1", first, `"S0":{"allOf":[{"$ref":"#/components/schemas/S0"},{"type":"object"}]}`)), harmless: true},
		{name: "a not of itself", profile: "funding", wrap: answerDocument(documentWith("3.0.1", first, `"S0":{"not":{"$ref":"#/components/schemas/S0"}}`))},
		{name: "schemas within schemas", profile: "funding", wrap: answerDocument(documentWith("3.0.1", strings.Repeat(`{"items":`, 180)+"{}"+strings.Repeat("}", 180), "")), harmless: true},
	}
}

// chain returns n schemas that each refer to the next, and a last one.
func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"S%d":{"$ref":"#/components/schemas/S%d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"S%d":{"type":"object"}`, n)
	return b.String()
}

// costlyPatterns returns nodes with patterns and bounds that are costly to apply.
func costlyPatterns() []attack {
	withKeyword := func(keyword string) wrapper {
		return func(string) func(http.Handler) http.Handler {
			list := strings.TrimSuffix(strings.Repeat(`{"id":"`+strings.Repeat("a", 5000)+`!"},`, 200), ",")
			return func(next http.Handler) http.Handler {
				return replaceAnswer(listPath, answerJSON("["+list+"]"))(replaceAnswer(specPath, answerJSON(documentWith("3.0.1",
					`{"type":"array","items":{"type":"object","properties":{"id":{"type":"string",`+keyword+`}}}}`, "")))(next))
			}
		}
	}
	return []attack{
		{name: "a pattern that backtracks without end", typical: true, profile: "funding", wrap: withKeyword(`"pattern":"^(a+)+$"`)},
		{name: "a pattern with look-ahead that backtracks without end", profile: "funding", wrap: withKeyword(`"pattern":"^(?=(a+)+b)(a|aa)+$"`)},
		{name: "a pattern with back references", profile: "funding", wrap: withKeyword(`"pattern":"^(a*)*\\1\\1\\1$"`)},
		{name: "a pattern that repeats repetitions", profile: "funding", wrap: withKeyword(`"pattern":"((a{0,1000}){0,1000}){0,1000}"`)},
		{name: "a pattern that repeats repetitions behind a look-ahead", profile: "funding", wrap: withKeyword(`"pattern":"(?=a)((a{0,1000}){0,1000}){0,1000}b"`)},
		{name: "a pattern of 1 MB", profile: "funding", wrap: withKeyword(`"pattern":"` + strings.Repeat("(a|b)", 200_000) + `"`)},
		{name: "a pattern of a hundred thousand groups", profile: "funding", wrap: withKeyword(`"pattern":"` + strings.Repeat("(", 100_000) + strings.Repeat(")", 100_000) + `"`)},
		{name: "a pattern of a hundred thousand look-aheads", profile: "funding", wrap: withKeyword(`"pattern":"` + strings.Repeat("(?=", 100_000) + strings.Repeat(")", 100_000) + `"`)},
		{name: "an invalid pattern", profile: "funding", wrap: withKeyword(`"pattern":"[` + marker + `"`)},
		{name: "bounds beyond all numbers", profile: "funding", wrap: withKeyword(`"minLength":1e300,"maxLength":-1e300,"multipleOf":1e-300,"maximum":1` + strings.Repeat("0", 100_000))},
	}
}
