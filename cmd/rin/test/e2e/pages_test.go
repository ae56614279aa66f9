//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net/url"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// browserReport is what reader.mjs saw: the pages of a node, used in a browser.
type browserReport struct {
	Requests, Connections, Violations, Errors, Pictures []string
	TokenRequests                                       []struct {
		URL, Authorization string
		Fields             []string
	}
	CopyButtons, SignInOffered int
	ClientID, First            string
	Tried, Refused, Answered   struct {
		URL, Shown string
		Status     int
	}
	WrongSecret, Kept string
	KeptSecret        bool
	Walk, Control     int // violations of the content security policy: while reading, and when the script broke it on purpose afterwards
	Forbidden         struct {
		Inline bool
		Abroad string
	}
}

// browse starts a sandbox with further flags. A script reads its page at root in a browser; browse stores the script's output in report.
func browse(script, root string, report any, flags ...string) (origin string) {
	GinkgoHelper()
	if servers == "" || isMissing("chromium") {
		Skip("Node, npm or Chromium is missing")
	}
	chromium, err := exec.LookPath("chromium")
	Expect(err).NotTo(HaveOccurred())
	origin = serve("", nil, append([]string{binary, "sandbox", "--addr", "127.0.0.1:0"}, flags...)...)
	reader := exec.Command("node", script, origin+root, chromium, GinkgoT().TempDir())
	reader.Dir, reader.Stderr, reader.WaitDelay = servers, GinkgoWriter, time.Second
	out, err := reader.Output()
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(out, report)).To(Succeed())
	return origin
}

// host returns the host with the port of an origin.
func host(origin string) string {
	GinkgoHelper()
	u, err := url.Parse(origin)
	Expect(err).NotTo(HaveOccurred())
	return u.Host
}

var _ = Describe("The pages of a node in a browser", func() {
	DescribeTable("lead from the start page to a call without a token, a sign-in and the protected call, and send nothing to other hosts", func(root, client string) {
		var r browserReport
		origin := browse("reader.mjs", root, &r, "--nodes", "2")

		By("the start page: credentials, and something to copy beside each")
		Expect(r.ClientID).To(Equal(client))
		Expect(r.CopyButtons).To(BeNumerically(">=", 10))

		By("the reference: try-out first, which needs no sign-in")
		Expect(r.First).To(Equal("Try-out"))
		Expect(r.SignInOffered).To(BeZero())
		Expect(r.Tried.Status).To(Equal(200))
		Expect(r.Tried.URL).To(ContainSubstring("/try-out/"))
		Expect(r.Tried.Shown).To(ContainSubstring(`"XF-00000001"`))

		By("the protected API: refused, signed in with the credentials in the body (NET-R9), answered")
		Expect(r.Refused.Status).To(Equal(401))
		Expect(r.Refused.Shown).To(ContainSubstring("the request has no access token"))
		Expect(r.WrongSecret).To(MatchRegexp(`error: (invalid|unauthorized)_client, description: \S`))
		Expect(r.TokenRequests).To(HaveLen(2))
		for _, t := range r.TokenRequests {
			Expect(t.Fields).To(ConsistOf("grant_type", "client_id", "client_secret"))
			Expect(t.Authorization).To(BeEmpty())
		}
		Expect(r.Answered.Status).To(Equal(200))
		Expect(r.Answered.URL).To(SatisfyAll(Equal(r.Refused.URL), Not(ContainSubstring("/try-out/"))))
		Expect(r.Answered.Shown).To(ContainSubstring(`"XF-`))

		By("nothing kept, nothing broken, nobody else asked")
		Expect(r.Kept).To(Equal(`[{},{},""]`))
		Expect(r.KeptSecret).To(BeFalse())
		Expect(r.Errors).To(BeEmpty())
		Expect(r.Walk).To(BeZero(), "%v", r.Violations)
		Expect(r.Connections).To(Equal([]string{host(origin)}))
		for _, request := range r.Requests {
			Expect(request).To(Or(HavePrefix(origin+root+"/"), HavePrefix("data:")))
		}
		for _, picture := range r.Pictures {
			Expect(countColours(picture)).To(BeNumerically(">", 8), picture+" is empty")
		}

		By("the policy would have stopped it")
		Expect(r.Forbidden.Inline).To(BeFalse())
		Expect(r.Forbidden.Abroad).To(Equal("refused"))
		Expect(r.Control).To(BeNumerically(">=", 2))
	},
		Entry("at the root of its host", "", "demo-client"),
		Entry("below a root, with the flavour keycloak", "/xb", "demo-client-xb"),
	)

	It("run no script and fetch nothing for a document that a stranger wrote", func() {
		var seen struct {
			Answers, Dialogs, Violations, Connections []string
			ScriptLinks                               int
			Shown                                     string
		}
		origin := browse("stranger.mjs", "", &seen, "--spec", filepath.Join(servers, "stranger.json"))
		Expect(seen.Shown).To(ContainSubstring("Words of a stranger"))
		Expect(seen.Dialogs).To(BeEmpty())
		Expect(seen.ScriptLinks).To(BeZero())
		Expect(seen.Answers).To(HaveEach(Or(HavePrefix(origin+"/"), HavePrefix("data:"))))
		Expect(seen.Connections).To(Equal([]string{host(origin)}))
		Expect(seen.Violations).To(ContainElement(ContainSubstring("abroad.example")), "the policy was not put to the test")
	})
})
