package mockapi_test

import (
	"fmt"
	"maps"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/mockapi"
)

var _ = Describe("a list", Ordered, ContinueOnFailure, func() {
	var n node
	BeforeAll(func() { n = serve(sandbox.APIConfig{File: "testdata/library.json"}) })
	shelves := func(query string) map[string]any { return n.get("/library/live/shelves" + query).object() }
	ids := func(envelope map[string]any) (all []string) {
		for _, item := range envelope["items"].([]any) {
			all = append(all, fmt.Sprint(item.(map[string]any)["id"]))
		}
		return all
	}

	It("leads to details with the same values; other ids are not found", func() {
		for _, item := range shelves("")["items"].([]any) {
			shelf := item.(map[string]any)
			detail := n.get("/library/live/shelves/" + fmt.Sprint(shelf["id"])).object()
			Expect(detail).To(HaveKey("rooms"), "the detail has more than the item")
			maps.DeleteFunc(detail, func(member string, _ any) bool { _, listed := shelf[member]; return !listed })
			Expect(detail).To(Equal(shelf))
		}
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			Expect(n.request(method, "/library/live/shelves/9999", "").status).To(Equal(http.StatusNotFound))
		}
		Expect(n.get("/library/live/shelves/9999/books").status).To(Equal(http.StatusNotFound))
	})

	It("has unique ids, and items that agree with the path", func() {
		Expect(ids(shelves(""))).To(HaveLen(20))
		seen := map[string]bool{}
		for _, id := range ids(shelves("")) {
			Expect(seen).NotTo(HaveKey(id))
			seen[id] = true
			for _, book := range n.get("/library/live/shelves/" + id + "/books").list() {
				Expect(fmt.Sprint(book.(map[string]any)["shelf"])).To(Equal(id))
			}
		}
	})

	It("has pages, with counts that agree", func() {
		all := ids(shelves(""))
		Expect(ids(shelves("?limit=5"))).To(Equal(all[:5]))
		Expect(ids(shelves("?limit=5&offset=15"))).To(Equal(all[15:]))
		Expect(ids(shelves("?offset=18&limit=100"))).To(Equal(all[18:]))
		Expect(ids(shelves("?limit=5&offset=1000000000"))).To(BeEmpty())
		page := n.get("/library/live/shelves?limit=5&offset=5")
		Expect(page.object()["total"]).To(BeEquivalentTo(20))
		Expect(page.header.Get("X-Total-Count")).To(Equal("20"))
		for _, id := range all[:2] {
			books := n.get("/library/live/shelves/" + id + "/books?per_page=50").list()
			Expect(n.get("/library/live/shelves/"+id+"/books").list()).To(Equal(books[:10]), "per_page is 10 by default")
			Expect(n.get("/library/live/shelves/" + id + "/books?page=2").list()).To(Equal(books[10:]))
			Expect(n.get("/library/live/shelves/" + id + "/books?page=2147483647").list()).To(BeEmpty())
		}
	})

	It("is not filtered by members that lead to the next page", func() {
		n := serve(sandbox.APIConfig{File: documentFile(`openapi: 3.0.3
info: {title: Cursors, version: "1"}
paths:
  /things:
    get:
      parameters: [{name: nextToken, in: query, schema: {$ref: '#/components/schemas/Text'}}]
      responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Thing'}}}}}}
components:
  schemas:
    Text: {type: string}
    Thing: {type: object, required: [id, name], properties: {id: {type: string}, name: {$ref: '#/components/schemas/Text'}}}
`), Items: 5})
		Expect(n.get("/things?nextToken=abc").list()).To(HaveLen(5))
	})

	It("is filtered by members of its items", func() {
		glass := shelves("?kind=GLASS")
		Expect(glass["items"]).NotTo(BeEmpty())
		for _, item := range glass["items"].([]any) {
			Expect(item).To(HaveKeyWithValue("kind", "GLASS"))
		}
		Expect(glass["total"]).To(BeEquivalentTo(len(glass["items"].([]any))))
		for _, item := range shelves("?open=true")["items"].([]any) {
			Expect(item).To(HaveKeyWithValue("open", true))
		}
		id := ids(shelves(""))[0]
		for _, book := range n.get("/library/live/shelves/" + id + "/books?language=de,fr").list() {
			Expect(book.(map[string]any)["language"]).To(BeElementOf("de", "fr"))
		}
	})

	It("has pages by a deep object, from the first page number of the document", func() {
		m := serve(sandbox.APIConfig{File: "testdata/museum.yaml"})
		all := m.get("/museum/v2/exhibits").object()["data"].([]any)
		Expect(m.get("/museum/v2/exhibits?page[number]=0&page[size]=3").object()["data"]).To(Equal(all[:3]))
		Expect(m.get("/museum/v2/exhibits?page[number]=2&page[size]=3").object()["data"]).To(Equal(all[6:9]))
	})

	It("ends when there are no more ids, and has items without ids if the document has none", func() {
		m := serve(sandbox.APIConfig{File: "testdata/museum.yaml"})
		Expect(m.get("/museum/v2/halls").list()).To(HaveLen(5))
		Expect(m.get("/museum/v2/halls/7.json").status).To(Equal(http.StatusOK), "this path is not the detail of the list")
		rooms := m.get("/museum/v2/rooms").list()
		Expect(rooms).To(HaveLen(20))
		withoutID := 0
		for _, room := range rooms {
			if id, ok := room.(map[string]any)["id"]; ok {
				Expect(m.get("/museum/v2/rooms/" + id.(string)).json()).To(Equal(room))
				continue
			}
			withoutID++
		}
		Expect(withoutID).To(BeNumerically(">", 0))
	})

	It("has as many items as the options say, and is an array if they say so", func() {
		const document = `{"openapi":"3.0.3","info":{"title":"Things","version":"1"},"paths":{"/things":{"get":{"operationId":"findAll",
"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}}}}}}}}`
		declared := serve(sandbox.APIConfig{File: documentFile(document)})
		array := serve(sandbox.APIConfig{File: documentFile(document), Lists: mockapi.ListsArray, Items: 300})
		Expect(array.get("/things").list()).To(HaveLen(300))
		Expect(declared.get("/things").object()).To(HaveKey("id"))
		Expect(array.get("/things").list()).To(ContainElement(declared.get("/things").object()))
	})
})
