package sandbox_test

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/fault"
)

var _ = Describe("A scenario of tokens", func() {
	It("makes tokens expire early, and then accepts the next one (token-expires-early)", func() {
		p := play(sandbox.Config{}, fault.Play{Name: "token-expires-early", Times: 2, Client: "one"})
		for n := range 2 {
			Expect(p.list(0).status).To(Equal(http.StatusOK))
			for range 2 {
				expired := p.list(0)
				Expect(expired.status).To(Equal(http.StatusUnauthorized))
				Expect(expired.header.Get("WWW-Authenticate")).To(ContainSubstring(`error="invalid_token"`))
				Expect(expired.header.Get(fault.ScenarioHeader)).To(Equal("token-expires-early " + strconv.Itoa(n+1) + "/2"))
			}
			p.tokens[0] = fetchToken(p, stagingToken, p.clients[0])
		}
		Expect(marks(3, func() answer { return p.list(0) })).To(Equal([]string{"", "", ""}))
		Expect(marks(3, func() answer { return p.list(1) })).To(Equal([]string{"", "", ""}))
		Expect(p.Scenarios()[0].Strikes).To(Equal(map[string]int{"one": 2}))
	})

	for _, format := range auth.Formats() {
		It("gives tokens for another audience (wrong-aud), in the format "+string(format), func() {
			p := play(sandbox.Config{TokenFormat: format}, fault.Play{Name: "wrong-aud"})
			form := func(secret string) string {
				return url.Values{"grant_type": {"client_credentials"}, "client_id": {"one"}, "client_secret": {secret}}.Encode()
			}
			refused := postForm(p, realmToken, form("another"), nil)
			Expect(refused.status).To(Equal(http.StatusUnauthorized))
			Expect(refused.header).NotTo(HaveKey(fault.ScenarioHeader))

			given := postForm(p, realmToken, form(p.clients[0].Secret), nil)
			Expect(given.header.Get(fault.ScenarioHeader)).To(Equal("wrong-aud 1/1"))
			var granted struct {
				AccessToken string `json:"access_token"`
			}
			decode(given, &granted)
			got := get(p, infoPath, bearer(granted.AccessToken))
			Expect(got.status).To(Equal(http.StatusUnauthorized))
			Expect(got.body).To(ContainSubstring("another audience"))
			Expect(get(p, infoPath, bearer(fetchToken(p, realmToken, p.clients[0]))).status).To(Equal(http.StatusOK))
			Expect(postForm(p, stagingToken, "grant_type=client_credentials", basic("two", p.clients[1].Secret)).header.Get(fault.ScenarioHeader)).To(Equal("wrong-aud 1/1"))
			Expect(p.list(0).status).To(Equal(http.StatusOK), "earlier tokens stay valid")
		})

		It("changes the keys (key-rotation), in the format "+string(format), func() {
			p := play(sandbox.Config{TokenFormat: format}, fault.Play{Name: "key-rotation"})
			certs := func() []string { return kids(get(p, "/realms/ris/protocol/openid-connect/certs", nil)) }
			before := certs()
			Expect(get(p, infoPath, bearer("garbage")).header).NotTo(HaveKey(fault.ScenarioHeader), "a caller without a valid token does not rotate the keys")
			got := p.list(0)
			Expect(got.status).To(Equal(http.StatusUnauthorized))
			Expect(got.header.Get(fault.ScenarioHeader)).To(Equal("key-rotation 1/1"))
			Expect(get(p, infoPath, bearer(p.tokens[1])).status).To(Equal(http.StatusUnauthorized), "the rotation applies to all clients")
			if format != auth.Opaque {
				Expect(certs()).To(SatisfyAll(HaveLen(1), Not(Equal(before))))
			}
			first := p.tokens[0]
			for client := range p.clients {
				p.tokens[client] = fetchToken(p, stagingToken, p.clients[client])
			}
			Expect(p.list(0).status).To(Equal(http.StatusOK))

			p.Reset()
			Expect(certs()).To(Equal(before))
			Expect(get(p, infoPath, bearer(first)).status).To(Equal(http.StatusOK), "the first key is back")
			Expect(p.list(0).status).To(Equal(http.StatusUnauthorized))
		})

		It("changes the keys and keeps the old one for a time, in the format "+string(format), func() {
			p := play(sandbox.Config{TokenFormat: format}, fault.Play{Name: "key-rotation", Wait: time.Minute})
			certs := func() []string { return kids(get(p, "/realms/ris/protocol/openid-connect/certs", nil)) }
			before := certs()
			got := p.list(0)
			Expect(got.status).To(Equal(http.StatusOK))
			Expect(got.header.Get(fault.ScenarioHeader)).To(Equal("key-rotation 1/1"))
			Expect(get(p, infoPath, bearer(p.tokens[0])).status).To(Equal(http.StatusOK))
			if format != auth.Opaque {
				Expect(certs()).To(SatisfyAll(HaveLen(2), HaveExactElements(Not(Equal(before[0])), before[0])))
			}
			fresh := fetchToken(p, stagingToken, p.clients[0])
			p.clock.set(noon.Add(time.Minute))
			Expect(get(p, infoPath, bearer(p.tokens[0])).status).To(Equal(http.StatusUnauthorized), "the old key is withdrawn")
			Expect(get(p, infoPath, bearer(fresh)).status).To(Equal(http.StatusOK))
			if format != auth.Opaque {
				Expect(certs()).To(SatisfyAll(HaveLen(1), Not(Equal(before))))
			}
		})
	}
})

// kids returns the key ids of a JWK Set.
func kids(a answer) []string {
	GinkgoHelper()
	var set struct{ Keys []struct{ Kid string } }
	decode(a, &set)
	var ids []string
	for _, k := range set.Keys {
		ids = append(ids, k.Kid)
	}
	return ids
}
