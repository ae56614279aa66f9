package address_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/journal"
)

func TestAddress(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "address")
}

var _ = Describe("Origin", func() {
	DescribeTable("uses a valid Host and replaces an invalid one", func(host, want string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		Expect(address.Map{}.Origin(r)).To(Equal(want))
	},
		Entry("a name with a port", "node.example:8080", "http://node.example:8080"),
		Entry("an address", "127.0.0.1:1", "http://127.0.0.1:1"),
		Entry("an IPv6 address", "[::1]:8080", "http://[::1]:8080"),
		Entry("an empty Host", "", "http://localhost"),
		Entry("a path", "node/evil", "http://localhost"),
		Entry("a user", "user@node", "http://localhost"),
		Entry("markup", `"><script>`, "http://localhost"),
		Entry("a port that is not a number", "node:port", "http://localhost"),
	)

	It("has the scheme https on a TLS connection, and is the public URL if that is set", func() {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.TLS = &tls.ConnectionState{}
		Expect(address.Map{}.Origin(r)).To(Equal("https://example.com"))
		Expect(address.Map{PublicURL: "https://node.example"}.Origin(r)).To(Equal("https://node.example"))
	})
})

var _ = Describe("Map", func() {
	It("has the paths of the interface document", func() {
		m := address.Map{Prefix: "ris-synergy", Realm: "ris"}
		Expect(m.Token()).To(Equal("/oauth/token"))
		Expect(m.RealmToken()).To(Equal("/realms/ris/protocol/openid-connect/token"))
		Expect(m.Info()).To(Equal("/ris-synergy/info/v1/oauth/info/"))
		Expect(m.Spec()).To(Equal("/ris-synergy/funding/v3/api-docs"))
		Expect(m.TryOut().Funding()).To(Equal("/ris-synergy/try-out/funding/v3/fundings/{id}"))
	})
})

var _ = Describe("Classify", func() {
	node := address.Map{Root: "/xb", Prefix: "ris-synergy", Realm: "ris"}
	realmOnly := address.Map{Prefix: "oauth", Realm: "ris", Grants: address.AtRealm, Provider: "/auth"}

	DescribeTable("returns what a path is for", func(m address.Map, path string, want address.Class) {
		Expect(m.Classify(path)).To(Equal(want))
		if path != "/" {
			Expect(m.Classify(path+"/")).To(Equal(want), "with a trailing slash")
		}
	},
		Entry(nil, node, "/xb/oauth/token", address.Class{Operation: journal.Token}),
		Entry(nil, node, "/xb/realms/ris/protocol/openid-connect/token", address.Class{Operation: journal.Token}),
		Entry(nil, node, "/xb/realms/other/protocol/openid-connect/token", address.Class{Operation: journal.Other}),
		Entry(nil, node, "/xb/realms/ris/protocol/openid-connect/certs", address.Class{Operation: journal.Keys}),
		Entry(nil, node, "/xb/realms/ris/.well-known/openid-configuration", address.Class{Operation: journal.Metadata}),
		Entry(nil, node, "/.well-known/oauth-authorization-server/xb", address.Class{Operation: journal.Metadata}),
		Entry(nil, node, "/.well-known/oauth-authorization-server/xb/realms/ris", address.Class{Operation: journal.Metadata}),
		Entry(nil, node, "/.well-known/oauth-authorization-server/xc", address.Class{Operation: journal.Other}),
		Entry(nil, node, "/xb/ris-synergy/info/v1/oauth/info", address.Class{Operation: journal.Info, API: true}),
		Entry(nil, node, "/xb/ris-synergy/funding/v3/api-docs", address.Class{Operation: journal.Document, API: true}),
		Entry(nil, node, "/xb/ris-synergy/funding/v3/fundings", address.Class{Operation: journal.List, API: true}),
		Entry(nil, node, "/xb/ris-synergy/funding/v3/fundings/F-1", address.Class{Operation: journal.Detail, API: true}),
		Entry(nil, node, "/xb/ris-synergy/project/v1/projects", address.Class{Operation: journal.Other, API: true}),
		Entry(nil, node, "/xb/ris-synergy/try-out/funding/v3/fundings", address.Class{Operation: journal.List, API: true, TryOut: true}),
		Entry(nil, node, "/xb/ris-synergy/try-out/elsewhere", address.Class{Operation: journal.Other, API: true, TryOut: true}),
		Entry(nil, node, "/xb/elsewhere/oauth/token", address.Class{Operation: journal.ElsewhereToken, Elsewhere: true}),
		Entry(nil, node, "/xb/elsewhere/realms/ris/protocol/openid-connect/certs", address.Class{Operation: journal.Keys, Elsewhere: true}),
		Entry(nil, node, "/.well-known/oauth-authorization-server/xb/elsewhere", address.Class{Operation: journal.Metadata, Elsewhere: true}),
		Entry(nil, node, "/xb/elsewhere/.well-known/openid-configuration", address.Class{Operation: journal.Metadata, Elsewhere: true}),
		Entry(nil, node, "/xb/elsewhere/ris-synergy/info/v1/oauth/info", address.Class{Operation: journal.ElsewhereInfo, Elsewhere: true}),
		Entry(nil, node, "/xb/elsewhere/ris-synergy/funding/v3/fundings", address.Class{Operation: journal.Other, Elsewhere: true}),
		Entry(nil, node, "/xb/elsewhere", address.Class{Operation: journal.Other, Elsewhere: true}),
		Entry(nil, node, "/registry/registry.json", address.Class{Operation: journal.Registry}),
		Entry(nil, node, "/healthz", address.Class{Operation: journal.Health}),
		Entry(nil, node, "/xb", address.Class{Operation: journal.Docs}),
		Entry(nil, node, "/xb/docs/page.css", address.Class{Operation: journal.Docs}),
		Entry(nil, node, "/xbother", address.Class{Operation: journal.Other}),
		Entry(nil, node, "/oauth/token", address.Class{Operation: journal.Other}),
		Entry(nil, realmOnly, "/auth/realms/ris/protocol/openid-connect/token", address.Class{Operation: journal.Token}),
		Entry(nil, realmOnly, "/oauth/token", address.Class{Operation: journal.Other, API: true}),
		Entry(nil, address.Map{Prefix: "oauth", Realm: "ris"}, "/oauth/token", address.Class{Operation: journal.Token}),
		Entry(nil, address.Map{Prefix: "a", Realm: "b"}, "/", address.Class{Operation: journal.Docs}),
	)

	It("classifies every path that a map builds", func() {
		for _, m := range []address.Map{node, node.TryOut()} {
			for path, want := range map[string]journal.Operation{
				m.Info(): journal.Info, m.Spec(): journal.Document, m.Fundings(): journal.List, m.Funding(): journal.Detail,
				m.Token(): journal.Token, m.RealmToken(): journal.Token, m.Certs(): journal.Keys, m.Registry(): journal.Registry,
				m.Metadata(m.Root): journal.Metadata, m.Metadata(m.RealmIssuer()): journal.Metadata, m.OpenIDMetadata(m.RealmIssuer()): journal.Metadata,
				m.Home(): journal.Docs, m.Docs(): journal.Docs, m.Health(): journal.Health,
			} {
				Expect(node.Classify(path).Operation).To(Equal(want), path)
			}
		}
	})
})
