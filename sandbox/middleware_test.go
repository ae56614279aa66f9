package sandbox_test

import (
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/edge"
	"github.com/rin-network/rin/sandbox/fault"
)

var _ = Describe("The middleware of a node", func() {
	// verifications returns how many tokens the node has verified.
	verifications := func(n runningNetwork) string {
		GinkgoHelper()
		var page edge.MetricsPage
		n.WriteMetrics(&page)
		_, after, found := strings.Cut(string(page.Bytes()), `rin_token_verifications_total{node="XA"} `)
		Expect(found).To(BeTrue())
		count, _, _ := strings.Cut(after, "\n")
		return count
	}

	It("verifies the token of a request once for the rate limit, the scenarios and the guard together", func() {
		n := newNetwork(sandbox.Config{
			Calls: 3, FaultHeaders: true, RateLimit: edge.Rate{Requests: 100, Per: time.Minute}, VerifiedTokens: -1,
			Scenarios: []fault.Play{{Name: "slow", Path: "list", Client: "demo-client-without-role"}, {Name: "401-once", Path: "info", Client: "demo-client-without-role"}},
		})
		token := fetchToken(n, stagingToken, n.Nodes()[0].Credentials()[0])
		Expect(verifications(n)).To(Equal("0"))

		Expect(get(n, infoPath, bearer(token)).status).To(Equal(http.StatusOK))
		Expect(verifications(n)).To(Equal("1"))
		Expect(get(n, fundingsPath, bearer(token)).status).To(Equal(http.StatusOK))
		Expect(verifications(n)).To(Equal("2"))
		Expect(get(n, infoPath, bearer("not.a.token")).status).To(Equal(http.StatusUnauthorized))
		Expect(verifications(n)).To(Equal("3"), "a bad token is not verified again, either")

		asks := bearer(token)
		asks.Set(fault.ScenarioHeader, "extra-fields")
		Expect(get(n, infoPath, asks).header).To(HaveKey(fault.ScenarioHeader))
		Expect(verifications(n)).To(Equal("4"))

		get(n, infoPath, nil)
		get(n, "/registry/registry.json", nil)
		Expect(verifications(n)).To(Equal("4"), "a request without a token has nothing to verify")
	})

	It("verifies a token again when its keys were replaced while the request was answered", func() {
		n := newNetwork(sandbox.Config{Calls: 3, RateLimit: edge.Rate{Requests: 100, Per: time.Minute}, Scenarios: []fault.Play{{Name: "key-rotation"}}})
		token := fetchToken(n, stagingToken, n.Nodes()[0].Credentials()[0])
		Expect(get(n, infoPath, bearer(token)).status).To(Equal(http.StatusUnauthorized))
		Expect(verifications(n)).To(Equal("2"))
	})
})
