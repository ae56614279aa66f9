package mockapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

const preferAPI = `
openapi: 3.0.3
info: {title: Shelves, version: "1"}
paths:
  /shelves/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses:
        "200":
          description: ok
          content:
            application/json:
              schema: {type: object, required: [id], properties: {id: {type: string}, kind: {type: string}}}
              examples:
                small: {value: {id: s-1, kind: SMALL}}
                shared: {$ref: '#/components/examples/Shared'}
        "404": {description: none, content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}}
        "401": {description: no token}
        5XX: {description: broken, content: {text/html: {schema: {type: string}}}}
components:
  examples: {Shared: {value: {id: s-9, kind: SHARED}}}
  schemas:
    Problem: {type: object, required: [status, title], properties: {status: {type: integer, enum: [404]}, title: {type: string}}}
`

var _ = Describe("An operation for one thing without a list", func() {
	It("answers with the id of its path", func() {
		file := filepath.Join(GinkgoT().TempDir(), "shelves.yaml")
		Expect(os.WriteFile(file, []byte(preferAPI), 0o600)).To(Succeed())
		n := serve(sandbox.APIConfig{File: file, Open: true})
		for _, id := range []string{"s-77", "17"} {
			var got struct{ ID string }
			Expect(json.Unmarshal(n.get("/shelves/"+id).body, &got)).To(Succeed())
			Expect(got.ID).To(Equal(id))
		}
	})
})

var _ = Describe("The Prefer header", func() {
	var n node
	const path = "/shelves/anything"
	BeforeEach(func() {
		file := filepath.Join(GinkgoT().TempDir(), "shelves.yaml")
		Expect(os.WriteFile(file, []byte(preferAPI), 0o600)).To(Succeed())
		n = serve(sandbox.APIConfig{File: file, Open: true})
	})

	It("chooses a described status, with content of its schema", func() {
		got := n.get(path, "Prefer", "code=404")
		Expect(got.status).To(Equal(404))
		Expect(got.header.Get("Content-Type")).To(Equal("application/problem+json"))
		Expect(got.header.Get("Preference-Applied")).To(Equal("code=404"))
		var problem struct {
			Status int
			Title  *string
		}
		Expect(json.Unmarshal(got.body, &problem)).To(Succeed())
		Expect(problem.Status).To(Equal(404))
		Expect(problem.Title).NotTo(BeNil())
	})

	It("chooses a status by its range, and adds the header fields that HTTP asks for", func() {
		got := n.get(path, "Prefer", "code=503")
		Expect(got.status).To(Equal(503))
		Expect(got.header.Get("Retry-After")).To(Equal("1"))
		Expect(got.header.Get("Content-Security-Policy")).To(ContainSubstring("sandbox"))
		got = n.get(path, "Prefer", `respond-async, code="401"; x=y`)
		Expect(got.status).To(Equal(401))
		Expect(got.header.Get("WWW-Authenticate")).To(HavePrefix("Bearer"))
		Expect(got.body).To(BeEmpty())
	})

	It("chooses an example by its name", func() {
		Expect(n.get(path, "Prefer", "example=small").body).To(MatchJSON(`{"id":"s-1","kind":"SMALL"}`))
		Expect(n.get(path, "Prefer", "code=200, example=shared").body).To(MatchJSON(`{"id":"s-9","kind":"SHARED"}`))
	})

	It("is refused where the document describes no such answer, and ignored where it means nothing", func() {
		for prefer, want := range map[string]string{
			"code=418": "it describes 200, 401, 404, 5XX", "code=abc": "expected a status from 200 to 599", "example=large": "it has shared, small",
			"code=404, example=small": "it has none",
		} {
			got := n.get(path, "Prefer", prefer)
			Expect(got.status).To(Equal(400), prefer)
			Expect(string(got.body)).To(ContainSubstring(want))
		}
		for _, prefer := range []string{"dynamic=true", "return=minimal", "code=200", ""} {
			got := n.get(path, "Prefer", prefer)
			Expect(got.status).To(Equal(200), prefer)
			Expect(got.header).NotTo(HaveKey("Preference-Applied"))
		}
	})
})
