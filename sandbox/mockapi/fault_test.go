package mockapi_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

var _ = Describe("a document with faults", func() {
	It("serves a faulty document without the faulty parts, and says why", func() {
		n := serve(sandbox.APIConfig{File: "testdata/faulty.yaml"})
		Expect(n.get("/good").status).To(Equal(http.StatusOK))
		omitted := n.API(n.origin).NotServed
		for _, part := range []struct{ path, at, reason string }{
			{"/image", "GET /image: line 7", "image/png"},
			{"/impossible", "GET /impossible: ", "4"},
			{"/foreign", "GET /foreign: line 17", "not in this document"},
			{"/style", "GET /style: line 23", "styles form, spaceDelimited"},
			{"/pattern", "GET /pattern: line 25", "not a regular expression"},
			{"/silent", "GET /silent: line 27", "each status"},
		} {
			e := n.get(part.path)
			Expect(e.status).To(Equal(http.StatusNotImplemented), part.path)
			Expect(e.object()["detail"]).To(ContainSubstring(part.reason))
			Expect(omitted).To(ContainElement(SatisfyAll(HavePrefix(part.at), ContainSubstring(part.reason))), strings.Join(omitted, "\n"))
		}
		Expect(omitted).To(ContainElement(SatisfyAll(HavePrefix("GET /{same}"), ContainSubstring(`the same requests as "/{again}"`))))
		Expect(omitted).To(ContainElement(SatisfyAll(HavePrefix("line 28"), ContainSubstring("not in the document"))))
		Expect(omitted).To(ContainElement(SatisfyAll(HavePrefix("line 29"), ContainSubstring("begins with a slash"))))
		Expect(n.API(n.origin).Operations).To(Equal(2))
	})

	DescribeTable("refuses a document without any usable part, with the place", func(text, reason string) {
		_, err := sandbox.New(sandbox.Config{API: sandbox.APIConfig{File: documentFile(text)}})
		Expect(err).To(MatchError(ContainSubstring(reason)))
	},
		Entry("an empty document", "", "empty"),
		Entry("an array", "[]", "object"),
		Entry("broken JSON", "{\n\"openapi\": \"3.0.0\",\n]", "line 3"),
		Entry("broken YAML", "openapi: 3.0.0\n\t- x: [", "line 2"),
		Entry("Swagger", `{"swagger":"2.0"}`, "swagger2openapi"),
		Entry("another version", `{"openapi":"4.0.0"}`, `got "4.0.0"`),
		Entry("no paths", "openapi: 3.0.0\ninfo: {}\n", "#/paths: expected an object"),
		Entry("no operation", "openapi: 3.0.0\npaths: {}\n", "no operation"),
		Entry("no operation that can be served", "openapi: 3.0.0\npaths:\n  /a:\n    get: {}\n", "GET /a: line 4"),
		Entry("aliases that expand to more than memory holds", "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\n", "more than"),
		Entry("too deeply nested", strings.Repeat(`{"a":`, 3000)+"1"+strings.Repeat("}", 3000), "inside one another"),
	)

	It("refuses a document that is not a regular file", func() {
		for _, file := range []string{"testdata", "testdata/none.json", "/dev/zero"} {
			_, err := sandbox.New(sandbox.Config{API: sandbox.APIConfig{File: file}})
			Expect(err).To(HaveOccurred(), file)
		}
	})
})
