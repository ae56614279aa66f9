package sandbox_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/funding"
)

// runningNetwork is a network behind a real listener.
type runningNetwork struct {
	*sandbox.Network
	URL string
}

func (r runningNetwork) url() string { return r.URL }

func newNetwork(nodes ...sandbox.Config) runningNetwork {
	GinkgoHelper()
	network, err := sandbox.NewNetwork(sandbox.NetworkConfig{Nodes: nodes})
	Expect(err).NotTo(HaveOccurred())
	return serveNetwork(network)
}

func serveNetwork(network *sandbox.Network) runningNetwork {
	server := httptest.NewServer(network)
	DeferCleanup(server.Close)
	return runningNetwork{network, server.URL}
}

var _ = Describe("A network", func() {
	second := sandbox.Config{Root: "/xb", Seed: 2, Member: funding.Member{ID: "XB", Acronym: "MUSB", Name: "Musterberg", Contact: "ris@musb.example"}}

	It("lists all its nodes in one registry (NET-R6)", func() {
		network := newNetwork(sandbox.Config{}, second)
		var got struct{ Member []map[string]string }
		Expect(json.Unmarshal([]byte(get(network, "/registry/registry.json", nil).body), &got)).To(Succeed())
		tokens := map[string]string{}
		for _, m := range got.Member {
			tokens[m["id"]] = m["oauth2"]
		}
		Expect(tokens).To(SatisfyAll(HaveLen(4), HaveKeyWithValue("XA", network.URL+"/oauth/token"), HaveKeyWithValue("XB", network.URL+"/xb/oauth/token"),
			HaveKeyWithValue("XB_Realm", network.URL+"/xb/realms/ris/protocol/openid-connect/token")))
	})

	It("has nodes with separate tokens, keys and clients", func() {
		network := newNetwork(sandbox.Config{}, second)
		a, b := network.Nodes()[0], network.Nodes()[1]
		ofA, ofB := fetchToken(network, "/oauth/token", a.Credentials()[0]), fetchToken(network, "/xb/oauth/token", b.Credentials()[0])
		fundingsOfB := "/xb" + fundingsPath
		Expect(get(network, fundingsPath, bearer(ofA)).status).To(Equal(200))
		Expect(get(network, fundingsOfB, bearer(ofB)).status).To(Equal(200))
		Expect(get(network, fundingsPath, bearer(ofB)).status).To(Equal(401))
		Expect(get(network, fundingsOfB, bearer(ofA)).status).To(Equal(401))
		Expect(get(network, "/xb/realms/ris/protocol/openid-connect/certs", nil).body).NotTo(Equal(get(network, "/realms/ris/protocol/openid-connect/certs", nil).body))
		Expect(get(network, fundingsPath, bearer(ofA)).body).NotTo(Equal(get(network, fundingsOfB, bearer(ofB)).body))
	})

	It("finds the metadata of each issuer by its path (RFC 8414 §3.1)", func() {
		network := newNetwork(sandbox.Config{}, second)
		for issuer, path := range map[string]string{
			network.URL:                    "/.well-known/oauth-authorization-server",
			network.URL + "/xb":            "/.well-known/oauth-authorization-server/xb",
			network.URL + "/xb/realms/ris": "/.well-known/oauth-authorization-server/xb/realms/ris",
			network.URL + "/realms/ris":    "/.well-known/oauth-authorization-server/realms/ris",
		} {
			Expect(get(network, path, nil).body).To(ContainSubstring(`"issuer":"`+issuer+`"`), path)
		}
	})

	It("refuses two nodes when a path of one covers a resource of the other", func() {
		for want, nodes := range map[string][]sandbox.Config{
			`node 1: /xb/api/info/v1/oauth/info/ would be below the root "/xb"`: {{Prefix: "xb/api"}, second},
			`node 1: /oauth/token would be below the root "/oauth"`:             {{}, {Root: "/oauth", Member: second.Member}},
			`node 2: /xb/c/elsewhere/oauth/token would be below the root`:       {{Root: "/xb/c/elsewhere"}, {Root: "/xb/c", Member: second.Member}},
		} {
			_, err := sandbox.NewNetwork(sandbox.NetworkConfig{Nodes: nodes})
			Expect(err).To(MatchError(ContainSubstring(want)))
		}
		newNetwork(sandbox.Config{Root: "/xb/c"}, second)
	})

	It("refuses nodes that can't be told apart", func() {
		for want, other := range map[string]sandbox.Config{"root": {Member: second.Member}, "member id": {Root: "/xb"}, "begins with a slash": {Root: "xb"}} {
			_, err := sandbox.NewNetwork(sandbox.NetworkConfig{Nodes: []sandbox.Config{{}, other}})
			Expect(err).To(MatchError(SatisfyAll(ContainSubstring("node 2"), ContainSubstring(want))))
		}
	})

	It("has one clock for all nodes", func() {
		network := newNetwork(sandbox.Config{}, second)
		token := fetchToken(network, "/xb/oauth/token", network.Nodes()[1].Credentials()[0])
		Expect(network.Clock().Move(301 * time.Second)).To(Succeed())
		Expect(get(network, "/xb"+infoPath, bearer(token)).body).To(ContainSubstring("expired"))
		network.Reset()
		Expect(get(network, "/xb"+infoPath, bearer(token)).status).To(Equal(200))
	})
})

var _ = Describe("A running node", func() {
	It("replaces its deviations, keeps them when a name is unknown, and resets them", func() {
		node := newNode(sandbox.Config{Deviations: []string{"token-status-201"}})
		client := node.Credentials()[0]
		form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client.ClientID}, "client_secret": {client.Secret}}.Encode()
		status := func() int { return postForm(node, stagingToken, form, nil).status }
		Expect(status()).To(Equal(http.StatusCreated))
		Expect(node.Deviate()).To(Succeed())
		Expect(status()).To(Equal(http.StatusOK))
		Expect(node.Deviate("token-type-in-lower-case", "token-status-201")).To(Succeed())
		Expect(node.Deviate("token-status-202")).To(MatchError(ContainSubstring("token-status-201")))
		Expect(node.Deviations()).To(Equal([]string{"token-type-in-lower-case", "token-status-201"}))
		Expect(status()).To(Equal(http.StatusCreated))
		node.Reset()
		Expect(node.Deviations()).To(Equal([]string{"token-status-201"}))
	})

	It("cannot begin a deviation of connections", func() {
		Expect(newNode(sandbox.Config{}).Deviate("certificate-expired")).To(MatchError(ContainSubstring("at the start")))
	})
})
