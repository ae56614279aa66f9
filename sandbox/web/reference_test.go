package web_test

import (
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/web"
)

var _ = Describe("the reference page", func() {
	documents := func() []web.Document {
		return []web.Document{
			{ID: "try-out", Name: "Try-out", Note: "No token.", Path: "/xb/p/try-out/api-docs"},
			{ID: "protected", Name: "Protected", Note: "A token.", Path: "/xb/p/api-docs"},
		}
	}
	node := web.Node{Acronym: "MUST", Name: `<b>"Universität" & Co`, Places: address.Map{Root: "/xb", Prefix: "p"}}
	resources := web.Reference(node, documents)
	served := site(resources)
	body := func(address string) string { return get(served, http.MethodGet, address).Body.String() }

	It("links the specification file of each document (NET-R3), and starts with the first", func() {
		first := body("/xb/docs")
		Expect(read(first).links).To(ContainElements("/xb/p/try-out/api-docs", "/xb/p/api-docs", "/xb/docs?document=protected", "/xb/"))
		Expect(first).To(SatisfyAll(ContainSubstring(`data-document="/xb/p/try-out/api-docs"`), ContainSubstring("No token."),
			ContainSubstring(`<a href="/xb/docs?document=try-out" aria-current="page">`)))
	})

	It("shows the document that its URL selects, and the first one for an unknown id", func() {
		Expect(body("/xb/docs?document=protected")).To(SatisfyAll(ContainSubstring(`data-document="/xb/p/api-docs"`), ContainSubstring("A token.")))
		Expect(body(`/xb/docs?document=%22%3E%3Cscript%3E`)).To(Equal(body("/xb/docs")))
	})

	It("loads only files of the node, each of which exists, and has nothing inline", func() {
		m := read(body("/xb/docs"))
		Expect(m.inline).To(BeEmpty())
		Expect(m.loads).To(HaveLen(7))
		for _, load := range m.loads {
			if load != "data:," {
				Expect(get(served, http.MethodGet, load).Code).To(Equal(http.StatusOK), load)
			}
		}
		for _, ours := range []string{"/xb/docs", "/xb/docs/reference.js", "/xb/docs/page.css", "/xb/docs/reference.css", "/xb/docs/night.css"} {
			Expect(body(ours)).NotTo(MatchRegexp(`(?i)https?:|url\(|['"]//|@import|eval\(`), ours)
		}
	})

	It("has a heading with the name of the document, which the page and Swagger UI share as their main part", func() {
		Expect(body("/xb/docs?document=protected")).To(MatchRegexp(`(?s)<main>.*<h1>Protected</h1>.*<div id="reference" [^>]*></div>\s*</main>`))
	})

	It("escapes the name of the node", func() {
		Expect(read(body("/xb/docs")).text).To(ContainSubstring(node.Name))
	})

	It("has the path of a public URL before its addresses", func() {
		behind := node
		behind.Places.PublicURL = "https://node.example/ris%20b"
		m := read(get(site(web.Reference(behind, documents)), http.MethodGet, "/xb/docs").Body.String())
		for _, address := range append(m.loads, m.links...) {
			Expect(address).To(Or(HavePrefix("/ris%20b/xb/"), Equal("data:,")))
		}
	})

	It("has the licences of its version of Swagger UI", func() {
		const known = "a600ebf8f885c92373e2210b1fd7422b24a4ff9cad93d3d7d6481f40b7704564" // swagger-ui-bundle.js of swagger-ui-dist 5.29.1
		Expect(body("/xb/docs/licences.txt")).To(ContainSubstring("Swagger UI 5.29.1 "))
		got := fmt.Sprintf("%x", sha256.Sum256([]byte(body("/xb/docs/swagger-ui-bundle.js"))))
		Expect(got).To(Equal(known), "this is another version of Swagger UI: write web/licences.txt again from its LICENSE, NOTICE and bundle.js.LICENSE.txt")
	})

	It("sends security headers with every file: a strict policy, nosniff, no referrer", func() {
		for _, r := range resources {
			h := get(served, http.MethodGet, r.Path).Header()
			policy := h.Get("Content-Security-Policy")
			Expect(policy).To(SatisfyAll(HavePrefix("default-src 'none'; script-src 'self'; style-src 'self';"), Not(ContainSubstring("unsafe")),
				ContainSubstring("frame-ancestors 'none'"), ContainSubstring("base-uri 'none'")), r.Path)
			Expect(h.Get("X-Content-Type-Options")).To(Equal("nosniff"), r.Path)
			Expect(h.Get("Referrer-Policy")).To(Equal("no-referrer"), r.Path)
		}
	})

	It("has the same content with and without gzip, an entity tag for each, and no body for HEAD", func() {
		for _, r := range resources {
			plain := get(served, http.MethodGet, r.Path)
			packed := get(served, http.MethodGet, r.Path, "Accept-Encoding", "gzip")
			Expect(plain.Code).To(Equal(http.StatusOK))
			Expect(plain.Header().Get("Content-Encoding")).To(BeEmpty())
			if packed.Header().Get("Content-Encoding") == "gzip" {
				z, err := gzip.NewReader(packed.Body)
				Expect(err).NotTo(HaveOccurred())
				unpacked, err := io.ReadAll(z)
				Expect(err).NotTo(HaveOccurred())
				Expect(string(unpacked) == plain.Body.String()).To(BeTrue(), r.Path)
				Expect(packed.Header().Get("ETag")).NotTo(Equal(plain.Header().Get("ETag")))
			}
			for _, coding := range []string{"gzip", "identity"} {
				head := get(served, http.MethodHead, r.Path, "Accept-Encoding", coding)
				Expect(head.Code).To(Equal(http.StatusOK))
				Expect(head.Body.Len()).To(BeZero())
				Expect(head.Header().Get("Content-Type")).To(Equal(plain.Header().Get("Content-Type")))
				repeated := get(served, http.MethodGet, r.Path, "Accept-Encoding", coding, "If-None-Match", head.Header().Get("ETag"))
				Expect(repeated.Code).To(Equal(http.StatusNotModified), r.Path)
				Expect(repeated.Body.Len()).To(BeZero())
			}
		}
		Expect(strings.Count(body("/xb/docs/swagger-ui-bundle.js"), "")).To(BeNumerically(">", 1_000_000))
	})
})
