package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// drivenSandbox is a running sandbox to which a test sends requests and commands.
type drivenSandbox struct {
	base, secret string
	env          []string
}

func newDrivenSandbox(args ...string) drivenSandbox {
	GinkgoHelper()
	base, control, session := controlledSandbox(args...)
	return drivenSandbox{base, demoSecret(session), []string{"RIN_CONTROL=" + control}}
}

// demoSecret returns the secret of the first client that a sandbox printed.
func demoSecret(session *gexec.Session) string {
	return regexp.MustCompile(`secret  (\S+)`).FindStringSubmatch(string(session.Out.Contents()))[1]
}

// must runs a command to the sandbox, which must succeed.
func (b drivenSandbox) must(args ...string) string {
	GinkgoHelper()
	got := rin(b.env, append([]string{"sandbox"}, args...)...)
	Expect(got.code).To(Equal(0), got.err)
	Expect(got.err).To(BeEmpty())
	return got.out
}

// token asks for a token with the demo client. The token is empty if the request was refused.
func (b drivenSandbox) token() (status int, token string) {
	GinkgoHelper()
	answer, err := http.PostForm(b.base+"/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {"demo-client"}, "client_secret": {b.secret}})
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	if found := regexp.MustCompile(`"access_token":"([^"]+)"`).FindSubmatch(body); found != nil {
		token = string(found[1])
	}
	return answer.StatusCode, token
}

// list asks for fundings with a token.
func (b drivenSandbox) list(token, query string) (*http.Response, string) {
	GinkgoHelper()
	request, err := http.NewRequest(http.MethodGet, b.base+"/ris-synergy/funding/v3/fundings"+query, nil)
	Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	return answer, string(body)
}

var _ = Describe("The commands to a running sandbox", func() {
	It("switch deviations and show which are in force", func() {
		b := newDrivenSandbox("--calls", "3", "--deviate", "token-status-201")
		Expect(b.must("status")).To(MatchRegexp(`^\d{4}-\d\d-\d\dT\S+Z \(not moved\)\nXA  Universität Musterstadt\n    deviates: token-status-201\n        breaks TOK-02\n`))
		Expect(b.must("deviate", "--none")).To(Equal("XA  Universität Musterstadt\n    no deviations\n"))
		status, _ := b.token()
		Expect(status).To(Equal(http.StatusOK))
		Expect(b.must("deviate", "token-type-in-lower-case", "token-status-201")).To(MatchRegexp(`(?s)deviates: token-type-in-lower-case.*deviates: token-status-201`))
		status, _ = b.token()
		Expect(status).To(Equal(http.StatusCreated))
		Expect(b.must("deviate", "--none", "--node", "XA")).To(ContainSubstring("no deviations"))
		Expect(b.must("reset")).To(ContainSubstring("deviates: token-status-201"))
	})

	It("move the time: tokens expire, calls close, and reset restores them", func() {
		b := newDrivenSandbox() // its data are made as of today, so that some calls are running
		_, token := b.token()
		first, _ := b.list(token, "")
		Expect(first.StatusCode).To(Equal(http.StatusOK))
		running := func() []string {
			_, token := b.token()
			_, body := b.list(token, "?runningCalls=true")
			var calls []struct{ ID string }
			Expect(json.Unmarshal([]byte(body), &calls)).To(Succeed())
			ids := make([]string, len(calls))
			for i, c := range calls {
				ids[i] = c.ID
			}
			return ids
		}
		today := running()
		Expect(today).NotTo(BeEmpty())
		Expect(b.must("clock")).To(HaveSuffix("(not moved)\n"))
		Expect(b.must("clock", "--until-expiry")).To(HaveSuffix("(moved by 5 minutes)\n"))
		answer, body := b.list(token, "") // it was valid a moment ago, which the node may have remembered
		Expect(answer.StatusCode).To(Equal(http.StatusUnauthorized))
		Expect(body).To(ContainSubstring("expired"))
		Expect(b.must("clock", "-1m")).To(HaveSuffix("(moved by 4 minutes)\n"))
		answer, _ = b.list(token, "")
		Expect(answer.StatusCode).To(Equal(http.StatusOK))

		Expect(b.must("clock", "--until-closing")).To(MatchRegexp(`\(moved by \d+ (day|hour|minute)`))
		Expect(running()).NotTo(ContainElements(today), "at least one has closed, although others may have opened")
		Expect(b.must("clock", "2036-01-31")).To(HavePrefix("2036-01-31T00:00:0"))
		b.must("reset")
		b.must("clock", "+4m")
		Expect(b.must("clock", "+3000d")).To(HaveSuffix("(moved by 3000 days 4 minutes)\n"))
		Expect(running()).NotTo(ContainElements(today))
		Expect(b.must("reset")).To(ContainSubstring("(not moved)"))
		Expect(running()).To(Equal(today))
		Expect(b.must("clock", "-90s")).To(HaveSuffix("(moved back by 1 minute 30 seconds)\n"))
	})

	It("play scenarios, show how often they hit, and stop them", func() {
		b := newDrivenSandbox("--calls", "3", "--scenario", "503-twice:client=demo-client:times=1")
		_, token := b.token()
		scenarioHeaders := func(n int) (all []string) {
			for range n {
				answer, _ := b.list(token, "")
				all = append(all, answer.Header.Get("Rin-Scenario"))
			}
			return all
		}
		Expect(scenarioHeaders(2)).To(Equal([]string{"503-twice 1/1", ""}))
		Expect(b.must("status")).To(ContainSubstring("plays: 503-twice, times 1, wait 1s, client demo-client\n        hit demo-client 1\n"))
		Expect(b.must("play", "429-then-ok", "--times", "3", "--wait", "7s", "--path", "list")).To(ContainSubstring("plays: 429-then-ok, times 3, wait 7s, path list\n        no client hit yet\n"))
		answer, _ := b.list(token, "")
		Expect(answer.StatusCode).To(Equal(http.StatusTooManyRequests))
		Expect(answer.Header.Get("Retry-After")).To(Equal("7"))
		Expect(b.must("stop", "429-then-ok")).NotTo(ContainSubstring("429"))
		Expect(scenarioHeaders(1)).To(Equal([]string{""}))
		Expect(b.must("play", "wrong-aud", "--client", "demo-client")).To(ContainSubstring("client demo-client"))
		_, other := b.token()
		answer, body := b.list(other, "")
		Expect(answer.StatusCode).To(Equal(http.StatusUnauthorized))
		Expect(body).To(ContainSubstring("another audience"))
		Expect(b.must("stop")).NotTo(ContainSubstring("plays"))
		Expect(b.must("reset")).To(ContainSubstring("times 1, wait 1s, client demo-client\n        no client hit yet"))
		Expect(scenarioHeaders(2)).To(Equal([]string{"503-twice 1/1", ""}))
	})

	It("require the id of the node if there are several", func() {
		_, control, _ := controlledSandbox("--calls", "3", "--nodes", "2")
		to := []string{"RIN_CONTROL=" + control}
		for _, command := range [][]string{{"deviate", "token-status-201"}, {"play", "slow"}, {"stop"}} {
			got := rin(to, append([]string{"sandbox"}, command...)...)
			Expect(got.code).To(Equal(2))
			Expect(got.err).To(Equal("rin: --node: the sandbox has 2 nodes, XA, XB\nhint: say which one: --node XA\n"))
		}
		Expect(rin(to, "sandbox", "play", "slow", "--node", "XB").out).To(HavePrefix("XB  "))
		Expect(rin(to, "sandbox", "status").out).To(MatchRegexp(`(?s)\nXA  .*no deviations\nXB  .*plays: slow`))
		Expect(rin(to, "sandbox", "status", "--node", "XA").out).NotTo(ContainSubstring("XB"))
		Expect(rin(to, "sandbox", "clock", "+1h").code).To(Equal(0))
		Expect(rin(to, "sandbox", "reset", "--node", "XB").out).To(MatchRegexp(`moved by 1 hour\)\nXB  [^\n]*\n    no deviations\n$`))
	})

	It("let a request choose its own deviation with --deviate-header", func() {
		for _, named := range []bool{false, true} {
			b := newDrivenSandbox("--calls", "3", fmt.Sprintf("--deviate-header=%t", named))
			request, err := http.NewRequest(http.MethodGet, b.base+"/registry/registry.json", nil)
			Expect(err).NotTo(HaveOccurred())
			request.Header.Set("Rin-Scenario", "html-error")
			answer, err := http.DefaultClient.Do(request)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
			Expect(answer.StatusCode == http.StatusBadGateway).To(Equal(named))
		}
	})

	It("report failures with a hint", func() {
		b := newDrivenSandbox("--calls", "3")
		for want, args := range map[string][]string{
			"did you mean token-status-201": {"deviate", "tokn-status-201"},
			"or --none":                     {"deviate"},
			"did you mean 503-twice":        {"play", "503-twise"},
			"is not running":                {"stop", "slow"},
			"the name of one scenario":      {"play"},
			"--times: expected a number":    {"play", "slow", "--times", "0"},
			"without a query":               {"play", "slow", "--path", "/registry/registry.json?a=b"},
			"serves nothing there":          {"play", "slow", "--path", "/ris-synergy/funding/v3/nothing"},
			"which is unknown":              {"play", "slow", "--client", "demo-klient"},
			"expected a part such as":       {"play", "slow", "--rate", "often"},
			"expected a method and a path":  {"play", "slow", "--on", "GET"},
			"--body: expected --status":     {"play", "slow", "--body", "file.json"},
			"200ms±50ms":                    {"play", "--latency", "fast"},
			"strikes no request at":         {"play", "empty-page", "--path", "token"},
			"expected a number from 1 to":   {"play", "slow", "--times", "1001"},
			"no node with this id":          {"deviate", "token-status-201", "--node", "XZ"},
			"not a move of the clock":       {"clock", "soon"},
			"expected one move":             {"clock", "+1h", "--until-expiry"},
			"got --until-expiry --until":    {"clock", "--until-closing", "--until-expiry"},
			"further than":                  {"clock", "+30000d"},
			"unknown flag: --until":         {"clock", "--until"},
			"at the start":                  {"deviate", "certificate-expired"},
			"expected the URL":              {"reset", "--control", "https://node.example"},
		} {
			got := rin(b.env, append([]string{"sandbox"}, args...)...)
			Expect(got.code).To(Equal(2), want)
			Expect(got.out).To(BeEmpty(), want)
			Expect(got.err).To(SatisfyAll(ContainSubstring(want), ContainSubstring("\nhint: ")), want)
		}
		got := rin(nil, "sandbox", "status", "--control", "127.0.0.1:1")
		Expect(got.code).To(Equal(3))
		Expect(got.err).To(ContainSubstring("hint: start rin sandbox"))
	})

	It("have help with examples, within 80 columns, and complete names", func() {
		for _, command := range []string{"status", "deviate", "play", "stop", "clock", "reset"} {
			help := rin(nil, "sandbox", command, "--help")
			Expect(help.code).To(Equal(0))
			Expect(help.out).To(SatisfyAll(ContainSubstring("Examples:\n"), ContainSubstring("--control URL")))
			for _, line := range strings.Split(help.out, "\n") {
				Expect(len([]rune(line))).To(BeNumerically("<=", 80), "%s: %s", command, line)
			}
		}
		Expect(rin(nil, "sandbox", "--help").out).To(MatchRegexp(`(?m)^  clock +Show or move the time$`))
		Expect(rin(nil, "__complete", "sandbox", "play", "slo").out).To(ContainSubstring("slow"))
		scenarios := rin(nil, "sandbox", "--scenarios").out
		Expect(scenarios).To(MatchRegexp(`(?ms)^wrong-aud\n    does    .*^    strikes token\n    times   1 for each client\n`))
		for _, line := range strings.Split(scenarios, "\n") {
			Expect(len([]rune(line))).To(BeNumerically("<=", 80), line)
		}
		Expect(rin(nil, "__complete", "sandbox", "deviate", "token-status").out).To(ContainSubstring("token-status-201"))
	})
})
