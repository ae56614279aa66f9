package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
)

var _ = Describe("rin sandbox", func() {
	It("prints where it listens and commands that work, and ends cleanly", func() {
		cmd := exec.Command(binary, "sandbox", "--addr", "127.0.0.1:0", "--calls", "30", "--as-of", "2026-03-01", "--deviate", "token-status-201")
		session, err := gexec.Start(cmd, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Kill().Wait("10s") })
		Eventually(session.Out, "20s").Should(gbytes.Say(`(?s)listening on http://127\.0\.0\.1:\d+.*deviates: token-status-201, breaks TOK-02.*page\[size\]=2'\n`))

		text := string(session.Out.Contents())
		script := text[strings.Index(text, "export RIN_CLIENT_SECRET="):]
		expectWithin80Columns(strings.Replace(script, "TOKEN=", "", 1))
		if _, err := exec.LookPath("curl"); err == nil {
			run := exec.Command("sh", "-c", script)
			run.Dir, run.Env = GinkgoT().TempDir(), append(os.Environ(), "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
			answers, err := run.Output()
			Expect(err).To(MatchError("exit status 1"), "rin certify refuses the node")
			Expect(string(answers)).To(MatchRegexp(`(?s)^{"endpoints".*}\n\[{.*"callStages".*\]\n.*TOK-02`))
		}
		for _, named := range []string{`start +(\S+/) `, `docs +(\S+/docs) `, `registry +(\S+/registry\.json)`} {
			place := regexp.MustCompile(`(?m)^  ` + named).FindStringSubmatch(text)
			Expect(place).To(HaveLen(2), named)
			answer, err := http.Get(place[1])
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.StatusCode).To(Equal(http.StatusOK), named)
			Expect(answer.Body.Close()).To(Succeed())
		}

		session.Signal(syscall.SIGTERM)
		Eventually(session, "10s").Should(gexec.Exit(0))
	})

	It("lists its deviations with the broken requirements, and the benign ones apart", func() {
		got := rin(nil, "sandbox", "--deviations")
		Expect(got.code).To(Equal(0))
		faults, habits, found := strings.Cut(got.out, "\nBenign: ")
		Expect(found).To(BeTrue())
		Expect(faults).To(MatchRegexp(`(?m)^token-status-201\n    breaks TOK-02\n    \S`))
		Expect(faults).NotTo(ContainSubstring("breaks nothing"))
		Expect(habits).To(MatchRegexp(`(?m)^token-type-in-lower-case\n    breaks nothing\n    \S`))
		Expect(habits).To(MatchRegexp(`(?m)^refusals-of-spring\n    breaks nothing, earns a warning from BRR-05\n    \S`))
	})
})

var _ = Describe("rin token", func() {
	It("prints only the token", func() {
		n := newNode(nil)
		got := rin(n.env(), "token", "--token-url", n.URL+"/oauth/token", "--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET")
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.err).To(BeEmpty())

		request, err := http.NewRequest(http.MethodGet, n.URL+"/ris-synergy/info/v1/oauth/info/", nil)
		Expect(err).NotTo(HaveOccurred())
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(got.out))
		answer, err := http.DefaultClient.Do(request)
		Expect(err).NotTo(HaveOccurred())
		defer answer.Body.Close()
		Expect(answer.StatusCode).To(Equal(http.StatusOK))
	})

	It("says why there is no token", func() {
		n := newNode(nil)
		wrong := rin([]string{"SECRET=not-the-secret-at-all"}, "token", "--token-url", n.URL+"/oauth/token", "--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET")
		Expect(wrong.code).To(Equal(1))
		Expect(wrong.out).To(BeEmpty())
		Expect(wrong.err).To(SatisfyAll(ContainSubstring("invalid_client"), ContainSubstring("hint: "), Not(ContainSubstring("not-the-secret-at-all"))))

		elsewhere := rin(n.env(), "token", "--token-url", n.URL+"/registry/registry.json", "--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET")
		Expect(elsewhere.code).To(Equal(1))
		Expect(elsewhere.err).To(ContainSubstring("is this the token endpoint?"))
	})
})

var _ = Describe("rin fixtures", func() {
	It("writes the same bytes for the same seed and day, as JSON and NDJSON", func() {
		args := []string{"fixtures", "--calls", "50", "--seed", "7", "--as-of", "2026-03-01"}
		first, second := rin(nil, args...), rin(nil, args...)
		Expect(first.code).To(Equal(0), first.err)
		Expect(first.out).To(Equal(second.out))
		var array []json.RawMessage
		Expect(json.Unmarshal([]byte(first.out), &array)).To(Succeed())

		lines := json.NewDecoder(strings.NewReader(rin(nil, append(args, "--format", "ndjson")...).out))
		count := 0
		for ; ; count++ {
			var record json.RawMessage
			if err := lines.Decode(&record); err == io.EOF {
				break
			} else {
				Expect(err).NotTo(HaveOccurred())
			}
			Expect(record).To(MatchJSON(array[count]))
		}
		Expect(count).To(Equal(len(array)))
	})

	It("leaves no partial file when it cannot write", func() {
		dir := GinkgoT().TempDir()
		got := rinIn(dir, "", nil, "fixtures", "--out", filepath.Join("missing", "f.json"))
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("hint: "))
		Expect(rinIn(dir, "", nil, "fixtures", "--calls", "5", "--out", "f.json").code).To(Equal(0))
		entries, err := os.ReadDir(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(entries).To(HaveLen(1))
	})
})
