package mockapi_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

var _ = Describe("a request", Ordered, ContinueOnFailure, func() {
	var n node
	BeforeAll(func() { n = serve(sandbox.APIConfig{File: "testdata/library.json"}) })
	root := "/library/live"

	DescribeTable("is accepted in every parameter style", func(path string, header ...string) {
		e := n.get(root+path, header...)
		Expect(e.status).To(Equal(http.StatusNoContent), string(e.body))
	},
		Entry("simple", "/styles/simple/1,2,3/x,1,y,2/x=1,y=2"),
		Entry("label", "/styles/label/.5/.1,2/.1.2/.x=1.y=2"),
		Entry("matrix", "/styles/matrix/;one=5/;list=1,2/;exploded=1;exploded=2/;object=x,1,y,2/;x=1;y=2"),
		Entry("form, exploded", "/styles/query?needed=a&form=1&form=2"),
		Entry("form, with commas", "/styles/query?needed=a&commas=a,b%2Cc"),
		Entry("space delimited", "/styles/query?needed=a&space=1%202%203"),
		Entry("space delimited, with plus", "/styles/query?needed=a&space=1+2"),
		Entry("pipe delimited", "/styles/query?needed=a&pipe=1|2%7C3"),
		Entry("deep object", "/styles/query?needed=a&deep[x]=1&deep%5By%5D=2"),
		Entry("an object in one parameter", "/styles/query?needed=a&flat=x,1,y,2"),
		Entry("an object whose members are parameters", "/styles/query?needed=a&north=1.5&east=-2"),
		Entry("JSON", "/styles/query?needed=a&json=%7B%22x%22%3A1%7D"),
		Entry("a number, where a number or a word is allowed", "/styles/query?needed=a&either=7"),
		Entry("a word, where a number or a word is allowed", "/styles/query?needed=a&either=all"),
		Entry("an empty parameter counts as absent", "/styles/query?needed=a&day="),
		Entry("unknown parameters are ignored", "/styles/query?needed=a&other=1"),
		Entry("headers and cookies", "/styles/beside", "X-List", "1, 2", "X-Point", "x=1,y=2", "Cookie", "session=6ba7b810-9dad-41d1-80b4-00c04fd430c8"),
	)

	DescribeTable("is refused with the expected value of a parameter", func(path, parameter, detail, hint string, header ...string) {
		e := n.get(root+path, header...)
		Expect(e.status).To(Equal(http.StatusBadRequest), string(e.body))
		Expect(e.header.Get("Content-Type")).To(Equal("application/problem+json"))
		problem := e.object()
		Expect(problem).To(HaveKeyWithValue("parameter", parameter))
		Expect(problem["detail"]).To(ContainSubstring(detail))
		Expect(problem["hint"]).To(ContainSubstring(hint))
	},
		Entry("a required parameter is missing", "/styles/query", "needed", "it is required", "a string, of at least length 1"),
		Entry("a required parameter is empty", "/styles/query?needed=", "needed", "minLength", "send needed as a string"),
		Entry("not a number", "/styles/query?needed=a&form=x", "form", "got string, want integer", "each item a whole number"),
		Entry("too many items", "/styles/query?needed=a&form=1&form=2&form=3&form=4", "form", "maxItems", "items at most 3"),
		Entry("given twice", "/styles/query?needed=a&day=2026-03-01&day=2026-03-02", "day", "more than once", "a date, 2026-03-01"),
		Entry("not a date", "/styles/query?needed=a&day=2026-02-31", "day", "a date", "leave it out"),
		Entry("out of bounds", "/styles/query?needed=a&ratio=0", "ratio", "exclusiveMinimum", "a number, at least 0"),
		Entry("pattern does not match", "/styles/query?needed=a&commas=A", "commas", "pattern", "matching ^[a-z ,]+$"),
		Entry("neither the number nor the word that is allowed", "/styles/query?needed=a&either=some", "either", "", ""),
		Entry("an unknown member", "/styles/query?needed=a&deep[z]=1", "deep", "", "an object"),
		Entry("half an object", "/styles/query?needed=a&flat=x,1,y", "flat", "name,value,name,value", ""),
		Entry("not JSON", "/styles/query?needed=a&json=x", "json", "expected JSON", ""),
		Entry("not in an enum", "/shelves?kind=wood", "kind", "one of", "one of WOOD, STEEL, GLASS"),
		Entry("a path parameter", "/shelves/zero", "shelfId", "want integer", "a whole number, at least 1"),
		Entry("a label without its dot", "/styles/label/5/.1,2/.1.2/.x=1.y=2", "one", "a dot before the value", ""),
		Entry("a matrix without its name", "/styles/matrix/5/;list=1,2/;exploded=1;exploded=2/;object=x,1,y,2/;x=1;y=2", "one", ";one= before", ""),
		Entry("a header parameter", "/styles/beside", "X-List", "want integer", "a list", "X-List", "a", "Cookie", "session=6ba7b810-9dad-41d1-80b4-00c04fd430c8"),
		Entry("a cookie is missing", "/styles/beside", "session", "it is required", "a UUID"),
	)

	It("is refused with the allowed values of an enum", func() {
		Expect(n.get(root + "/shelves?kind=wood").object()["allowed"]).To(ConsistOf("WOOD", "STEEL", "GLASS"))
	})

	DescribeTable("is accepted or refused by its body, and the answer says why", func(method, path, body string, status int, want string, header ...string) {
		e := n.request(method, root+path, body, header...)
		Expect(e.status).To(Equal(status), string(e.body))
		Expect(string(e.body)).To(ContainSubstring(want))
	},
		Entry("no body", "POST", "/shelves", "", 400, "the request has no body"),
		Entry("not JSON", "POST", "/shelves", "{", 400, "not JSON"),
		Entry("members are missing", "POST", "/shelves", `{"label":"ab"}`, 422, `"pointer":"#"`),
		Entry("a member is wrong", "POST", "/shelves", `{"label":"a","kind":"WOOD","secret":""}`, 422, `"pointer":"#/label"`),
		Entry("several members are wrong", "POST", "/shelves", `{"label":"a","kind":"TIN","secret":""}`, 422, `"pointer":"#/kind"`),
		Entry("another media type", "POST", "/shelves", "<a/>", 415, "application/json, text/csv", "Content-Type", "application/xml"),
		Entry("text is accepted unchecked", "POST", "/shelves", "a,b", 201, "", "Content-Type", "text/csv"),
		Entry("too large", "POST", "/shelves", `"`+strings.Repeat("x", 4<<20)+`"`, 413, "larger"),
		Entry("too deep", "POST", "/shelves", strings.Repeat("[", 500)+strings.Repeat("]", 500), 400, "nested"),
		Entry("a number with millions of digits", "POST", "/shelves", `{"id":1e999999999}`, 400, "nested too deeply"),
	)

	It("is answered with the members of its body, and nothing is stored", func() {
		created := n.request(http.MethodPost, root+"/shelves", `{"label":"my shelf","kind":"GLASS","secret":"s","open":true}`)
		Expect(created.status).To(Equal(http.StatusCreated))
		Expect(created.header.Get("Location")).NotTo(BeEmpty())
		Expect(created.object()).To(SatisfyAll(HaveKeyWithValue("label", "my shelf"), HaveKeyWithValue("kind", "GLASS"), Not(HaveKey("secret"))))
		Expect(string(n.get(root + "/shelves").body)).NotTo(ContainSubstring("my shelf"))
	})

	It("with an unknown method or path is refused, and the answer names the known ones", func() {
		e := n.request(http.MethodDelete, root+"/shelves", "")
		Expect(e.status).To(Equal(http.StatusMethodNotAllowed))
		Expect(e.header.Get("Allow")).To(Equal("GET, HEAD, OPTIONS, POST"))
		e = n.request(http.MethodOptions, root+"/shelves", "")
		Expect(e.status).To(Equal(http.StatusNoContent))
		Expect(e.header.Get("Allow")).To(Equal("GET, HEAD, OPTIONS, POST"))
		get, head := n.get(root+"/shelves"), n.request(http.MethodHead, root+"/shelves", "")
		Expect(head.status).To(Equal(http.StatusOK))
		Expect(head.body).To(BeEmpty())
		Expect(head.header.Get("Content-Length")).To(Equal(get.header.Get("Content-Length")))
		unknown := n.get(root + "/shelf")
		Expect(unknown.status).To(Equal(http.StatusNotFound))
		Expect(unknown.object()["hint"]).To(ContainSubstring(tryOut + root + "/shelves"))
	})

	It("chooses a media type, and gets the first one if none matches", func() {
		Expect(n.get(root + "/tree").header.Get("Content-Type")).To(Equal("application/hal+json"))
		Expect(n.get(root+"/tree", "Accept", "text/*;q=0.9, application/hal+json;q=0.1").header.Get("Content-Type")).To(Equal("text/plain"))
		Expect(n.get(root+"/tree", "Accept", "image/png").header.Get("Content-Type")).To(Equal("application/hal+json"))
	})
})
