package mockapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

// token fetches an access token for a client of the node.
func (n node) token(client sandbox.Credential) string {
	GinkgoHelper()
	response, err := http.PostForm(n.origin+"/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {client.ClientID}, "client_secret": {client.Secret}})
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	Expect(json.NewDecoder(response.Body).Decode(&granted)).To(Succeed())
	return granted.AccessToken
}

// guarded sends a GET request outside the try-out space, with the token unless it is empty.
func (n node) guarded(path, token string) exchange {
	GinkgoHelper()
	request, err := http.NewRequest(http.MethodGet, n.origin+"/ris-synergy"+path, nil)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return send(request)
}

var _ = Describe("a described API", func() {
	It("needs a token and a role, except for public operations and in the try-out space", func() {
		n := serve(sandbox.APIConfig{File: "testdata/library.json"})
		clients := n.Credentials()
		anonymous := n.guarded("/library/live/shelves", "")
		Expect(anonymous.status).To(Equal(http.StatusUnauthorized))
		Expect(anonymous.header.Get("WWW-Authenticate")).To(HavePrefix("Bearer "))
		Expect(n.guarded("/library/live/shelves", n.token(clients[1])).status).To(Equal(http.StatusForbidden))
		Expect(n.guarded("/library/live/shelves?kind=x", "").status).To(Equal(http.StatusUnauthorized), "the token is checked before the parameters")
		good := n.guarded("/library/live/shelves", n.token(clients[0]))
		Expect(good.status).To(Equal(http.StatusOK))
		Expect(good.header.Get("Cache-Control")).To(ContainSubstring("private"))
		Expect(n.guarded("/library/live/shelves/mine", "").status).To(Equal(http.StatusOK), "the document declares it public")
		Expect(n.get("/library/live/shelves").body).To(Equal(good.body))
	})

	It("needs no token if the configuration opens it", func() {
		n := serve(sandbox.APIConfig{File: "testdata/library.json", Open: true})
		Expect(n.guarded("/library/live/shelves", "").status).To(Equal(http.StatusOK))
	})

	It("publishes its document with the servers and the security of the space where it is read", func() {
		n := serve(sandbox.APIConfig{File: "testdata/library.json"})
		open, guarded := n.get("/library/live/api-docs").object(), n.guarded("/library/live/api-docs", "").object()
		Expect(open["servers"]).To(Equal([]any{map[string]any{"url": n.origin + tryOut + "/library/live"}}))
		Expect(guarded["servers"]).To(Equal([]any{map[string]any{"url": n.origin + "/ris-synergy/library/live"}}))
		Expect(open["security"]).To(BeEmpty())
		Expect(guarded["security"]).NotTo(BeEmpty())
		operation := func(document map[string]any, path string) map[string]any {
			return document["paths"].(map[string]any)[path].(map[string]any)["get"].(map[string]any)
		}
		Expect(operation(guarded, "/shelves/mine")).To(HaveKeyWithValue("security", BeEmpty()))
		Expect(guarded["components"].(map[string]any)["securitySchemes"]).To(SatisfyAll(HaveKey("key"), HaveKey("rinBearer")))
		Expect(operation(guarded, "/values")).To(Equal(operation(open, "/values")))
	})

	It("is listed by the info resource and the reference page, and does not replace the node's own resources", func() {
		n := serve(sandbox.APIConfig{File: "testdata/library.json"})
		endpoints := n.get("/info/v1/oauth/info/").object()["endpoints"].(map[string]any)
		Expect(endpoints["library"]).To(ContainElements(
			SatisfyAll(HaveKeyWithValue("name", "SHELVES"), HaveKeyWithValue("url", n.origin+tryOut+"/library/live/shelves")),
			HaveKeyWithValue("url", n.origin+tryOut+"/library/live/shelves/{id}")), fmt.Sprint(endpoints["library"]))
		versioned := serve(sandbox.APIConfig{File: documentFile(`openapi: 3.0.3
servers: [{url: /v2}]
paths:
  /things: {get: {responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {type: object, required: [id], properties: {id: {type: string}}}}}}}}}}
`)})
		for range 2 { // the first request must not change the second answer
			endpoints := versioned.get("/info/v1/oauth/info/").object()["endpoints"].(map[string]any)
			Expect(endpoints["things"]).To(ConsistOf(SatisfyAll(HaveKeyWithValue("name", "THINGS"), HaveKeyWithValue("majorVersion", 2.0))))
		}
		Expect(n.get("/funding/v3/fundings").status).To(Equal(http.StatusOK))
		Expect(page(n, "/docs")).To(ContainSubstring("Library"))
		Expect(page(n, "/")).To(ContainSubstring("/ris-synergy/library/live/api-docs"))

		greedy := serve(sandbox.APIConfig{File: documentFile("openapi: 3.0.3\npaths:\n  /{a}/{b}/{c}/{d}:\n    get: {responses: {'204': {description: ok}}}\n")})
		Expect(greedy.get("/info/v1/oauth/info/").status).To(Equal(http.StatusOK), "an API cannot replace the info resource, which names all others")
		Expect(greedy.guarded("/try-out/1/2/3", "").status).To(Equal(http.StatusNotFound), "the try-out space is not part of the guarded one")
	})

	It("replaces the node's own funding API at the same paths", func() {
		own := serve(sandbox.APIConfig{})
		document := own.guarded("/funding/v3/api-docs", "").body
		n := serve(sandbox.APIConfig{File: documentFile(string(document))})
		Expect(n.get("/funding/v3/fundings").list()).To(HaveLen(20))
		Expect(n.get("/info/v1/oauth/info/").object()["endpoints"].(map[string]any)["funding"]).To(HaveLen(2))
	})
})

// page returns the HTML page at a path of the node.
func page(n node, path string) string {
	GinkgoHelper()
	request, err := http.NewRequest(http.MethodGet, n.origin+path, nil)
	Expect(err).NotTo(HaveOccurred())
	return string(send(request).body)
}
