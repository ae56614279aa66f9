package funding_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/funding"
)

var _ = Describe("the registry document", func() {
	It("lists the node under both token endpoints, each entry with all its members (NET-R6)", func() {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = "node.example"
		places := address.Map{Prefix: "ris-synergy", Realm: "ris"}
		entries := func(origin string) model.Registry {
			return model.Registry{Member: funding.FirstMember().Entries(places, origin)}
		}
		funding.RegistryDocument(places, entries).ServeHTTP(w, r)
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
			funding.NodeID:      "http://node.example/oauth/token",
			funding.RealmNodeID: "http://node.example/realms/ris/protocol/openid-connect/token",
		}))
	})
})

var _ = Describe("invented members", func() {
	It("differ in id, acronym, name and contact", func() {
		seen := map[string]int{}
		for i := range 1000 {
			m := funding.InventedMember(i)
			for _, value := range []string{m.ID, m.Acronym, strings.TrimSpace(m.Name), m.Contact} {
				Expect(value).NotTo(BeEmpty())
				Expect(seen).NotTo(HaveKey(value), "member %d", i)
				seen[value] = i
			}
		}
	})

	It("begin with the member of a single node, and have the irregular values of real ones", func() {
		Expect(funding.InventedMember(0)).To(Equal(funding.FirstMember()))
		Expect(funding.InventedMember(1)).To(Equal(funding.Member{ID: "XB", Acronym: "TUMB", Name: "Technische Universität Musterberg", Contact: "ris@tumb.example"}))
		Expect(funding.InventedMember(2).Name).To(HaveSuffix(" "), "a blank that clients trim")
		Expect(funding.InventedMember(3).ID).To(Equal("XD_Test"))
		Expect(funding.InventedMember(25).ID).To(Equal("XZ"))
		Expect(funding.InventedMember(26).ID).To(Equal("XAA"))
	})
})
