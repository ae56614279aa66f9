package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/content"
)

var _ = Describe("a node that deviates", func() {
	It("answers 201 to a token request (token-status-201)", func() {
		node := newNode(sandbox.Config{Deviations: []string{"token-status-201"}})
		client := node.Credentials()[0]
		form := "grant_type=client_credentials&client_id=" + client.ClientID + "&client_secret="
		Expect(postForm(node, stagingToken, form+client.Secret, nil).status).To(Equal(201))
		Expect(postForm(node, stagingToken, form+"wrong", nil).status).To(Equal(401))
	})

	It("serves only the info resource without a token (info-open)", func() {
		node := newNode(sandbox.Config{Deviations: []string{"info-open"}})
		Expect(get(node, infoPath, nil).status).To(Equal(200))
		Expect(get(node, infoPath, bearer("garbage")).status).To(Equal(401))
		Expect(get(node, fundingsPath, nil).status).To(Equal(401))
	})

	It("serves the detail without a token (detail-unprotected)", func() {
		node := newNode(sandbox.Config{Deviations: []string{"detail-unprotected"}})
		Expect(get(node, fundingsPath+"/XF-00000001", nil).status).To(Equal(200))
		Expect(get(node, fundingsPath, nil).status).To(Equal(401))
	})

	It("accepts a tampered token (signature-not-verified)", func() {
		node := newNode(sandbox.Config{Deviations: []string{"signature-not-verified"}})
		token := fetchToken(node, stagingToken, node.Credentials()[0])
		unsigned := token[:strings.LastIndex(token, ".")] + ".AAAA"
		Expect(get(node, fundingsPath, bearer(unsigned)).status).To(Equal(200))
		Expect(get(node, fundingsPath, bearer("garbage")).status).To(Equal(401))
		Expect(get(node, fundingsPath, nil).status).To(Equal(401))
	})

	It("drops ids of the list, compressed or not (list-id-missing)", func() {
		node := newNode(sandbox.Config{Deviations: []string{"list-id-missing"}})
		token := fetchToken(node, stagingToken, node.Credentials()[0])
		for _, coding := range []string{"identity", "gzip"} {
			header := bearer(token)
			header["Accept-Encoding"] = []string{coding}
			got := get(node, fundingsPath+"?page[size]=6", header)
			Expect(got.header.Get("ETag")).To(Equal(content.ETag([]byte(got.body))))
			var items []map[string]any
			decode(got, &items)
			Expect(items).To(HaveLen(6))
			for n, item := range items {
				if n%3 == 2 {
					Expect(item).NotTo(HaveKey("id"))
				} else {
					Expect(item).To(HaveKey("id"))
				}
			}
		}
	})

	It("serves a document with a dangling reference (spec-dangling-ref), in combination with others", func() {
		node := newNode(sandbox.Config{Deviations: []string{"spec-dangling-ref", "token-status-201"}})
		got := get(node, "/ris-synergy/funding/v3/api-docs", http.Header{"If-None-Match": {"*"}})
		Expect(got.status).To(Equal(200))
		var document map[string]any
		Expect(json.Unmarshal([]byte(got.body), &document)).To(Succeed())
		Expect(got.body).To(ContainSubstring("#/components/schemas/Missing"))
	})
})
