package sandbox_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/funding"
)

var _ = Describe("the reference page of a node", func() {
	DescribeTable("links documents that the node serves, and each document links the page (NET-R3)", func(root string) {
		node := newNode(sandbox.Config{Root: root})
		page := get(node, root+"/docs", nil)
		Expect(page.status).To(Equal(200))
		found := regexp.MustCompile(`<a href="([^"?]*/api-docs)">`).FindAllStringSubmatch(page.body, -1)
		Expect(found).To(HaveLen(2))
		for _, link := range found {
			var document struct {
				Servers      []struct{ URL string }
				ExternalDocs struct{ URL string }
			}
			Expect(json.Unmarshal([]byte(get(node, link[1], nil).body), &document)).To(Succeed(), link[1])
			Expect(document.Servers[0].URL).To(HavePrefix(node.url() + root + "/"))
			Expect(document.ExternalDocs.URL).To(Equal(node.url() + root + "/docs"))
		}
	},
		Entry("at the root of its host", ""),
		Entry("below a root", "/xb"),
	)
})

var _ = Describe("the start page", func() {
	It("lists URLs that the node serves, and the secrets of generated clients", func() {
		node := newNode(sandbox.Config{Loopback: true})
		page := get(node, "/", nil)
		Expect(page.status).To(Equal(200))
		Expect(page.body).To(ContainSubstring(node.Credentials()[0].Secret))
		found := regexp.MustCompile(`(?m)^  [a-z -]{18}(http\S+)$`).FindAllStringSubmatch(page.body, -1)
		Expect(len(found)).To(BeNumerically(">=", 10))
		for _, place := range found {
			Expect(get(node, place[1], nil).status).NotTo(Equal(404), place[1])
		}
	})

	It("shows no configured secret, and uses no client of the other environment in its commands", func() {
		node := newNode(sandbox.Config{Loopback: true, Clients: []sandbox.ClientConfig{{ID: "mine", Secret: "chosen-by-me"}}})
		Expect(get(node, "/", nil).body).To(SatisfyAll(Not(ContainSubstring("chosen-by-me")), ContainSubstring("-d client_id=CLIENT_ID ")))
	})

	It("shows no secret where other machines can connect", func() {
		node := newNode(sandbox.Config{})
		Expect(get(node, "/", nil).body).NotTo(ContainSubstring(node.Credentials()[0].Secret))
	})

	It("of a network without a node at its root links to the pages of its nodes", func() {
		network := newNetwork(sandbox.Config{Root: "/xa", Loopback: true},
			sandbox.Config{Root: "/xb", Member: funding.Member{ID: "XB", Acronym: "SEE", Name: "Hochschule am See"}, Loopback: true})
		page := get(network, "/", http.Header{"Accept": {"text/html"}})
		Expect(page.status).To(Equal(200))
		for _, node := range network.Nodes() {
			Expect(page.body).NotTo(ContainSubstring(node.Credentials()[0].Secret))
		}
		for _, link := range regexp.MustCompile(`(?:href|src)="(/[^"]*)"`).FindAllStringSubmatch(page.body, -1) {
			Expect(get(network, link[1], http.Header{"Accept": {"text/html, */*;q=0.1"}}).status).To(Equal(200), link[1])
		}
		Expect(get(network, "/xb/", http.Header{"Accept": {"text/html"}}).body).To(SatisfyAll(ContainSubstring("Hochschule am See"), ContainSubstring(`href="/xa/"`)))
		Expect(send(network, http.MethodPost, "/", "", nil).status).To(Equal(405))
	})
})

var _ = Describe("the pages of a node that serves an API from a document", func() {
	links := func(page string) []string {
		var all []string
		for _, link := range regexp.MustCompile(`<a href="([^"?]*/api-docs)">`).FindAllStringSubmatch(page, -1) {
			all = append(all, link[1])
		}
		return all
	}
	nodeWith := func(server string) runningNode {
		GinkgoHelper()
		file := filepath.Join(GinkgoT().TempDir(), "api.json")
		Expect(os.WriteFile(file, []byte(`{"openapi":"3.0.3","info":{"title":"<Things>","version":"1"},"servers":[{"url":"`+server+`"}],
			"paths":{"/things":{"get":{"responses":{"200":{"description":"all","content":{"application/json":{"schema":{"type":"string"}}}}}}}}}`), 0o600)).To(Succeed())
		return newNode(sandbox.Config{API: sandbox.APIConfig{File: file}})
	}

	It("offer its documents beside the node's own", func() {
		node := nodeWith("https://node.example/things/v1")
		page := get(node, "/docs", nil).body
		Expect(links(page)).To(HaveLen(4))
		for _, link := range links(page) {
			Expect(get(node, link, nil).status).To(Equal(200), link)
			Expect(get(node, "/", nil).body).To(ContainSubstring(node.url() + link))
		}
		Expect(page).To(SatisfyAll(ContainSubstring("&lt;Things&gt;"), ContainSubstring(`data-document="/ris-synergy/try-out/funding/v3/api-docs"`)))
	})

	It("replace the node's own documents with those at the same paths", func() {
		page := get(nodeWith("https://node.example/funding/v3"), "/docs", nil).body
		Expect(links(page)).To(ConsistOf("/ris-synergy/try-out/funding/v3/api-docs", "/ris-synergy/funding/v3/api-docs"))
		Expect(page).NotTo(ContainSubstring("Protected API"))
	})
})
