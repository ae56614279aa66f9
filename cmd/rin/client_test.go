package main_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
)

// operator runs rin client in dir, against the sandbox at base.
type operator struct {
	base string
	env  []string
	dir  string
}

// newOperator starts a sandbox with these flags, and returns an operator of it.
func newOperator(args ...string) (operator, *gexec.Session) {
	GinkgoHelper()
	base, control, session := controlledSandbox(append([]string{"--calls", "3"}, args...)...)
	return operator{base, []string{"RIN_CONTROL=" + control}, GinkgoT().TempDir()}, session
}

// client runs rin client.
func (o operator) client(args ...string) outcome {
	GinkgoHelper()
	return rinIn(o.dir, "", o.env, append([]string{"client"}, args...)...)
}

// must runs rin client, which must succeed, and returns its output.
func (o operator) must(args ...string) string {
	GinkgoHelper()
	got := o.client(args...)
	Expect(got.code).To(Equal(0), got.err)
	Expect(got.err).To(BeEmpty())
	return got.out
}

// tokenFrom asks the sandbox at base for a token. It returns the status of the answer and the token.
func tokenFrom(base, id, secret string) (status int, token string) {
	GinkgoHelper()
	answer, err := http.PostForm(base+"/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}})
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	var grant struct {
		AccessToken string `json:"access_token"`
	}
	Expect(json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&grant)).To(Succeed())
	return answer.StatusCode, grant.AccessToken
}

// fundings fetches the list of fundings with a token, and returns the status.
func fundings(base, token string) int {
	GinkgoHelper()
	request, err := http.NewRequest(http.MethodGet, base+"/ris-synergy/funding/v3/fundings", nil)
	Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	Expect(err).NotTo(HaveOccurred())
	Expect(answer.Body.Close()).To(Succeed())
	return answer.StatusCode
}

// shownSecret matches a client secret in the output.
var shownSecret = regexp.MustCompile(`Client Secret +(\S{43})\n`)

func secretIn(out string) string {
	GinkgoHelper()
	Expect(out).To(MatchRegexp(shownSecret.String()))
	return shownSecret.FindStringSubmatch(out)[1]
}

var _ = Describe("rin client", func() {
	It("gives a party access, from the request to the list of fundings, and revokes it", func() {
		dataDir := filepath.Join(GinkgoT().TempDir(), "data")
		o, session := newOperator("--verbose", "--data", dataDir)

		Expect(o.must("request", "--party", "Library of Musterberg", "--contact", "it@musterberg.example", "--purpose", "calls in our intranet")).
			To(HavePrefix("request R-1 of Library of Musterberg (it@musterberg.example) is recorded"))
		Expect(o.must("list")).To(MatchRegexp(`(?s)request R-1 of Library of Musterberg.*calls in our intranet`))

		created := o.must("create", "library", "--request", "R-1")
		secret := secretIn(created)
		Expect(created).To(SatisfyAll(
			MatchRegexp(`Client ID +library\n`), MatchRegexp(`Service Account User ID  [0-9a-f-]{36}\n`),
			ContainSubstring("Token endpoint           "+o.base+"/oauth/token\n"), ContainSubstring("\n  Library of Musterberg (it@musterberg.example)\n"),
			ContainSubstring("rin client grant library --affiliation"), ContainSubstring("secure channel"),
		))
		Expect(o.must("list")).To(SatisfyAll(MatchRegexp(`(?m)^library +registered +- +-$`), Not(ContainSubstring("R-1"))))
		status, token := tokenFrom(o.base, "library", secret)
		Expect(status).To(Equal(200))
		Expect(fundings(o.base, token)).To(Equal(403), "the funding service has its own accounts")

		Expect(o.must("grant", "library", "--affiliation", "AFF-MUST-0042")).To(HavePrefix("client library may read fundings\n"))
		Expect(o.must("list")).To(MatchRegexp(`(?m)^library +permitted +EXTERNAL_API_CLIENT +AFF-MUST-0042$`))
		Expect(fundings(o.base, token)).To(Equal(200))

		renewed := secretIn(o.must("rotate", "library"))
		status, _ = tokenFrom(o.base, "library", secret)
		Expect(status).To(Equal(401))
		Expect(fundings(o.base, token)).To(Equal(200), "the old tokens stay valid")
		status, token = tokenFrom(o.base, "library", renewed)
		Expect(status).To(Equal(200))
		Expect(fundings(o.base, token)).To(Equal(200))

		Expect(o.must("revoke", "library")).To(ContainSubstring("its secret and its tokens are refused"))
		status, _ = tokenFrom(o.base, "library", renewed)
		Expect(status).To(Equal(401))
		Expect(fundings(o.base, token)).To(Equal(401))
		Expect(o.must("list")).To(MatchRegexp(`(?m)^library +revoked +- +-$`))

		visible := o.must("list") + o.must("list", "--json")
		for _, path := range []string{"/journal", "/conduct", "/metrics", "/nodes/XA/clients"} {
			answer, err := http.Get(strings.TrimPrefix(o.env[0], "RIN_CONTROL=") + path)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.StatusCode).To(Equal(200), path)
			body, err := io.ReadAll(answer.Body)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
			visible += string(body)
		}
		session.Terminate().Wait("10s")
		Expect(session).To(gexec.Exit(0))
		visible += string(session.Out.Contents()) + string(session.Err.Contents())
		stored, err := os.ReadFile(filepath.Join(dataDir, "accounts.db"))
		Expect(err).NotTo(HaveOccurred())
		for _, hidden := range []string{secret, renewed, token} {
			Expect(visible+string(stored)).NotTo(ContainSubstring(hidden), "secrets and tokens appear in no later output")
		}
	})

	It("prints JSON, and writes secrets to files that only their owner can read", func() {
		o, _ := newOperator()
		var issued struct{ ClientID, ClientSecret, ClientSecretFile, ServiceAccountUserID, TokenURL, Node string }
		Expect(json.Unmarshal([]byte(o.must("create", "a", "--json")), &issued)).To(Succeed())
		Expect(issued.ClientSecret).To(HaveLen(43))
		status, _ := tokenFrom(o.base, "a", issued.ClientSecret)
		Expect(status).To(Equal(200))

		out := o.must("rotate", "a", "--json", "--secret-file", "a.secret")
		info, err := os.Stat(filepath.Join(o.dir, "a.secret"))
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode()).To(Equal(fs.FileMode(0o600)))
		written, err := os.ReadFile(filepath.Join(o.dir, "a.secret"))
		Expect(err).NotTo(HaveOccurred())
		secret := strings.TrimSpace(string(written))
		Expect(out).To(SatisfyAll(ContainSubstring(`"clientSecretFile": "a.secret"`), Not(ContainSubstring(secret)), Not(ContainSubstring(`"clientSecret":`))))
		got := rinIn(o.dir, "", nil, "token", "--token-url", o.base+"/oauth/token", "--client-id", "a", "--client-secret", "file:a.secret")
		Expect(got.code).To(Equal(0), got.err)

		repeated := o.client("rotate", "a", "--secret-file", "a.secret")
		Expect(repeated.code).To(Equal(2))
		Expect(repeated.err).To(ContainSubstring("does not overwrite files"))
		status, _ = tokenFrom(o.base, "a", secret)
		Expect(status).To(Equal(200), "the secret is still valid")

		failed := o.client("rotate", "nobody", "--secret-file", "nobody.secret")
		Expect(failed.code).To(Equal(2))
		Expect(filepath.Join(o.dir, "nobody.secret")).NotTo(BeAnExistingFile())
	})

	It("reports failures with a hint", func() {
		o, _ := newOperator("--nodes", "2")
		Expect(o.must("create", "a", "--node", "XB")).To(ContainSubstring("rin client grant a --affiliation ID --node XB\n"))
		for want, args := range map[string][]string{
			"has 2 nodes":                {"list"},
			"no node with this id":       {"list", "--node", "XZ"},
			"exists already":             {"create", "a", "--node", "XB"},
			"want 1 to 64 letters":       {"create", "a b", "--node", "XB"},
			"no request \"R-9\"":         {"create", "b", "--node", "XB", "--request", "R-9"},
			"there is no client \"a\"":   {"revoke", "a", "--node", "XA"},
			"--affiliation is missing":   {"grant", "a", "--node", "XB"},
			"has no contact":             {"request", "--node", "XB", "--party", "p", "--purpose", "u"},
			"accepts 1 arg(s)":           {"rotate", "--node", "XB"},
			"unknown command \"delete\"": {"delete", "a"},
		} {
			got := o.client(args...)
			Expect(got.code).To(Equal(2), want)
			Expect(got.out).To(BeEmpty(), want)
			Expect(got.err).To(SatisfyAll(ContainSubstring(want), ContainSubstring("\nhint: ")), want)
		}
		Expect(rin(nil, "client", "list", "--control", "127.0.0.1:1").code).To(Equal(3))
	})

	It("has help with examples within 80 columns, and completes the ids of clients", func() {
		for _, args := range [][]string{{}, {"request"}, {"create"}, {"grant"}, {"rotate"}, {"revoke"}, {"list"}} {
			help := rin(nil, append(append([]string{"client"}, args...), "--help")...)
			Expect(help.out).To(ContainSubstring("Examples:\n"))
			for _, line := range strings.Split(help.out, "\n") {
				Expect(len([]rune(line))).To(BeNumerically("<=", 80), line)
			}
		}
		o, _ := newOperator()
		o.must("create", "library")
		o.must("revoke", "demo-client")
		Expect(rin(o.env, "__complete", "client", "grant", "").out).To(SatisfyAll(ContainSubstring("library\n"), Not(ContainSubstring("demo-client\n"))))
	})
})

var _ = Describe("rin sandbox --data", func() {
	It("shows the secrets of its first clients once, and they stay valid", func() {
		dataDir := filepath.Join(GinkgoT().TempDir(), "data")
		file := filepath.Join(GinkgoT().TempDir(), "credentials.json")
		_, session := newOperator("--data", dataDir, "--credentials", file)
		secret := demoSecret(session)
		session.Kill().Wait("10s")
		issued, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())

		o, session := newOperator("--data", dataDir, "--credentials", file)
		Expect(string(session.Out.Contents())).To(SatisfyAll(
			Not(ContainSubstring(secret)), ContainSubstring("shown at its creation (rin client rotate demo-client makes another)"), ContainSubstring("\nexport RIN_CLIENT_SECRET='...'   # the secret of ")))
		status, token := tokenFrom(o.base, "demo-client", secret)
		Expect(status).To(Equal(200))
		Expect(fundings(o.base, token)).To(Equal(200))
		Expect(string(issued)).To(ContainSubstring(secret))
		Expect(os.ReadFile(file)).To(ContainSubstring(secret), "the file keeps a secret that is still valid")

		o.must("revoke", "demo-client")
		Expect(rin(o.env, "sandbox", "reset").code).To(Equal(0))
		Expect(o.must("list")).To(MatchRegexp(`(?m)^demo-client +revoked`), "revocation survives a reset")
	})

	It("refuses a directory that another sandbox uses, and one with a foreign file", func() {
		dataDir := filepath.Join(GinkgoT().TempDir(), "data")
		newOperator("--data", dataDir)
		second := rin(nil, "sandbox", "--addr", "127.0.0.1:0", "--data", dataDir)
		Expect(second.code).To(Equal(2))
		Expect(second.err).To(SatisfyAll(ContainSubstring("--data: another process uses "), ContainSubstring("\nhint: end the other sandbox")))

		foreign := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(foreign, "accounts.db"), []byte("something else"), 0o600)).To(Succeed())
		got := rin(nil, "sandbox", "--addr", "127.0.0.1:0", "--data", foreign)
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(SatisfyAll(ContainSubstring("does not hold the clients of a sandbox"), ContainSubstring("\nhint: ")))
	})

	It("shows a secret again if the start failed before the secret was shown", func() {
		dataDir := filepath.Join(GinkgoT().TempDir(), "data")
		Expect(rin(nil, "sandbox", "--addr", "127.0.0.1:0", "--data", dataDir, "--control", "192.0.2.1:1").code).To(Equal(2))
		cmd := exec.Command(binary, "sandbox", "--addr", "127.0.0.1:0", "--data", dataDir, "--calls", "3")
		session, err := gexec.Start(cmd, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Kill().Wait("10s") })
		Eventually(session.Out, "20s").Should(gbytes.Say(`export RIN_CLIENT_SECRET=[A-Za-z0-9_-]{43}\n`))
	})
})
