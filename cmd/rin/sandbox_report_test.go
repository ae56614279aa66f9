package main_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// send sends one request to the sandbox and returns the body of its answer.
func (b drivenSandbox) send(method, path, body string, header http.Header) string {
	GinkgoHelper()
	r, err := http.NewRequest(method, b.base+path, strings.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	r.Header = header
	answer, err := http.DefaultClient.Do(r)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	return readAll(answer.Body)
}

var _ = Describe("rin sandbox report", func() {
	form := func(b drivenSandbox) string {
		return url.Values{"grant_type": {"client_credentials"}, "client_id": {"demo-client"}, "client_secret": {b.secret}}.Encode()
	}
	formType := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	const infoPath = "/ris-synergy/info/v1/oauth/info/"

	It("has an exit code for no requests, for a correct client and for a faulty client", func() {
		b := newDrivenSandbox("--calls", "3")
		report := func(args ...string) outcome { return rin(b.env, append([]string{"sandbox", "report"}, args...)...) }
		Expect(report()).To(Equal(outcome{3, "Nothing to judge: no client has sent a request yet\n", ""}))

		token := tokenIn(b.send("POST", "/oauth/token", form(b), formType))
		b.send("GET", infoPath, "", http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}})
		got := report()
		Expect(got.code).To(Equal(0), got.out)
		Expect(got.out).To(HavePrefix("demo-client · no findings\n"))

		b.send("POST", "/oauth/token?"+form(b), "", formType)
		b.send("GET", "/"+b.secret+"?t="+token, "", http.Header{"Authorization": {token}, "User-Agent": {token}, "Accept": {b.secret}})
		b.send("GET", infoPath, "", http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("demo-client:"+b.secret))}})
		got = report("--client", "demo-client")
		Expect(got.code).To(Equal(1))
		Expect(got.out).To(ContainSubstring("CLT-06 FAULT The client secret is never in a URL\n"))
		Expect(got.out).To(ContainSubstring("CLT-08 FAULT"))

		file := filepath.Join(GinkgoT().TempDir(), "conduct.html")
		Expect(report("--format", "html", "-o", file)).To(Equal(outcome{1, "", "wrote " + file + "\n"}))
		page, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		visible := report("--format", "json").out + report().out + string(page)
		for _, path := range []string{"/journal", "/conduct"} {
			answer, err := http.Get(strings.TrimPrefix(b.env[0], "RIN_CONTROL=") + path)
			Expect(err).NotTo(HaveOccurred())
			visible += readAll(answer.Body)
			Expect(answer.Body.Close()).To(Succeed())
		}
		for _, value := range []string{b.secret, token} {
			for _, hidden := range []string{value, url.QueryEscape(value), base64.StdEncoding.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte("demo-client:" + value))} {
				Expect(visible).NotTo(ContainSubstring(hidden))
			}
		}

		b.must("reset")
		Expect(report().code).To(Equal(3))
	})

	It("ends with 1 for the levels that --fail-on names", func() {
		b := newDrivenSandbox("--calls", "3")
		token := tokenIn(b.send("POST", "/oauth/token", form(b), formType))
		b.send("GET", infoPath, "", http.Header{"Authorization": {"Bearer " + token}}) // a note: without Content-Type
		for level, code := range map[string]int{"fault": 0, "waste": 0, "note": 1} {
			Expect(rin(b.env, "sandbox", "report", "--fail-on", level).code).To(Equal(code), level)
		}
		got := rin(b.env, "sandbox", "report", "--fail-on", "error")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("use fault, waste or note"))
	})

	It("is accompanied by the journal of requests", func() {
		b := newDrivenSandbox("--calls", "3")
		b.send("GET", infoPath, "", nil)
		b.send("GET", "/ris-synergy/try-out/funding/v3/fundings?page[size]=2", "", nil)
		got := b.must("journal")
		Expect(got).To(MatchRegexp(`(?m)^   #1  [0-9:]{8} - GET /ris-synergy/info/v1/oauth/info/ -> 401$`))
		Expect(got).To(ContainSubstring("       breaks CLT-15"))
		Expect(got).To(ContainSubstring(`       right  curl -sg -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' ` + b.base + infoPath + "\n"))
		Expect(got).To(MatchRegexp(`page\[size\]=2 ->\s+200, 2 items and more`))
		Expect(b.must("journal", "--wrong", "--json")).To(MatchRegexp(`(?s)"number": 1,.*"rules": \[\s+"CLT-15"`))
		Expect(b.must("journal", "--last", "1")).NotTo(ContainSubstring("#1 "))
		Expect(rin(b.env, "sandbox", "journal", "--client", "nobody")).To(Equal(outcome{0, "", "the journal has no such request\n"}))
		Expect(rin(b.env, "sandbox", "journal", "--last", "0").code).To(Equal(2))
		Expect(b.must("journal", "--clear")).To(Equal("the journal is empty\n"))
		Expect(rin(b.env, "sandbox", "report").code).To(Equal(3))
	})

	It("refuses unknown clients and formats", func() {
		b := newDrivenSandbox("--calls", "3")
		got := rin(b.env, "sandbox", "report", "--client", "somebody")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("no request of this client"))
		Expect(rin(b.env, "sandbox", "report", "--format", "pdf").err).To(ContainSubstring("use text, json, html"))
		Expect(rin(b.env, "sandbox", "report", "-o", "/nowhere/at/all").code).To(Equal(2))
		Expect(rin(nil, "sandbox", "report", "--control", "http://127.0.0.1:1").code).To(Equal(3))
	})

	It("has help within 80 columns", func() {
		for _, command := range []string{"report", "journal"} {
			for line := range strings.SplitSeq(rin(nil, "sandbox", command, "--help").out, "\n") {
				Expect(len([]rune(line))).To(BeNumerically("<=", 80), line)
			}
		}
	})

	It("has nothing to judge without a journal", func() {
		b := newDrivenSandbox("--calls", "3", "--journal", "0")
		got := rin(b.env, "sandbox", "report")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("hint: start it without --journal 0"))
		Expect(rin(nil, "sandbox", "--journal", "-1").err).To(ContainSubstring("--journal: expected 0 to"))
	})

	It("judges by rules that are listed and explained", func() {
		Expect(rin(nil, "requirements", "--clients").out).To(MatchRegexp(`(?m)^CLT-01 +waste +An access token is used`))
		Expect(rin(nil, "requirements", "--clients", "--format", "json").out).To(ContainSubstring(`"id": "CLT-29"`))
		Expect(rin(nil, "requirements", "--clients", "--format", "markdown").out).To(ContainSubstring("| CLT-07 | An access token is never in a URL | fault | [RFC 9700 §4.3.2]("))
		Expect(rin(nil, "requirements", "--clients", "--profile", "auth").code).To(Equal(2))
		explained := rin(nil, "explain", "clt-08")
		Expect(explained.code).To(Equal(0))
		Expect(explained.out).To(HavePrefix("CLT-08  The client secret goes to the token endpoint and nowhere else\n"))
		Expect(explained.out).To(ContainSubstring("NET-R19 (Authentication, 4): “The client ID and client secret"))
		Expect(rin(nil, "explain", "CLT-99").code).To(Equal(2))
	})
})

func readAll(from io.Reader) string {
	GinkgoHelper()
	read, err := io.ReadAll(from)
	Expect(err).NotTo(HaveOccurred())
	return string(read)
}

// tokenIn returns the token in the answer of a token endpoint.
func tokenIn(answer string) string {
	GinkgoHelper()
	found := regexp.MustCompile(`"access_token":"([^"]+)"`).FindStringSubmatch(answer)
	Expect(found).NotTo(BeNil(), answer)
	return found[1]
}
