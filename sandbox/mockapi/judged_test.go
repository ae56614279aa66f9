package mockapi_test

import (
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

// lookAhead is part of a wrong complaint of kin-openapi: it compiles patterns as Go's regular expressions, which have no look-ahead, but OpenAPI's are
// ECMAScript (OAS 3.0.3 §4.7.24).
const lookAhead = "invalid or unsupported Perl syntax: `(?=`"

var _ = Describe("a difficult document", func() {
	It("serves an OpenAPI 3.0 document with answers that both validators accept", func() {
		for seed := range uint64(5) {
			n := serveNode(sandbox.Config{Loopback: true, Seed: seed, API: sandbox.APIConfig{File: "testdata/library.json"}})
			judges := newJudges(n, "/library/live/api-docs", lookAhead)
			for _, path := range []string{"/shelves", "/shelves?limit=3&offset=2", "/shelves?kind=STEEL", "/shelves/mine", "/tree", "/values", "/count"} {
				e := n.get("/library/live" + path)
				Expect(e.status).To(Equal(http.StatusOK), path+" "+string(e.body))
				judges.expectFits(e)
			}
			judges.expectFits(n.get("/library/live/tree", "Accept", "text/plain"))
			shelves := n.get("/library/live/shelves").object()["items"].([]any)
			Expect(shelves).To(HaveLen(20))
			for _, shelf := range shelves[:5] {
				path := "/library/live/shelves/" + fmt.Sprint(shelf.(map[string]any)["id"])
				judges.expectFits(n.get(path))
				books := n.get(path + "/books?per_page=50")
				judges.expectFits(books)
				Expect(books.list()).To(HaveLen(15), "the schema allows no more")
				for _, book := range books.list() {
					detail := n.get(path + "/books/" + book.(map[string]any)["isbn"].(string))
					judges.expectFits(detail)
					Expect(detail.json()).To(Equal(book))
				}
				judges.expectFits(n.request(http.MethodPut, "/library/live/shelves/"+fmt.Sprint(shelf.(map[string]any)["id"]), `{"label":"new","kind":"WOOD","secret":"s"}`))
				judges.expectFits(n.request(http.MethodPatch, "/library/live/shelves/"+fmt.Sprint(shelf.(map[string]any)["id"]), `{"open":true}`, "Content-Type", "application/merge-patch+json"))
				judges.expectFits(n.request(http.MethodDelete, "/library/live/shelves/"+fmt.Sprint(shelf.(map[string]any)["id"]), ""))
			}
			judges.expectFits(n.request(http.MethodPost, "/library/live/shelves", `{"label":"new","kind":"WOOD","secret":"s"}`))
		}
	})

	It("serves an OpenAPI 3.1 document in YAML with answers that both validators accept", func() {
		for seed := range uint64(5) {
			n := serveNode(sandbox.Config{Loopback: true, Seed: seed, API: sandbox.APIConfig{File: "testdata/museum.yaml"}})
			judges := newJudges(n, "/museum/v2/api-docs")
			for _, path := range []string{"/v2/exhibits", "/v2/exhibits?page[size]=3&page[number]=2", "/v2/guide", "/v2/halls", "/v2/rooms"} {
				e := n.get("/museum" + path)
				Expect(e.status).To(Equal(http.StatusOK), path+" "+string(e.body))
				judges.expectFits(e)
			}
			for _, exhibit := range n.get("/museum/v2/exhibits").object()["data"].([]any) {
				detail := n.get("/museum/v2/exhibits/" + exhibit.(map[string]any)["uuid"].(string))
				judges.expectFits(detail)
				Expect(detail.json()).To(Equal(exhibit))
			}
			judges.expectFits(n.request(http.MethodPost, "/museum/v2/tickets", `{"kind":"adult","day":"2026-03-01","seats":[7,"b"]}`))
		}
	})
})
