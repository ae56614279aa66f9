package mockapi_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/mockapi"
)

// table returns a table of the templates; the value of each is its own text.
func table(templates ...string) *mockapi.PathTable[string] {
	GinkgoHelper()
	var t mockapi.PathTable[string]
	for _, template := range templates {
		Expect(t.Add(template, template)).To(Succeed())
	}
	return &t
}

var _ = Describe("a table of path templates", func() {
	all := table("/{a}/{b}", "/pets/{id}", "/pets/mine", "/pets/mine.{format}", "/pets/{id}.{format}", "/{kind}/mine", "/", "/reports/{from}-{to}",
		"/a b/{x}", "/odata/Items({key})")

	DescribeTable("finds the most specific template", func(path, want string, values map[string]string) {
		found, got, ok := all.Find(path)
		Expect(ok).To(BeTrue())
		Expect(found).To(Equal(want))
		if len(values) > 0 {
			Expect(got).To(Equal(values))
		} else {
			Expect(got).To(BeEmpty())
		}
	},
		Entry("text before a parameter", "/pets/mine", "/pets/mine", nil),
		Entry("text before a parameter in an earlier segment", "/dogs/mine", "/{kind}/mine", map[string]string{"kind": "dogs"}),
		Entry("more text before less", "/pets/mine.json", "/pets/mine.{format}", map[string]string{"format": "json"}),
		Entry("a parameter with text before one alone", "/pets/7.json", "/pets/{id}.{format}", map[string]string{"id": "7", "format": "json"}),
		Entry("a parameter", "/pets/7", "/pets/{id}", map[string]string{"id": "7"}),
		Entry("two parameters", "/x/y", "/{a}/{b}", map[string]string{"a": "x", "b": "y"}),
		Entry("two parameters in one segment", "/reports/2025-2026-2027", "/reports/{from}-{to}", map[string]string{"from": "2025", "to": "2026-2027"}),
		Entry("a parameter in parentheses", "/odata/Items(7)", "/odata/Items({key})", map[string]string{"key": "7"}),
		Entry("a slash at the end", "/pets/7/", "/pets/{id}", map[string]string{"id": "7"}),
		Entry("the root", "/", "/", nil),
		Entry("escaped text", "/p%65ts/mine", "/pets/mine", nil),
		Entry("a blank", "/a%20b/1", "/a b/{x}", map[string]string{"x": "1"}),
		Entry("an escaped slash within a value", "/pets/a%2Fb", "/pets/{id}", map[string]string{"id": "a%2Fb"}),
	)

	DescribeTable("finds no template", func(path string) {
		_, _, ok := all.Find(path)
		Expect(ok).To(BeFalse())
	},
		Entry("too long", "/pets/7/8"), Entry("too short", "/pets"), Entry("an empty value", "/pets//"), Entry("a bad escape", "/%zz/mine/x"),
	)

	It("refuses duplicates and invalid templates", func() {
		t := table("/pets/{id}")
		Expect(t.Add("/pets/{name}", "")).To(MatchError(ContainSubstring(`the same requests as "/pets/{id}"`)))
		Expect(t.Add("/pets/{id", "")).To(MatchError(ContainSubstring("not a path template")))
		Expect(t.Add("/pets/{}", "")).To(MatchError(ContainSubstring("not a path template")))
		Expect(t.Add("/{a}/{a}", "")).To(MatchError(ContainSubstring("twice")))
	})
})

func FuzzFind(f *testing.F) {
	for _, seed := range [][2]string{{"/pets/{id}", "/pets/7"}, {"/{a}{b}", "/xy"}, {"/{a}.{b}", "/.."}, {"//", "//"}, {"/{a}-{b}-", "/a--"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, template, path string) {
		var table mockapi.PathTable[int]
		if table.Add(template, 1) != nil {
			return
		}
		if _, values, ok := table.Find(path); ok && len(values) != len(mockapi.PathParameters(template)) {
			t.Fatalf("%q found for %q with %v", template, path, values)
		}
	})
}
