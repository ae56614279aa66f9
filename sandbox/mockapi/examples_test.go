package mockapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/mockapi"
)

const examplesAPI = `
openapi: 3.0.3
info: {title: Ships, version: "1"}
paths:
  /ships:
    get:
      responses:
        "200":
          description: ok
          headers: {X-Harbour: {example: Trieste, schema: {type: string}}}
          content:
            application/json:
              schema: {type: array, items: {$ref: '#/components/schemas/Ship'}}
              examples:
                two: {value: [{id: s1, name: Ada}, {id: s2, name: Bea}]}
                wrong: {value: [{id: 5}]}
  /ships/{shipId}:
    get:
      parameters: [{name: shipId, in: path, required: true, schema: {type: string}}]
      responses:
        "200":
          description: ok
          content:
            application/json:
              schema: {allOf: [{$ref: '#/components/schemas/Ship'}], required: [log], properties: {log: {type: string}}}
              example: {id: s2, name: Bea, log: calm}
  /harbours/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses:
        "200": {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Harbour'}, example: '{"id": "h1", "town": "Rijeka"}'}}}
  /crews:
    get:
      responses:
        "200":
          description: ok
          content:
            application/json:
              schema: {type: object, required: [items, total], properties: {note: {type: string}, total: {type: integer}, items: {type: array, items: {$ref: '#/components/schemas/Ship'}}}}
              example: {note: from the log, total: 900, items: [{id: c1, name: Cid}, {id: c1, name: Cid}]}
  /voyages:
    post:
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses:
        "201": {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Ship'}, example: {id: v1, name: Dov}}}}
  /broken:
    get:
      responses:
        "200": {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Ship'}, example: {name: 5}}}}
  /notes:
    get:
      responses:
        "200": {description: ok, content: {text/plain: {schema: {type: string}, example: wind from the north}}}
components:
  schemas:
    Ship: {type: object, required: [id, name], properties: {id: {type: string}, name: {type: string, minLength: 2}}}
    Harbour: {type: object, required: [id, town], properties: {id: {type: string}, town: {type: string}}, example: {id: h9, town: Koper}}
`

var _ = Describe("The examples of a document", func() {
	It("are the first items of a list, and lead to their details", func() {
		n := serve(sandbox.APIConfig{File: documentFile(examplesAPI), Items: 4})
		got := n.get("/ships")
		Expect(got.header.Get("X-Harbour")).To(Equal("Trieste"))
		list := got.list()
		Expect(list).To(HaveLen(4))
		Expect(list[:2]).To(Equal([]any{map[string]any{"id": "s1", "name": "Ada"}, map[string]any{"id": "s2", "name": "Bea"}}))
		Expect(n.get("/ships/s2").object()).To(Equal(map[string]any{"id": "s2", "name": "Bea", "log": "calm"}))
		Expect(n.get("/ships/s1").object()).To(SatisfyAll(HaveKeyWithValue("name", "Ada"), HaveKey("log")))
		drawn := list[3].(map[string]any)["id"].(string)
		Expect(n.get("/ships/" + drawn).object()).To(HaveKeyWithValue("id", drawn))
		Expect(n.get("/ships/s9").status).To(Equal(404))
	})

	It("are the answers of other operations, with the id of the path and the members that were sent", func() {
		n := serve(sandbox.APIConfig{File: documentFile(examplesAPI), Items: 4})
		Expect(n.get("/harbours/h77").body).To(MatchJSON(`{"id": "h77", "town": "Rijeka"}`))
		Expect(n.request("POST", "/voyages", `{"name": "Eva"}`).body).To(MatchJSON(`{"id": "v1", "name": "Eva"}`))
		Expect(string(n.get("/notes").body)).To(Equal("wind from the north"))
	})

	It("fill an envelope, each id once, with the right count", func() {
		crews := serve(sandbox.APIConfig{File: documentFile(examplesAPI), Items: 3}).get("/crews").object()
		Expect(crews).To(SatisfyAll(HaveKeyWithValue("note", "from the log"), HaveKeyWithValue("total", 3.0), HaveKeyWithValue("items", HaveLen(3))))
		Expect(crews["items"].([]any)[0]).To(HaveKeyWithValue("name", "Cid"))
		Expect(crews["items"].([]any)[1]).NotTo(HaveKeyWithValue("id", "c1"))
	})

	It("are not given where they do not fit their schema", func() {
		Expect(serve(sandbox.APIConfig{File: documentFile(examplesAPI)}).get("/broken").object()).To(HaveKeyWithValue("name", BeAssignableToTypeOf("")))
	})

	It("are ignored on demand", func() {
		n := serve(sandbox.APIConfig{File: documentFile(examplesAPI), Items: 4, Examples: mockapi.ExamplesIgnore})
		for _, path := range []string{"/ships", "/harbours/h77", "/crews", "/notes"} {
			Expect(string(n.get(path).body)).NotTo(Or(ContainSubstring("Ada"), ContainSubstring("Rijeka"), ContainSubstring("Koper"), ContainSubstring("Cid"), ContainSubstring("north")))
		}
	})
})
