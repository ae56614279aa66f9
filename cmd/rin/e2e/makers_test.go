//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	clientID = "e2e-client"
	secret   = "e2e-5ab1f0c37d2e4946a1c0ffee"
	audience = "urn:rin:e2e"
)

var _ = Describe("node-oidc-provider before the sandbox's API", func() {
	BeforeEach(func() {
		if servers == "" {
			Skip("npm is missing")
		}
	})

	It("is certified for the profile auth, with its warnings named", func() {
		issuer := serve(servers, []string{"CLIENT_ID=" + clientID, "CLIENT_SECRET=" + secret, "AUDIENCE=" + audience}, "node", "oidc.mjs")
		node := serve("", nil, binary, "sandbox", "--addr", "127.0.0.1:0",
			"--issuer", issuer, "--jwks", issuer+"/jwks", "--audience", audience, "--issuer-client", clientID)

		c := certify(secret, "--profile", "auth", "--client-id", clientID,
			"--token-url", issuer+"/token", "--info-url", node+"/ris-synergy/info/v1/oauth/info/")

		Expect(c.exit).To(Equal(0), c.summary)
		Expect(c.Verdict.Decision).To(Equal("certified"))
		// It leaves Pragma out on purpose (TOK-07), and ignores an unknown scope without a word (TER-09).
		Expect(c.of("warn")).To(ConsistOf("TOK-07", "TER-09"))
		Expect(c.of("fail")).To(BeEmpty())
		fmt.Fprintln(os.Stderr, c.summary)
	})
})

var _ = Describe("oauth2-mock-server before two Prism mocks of the published documents", func() {
	BeforeEach(func() {
		if servers == "" {
			Skip("npm is missing")
		}
		if published() == "" {
			Skip("the published documents are not here")
		}
	})

	prism := func(document string) string {
		GinkgoHelper()
		return serve(servers, []string{"NO_COLOR=1"}, "node", "node_modules/.bin/prism", "mock", "-h", "127.0.0.1", "-p", freePort(),
			filepath.Join(published(), document))
	}

	It("is refused for the right reasons", func() {
		info, funding := prism("info.json"), prism("funding.json")
		mock := serve(servers, nil, "node", "mock.mjs")
		gateway := serve(servers, nil, "node", "static.mjs", filepath.Join(published(), "funding.json"),
			"/ris-synergy/info="+info, "/ris-synergy/funding="+funding)

		c := certify(secret, "--profile", "funding", "--client-id", clientID,
			"--token-url", mock+"/token", "--info-url", gateway+"/ris-synergy/info/v1/info",
			"--spec-url", gateway+"/ris-synergy/funding/v3/api-docs", "--base-url", gateway)

		Expect(c.exit).To(Equal(1), c.summary)
		Expect(c.Verdict.Decision).To(Equal("not-certified"))
		Expect(c.of("fail")).To(ContainElements(
			"TER-01", // any secret gets a token
			"TER-05", // and so does no client at all
			"TER-06", // and the id alone
			"BRR-01", // the mocks never ask for a token
			"API-04", // Prism cuts the recursive organisation off where members are required
		))
		// The published document declares no security and answers no unknown id with 404.
		Expect(c.Outcomes).To(HaveKeyWithValue("SPC-01", "pass"))
		Expect(c.Outcomes).To(HaveKeyWithValue("SPC-08", "pass"))
		fmt.Fprintln(os.Stderr, c.summary)
	})
})

var _ = Describe("The HTML report in a browser", func() {
	It("draws without an error, in light and dark", func() {
		if missing("chromium") {
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
			Expect(colours(picture)).To(BeNumerically(">", 8), "the picture of the report is empty")
		}
	})
})

var _ = Describe("exchanges.har", func() {
	It("is HAR 1.2 by the schema that browsers and their tools share", func() {
		if servers == "" {
			Skip("npm is missing")
		}
		dir := GinkgoT().TempDir()
		out, err := exec.Command(binary, "demo", "--report-dir", dir).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		check := exec.Command("node", "har.mjs", filepath.Join(dir, "exchanges.har"))
		check.Dir = servers
		out, err = check.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
	})
})
