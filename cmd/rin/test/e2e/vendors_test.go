//go:build e2e

package e2e_test

import (
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/verdict"
)

var _ = Describe("Servers of other vendors", func() {
	BeforeEach(func() {
		if servers == "" {
			Skip("npm is missing")
		}
	})
	all := []client{consumer, visitor, elsewhere, shortLived}

	Context("node-oidc-provider", func() {
		provider := func(clients ...client) (issuer string) {
			GinkgoHelper()
			return serve(servers, clientVariables(clients...), "node", "oidc.mjs")
		}

		It("before the sandbox's API", func() {
			issuer := provider(all...)
			api := serve("", nil, binary, "sandbox", "--addr", "127.0.0.1:0", "--issuer", issuer, "--jwks", issuer+"/jwks",
				"--audience", audience, "--issuer-client", consumer.id, "--issuer-client", elsewhere.id, "--issuer-client", shortLived.id)
			expectCertified(node{
				token: issuer + "/token", info: api + "/ris-synergy/info/v1/oauth/info/", spec: api + "/ris-synergy/funding/v3/api-docs",
				staging: provider(rehearsal) + "/token", clients: all, shortTokenHeader: "X-Brief-Token",
			}, "oidc-provider-and-sandbox")
		})

		It("before a resource server that checks tokens with jose", func() {
			issuer := provider(all...)
			api := serve(servers, []string{"ISSUER=" + issuer, "AUDIENCE=" + audience, "CLIENTS=" + consumer.id + "," + elsewhere.id + "," + shortLived.id}, "node", "resource.mjs")
			expectCertified(node{
				token: issuer + "/token", info: api + "/campus/info/v1/oauth/info/", spec: api + "/campus/funding/v1/api-docs",
				staging: provider(rehearsal) + "/token", clients: all, shortTokenHeader: "X-Brief-Token",
			}, "oidc-provider-and-jose")
		})
	})

	It("Keycloak before a resource server that checks tokens with jose", slow, func() {
		realm := keycloak(all...)
		api := serve(servers, []string{"ISSUER=" + realm, "AUDIENCE=" + audience, "ROLE=EXTERNAL_API_CLIENT"}, "node", "resource.mjs")
		expectCertified(node{
			token: realm + "/protocol/openid-connect/token", info: api + "/campus/info/v1/oauth/info/", spec: api + "/campus/funding/v1/api-docs",
			staging: serve(servers, clientVariables(rehearsal), "node", "oidc.mjs") + "/token", clients: all,
		}, "keycloak-and-jose")
	})

	It("oauth2-mock-server before two Prism mocks of the published documents is refused for the right reasons", func() {
		documents := publishedDocuments()
		if documents == "" {
			Skip("the published documents are not here")
		}
		prism := func(document string) string {
			GinkgoHelper()
			return serve(servers, []string{"NO_COLOR=1"}, "node", "node_modules/.bin/prism", "mock", "-h", "127.0.0.1", "-p", freePort(),
				filepath.Join(documents, document))
		}
		info, funding := prism("info.json"), prism("funding.json")
		mock := serve(servers, nil, "node", "mock.mjs")
		gateway := serve(servers, nil, "node", "static.mjs", filepath.Join(documents, "funding.json"),
			"/ris-synergy/info="+info, "/ris-synergy/funding="+funding)

		c := node{
			token: mock + "/token", info: gateway + "/ris-synergy/info/v1/info",
			spec: gateway + "/ris-synergy/funding/v3/api-docs", base: gateway, clients: []client{visitor},
		}.certify()
		Expect(c.exit).To(Equal(1), c.summary)
		c.expectOutcomes("mock-server-and-prism")
		expectExplained(secondOpinions(c.evidence()))
		for _, profile := range []string{"auth", "funding"} {
			Expect(c.judge(profile).Verdict.Decision).To(Equal(verdict.NotCertified))
		}
	})
})

// expectCertified certifies a node that is right, for both profiles that a node of the network needs.
func expectCertified(n node, table string) {
	GinkgoHelper()
	c := n.certify()
	c.expectOutcomes(table)
	expectExplained(secondOpinions(c.evidence()))
	for _, profile := range []string{"auth", "funding"} {
		judged := c.judge(profile)
		Expect(judged.exit).To(Equal(0), judged.summary)
		Expect(judged.Verdict.Decision).To(Equal(verdict.Certified))
	}
}

var _ = Describe("The HTML report in a browser", func() {
	It("draws without an error, in light and dark", func() {
		if isMissing("chromium") {
			Skip("chromium is missing")
		}
		dir := GinkgoT().TempDir()
		demo := exec.Command(binary, "demo", "--report-dir", dir)
		out, err := demo.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		for _, size := range []string{"1200,1600", "400,1600"} {
			picture := filepath.Join(dir, "report-"+strings.ReplaceAll(size, ",", "x")+".png")
			shot := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
				"--disable-background-networking", "--disable-component-update", "--disable-sync",
				"--user-data-dir="+GinkgoT().TempDir(), "--window-size="+size, "--screenshot="+picture, "file://"+filepath.Join(dir, "report.html"))
			out, err := shot.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			Expect(countColours(picture)).To(BeNumerically(">", 8), "the picture of the report is empty")
		}
	})
})

var _ = Describe("exchanges.har", func() {
	It("is HAR 1.2 by the schema that browsers and their tools share", func() {
		if servers == "" {
			Skip("npm is missing")
		}
		dir := GinkgoT().TempDir()
		out, err := exec.Command(binary, "demo", "--report-dir", dir, "--format", "har").CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		check := exec.Command("node", "har.mjs", filepath.Join(dir, "exchanges.har"))
		check.Dir = servers
		out, err = check.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
	})
})
