package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("rin demo", func() {
	It("certifies a sandbox in one command and writes every file of a report", func() {
		dir := GinkgoT().TempDir()
		got := rinIn(dir, "", nil, "demo")
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.out).To(SatisfyAll(ContainSubstring("✓ Certified for profile funding"), ContainSubstring("deviations tried; they prove")))
		Expect(got.err).To(ContainSubstring("requests, 8 at a time"))
		for _, name := range []string{"report.html", "report.json", "junit.xml", "report.md", "evidence.jsonl.gz"} {
			Expect(filepath.Join(dir, "rin-report", name)).To(BeARegularFile())
		}
		Expect(filepath.Join(dir, "rin-report", "exchanges.har")).NotTo(BeAnExistingFile(), "it is made on demand")
		Expect(sizeOf(filepath.Join(dir, "rin-report"))).To(BeNumerically("<", 4<<20))
		r := reportIn(filepath.Join(dir, "rin-report"))
		Expect(r.Schema).To(Equal("rin.report/v1"))
		Expect(r.outcomes()).To(And(HaveLen(len(fundingRequirements())+1), HaveKey("JWT-08")), "the sandbox publishes its keys")
	})

	It("prints the summary that README.md quotes", func() {
		got := rinIn(GinkgoT().TempDir(), "", nil, "demo")
		readme, err := os.ReadFile("../../README.md")
		Expect(err).NotTo(HaveOccurred())
		_, summary, certified := strings.Cut(got.out, "✓ Certified for profile funding\n")
		Expect(certified).To(BeTrue(), got.out)
		summary, _, _ = strings.Cut(words(summary), " At first contact")
		summary = regexp.MustCompile(`rin \S+ \(catalogue`).ReplaceAllLiteralString(summary, "rin devel (catalogue") // the version of this build may be longer, and wrap the lines elsewhere
		Expect(words(string(readme))).To(ContainSubstring(summary))
	})

	It("ends with exit code 1 for a fault, and prints the requirement and the fix", func() {
		got := rin(nil, "demo", "--calls", "20", "--deviate", "token-status-201")
		Expect(got.code).To(Equal(1))
		Expect(got.out).To(SatisfyAll(ContainSubstring("TOK-02"), ContainSubstring("Not certified"), ContainSubstring("curl ")))
	})
})

var _ = Describe("rin certify", func() {
	It("certifies a node by its URLs, and by its registry entry", func() {
		n := newNode(nil)
		byURL, _ := n.certify()
		Expect(byURL.code).To(Equal(0), byURL.out+byURL.err)

		byEntry := rin(n.env(), "certify", "--registry", n.URL+"/registry/registry.json", "--node", "XA", "--profile", "auth",
			"--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET")
		Expect(byEntry.code).To(Equal(0), byEntry.out+byEntry.err)
	})

	It("reads the secret from a file and from standard input", func() {
		n := newNode(nil)
		dir := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(dir, "secret"), []byte(n.clients[0].Secret+"\n"), 0o600)).To(Succeed())
		args := []string{"certify", "--profile", "auth", "--only", "TOK-01", "--token-url", n.URL + "/oauth/token",
			"--info-url", n.URL + "/ris-synergy/info/v1/oauth/info/", "--client-id", n.clients[0].ClientID, "--client-secret"}
		Expect(rinIn(dir, "", nil, append(args, "file:secret")...).code).To(Equal(0))
		Expect(rinIn(dir, n.clients[0].Secret, nil, append(args, "-")...).code).To(Equal(0))
	})

	It("ends every partial run as partial", func() {
		n := newNode(nil)
		for _, choice := range [][]string{{"--only", "tok-06,BRR-02"}, {"--label-filter", "TOK && gate:gating"}, {"--effort", "quick"}} {
			got, dir := n.certify(choice...)
			Expect(got.code).To(Equal(0), got.out+got.err)
			Expect(got.out).NotTo(ContainSubstring("✓ Certified"))
			Expect(reportIn(dir).Verdict.Decision).To(Equal("partial"), "%v", choice)
		}
		got, dir := newNode(nil, "token-status-201").certify("--only", "TOK-02")
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(got.err).To(And(ContainSubstring("rin explain TOK-02 says"), ContainSubstring("--rerun-failed "+filepath.Join(dir, "report.json"))))
		Expect(reportIn(dir).outcomes()).To(Equal(map[string]string{"TOK-02": "fail"}))
	})

	It("judges the requirement that --only names, also one beyond the profile, and leaves open what does not apply", func() {
		n := newNode(nil)
		got, dir := n.certify("--profile", "auth", "--only", "JWT-08")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(reportIn(dir).outcomes()).To(Equal(map[string]string{"JWT-08": "pass"}))
		n = newNode(nil, "key-set-empty")
		got, dir = n.certify("--profile", "auth", "--only", "JWT-08")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(reportIn(dir).outcomes()).To(Equal(map[string]string{"JWT-08": "fail"}))
		Expect(got.out).To(ContainSubstring("Partial run of profile auth: only advice failed"))
		got, dir = n.certify("--profile", "auth", "--only", "JWT-10")
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(reportIn(dir).outcomes()).To(Equal(map[string]string{"JWT-10": "not-applicable"}))
	})

	It("asks for another secret where the server knows neither client nor secret, and does not blame the node", func() {
		n := newNode(nil)
		got := rin([]string{"SECRET=another-secret-0123456789"}, append([]string{"certify", "--report-dir", GinkgoT().TempDir()}, n.flags("--profile", "auth", "--client-id2", "", "--client-secret2", "")...)...)
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(got.out).To(ContainSubstring("compare client id and secret"))
		Expect(got.out).NotTo(ContainSubstring("cause    the node"))
	})

	It("judges live as it judges the recording, requirement by requirement", func() {
		for _, deviations := range [][]string{nil, {"token-status-201"}, {"signature-not-verified"}} {
			n := newNode(nil, deviations...)
			live := map[requirement.ID]requirement.Judgement{}
			evidence := filepath.Join(GinkgoT().TempDir(), "evidence.jsonl.gz")
			result, err := conformance.Certify(GinkgoT().Context(), n.target().Defaults(), conformance.Options{
				Inputs: conformance.Inputs{Suite: "test"}, Evidence: evidence, Worker: &worker.Command{Path: binary, Args: []string{"worker"}},
				OnEvent: func(e worker.Event) {
					if e.Kind == worker.Judged {
						live[e.ID] = *e.Judgement
					}
				},
			})
			Expect(err).NotTo(HaveOccurred())
			Expect(live).To(HaveLen(len(fundingRequirements())))
			judgedAgain := requirement.JudgeAll(requirement.Catalogue(), requirement.Read(result.Log))
			for id, judgement := range live {
				Expect(judgement).To(Equal(judgedAgain[id]), "%s with %v", id, deviations)
			}
		}
	})

	It("writes the same report from the same evidence", func() {
		_, dir := newNode(nil, "token-status-201").certify("--format", "html,json,junit,har,markdown")
		secondDir := GinkgoT().TempDir()
		got := rin(nil, "judge", filepath.Join(dir, "evidence.jsonl.gz"), "--report-dir", secondDir, "--format", "html,json,junit,har,markdown")
		Expect(got.code).To(Equal(1), got.err)
		for _, name := range []string{"report.json", "report.html", "junit.xml", "exchanges.har", "report.md"} {
			first, err := os.ReadFile(filepath.Join(dir, name))
			Expect(err).NotTo(HaveOccurred())
			second, err := os.ReadFile(filepath.Join(secondDir, name))
			Expect(err).NotTo(HaveOccurred())
			Expect(withoutJudgedAgain(string(second))).To(Equal(string(first)), name)
		}
	})

	It("judges evidence again and writes every report file into rin-report, as its help says", func() {
		_, dir := newNode(nil).certify("--profile", "auth", "--only", "TOK-01,TOK-02")
		elsewhere := GinkgoT().TempDir()
		got := rinIn(elsewhere, "", nil, "judge", filepath.Join(dir, "evidence.jsonl.gz"))
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.err).To(ContainSubstring("report: rin-report/report.html"))
		for _, name := range []string{"report.html", "report.json", "junit.xml", "report.md"} {
			Expect(filepath.Join(elsewhere, "rin-report", name)).To(BeARegularFile())
		}
		help := rin(nil, "judge", "--help")
		Expect(help.out).To(SatisfyAll(ContainSubstring(`directory for the report (default "rin-report")`), Not(ContainSubstring("and the evidence"))))
	})

	It("leaves files that only their owner can read", func() {
		n := newNode(nil, "token-status-201")
		_, dir := n.certify("--profile", "auth", "--only", "TOK-01,TOK-02", "--format", "html,json,junit,har,markdown")
		_ = rin(nil, "judge", filepath.Join(dir, "evidence.jsonl.gz"), "--report-dir", dir, "--write-baseline", filepath.Join(dir, "known.yaml"))
		files, err := os.ReadDir(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(len(files)).To(BeNumerically(">=", 7))
		for _, file := range files {
			info, err := file.Info()
			Expect(err).NotTo(HaveOccurred())
			Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)), file.Name())
		}
	})

	It("says that the operator attests SEC-07 only if that is so", func() {
		n := newNode(nil)
		for _, c := range []struct {
			flags         []string
			says, saysNot string
		}{
			{nil, "SEC-07 cannot be tried and was not attested", "the operator attests"},
			{[]string{"--attest-brute-force", "no"}, "SEC-07 cannot be tried and was not attested", "; the operator attests"},
			{[]string{"--attest-brute-force", "yes: rate limit"}, "; the operator attests SEC-07", "was not attested"},
		} {
			got, dir := n.certify(append([]string{"--profile", "auth", "--only", "TOK-01,SEC-07"}, c.flags...)...)
			shown := words(got.out)
			Expect(shown).To(And(ContainSubstring(c.says), Not(ContainSubstring(c.saysNot))), "%v", c.flags)
			for _, name := range []string{"report.html", "report.md", "junit.xml"} {
				text, err := os.ReadFile(filepath.Join(dir, name))
				Expect(err).NotTo(HaveOccurred())
				Expect(string(text)).NotTo(ContainSubstring(c.saysNot), name)
			}
		}
	})

	It("says, if there is no second client, that role separation was not tested", func() {
		n := newNode(nil)
		got := rin(n.env(), "certify", "--profile", "funding", "--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET",
			"--token-url", n.URL+"/oauth/token", "--info-url", n.URL+"/ris-synergy/info/v1/oauth/info/", "--spec-url", n.URL+"/ris-synergy/funding/v3/api-docs")
		Expect(got.code).To(Equal(0), got.out)
		Expect(got.out).To(MatchRegexp("[Rr]ole separation"))
	})

	It("sends secrets only to the node", func() {
		var elsewhere []string
		other := newNode(func(http.Handler) http.Handler {
			return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere = append(elsewhere, r.URL.String()) })
		})
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/ris-synergy/info/v1/oauth/info/" {
					http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
					return
				}
				next.ServeHTTP(w, r)
			})
		})
		got, _ := n.certify()
		Expect(got.code).To(Equal(1), got.out)
		Expect(elsewhere).To(BeEmpty())
	})
})

// withoutJudgedAgain removes what a report says about evidence that was judged again, in every format.
func withoutJudgedAgain(text string) string {
	return regexp.MustCompile(`(?m)\n *(<div><dt>Judged again</dt>.*|<property name="judged-again" .*|\| Judged again \|.*)$|,\n *"judgedAgain": \{[^}]*\}|\n *"judgedAgain": \{[^}]*\}\n *`).ReplaceAllString(text, "")
}

// target returns the URLs of the node and the credentials of two clients for a run that is started from Go.
func (n node) target() target.Target {
	second := target.Credentials{ClientID: n.clients[1].ClientID, ClientSecret: target.NewSecret(n.clients[1].Secret)}
	return target.Target{
		TokenURL: n.URL + "/oauth/token", InfoURL: n.URL + "/ris-synergy/info/v1/oauth/info/", SpecURL: n.URL + "/ris-synergy/funding/v3/api-docs",
		Credentials: target.Credentials{ClientID: n.clients[0].ClientID, ClientSecret: target.NewSecret(n.clients[0].Secret)},
		Second:      &second, Profile: "funding",
	}
}

// fundingRequirements lists the requirements that a run of the profile funding judges.
func fundingRequirements() []requirement.ID {
	var ids []requirement.ID
	for _, r := range requirement.Catalogue() {
		if requirement.Funding.Includes(r.Profile) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// sizeOf returns the size of all files in a directory, in bytes.
func sizeOf(dir string) (size int64) {
	GinkgoHelper()
	files, err := os.ReadDir(dir)
	Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		info, err := file.Info()
		Expect(err).NotTo(HaveOccurred())
		size += info.Size()
	}
	return size
}
