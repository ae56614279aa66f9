package sandbox_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/journal"
)

var _ = Describe("The journal of a network", func() {
	second := sandbox.Config{Root: "/xb", Seed: 2, Calls: 5, Member: funding.Member{ID: "XB", Name: "Musterberg"}}
	last := func(n runningNetwork) journal.Entry {
		GinkgoHelper()
		entries := n.Journal().Record(0).Entries
		Expect(entries).NotTo(BeEmpty())
		return entries[len(entries)-1]
	}

	It("records a client from its token request to its list request", func() {
		network := newNetwork(sandbox.Config{Calls: 5}, second)
		client := network.Nodes()[1].Credentials()[0]
		token := fetchToken(network, "/xb/oauth/token", client)
		issued := last(network)
		Expect(issued).To(MatchFields(IgnoreExtras, Fields{
			"Node": Equal("XB"), "Operation": Equal(journal.Token), "Client": Equal(client.ClientID), "Proven": BeTrue(), "Secret": HaveLen(12),
			"Issued": PointTo(MatchFields(IgnoreExtras, Fields{"Print": HaveLen(12), "Expires": BeTemporally("~", issued.Time.Add(sandbox.DefaultTokenTTL), 2*time.Second)})),
		}))
		get(network, "/xb/ris-synergy/funding/v3/fundings?page[page]=3&page[size]=2&pagesize=7", http.Header{"Authorization": {"Bearer " + token}})
		Expect(last(network)).To(MatchFields(IgnoreExtras, Fields{
			"Operation": Equal(journal.List), "Client": Equal(client.ClientID), "Proven": BeTrue(), "Status": Equal(200),
			"Authorization": Equal(journal.Authorization{Fields: 1, Scheme: "Bearer", Print: issued.Issued.Print}),
			"Page":          PointTo(Equal(journal.Page{Start: 3, Size: 2, Items: 2, Next: true})), "Ignored": Equal([]string{"pagesize"}),
		}))
	})

	It("records why a request was refused", func() {
		network := newNetwork(sandbox.Config{Calls: 5}, second)
		get(network, "/xb/ris-synergy/info/v1/oauth/info/", http.Header{"Authorization": {"Bearer a.b.c"}})
		Expect(last(network).Refusal).To(PointTo(MatchFields(IgnoreExtras, Fields{
			"Code": Equal("invalid_token"), "Detail": ContainSubstring("not a JWT"), "Hint": ContainSubstring("fetch a new token")})))
		send(network, http.MethodPost, "/oauth/token", `{}`, http.Header{"Content-Type": {"application/json"}})
		Expect(last(network).Refusal).To(PointTo(MatchFields(IgnoreExtras, Fields{"Code": Equal("invalid_request"), "Detail": ContainSubstring("declared as JSON")})))
		get(network, "/ris-synergy/try-out/funding/v3/fundings?region=MARS", nil)
		Expect(last(network)).To(MatchFields(IgnoreExtras, Fields{"TryOut": BeTrue(), "Refusal": PointTo(HaveField("Parameter", "region"))}))
	})

	DescribeTable("records the operation of a path", func(path string, want journal.Operation, tryOut bool) {
		network := newNetwork(sandbox.Config{Calls: 5}, second)
		get(network, path, nil)
		Expect(last(network).Operation).To(Equal(want))
		Expect(last(network).TryOut).To(Equal(tryOut))
	},
		Entry(nil, "/oauth/token", journal.Token, false), Entry(nil, "/xb/oauth/token/", journal.Token, false),
		Entry(nil, "/realms/ris/protocol/openid-connect/token", journal.Token, false), Entry(nil, "/elsewhere/oauth/token", journal.ElsewhereToken, false), Entry(nil, "/xb/elsewhere/ris-synergy/info/v1/oauth/info/", journal.ElsewhereInfo, false),
		Entry(nil, "/registry/registry.json", journal.Registry, false), Entry(nil, "/healthz", journal.Health, false),
		Entry(nil, "/xb/ris-synergy/info/v1/oauth/info", journal.Info, false), Entry(nil, "/ris-synergy/funding/v3/api-docs", journal.Document, false),
		Entry(nil, "/ris-synergy/funding/v3/fundings/XF-00000002", journal.Detail, false),
		Entry(nil, "/ris-synergy/try-out/funding/v3/fundings/XF-00000002", journal.Detail, true),
		Entry(nil, "/realms/ris/protocol/openid-connect/certs", journal.Keys, false), Entry(nil, "/realms/ris/.well-known/openid-configuration", journal.Metadata, false),
		Entry(nil, "/elsewhere", journal.Other, false),
	)

	It("records the operations of an API from a document", func() {
		file := filepath.Join(GinkgoT().TempDir(), "projects.json")
		Expect(os.WriteFile(file, []byte(`{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{
			"/projects":{"get":{"parameters":[{"name":"offset","in":"query","schema":{"type":"integer"}},{"name":"limit","in":"query","schema":{"type":"integer"}}],
				"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/P"}}}}}}},
				"post":{"responses":{"204":{"description":""}}}},
			"/projects/{id}":{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":{"$ref":"#/components/schemas/P"}}}}}}}},
			"components":{"schemas":{"P":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}}}`), 0o600)).To(Succeed())
		network := newNetwork(sandbox.Config{Calls: 5, API: sandbox.APIConfig{File: file, Items: 7}})
		node := network.Nodes()[0]
		bearer := http.Header{"Authorization": {"Bearer " + fetchToken(network, "/oauth/token", node.Credentials()[0])}}
		get(network, "/ris-synergy/projects?offset=5&limit=2&skip=1", bearer)
		Expect(last(network)).To(MatchFields(IgnoreExtras, Fields{
			"Operation": Equal(journal.List), "Proven": BeTrue(), "Page": PointTo(Equal(journal.Page{Start: 5, Size: 2, Items: 2})), "Ignored": Equal([]string{"skip"}),
		}))
		get(network, "/ris-synergy/projects/none", nil)
		Expect(last(network)).To(MatchFields(IgnoreExtras, Fields{"Operation": Equal(journal.Detail), "Status": Equal(401)}))
		send(network, http.MethodPost, "/ris-synergy/projects", "", bearer)
		Expect(last(network).Operation).To(Equal(journal.Call))
		get(network, "/ris-synergy/try-out/projects", nil)
		Expect(last(network)).To(MatchFields(IgnoreExtras, Fields{"Operation": Equal(journal.List), "TryOut": BeTrue()}))
	})

	It("records requests outside all nodes", func() {
		network := newNetwork(second)
		get(network, "/oauth/token", nil)
		Expect(last(network)).To(MatchFields(IgnoreExtras, Fields{"Node": BeEmpty(), "Status": Equal(404), "Refusal": Not(BeNil())}))
	})

	It("records which deviations were in force", func() {
		network := newNetwork(sandbox.Config{Calls: 5, Deviations: []string{"token-status-201"}})
		get(network, "/healthz", nil)
		Expect(last(network).Deviations).To(Equal([]string{"token-status-201"}))
	})

	It("is empty after a reset, and nil if it is switched off", func() {
		network := newNetwork(sandbox.Config{Calls: 5})
		get(network, "/healthz", nil)
		network.Reset()
		Expect(network.Journal().Record(0).Entries).To(BeEmpty())
		silent, err := sandbox.NewNetwork(sandbox.NetworkConfig{Nodes: []sandbox.Config{{Calls: 5}}, JournalLimit: -1})
		Expect(err).NotTo(HaveOccurred())
		Expect(silent.Journal()).To(BeNil())
	})

	It("holds no secret and no token, wherever a client puts them", func() {
		network := newNetwork(sandbox.Config{Calls: 5})
		client := network.Nodes()[0].Credentials()[0]
		token := fetchToken(network, "/oauth/token", client)
		for _, path := range []string{"/oauth/token?client_id=a&client_secret=" + client.Secret, "/oauth/token?s=" + client.Secret, "/" + client.Secret, "/x?t=" + token} {
			for _, authorization := range []string{"", client.Secret, "Bearer " + client.Secret, token, "Bearer  " + token, "Token token=" + token} {
				header := http.Header{"User-Agent": {token}, "Accept": {client.Secret}}
				if authorization != "" {
					header.Set("Authorization", authorization)
				}
				get(network, path, header)
				send(network, http.MethodPost, path, "client_secret="+client.Secret, header)
			}
		}
		encoded, err := json.Marshal(network.Journal().Record(0))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(encoded)).NotTo(Or(ContainSubstring(client.Secret), ContainSubstring(token)))
	})
})
