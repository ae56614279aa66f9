package flavour_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/deviation"
	"github.com/rin-network/rin/sandbox/flavour"
)

func TestFlavour(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "flavour")
}

var _ = Describe("the flavours", func() {
	It("have habits that are benign, and warn of no less than those do", func() {
		benign := map[string]deviation.Deviation{}
		for _, d := range deviation.Benign() {
			benign[d.Name] = d
		}
		for _, f := range flavour.All() {
			Expect(f.Why).NotTo(BeEmpty(), f.Name)
			for _, name := range f.Habits {
				Expect(benign).To(HaveKey(name), f.Name)
				for _, id := range benign[name].Warns {
					Expect(f.Warns).To(ContainElement(id), f.Name)
				}
			}
		}
	})

	It("are found by their names, and list these for any other", func() {
		for _, name := range flavour.Names() {
			Expect(flavour.Find(name)).To(HaveField("Name", name))
		}
		_, err := flavour.Find("keycloack")
		Expect(err).To(MatchError(ContainSubstring("plain, keycloak, spring")))
	})

	It("have the token endpoint of their product", func() {
		for name, want := range map[string]string{
			"plain": "/xb/oauth/token", "keycloak": "/xb/realms/r/protocol/openid-connect/token",
			"keycloak-16": "/xb/auth/realms/r/protocol/openid-connect/token", "spring": "/xb/oauth/token",
		} {
			f, err := flavour.Find(name)
			Expect(err).NotTo(HaveOccurred())
			places := address.Map{Root: "/xb", Grants: f.Grants, Provider: f.Provider, Prefix: "p", Realm: "r"}
			Expect(places.Endpoints()).To(HaveExactElements(HaveField("Token", want)))
		}
	})
})
