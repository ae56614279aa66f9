package main_test

import (
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// The recipes themselves run in e2e, on a machine with podman.
var _ = Describe("The recipes for Testcontainers", func() {
	It("wait for words that rin sandbox prints, after the secret that they look for", func() {
		text := string(read("deploy", "README.md"))
		waits := regexp.MustCompile(`(?:ForLog|forLogMessage|LogMessageWaitStrategy|includes)\([/"](?:\.\*)?(.+?)(?:\.\*)?[/"]`).FindAllStringSubmatch(text, -1)
		Expect(waits).To(HaveLen(5), "one for each language, and two for JavaScript")
		secrets := regexp.MustCompile(`secret \+\(\\+S\+\)`).FindAllString(text, -1)
		Expect(secrets).To(HaveLen(4), "one for each language")

		s := startSandbox("--calls", "3")
		for _, wait := range waits {
			Eventually(func() string { return string(s.session.Out.Contents()) }).Should(ContainSubstring(wait[1]))
			before := regexp.MustCompile(`(?s)^.*?` + regexp.QuoteMeta(wait[1])).FindString(string(s.session.Out.Contents()))
			found := regexp.MustCompile(`secret +(\S+)`).FindStringSubmatch(before)
			Expect(found).To(HaveLen(2))
			Expect(found[1]).To(Equal(s.secret("demo-client")))
		}
	})
})
