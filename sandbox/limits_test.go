package sandbox_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/edge"
)

var _ = Describe("A node with a rate limit", func() {
	limited := func(requests int, per time.Duration) runningNetwork {
		GinkgoHelper()
		noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		network, err := sandbox.NewNetwork(sandbox.NetworkConfig{Clock: func() time.Time { return noon },
			Nodes: []sandbox.Config{{Calls: 3, RateLimit: edge.Rate{Requests: requests, Per: per}}}})
		Expect(err).NotTo(HaveOccurred())
		return serveNetwork(network)
	}

	It("says how long a client must wait, and admits it after that, by the clock of the node", func() {
		network := limited(3, time.Minute)
		token := fetchToken(network, stagingToken, network.Nodes()[0].Credentials()[0])
		for range 3 {
			Expect(get(network, infoPath, bearer(token)).status).To(Equal(200))
		}
		refused := get(network, infoPath, bearer(token))
		Expect(refused.status).To(Equal(429))
		Expect(refused.header).To(SatisfyAll(HaveKeyWithValue("Retry-After", []string{"20"}), HaveKeyWithValue("Content-Type", []string{"application/problem+json"}),
			HaveKeyWithValue("Cache-Control", []string{"no-store"})))
		Expect(refused.body).To(SatisfyAll(ContainSubstring("the client of this token sends more than 3 requests in 1m0s"), ContainSubstring("wait 20 s")))
		Expect(network.Clock().Move(20 * time.Second)).To(Succeed())
		Expect(get(network, infoPath, bearer(token)).status).To(Equal(200))
		Expect(get(network, infoPath, bearer(token)).status).To(Equal(429))
		network.Reset()
		Expect(get(network, infoPath, bearer(token)).status).To(Equal(200))
	})

	It("counts each client with all its tokens, and callers without a valid token by address", func() {
		network := limited(4, time.Minute)
		clients := network.Nodes()[0].Credentials()
		first, second := fetchToken(network, stagingToken, clients[0]), fetchToken(network, stagingToken, clients[0])
		other := fetchToken(network, stagingToken, clients[1])
		for _, token := range []string{first, second, first, second} {
			Expect(get(network, fundingsPath, bearer(token)).status).To(Equal(200))
		}
		Expect(get(network, fundingsPath, bearer(first)).status).To(Equal(429))
		Expect(get(network, fundingsPath, bearer(second)).status).To(Equal(429))
		Expect(get(network, fundingsPath, bearer(other)).status).To(Equal(403))
		Expect(get(network, fundingsPath, bearer("nonsense")).status).To(Equal(401), "the fourth request of this address")
		Expect(get(network, fundingsPath, bearer("other-nonsense")).status).To(Equal(429))
		Expect(get(network, "/registry/registry.json", nil).status).To(Equal(429))
	})

	It("counts token requests, whatever their secret, and refuses them in the format of OAuth", func() {
		network := limited(2, time.Minute)
		for range 2 {
			Expect(postForm(network, stagingToken, "grant_type=client_credentials&client_id=a&client_secret=b", nil).status).To(Equal(401))
		}
		for _, path := range []string{stagingToken, stagingToken + "/", "/realms/ris/protocol/openid-connect/token", "/elsewhere/oauth/token"} {
			refused := postForm(network, path, "grant_type=client_credentials", nil)
			Expect(refused.status).To(Equal(429), path)
			Expect(refused.header.Get("Retry-After")).To(Equal("30"))
			var body map[string]string
			Expect(json.Unmarshal([]byte(refused.body), &body)).To(Succeed())
			Expect(body).To(SatisfyAll(HaveKeyWithValue("error", "temporarily_unavailable"), HaveKeyWithValue("error_description", ContainSubstring("wait 30 s"))))
		}
	})

	It("rounds the wait up to whole seconds, and never limits health checks", func() {
		network := limited(10, time.Second)
		for range 10 {
			get(network, "/registry/registry.json", nil)
		}
		Expect(get(network, "/registry/registry.json", nil).header.Get("Retry-After")).To(Equal("1"))
		Expect(get(network, "/healthz", nil).status).To(Equal(200))
	})

	It("describes the refusal of each operation in its document, and only with a rate limit", func() {
		documents := []string{"/ris-synergy/funding/v3/api-docs", "/ris-synergy/try-out/funding/v3/api-docs"}
		for i, node := range []runningNode{newNode(sandbox.Config{RateLimit: edge.Rate{Requests: 9, Per: time.Hour}}), newNode(sandbox.Config{})} {
			for _, path := range documents {
				var document struct {
					Paths map[string]map[string]struct{ Responses map[string]any }
				}
				Expect(json.Unmarshal([]byte(get(node, path, nil).body), &document)).To(Succeed())
				Expect(document.Paths).NotTo(BeEmpty())
				for path, item := range document.Paths {
					for method, operation := range item {
						_, described := operation.Responses["429"]
						Expect(described).To(Equal(i == 0), method+" "+path)
					}
				}
			}
		}
	})

	It("lets pages of other origins read the refusal, and never counts their preflights", func() {
		node := newNode(sandbox.Config{CORS: []string{"*"}, RateLimit: edge.Rate{Requests: 1, Per: time.Hour}})
		header := http.Header{"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"GET"}}
		for range 3 {
			Expect(send(node, http.MethodOptions, infoPath, "", header).status).To(Equal(204))
		}
		Expect(get(node, "/registry/registry.json", header).status).To(Equal(200))
		refused := get(node, "/registry/registry.json", header)
		Expect(refused.status).To(Equal(429))
		Expect(refused.header.Get("Access-Control-Allow-Origin")).To(Equal("*"))
	})

	It("counts the /64 network of an IPv6 address as one caller, because one caller controls it", func() {
		node, err := sandbox.New(sandbox.Config{RateLimit: edge.Rate{Requests: 1, Per: time.Hour}})
		Expect(err).NotTo(HaveOccurred())
		from := func(remote string) int {
			r := httptest.NewRequest(http.MethodGet, "/registry/registry.json", nil)
			r.RemoteAddr = remote
			w := httptest.NewRecorder()
			node.ServeHTTP(w, r)
			return w.Code
		}
		for _, remote := range []string{"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", "192.0.2.1:1", "192.0.2.2:1", "[::ffff:192.0.2.3]:1", "[fe80::1%eth0]:1", "@"} {
			Expect(from(remote)).To(Equal(200), remote)
		}
		for _, remote := range []string{"[2001:db8::2]:7", "192.0.2.1:7", "[fe80::2%eth0]:1", "@"} {
			Expect(from(remote)).To(Equal(429), remote)
		}
	})

	It("cannot have an invalid rate", func() {
		_, err := sandbox.New(sandbox.Config{RateLimit: edge.Rate{Requests: 5}})
		Expect(err).To(MatchError(ContainSubstring("rate 5 in 0s")))
	})
})
