package mockapi_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/rin-network/rin/sandbox/mockapi"
)

const root = "/components/schemas/Thing"

// writeXML returns a value as XML, without the XML declaration.
func writeXML(schema, value string) (string, error) {
	d, err := mockapi.ReadDocument([]byte(`{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"204":{}}}}},"components":{"schemas":{"Thing":` + schema + `,
		"Author":{"type":"string","xml":{"name":"author"}},"Page":{"type":"object","properties":{"n":{"type":"integer"}}}}}}`))
	if err != nil {
		return "", err
	}
	var v any
	decoder := json.NewDecoder(strings.NewReader(value))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return "", err
	}
	text := string(mockapi.WriteXML(d, ownMembers(d), root, v))
	return strings.TrimSuffix(strings.TrimPrefix(text, xml.Header), "\n"), nil
}

// ownMembers returns the members that a schema declares itself.
func ownMembers(d *mockapi.Document) func(string) map[string]string {
	return func(schema string) map[string]string {
		object, place, _ := d.Object(schema)
		properties, _ := object["properties"].(map[string]any)
		members := map[string]string{}
		for name := range properties {
			members[name] = sample.Join(place, "properties", name)
		}
		return members
	}
}

// checkWellFormed returns an error unless a text is well-formed XML.
func checkWellFormed(text string) error {
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

var _ = Describe("A value as XML (OAS 3.0.3, XML Object)", func() {
	DescribeTable("has the elements and attributes of its schema", func(schema, value, want string) {
		text, err := writeXML(schema, value)
		Expect(err).NotTo(HaveOccurred())
		Expect(text).To(Equal(want))
		Expect(checkWellFormed(text)).To(Succeed())
	},
		Entry("a text", `{"type":"string"}`, `"a & b"`, "<Thing>a &amp; b</Thing>"),
		Entry("nothing", `{}`, `null`, "<Thing/>"),
		Entry("an object", `{"properties":{"b":{"type":"integer"},"a":{"type":"boolean"}}}`, `{"b":1.50,"a":true}`, "<Thing><a>true</a><b>1.50</b></Thing>"),
		Entry("another name", `{"xml":{"name":"thing"},"properties":{"a":{"xml":{"name":"first"}}}}`, `{"a":"x"}`, "<thing><first>x</first></thing>"),
		Entry("an attribute", `{"properties":{"id":{"type":"integer","xml":{"attribute":true}},"a":{}}}`, `{"a":"x","id":7}`, `<Thing id="7"><a>x</a></Thing>`),
		Entry("an attribute that is not a scalar", `{"properties":{"id":{"xml":{"attribute":true}}}}`, `{"id":{"a":1}}`, `<Thing><id><a>1</a></id></Thing>`),
		Entry("a namespace", `{"xml":{"namespace":"http://example/ns"}}`, `{}`, `<Thing xmlns="http://example/ns"></Thing>`),
		Entry("a namespace with a prefix", `{"xml":{"namespace":"http://example/ns","prefix":"s"},"properties":{"id":{"xml":{"attribute":true,"namespace":"http://example/ns","prefix":"s"}}}}`,
			`{"id":"x"}`, `<s:Thing xmlns:s="http://example/ns" s:id="x"></s:Thing>`),
		Entry("an attribute in a namespace of its own", `{"properties":{"id":{"xml":{"attribute":true,"namespace":"http://example/ns","prefix":"s"}}}}`,
			`{"id":"x"}`, `<Thing xmlns:s="http://example/ns" s:id="x"></Thing>`),
		Entry("a prefix without a namespace", `{"xml":{"prefix":"s"}}`, `"x"`, `<Thing>x</Thing>`),
		Entry("a list", `{"properties":{"animals":{"type":"array","items":{"type":"string"}}}}`, `{"animals":["a","b"]}`, "<Thing><animals>a</animals><animals>b</animals></Thing>"),
		Entry("a list whose items have a name", `{"properties":{"animals":{"type":"array","xml":{"name":"aliens"},"items":{"type":"string","xml":{"name":"animal"}}}}}`,
			`{"animals":["a","b"]}`, "<Thing><animal>a</animal><animal>b</animal></Thing>"),
		Entry("a list that is wrapped", `{"properties":{"animals":{"type":"array","xml":{"name":"aliens","wrapped":true},"items":{"type":"string","xml":{"name":"animal"}}}}}`,
			`{"animals":["a","b"]}`, "<Thing><aliens><animal>a</animal><animal>b</animal></aliens></Thing>"),
		Entry("a list that is wrapped in its own name", `{"properties":{"animals":{"type":"array","xml":{"wrapped":true},"items":{"type":"string"}}}}`,
			`{"animals":["a"]}`, "<Thing><animals><animals>a</animals></animals></Thing>"),
		Entry("a list as root", `{"type":"array","items":{"$ref":"#/components/schemas/Author"}}`, `["a","b"]`, "<Thing><author>a</author><author>b</author></Thing>"),
		Entry("a list of lists", `{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`, `[[1],[2]]`, "<Thing><item><item>1</item></item><item><item>2</item></item></Thing>"),
		Entry("a reference", `{"properties":{"p":{"$ref":"#/components/schemas/Page"},"by":{"$ref":"#/components/schemas/Author"}}}`, `{"p":{"n":1},"by":"x"}`, "<Thing><author>x</author><p><n>1</n></p></Thing>"),
		Entry("members that are not declared", `{"additionalProperties":{"xml":{"name":"entry"}}}`, `{"a":"x"}`, "<Thing><entry>x</entry></Thing>"),
		Entry("names that XML does not allow", `{}`, `{"@id":"x","7":"y","a b":"z","":"w","ü:v":"u","ªb":"t"}`, "<Thing><_>w</_><_7>y</_7><_id>x</_id><a_b>z</a_b><_b>t</_b><ü_v>u</ü_v></Thing>"),
		Entry("characters that XML does not allow", `{}`, `"a\u0000b\ud800"`, "<Thing>a\ufffdb\ufffd</Thing>"),
	)
})

var _ = Describe("The form of a media type", func() {
	DescribeTable("is", func(mediaType string, want mockapi.Form) { Expect(mockapi.FormOf(mediaType)).To(Equal(want)) },
		Entry("JSON", "application/json; charset=utf-8", mockapi.FormJSON),
		Entry("JSON with an invalid parameter", "application/json; charset", mockapi.FormJSON),
		Entry("a kind of JSON", "application/problem+json", mockapi.FormJSON),
		Entry("anything", "*/*", mockapi.FormJSON),
		Entry("XML", "text/xml", mockapi.FormXML),
		Entry("a kind of XML", "application/atom+xml", mockapi.FormXML),
		Entry("a drawing", "image/svg+xml", mockapi.FormFile),
		Entry("text", "text/markdown", mockapi.FormText),
		Entry("a picture", "image/*", mockapi.FormFile),
		Entry("a file, in capitals", "Application/PDF", mockapi.FormFile),
		Entry("several parts", "multipart/form-data", mockapi.FormNone),
		Entry("a word that is not a media type", "xls", mockapi.FormNone),
		Entry("an empty text", "", mockapi.FormNone),
	)
})

// FuzzWriteXML checks that XML with any names and texts is well-formed.
func FuzzWriteXML(f *testing.F) {
	f.Add(`{"properties":{"id":{"xml":{"attribute":true,"prefix":"p","namespace":"n"}}}}`, `{"id":"<","a":[1,null,{"b":[[]]}]}`)
	f.Add(`{"xml":{"name":"xmlns","prefix":"XML","namespace":"\""},"items":{"xml":{"wrapped":true,"name":"·"}}}`, `[[1],[2,{"·":3}]]`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		text, err := writeXML(schema, value)
		if err != nil {
			return
		}
		if err := checkWellFormed(text); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	})
}
