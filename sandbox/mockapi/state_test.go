package mockapi_test

import (
	"fmt"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

const stateAPI = `
openapi: 3.0.3
info: {title: Harbour, version: "1"}
paths:
  /docks/{dock}/ships:
    get:
      parameters: [{name: name, in: query, schema: {type: string}}]
      responses: {"200": {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Ship'}}}}}}
    post:
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewShip'}}}}
      responses: {"201": {description: made}}
  /docks/{dock}/ships/{shipId}:
    get: {responses: {"200": {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/FullShip'}}}}}}
    put:
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewShip'}}}}
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/FullShip'}}}}}
    patch:
      requestBody: {required: true, content: {application/merge-patch+json: {schema: {type: object}}}}
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/FullShip'}}}}}
    delete: {responses: {"204": {description: gone}}}
  /docks/{dock}/ships/{shipId}/crew:
    get: {responses: {"200": {description: ok, content: {application/json: {schema: {type: object}}}}}}
  /search:
    get: {responses: {"200": {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Ship'}}}}}}}
    post: {responses: {"200": {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Ship'}}}}}}}
components:
  schemas:
    NewShip: {type: object, required: [name], properties: {name: {type: string}, tons: {type: integer}, log: {type: object}}}
    Ship: {type: object, required: [shipId, name], properties: {shipId: {type: string, format: uuid}, name: {type: string}, tons: {type: integer}}}
    FullShip: {allOf: [{$ref: '#/components/schemas/Ship'}], required: [built], properties: {built: {type: string, format: date}, log: {type: object}}}
`

var _ = Describe("The state of a described API", func() {
	const ships = "/docks/d1/ships"
	var n node
	BeforeEach(func() { n = serve(sandbox.APIConfig{File: documentFile(stateAPI), Items: 3, State: true}) })
	first := func() string { return n.get(ships).list()[0].(map[string]any)["shipId"].(string) }
	create := func(body string) string {
		GinkgoHelper()
		got := n.request("POST", ships, body)
		Expect(got.status).To(Equal(201), string(got.body))
		return strings.TrimPrefix(got.header.Get("Location"), n.origin+tryOut)
	}

	It("has what POST made, at its Location and in its list only", func() {
		location := create(`{"name": "Ada", "tons": 7, "log": {"wind": "north"}}`)
		Expect(location).To(HavePrefix(ships + "/"))
		got := n.get(location).object()
		Expect(got).To(SatisfyAll(HaveKeyWithValue("name", "Ada"), HaveKeyWithValue("tons", 7.0), HaveKeyWithValue("log", map[string]any{"wind": "north"}), HaveKey("built")))
		Expect(ships + "/" + got["shipId"].(string)).To(Equal(location))
		Expect(n.get(ships).list()).To(HaveLen(4))
		Expect(n.get(ships + "?name=Ada").list()).To(ConsistOf(HaveKeyWithValue("tons", 7.0)))
		Expect(n.get("/docks/d2/ships").list()).To(HaveLen(3))
		Expect(create(`{"name": "Bea"}`)).NotTo(Equal(location))
	})

	It("keeps an id that was sent, unless it is taken", func() {
		const body = `{"name": "Ada", "shipId": "3b241101-e2bb-4255-8caf-4136c566a962"}`
		Expect(create(body)).To(HaveSuffix("962"))
		Expect(create(body)).NotTo(HaveSuffix("962"))
	})

	It("has what PUT replaced, with the id of the path and the members that only the node sets", func() {
		id := first()
		before := n.get(ships + "/" + id).object()
		got := n.request("PUT", ships+"/"+id, `{"name": "Cid", "shipId": "3b241101-e2bb-4255-8caf-4136c566a962"}`)
		Expect(got.object()).To(SatisfyAll(HaveKeyWithValue("name", "Cid"), HaveKeyWithValue("shipId", id), HaveKeyWithValue("built", before["built"]), Not(HaveKey("tons"))))
		Expect(n.get(ships + "/" + id).object()).To(Equal(got.object()))
		Expect(n.get(ships).list()).To(ContainElement(SatisfyAll(HaveKeyWithValue("name", "Cid"), HaveKeyWithValue("shipId", id))))
	})

	It("has what PATCH merged, and refuses what does not fit", func() {
		id := first()
		path := ships + "/" + id
		merge := func(body string) exchange {
			return n.request("PATCH", path, body, "Content-Type", "application/merge-patch+json")
		}
		Expect(merge(`{"log": {"a": 1, "b": {"c": 2}}, "tons": 9}`).status).To(Equal(200))
		got := merge(`{"log": {"a": null, "b": {"d": 3}}, "tons": null, "shipId": "other"}`).object()
		Expect(got).To(SatisfyAll(HaveKeyWithValue("log", map[string]any{"b": map[string]any{"c": 2.0, "d": 3.0}}), Not(HaveKey("tons")), HaveKeyWithValue("shipId", id)))
		Expect(n.get(path).object()).To(Equal(got))
		Expect(merge(`{"name": null}`).status).To(Equal(422))
		Expect(n.get(path).object()).To(Equal(got))
	})

	It("has no longer what DELETE removed, nor what is below it, until a reset", func() {
		id := first()
		Expect(n.request("DELETE", ships+"/"+id, "").status).To(Equal(204))
		Expect(n.request("DELETE", ships+"/"+id, "").status).To(Equal(404))
		Expect(n.get(ships + "/" + id).status).To(Equal(404))
		Expect(n.get(ships + "/" + id + "/crew").status).To(Equal(404))
		Expect(n.get(ships).list()).To(HaveLen(2))
		n.Reset()
		Expect(n.get(ships + "/" + id).status).To(Equal(200))
		Expect(n.get(ships).list()).To(HaveLen(3))
	})

	It("is bounded", func() {
		body := fmt.Sprintf(`{"name": %q}`, strings.Repeat("a", 1<<20))
		statuses := map[int]int{}
		for range 30 {
			statuses[n.request("POST", ships, body).status]++
		}
		Expect(statuses).To(HaveKeyWithValue(507, BeNumerically(">", 10)))
		Expect(statuses).To(HaveLen(2))
		Expect(n.get(ships).status).To(Equal(200))
	})

	It("loses no change of concurrent requests", func() {
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				defer GinkgoRecover()
				Expect(n.request("POST", ships, fmt.Sprintf(`{"name": "Ship %d"}`, i)).status).To(Equal(201))
			})
		}
		all.Wait()
		Expect(n.get(ships).list()).To(HaveLen(23))
	})

	It("is not changed by other operations, nor without the option", func() {
		Expect(n.request("POST", "/search", "{}").status).To(Equal(200))
		Expect(n.get("/search").list()).To(HaveLen(3))
		n = serve(sandbox.APIConfig{File: documentFile(stateAPI), Items: 3})
		id := first()
		Expect(n.request("DELETE", ships+"/"+id, "").status).To(Equal(204))
		Expect(n.get(ships + "/" + id).status).To(Equal(200))
	})
})
