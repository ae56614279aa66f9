package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = Describe("References", func() {
	DescribeTable("resolve by RFC 6901",
		func(target string, resolves bool) {
			d := parsed(`{"openapi":"3.1.0","components":{"schemas":{"a/b":{"type":"string"},"c~d":{"$anchor":"here"},"e f":{},"ä":{},"%41":{},"list":{"allOf":[{},{}]},"R":{"$ref":` + quote(target) + `}}}}`)
			Expect(d.Refs()).To(Equal([]openapi.Ref{{Pointer: "/components/schemas/R/$ref", Target: target, Resolves: resolves}}))
			_, _, ok := d.Follow(target)
			Expect(ok).To(Equal(resolves))
		},
		Entry("slash", "#/components/schemas/a~1b", true),
		Entry("tilde", "#/components/schemas/c~0d", true),
		Entry("blank, percent-encoded", "#/components/schemas/e%20f", true),
		Entry("blank, raw", "#/components/schemas/e f", true),
		Entry("umlaut, percent-encoded", "#/components/schemas/%C3%A4", true),
		Entry("umlaut, raw", "#/components/schemas/ä", true),
		Entry("percent of a percent", "#/components/schemas/%2541", true),
		Entry("index", "#/components/schemas/list/allOf/1", true),
		Entry("index beyond", "#/components/schemas/list/allOf/2", false),
		Entry("index with zero", "#/components/schemas/list/allOf/01", false),
		Entry("the document", "#", true),
		Entry("anchor", "#here", true),
		Entry("unknown anchor", "#there", false),
		Entry("dangling", "#/components/schemas/Missing", false),
		Entry("other case", "#/components/schemas/E%20f", false),
		Entry("another file", "common.json#/A", false),
		Entry("URL", "https://a.example/", false),
		Entry("empty", "", false),
	)

	It("are not found in names and data", func() {
		d := parsed(`{"paths":{"x-p":{"$ref":"5"}},"components":{"schemas":{
			"$ref":{"properties":{"$ref":{"type":"string"},"example":{"$ref":"#/components"},"x-a":{"$ref":"#/paths"}},
			"enum":[{"$ref":"1"}],"const":{"$ref":"2"},"default":{"$ref":"3"},"example":{"$ref":"4"},"x-b":{"$ref":"6"},"items":{"$ref":{}}}},
			"examples":{"e":{"$ref":"7"}}}}`)
		var got []string
		for _, ref := range d.Refs() {
			got = append(got, ref.Target)
		}
		Expect(got).To(ConsistOf("#/components", "#/paths", "5"))
	})

	It("are followed to values and from values to members", func() {
		d := parsed(`{"a":[{"b":1}]}`)
		v, ok := d.Raw("/a/0/b")
		Expect(ok).To(BeTrue())
		Expect(v).To(Equal(json.Number("1")))
		_, ok = d.Raw("/a/0/c")
		Expect(ok).To(BeFalse())
		_, ok = d.Raw("a")
		Expect(ok).To(BeFalse())
		_, ok = d.Raw("/a/0/b/c")
		Expect(ok).To(BeFalse())
	})
})

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// FuzzParse checks that Parse never panics, that keys are unique and safe in labels, and that Resolves agrees with Follow.
func FuzzParse(f *testing.F) {
	f.Add([]byte(library))
	f.Add([]byte(`{"swagger":"2.0","paths":{"/a":{"get":{"parameters":[{"in":"query","type":"string"}],"responses":{"200":{"schema":{"$ref":"#/definitions/A"}}}}}},"definitions":{"A":{"allOf":[{"$ref":"#/definitions/A"}]}}}`))
	f.Add([]byte(`{"paths":{"/a":{"$ref":"#/paths/~1a"},"":{"get":{"operationId":"-"}}}}`))
	f.Add([]byte("{\"paths\":{\"\xff\":{\"get\":{}},\"\xfe\":{\"get\":{}}}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := openapi.Parse(text)
		if err != nil {
			return
		}
		keys := map[string]bool{}
		for _, o := range d.Operations {
			if o.Key == "" || keys[o.Key] || strings.ContainsAny(o.Key, "./ *") {
				t.Fatalf("key %q", o.Key)
			}
			keys[o.Key] = true
			if _, ok := d.Raw(o.Pointer); !ok && d.Version != "" && !strings.Contains(o.Pointer, "\uFFFD") {
				if _, viaRef := d.Raw(strings.TrimSuffix(o.Pointer, "/"+strings.ToLower(o.Method))); !viaRef {
					t.Fatalf("pointer %q", o.Pointer)
				}
			}
			o.Success()
			o.TemplateParameters()
			d.DetailCandidate(o)
		}
		d.ListCandidate()
		for _, ref := range d.Refs() {
			if _, _, ok := d.Follow(ref.Target); ok != ref.Resolves {
				t.Fatalf("reference %+v", ref)
			}
		}
	})
}
