package registry_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/registry"
)

func TestRegistry(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "registry")
}

var _ = Describe("the registry document", func() {
	It("lists the node under both token endpoints, each entry with all its members (NET-R6)", func() {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = "node.example"
		places := address.Map{Prefix: "ris-synergy", Realm: "ris"}
		entries := func(origin string) model.Registry {
			return model.Registry{Member: registry.First().Entries(places, origin)}
		}
		registry.Document(places, entries).ServeHTTP(w, r)
		var got struct{ Member []map[string]string }
		Expect(json.Unmarshal(w.Body.Bytes(), &got)).To(Succeed())
		tokens := map[string]string{}
		for _, member := range got.Member {
			Expect(member).To(HaveLen(6))
			for name, value := range member {
				Expect(value).NotTo(BeEmpty(), name)
			}
			Expect(member["info"]).To(Equal("http://node.example/ris-synergy/info/v1/oauth/info/"))
			tokens[member["id"]] = member["oauth2"]
		}
		Expect(tokens).To(Equal(map[string]string{
			registry.NodeID:      "http://node.example/oauth/token",
			registry.RealmNodeID: "http://node.example/realms/ris/protocol/openid-connect/token",
		}))
	})
})
