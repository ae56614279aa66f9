package sandbox_test

import (
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

var _ = Describe("tokens that are not for this node", func() {
	It("are refused when they come from another environment, which has its own issuer, keys and client", func() {
		node := newNode(sandbox.Config{})
		token := fetchToken(node, "/elsewhere/oauth/token", node.ElsewhereClient())
		_, claims := decodeJWT(token)
		Expect(claims).To(HaveKeyWithValue("iss", node.URL+"/elsewhere"))
		Expect(claims).To(HaveKeyWithValue("aud", node.URL+"/elsewhere/ris-synergy"))
		Expect(get(node, infoPath, bearer(token)).status).To(Equal(http.StatusUnauthorized))

		Expect(get(node, "/.well-known/oauth-authorization-server/elsewhere", nil).body).To(ContainSubstring(`"token_endpoint":"` + node.URL + `/elsewhere/oauth/token"`))
		keys := get(node, "/elsewhere/realms/ris/protocol/openid-connect/certs", nil).body
		Expect(keys).To(ContainSubstring(`"kid"`))
		Expect(keys).NotTo(Equal(get(node, "/realms/ris/protocol/openid-connect/certs", nil).body))
	})

	It("are accepted by the info of the other environment, which refuses those of the node", func() {
		const info = "/elsewhere/ris-synergy/info/v1/oauth/info/"
		node := newNode(sandbox.Config{})
		own, other := fetchToken(node, stagingToken, node.Credentials()[0]), fetchToken(node, "/elsewhere/oauth/token", node.ElsewhereClient())
		accepted := get(node, info, bearer(other))
		Expect(accepted.status).To(Equal(http.StatusOK))
		Expect(accepted.header.Get("Cache-Control")).To(ContainSubstring("private"))
		Expect(accepted.body).To(MatchJSON(`{"endpoints":{"funding":[]}}`))
		Expect(get(node, info, bearer(own)).status).To(Equal(http.StatusUnauthorized))
		anonymous := get(node, info, nil)
		Expect(anonymous.status).To(Equal(http.StatusUnauthorized))
		Expect(anonymous.body).To(ContainSubstring("tokens are issued at POST /elsewhere/oauth/token"))
		Expect(node.Addresses(node.URL).ElsewhereInfo).To(Equal(node.URL + info))
	})

	It("are issued to the third demo client, which has another audience", func() {
		node := newNode(sandbox.Config{})
		client := node.Credentials()[2]
		Expect(client.ClientID).To(Equal(sandbox.DemoClientOtherAudience))
		token := fetchToken(node, stagingToken, client)
		_, claims := decodeJWT(token)
		Expect(claims).To(HaveKeyWithValue("aud", sandbox.DemoAudience))
		Expect(get(node, infoPath, bearer(token)).body).To(ContainSubstring("another audience"))
	})

	It("are dated by the node's clock, as its answers are", func() {
		at := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
		node := newNode(sandbox.Config{Clock: func() time.Time { return at }})
		_, claims := decodeJWT(fetchToken(node, stagingToken, node.Credentials()[0]))
		Expect(claims).To(HaveKeyWithValue("iat", BeEquivalentTo(at.Unix())))
		Expect(get(node, infoPath, nil).header.Get("Date")).To(Equal("Mon, 02 Mar 2026 09:00:00 GMT"))
	})

	It("can be made for an earlier time, and have then expired", func() {
		node := newNode(sandbox.Config{})
		token, err := node.TokenAt(time.Now().Add(-time.Hour), node.URL, sandbox.DemoClient)
		Expect(err).NotTo(HaveOccurred())
		Expect(get(node, infoPath, bearer(token)).body).To(ContainSubstring("expired"))
		_, err = node.TokenAt(time.Now(), node.URL, "nobody")
		Expect(err).To(MatchError(ContainSubstring(`"nobody" is unknown`)))
	})
})
