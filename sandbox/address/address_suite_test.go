package address_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/address"
)

func TestAddress(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "address")
}

var _ = Describe("Origin", func() {
	DescribeTable("believes a Host that is one", func(host, want string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		Expect(address.Map{}.Origin(r)).To(Equal(want))
	},
		Entry("a name with a port", "node.example:8080", "http://node.example:8080"),
		Entry("an address", "127.0.0.1:1", "http://127.0.0.1:1"),
		Entry("an address of version 6", "[::1]:8080", "http://[::1]:8080"),
		Entry("none", "", "http://localhost"),
		Entry("a path", "node/evil", "http://localhost"),
		Entry("a user", "user@node", "http://localhost"),
		Entry("markup", `"><script>`, "http://localhost"),
		Entry("a port that is none", "node:port", "http://localhost"),
	)

	It("is https on a TLS connection, and the public URL when there is one", func() {
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
