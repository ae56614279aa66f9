package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("rin sandbox --spec URL", func() {
	var from *httptest.Server
	BeforeEach(func() {
		answers := http.NewServeMux()
		answers.HandleFunc("/things.yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(thingsAPI)) })
		answers.Handle("/moved", http.RedirectHandler("/things.yaml", http.StatusFound))
		answers.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
		answers.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
			block := []byte(strings.Repeat("#", 1<<20))
			for range 100 {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		})
		answers.HandleFunc("/empty", func(http.ResponseWriter, *http.Request) {})
		from = httptest.NewServer(answers)
		DeferCleanup(from.Close)
	})

	It("serves the document behind a redirect, and goes on without its server", func() {
		session, base := served("--spec", from.URL+"/moved", "--items", "3")
		from.Close()
		Expect(string(session.Out.Contents())).To(ContainSubstring("/ris-synergy/things/v1/api-docs (2 operations)"))
		status, list := get(base + "/ris-synergy/try-out/things/v1/things")
		Expect(status).To(Equal(http.StatusOK))
		Expect(strings.Count(list, `"id"`)).To(Equal(3))
	})

	It("is read for a node of a configuration file, and by rin client-test", func() {
		file := GinkgoT().TempDir() + "/net.yaml"
		Expect(os.WriteFile(file, []byte("nodes:\n  - {spec: "+from.URL+"/things.yaml, open: true}\n"), 0o600)).To(Succeed())
		_, base := served("--config", file)
		status, _ := get(base + "/ris-synergy/things/v1/things")
		Expect(status).To(Equal(http.StatusOK))
		got := rin(nil, "client-test", "--scenario", "none", "--spec", from.URL+"/things.yaml", "--", "sh", "-c", `case "$RIN_API_DOCUMENT_URL" in */things/v1/api-docs) exit 0;; esac; exit 9`)
		Expect(got.code).To(Equal(3), got.out+got.err) // it sends no request
		Expect(got.out).NotTo(ContainSubstring("exit code 9"))
	})

	DescribeTable("shows no password of a URL that cannot be parsed", func(userinfo string) {
		got := rin(nil, "sandbox", "--addr", "127.0.0.1:0", "--spec", strings.Replace(from.URL, "//", "//"+userinfo+"@", 1)+"/things.yaml")
		Expect(got.code).To(Equal(2), got.out)
		Expect(got.err).To(SatisfyAll(ContainSubstring("--spec: "), ContainSubstring("127.0.0.1"), ContainSubstring("hint: "), Not(ContainSubstring("hidden")), Not(ContainSubstring("user"))))
	},
		Entry("with an escape that is not one", "user:hidden%zz"),
		Entry("with a slash in it", "user:hid/hidden"),
		Entry("with a space in it", "user:hid hidden"),
		Entry("with an @ in it", "user:hidden@%zzhidden"),
		Entry("without a password", "userhidden%zz"),
	)

	DescribeTable("shows no password of a URL without its slashes", func(place string) {
		for _, args := range [][]string{
			{"sandbox", "--addr", "127.0.0.1:0", "--spec", place}, {"verify", "--registry", place, GinkgoT().TempDir()}, {"certify", "--registry", place, "--node", "XA"},
			{"certify", "--token-url", place, "--info-url", "https://node.invalid/info", "--client-id", "me", "--client-secret", "env:SECRET"},
		} {
			got := rin([]string{"SECRET=s3cret-of-a-client"}, args...)
			Expect(got.code).NotTo(BeZero())
			Expect(got.out+got.err).NotTo(ContainSubstring("hidden"), strings.Join(args, " "))
		}
	},
		Entry("none", "https:user:hidden@node.invalid/x"), Entry("one", "https:/user:hidden@node.invalid/x"), Entry("no colon", "HTTPS//user:hidden@node.invalid/x"),
	)

	It("is a rule for the other URLs, too: no command shows a password in one", func() {
		env := []string{"SECRET=s3cret-of-a-client"}
		for _, place := range []string{"http://user:hidden%zz@127.0.0.1:1/x", "http://user:hidden@127.0.0.1:1/x"} {
			dir := GinkgoT().TempDir() + "/r"
			Expect(rin(nil, "registry", "init", dir, "--document", place).code).To(Equal(0))
			client := []string{"--registry", place, "--node", "XA", "--client-id", "a", "--client-secret", "env:SECRET"}
			for _, args := range [][]string{
				append([]string{"certify", "--allow-origin", place}, client...), append([]string{"tour", "--plain"}, client...), append([]string{"sandbox", "record"}, client...),
				{"sandbox", "--addr", "127.0.0.1:0", "--issuer", "https://a.example", "--issuer-client", "x", "--jwks", place},
				{"sandbox", "--public-url", place}, {"registry", "run", dir},
			} {
				got := rin(env, args...)
				Expect(got.code).NotTo(BeZero(), args[0])
				Expect(got.out+got.err).NotTo(ContainSubstring("hidden"), "%v", args)
			}
		}
	})

	DescribeTable("is refused", func(path, message string) {
		got := rin(nil, "sandbox", "--addr", "127.0.0.1:0", "--spec", strings.Replace(from.URL, "//", "//user:hidden@", 1)+path)
		Expect(got.code).To(Equal(2), got.out)
		Expect(got.err).To(SatisfyAll(ContainSubstring("--spec: "), ContainSubstring(message), ContainSubstring("hint: "), Not(ContainSubstring("hidden"))))
	},
		Entry("if it is too large", "/large", "the answer has more than "),
		Entry("if its redirects do not end", "/loop", "more than 5 redirects"),
		Entry("if nothing is there", "/none", "expected status 200, got 404"),
		Entry("if it is empty", "/empty", "the answer is empty"),
	)
})
