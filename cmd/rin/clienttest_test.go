package main_test

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

var _ = Describe("rin client-test", Ordered, func() {
	var harvest string

	BeforeAll(func() {
		var err error
		harvest, err = gexec.Build("github.com/rin-network/rin/cmd/rin/testdata/harvest")
		Expect(err).NotTo(HaveOccurred())
	})

	// clientTest runs the command with a program of the given behaviour.
	clientTest := func(behaviour string, args ...string) outcome {
		GinkgoHelper()
		return rin(nil, append(append([]string{"client-test"}, args...), "--", harvest, behaviour)...)
	}

	It("finds nothing wrong with a patient client, and names the scenarios that hit no request", func() {
		got := clientTest("patient", "--scenario", "503-twice,token-expires-early")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(MatchRegexp(`(?m)^SCENARIO +EXIT +TIME +REQUESTS +VERDICT$`))
		Expect(got.out).To(MatchRegexp(`(?m)^without faults +0 +\S+ +2 +ok$`))
		Expect(got.out).To(MatchRegexp(`(?m)^503-twice +0 +([2-9]|\d\d)\.\S+ +4 +ok$`))
		Expect(got.out).To(MatchRegexp(`(?m)^token-expires-early +0 +\S+ +2 +ok, hit nothing$`))
		Expect(words(got.out)).To(HaveSuffix("3 of 3 runs without a problem of level fault. No request of the program was hit by: token-expires-early."))
		Expect(got.err).To(ContainSubstring("3 times, 3 at a time"))
	})

	It("names the rule that an impatient client breaks, with the fix and a right command", func() {
		got := clientTest("impatient", "--scenario", "503-twice:wait=3s")
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(got.out).To(MatchRegexp(`(?m)^503-twice:wait=3s .* fault CLT-17`))
		Expect(got.out).To(And(ContainSubstring("\nCLT-17 FAULT"), ContainSubstring("\n  fix "), ContainSubstring("\n  right  curl"), ContainSubstring("http://127.0.0.1:8080/ris-synergy/funding/v3/fundings"), ContainSubstring("1 of 2 runs")))
		Expect(got.out).NotTo(ContainSubstring("RIN_CLIENT_SECRET="))
	})

	It("explains each rule that it names, also those that do not count", func() {
		got := clientTest("nameless", "--scenario", "none", "--fail-on", "fault")
		Expect(got.code).To(Equal(0), got.out+got.err)
		named := regexp.MustCompile(`CLT-\d+`).FindAllString(got.out[:strings.Index(got.out, "\n\n")], -1)
		Expect(named).To(ContainElement("CLT-29"))
		for _, rule := range named {
			Expect(got.out).To(MatchRegexp(`(?m)^` + rule + ` (NOTE|WASTE) .*\n  in     without faults$`))
		}
		Expect(got.out).To(HaveSuffix("1 of 1 run without a problem of level fault.\n"))
	})

	It("names outcomes that rin explain explains", func() {
		for _, outcome := range []string{"exit", "time-out", "no-request", "lost"} {
			got := rin(nil, "explain", outcome)
			Expect(got.code).To(Equal(0), got.err)
			Expect(got.out).To(And(HavePrefix(outcome+"  "), ContainSubstring("\nfix "), ContainSubstring("rin client-test")))
			expectWithin80Columns(got.out)
		}
	})

	It("blames a program that ends with an error where a good client goes on, and shows what it wrote", func() {
		got := clientTest("crashes", "--scenario", "503-twice,moved-host,html-error")
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(got.out).To(MatchRegexp(`(?m)^503-twice +7 .* fault exit CLT-33$`))
		Expect(got.out).To(MatchRegexp(`(?m)^html-error +7 .* ok$`), "a good client may stop there")
		Expect(got.out).To(ContainSubstring(`  | unexpected status 503 \x1b[31m`))
		Expect(words(got.out)).To(ContainSubstring("exit FAULT the program ended with exit code 7 in 503-twice good Waits as long"))
	})

	It("blames a program that reports success without the records", func() {
		got := clientTest("trusting", "--scenario", "500-once,truncated-json")
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(got.out).To(MatchRegexp(`(?m)^without faults +0 .* ok$`))
		Expect(got.out).To(MatchRegexp(`(?m)^truncated-json +0 .* fault lost$`))
		Expect(words(got.out)).To(ContainSubstring("lost FAULT the program ended with exit code 0, but GET /ris-synergy/funding/v3/fundings failed (500) and was not read again in 500-once, truncated-json good Repeats a GET"))
	})

	It("blames a program that reports success although a later page has failed for good, and not one that fails, or that waits longer than its time", func() {
		play := []string{"--scenario", "page-500-always", "--timeout", "5s"}
		got := clientTest("pages-end", play...)
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(got.out).To(MatchRegexp(`(?m)^page-500-always +0 .* fault lost$`))
		got = clientTest("pages-fail", play...)
		Expect(got.out).To(MatchRegexp(`(?m)^page-500-always +7 .* ok$`))
		got = clientTest("pages-wait", play...)
		Expect(got.out).To(MatchRegexp(`(?m)^page-500-always +killed .* note time-out$`))
		Expect(words(got.out)).To(ContainSubstring("how it ends is not known"))
	})

	It("lists a second node in the registry, whose addresses are not those of the program's node", func() {
		got := clientTest("stranger", "--scenario", "none")
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(got.out).To(MatchRegexp(`(?m)^without faults .* fault CLT-52`))
	})

	It("blames a program that reports success after a redirect that it does not follow", func() {
		got := clientTest("stays", "--scenario", "moved-endpoint,moved-host,moved-endpoint:path=token")
		Expect(got.code).To(Equal(1), got.out+got.err)
		for _, scenario := range []string{"moved-endpoint", "moved-host", "moved-endpoint:path=token"} {
			Expect(got.out).To(MatchRegexp(`(?m)^` + scenario + ` +0 .* fault lost$`))
		}
		Expect(words(got.out)).To(ContainSubstring("exit code 0, but GET /ris-synergy/funding/v3/fundings was redirected (307), and no request read its records in moved-endpoint, moved-host"))
	})

	It("finds nothing wrong with a program that follows a redirect, or ends with an error there", func() {
		got := clientTest("trusting", "--scenario", "moved-endpoint,moved-endpoint:path=token")
		Expect(got.code).To(Equal(0), got.out+got.err)
		got = clientTest("stops", "--scenario", "moved-endpoint,moved-host")
		Expect(got.code).To(Equal(0), got.out+got.err)
	})

	It("kills a program that exceeds --timeout", func() {
		began := time.Now()
		got := clientTest("hangs", "--scenario", "none", "--timeout", "300ms")
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(got.out).To(MatchRegexp(`(?m)^without faults +killed .* fault time-out no-request$`))
		Expect(got.out).To(ContainSubstring("  | waiting for ever"))
		Expect(time.Since(began)).To(BeNumerically("<", 20*time.Second))
	})

	It("judges nothing if no run sends a request", func() {
		got := clientTest("silent", "--scenario", "none")
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(words(got.out)).To(ContainSubstring("does it read its addresses from the environment?"))
	})

	It("plays a failure that begins late and lasts, and a long pause, after the scenarios", func() {
		got := clientTest("silent", "--format", "json")
		var document struct{ Runs []struct{ Scenario string } }
		Expect(json.Unmarshal([]byte(got.out), &document)).To(Succeed(), got.err)
		Expect(document.Runs).To(ContainElements(HaveField("Scenario", ""), HaveField("Scenario", "429-then-ok"), HaveField("Scenario", "500-once:after=1:times=3"), HaveField("Scenario", "429-then-ok:after=1:wait=3s")))
	})

	It("writes JSON and JUnit", func() {
		file := filepath.Join(GinkgoT().TempDir(), "junit.xml")
		got := clientTest("impatient", "--scenario", "503-twice", "--format", "json", "--junit", file)
		Expect(got.code).To(Equal(1), got.out+got.err)
		var document struct {
			Schema   string
			Problems []struct{ Scenario, Rule, Level string }
			Runs     []struct {
				Scenario string
				Struck   int
				Report   struct{ Requests int }
			}
		}
		Expect(json.Unmarshal([]byte(got.out), &document)).To(Succeed())
		Expect(document.Schema).To(Equal("rin.client-test/v1"))
		Expect(document.Problems).To(ContainElement(And(HaveField("Scenario", "503-twice"), HaveField("Rule", "CLT-17"), HaveField("Level", "fault"))))
		Expect(document.Runs).To(HaveLen(2))
		Expect(document.Runs[1].Struck).To(Equal(2))
		data, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		var suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Name     string `xml:"name,attr"`
				Failures []struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		}
		Expect(xml.Unmarshal(data, &suite)).To(Succeed())
		Expect(suite.Tests).To(Equal(2))
		Expect(suite.Failures).To(Equal(1))
		Expect(suite.Cases[0].Failures).To(BeEmpty())
		Expect(suite.Cases[1].Failures[0].Message).To(HavePrefix("CLT-17: "))
	})

	It("lets known problems pass, and fails when they are gone", func() {
		file := filepath.Join(GinkgoT().TempDir(), "known.yaml")
		Expect(clientTest("impatient", "--scenario", "503-twice", "--write-baseline", file).code).To(Equal(1))
		got := clientTest("impatient", "--scenario", "503-twice", "--baseline", file)
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(words(got.out)).To(ContainSubstring("1 problem known, 0 gone"))
		got = clientTest("patient", "--scenario", "503-twice", "--baseline", file)
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(words(got.out)).To(ContainSubstring("CLT-17 is in the baseline for 503-twice, and it is gone: remove the entry"))
		got = clientTest("patient", "--scenario", "none", "--baseline", file)
		Expect(got.code).To(Equal(0), "what was not played is not gone: %s", got.out)
	})

	It("plays every scenario by default", func() {
		got := clientTest("patient", "--timeout", "20s")
		Expect(got.out).To(And(ContainSubstring("\nextra-fields "), ContainSubstring("\nslow "), ContainSubstring("\nmoved-endpoint ")))
	})

	DescribeTable("refuses invalid arguments", func(message string, args ...string) {
		got := rin(nil, append([]string{"client-test"}, args...)...)
		Expect(got.code).To(Equal(2), got.out+got.err)
		Expect(got.err).To(And(ContainSubstring(message), ContainSubstring("hint: ")))
		Expect(got.out).To(BeEmpty())
	},
		Entry("no program", "expected a program to run, got none"),
		Entry("a program that does not exist", "no-such-program", "--", "no-such-program"),
		Entry("a scenario that does not exist", `scenario "503-often" is unknown`, "--scenario", "503-often", "--", "true"),
		Entry("a level that does not exist", `unknown level "bad"`, "--fail-on", "bad", "--", "true"),
		Entry("a baseline that does not exist", "--baseline: open", "--baseline", "missing.yaml", "--", "true"),
	)
})
