package sandbox_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/funding"
)

var _ = Describe("a trusted foreign issuer", Ordered, func() {
	const issuer = "https://as.example/realms/partner"
	var (
		key  *rsa.PrivateKey
		node runningNode
	)

	BeforeAll(func() {
		var err error
		key, err = rsa.GenerateKey(rand.Reader, 2048)
		Expect(err).NotTo(HaveOccurred())
		set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k1", Use: "sig", Algorithm: "RS256"}}}
		jwks, err := json.Marshal(set)
		Expect(err).NotTo(HaveOccurred())
		build, err := sandbox.New(sandbox.Config{
			Clock: func() time.Time { return noon },
			Issuers: []sandbox.IssuerConfig{{Issuer: issuer, JWKS: jwks, Audience: "account", Accounts: map[string]funding.Account{
				"partner": {Role: "EXTERNAL_API_CLIENT", Affiliation: "P1"},
			}}},
		})
		Expect(err).NotTo(HaveOccurred())
		node = serveNode(build)
	})

	token := func(kid, typ string, claims map[string]any) string {
		GinkgoHelper()
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: kid}},
			(&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
		Expect(err).NotTo(HaveOccurred())
		all := map[string]any{"iss": issuer, "aud": []string{"account"}, "azp": "partner", "sub": "s1", "exp": noon.Add(time.Minute).Unix()}
		for name, value := range claims {
			all[name] = value
		}
		signed, err := jwt.Signed(signer).Claims(all).Serialize()
		Expect(err).NotTo(HaveOccurred())
		return signed
	}

	It("opens the API to the clients that have an account here", func() {
		Expect(get(node, fundingsPath, bearer(token("k1", "JWT", nil))).status).To(Equal(200))
		Expect(get(node, fundingsPath, bearer(token("k1", "at+jwt", map[string]any{"client_id": "other"}))).status).To(Equal(403))
	})

	DescribeTable("is refused with an invalid token", func(kid, typ string, claims map[string]any, want string) {
		got := get(node, fundingsPath, bearer(token(kid, typ, claims)))
		expectInvalidToken(got)
		Expect(got.body).To(ContainSubstring(want))
	},
		Entry("an unknown key", "k2", "JWT", nil, "not among the keys"),
		Entry("another type", "k1", "logout+jwt", nil, "typ"),
		Entry("another audience", "k1", "JWT", map[string]any{"aud": "elsewhere"}, "another audience"),
		Entry("another issuer", "k1", "JWT", map[string]any{"iss": "https://conformance.invalid"}, "not signed with a key of this node"),
		Entry("an expired token", "k1", "JWT", map[string]any{"exp": noon.Add(-time.Minute).Unix()}, "expired"),
		Entry("a token without exp", "k1", "JWT", map[string]any{"exp": nil}, "no exp"),
		Entry("a token that is not valid yet", "k1", "JWT", map[string]any{"nbf": noon.Add(time.Minute).Unix()}, "not valid before"),
	)
})
