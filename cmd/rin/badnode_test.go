package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// deepJSON nests arrays n levels deep.
func deepJSON(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

var _ = Describe("A node that is broken or hostile", func() {
	const (
		spec = "/ris-synergy/funding/v3/api-docs"
		info = "/ris-synergy/info/v1/oauth/info/"
	)
	// replaceAnswer answers one path itself and leaves the rest to the sandbox.
	replaceAnswer := func(path string, answer http.HandlerFunc) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == path {
					answer(w, r)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
	}
	body := func(contentType, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, text)
		}
	}
	// expectEvidence expects the evidence that was recorded until the run ended, and a report of it.
	expectEvidence := func(dir string) {
		GinkgoHelper()
		judged := rin(nil, "judge", filepath.Join(dir, "evidence.jsonl.gz"))
		Expect(judged.code).To(BeElementOf(1, 3), judged.err)
		Expect(judged.err).To(ContainSubstring("report: "), "it was judged")
		Expect(reportIn(dir).Verdict.Decision).To(BeElementOf("not-certified", "repeat"))
	}

	DescribeTable("is reported with its cause, in bounded time",
		func(code int, message string, path string, answer http.HandlerFunc, flags ...string) {
			got, dir := newNode(replaceAnswer(path, answer)).certify(flags...)
			Expect(got.code).To(Equal(code), got.out+got.err)
			Expect(strings.Join(strings.Fields(got.out), " ")).To(ContainSubstring(message), got.out)
			expectEvidence(dir)
		},
		Entry("HTML in place of the document", 1, "serves a web page", spec, body("text/html", "<!doctype html><title>Swagger UI</title>")),
		Entry("YAML in place of the document", 1, "YAML", spec, body("application/yaml", "openapi: 3.0.1\ninfo:\n  title: x\n")),
		Entry("a document that is not OpenAPI", 1, "SPC-03", spec, body("application/json", `{"hello":"world"}`)),
		Entry("a document that is cut off", 1, "SPC-01", spec, body("application/json", `{"openapi":"3.0.1","paths":{`)),
		Entry("a document 100,000 levels deep", 1, "SPC-01", spec, body("application/json", deepJSON(100_000))),
		Entry("a document whose schemas refer to each other in a cycle", 1, "", spec, body("application/json",
			`{"openapi":"3.0.1","info":{"title":"t","version":"1"},"paths":{"/v1/fundings":{"get":{"responses":{"200":{"description":"d","content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}}},"components":{"schemas":{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/A"}}}}`)),
		Entry("HTML in place of the info resource", 1, "INF-02", info, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "" {
				w.Header().Set("WWW-Authenticate", `Bearer realm="ris"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			body("text/html", "<html>please log in</html>")(w, r)
		}),
		Entry("redirects in a circle", 1, "INF-01", info, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, info, http.StatusTemporaryRedirect)
		}),
		Entry("an answer of 1 GB", 1, "INF-0", info, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			chunk := make([]byte, 1<<20)
			for range 1 << 10 {
				if _, err := w.Write(chunk); err != nil || r.Context().Err() != nil {
					return
				}
			}
		}, "--profile", "auth"),
		Entry("a token endpoint that hangs", 3, "no answer", "/oauth/token", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, "--timeout", "300ms"),
		Entry("a token endpoint that closes the connection", 3, "", "/oauth/token", func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = connection.Close()
			}
		}),
		Entry("a token endpoint that refuses everybody", 3, "TOK-01", "/oauth/token", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"invalid_client"}`)
		}),
	)

	It("is inconclusive when nothing listens, and says so", func() {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		address := listener.Addr().String()
		Expect(listener.Close()).To(Succeed())
		dir := GinkgoT().TempDir()
		got := rin([]string{"SECRET=0123456789abcdef"}, "certify", "--report-dir", dir, "--profile", "auth", "--client-id", "a", "--client-secret", "env:SECRET",
			"--token-url", "http://"+address+"/oauth/token", "--info-url", "http://"+address+"/info/v1/info")
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(got.out).To(ContainSubstring("refused"))
		Expect(filepath.Join(dir, "evidence.jsonl.gz")).To(BeARegularFile())
	})

	It("is not certified when its registry cannot be read or does not list it", func() {
		for answer, message := range map[string]string{`{"member":[{"id":"XB"}]}`: "XB", `<html>`: "registry", `{"member":[]}`: "XA"} {
			registry := httptest.NewServer(body("application/json", answer))
			DeferCleanup(registry.Close)
			got := rin([]string{"SECRET=0123456789abcdef"}, "certify", "--registry", registry.URL, "--node", "XA", "--client-id", "a", "--client-secret", "env:SECRET")
			Expect(got.code).To(BeElementOf(2, 3), got.out+got.err)
			Expect(got.out+got.err).To(ContainSubstring(message), answer)
		}
	})

	It("leaves no escape sequence, markup or direction mark of the node in the output", func() {
		evil := "\x1b]0;owned\x07\x1b[31m<script>alert(1)</script>\u202e]]>|`x`"
		got, dir := newNode(replaceAnswer(info, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("WWW-Authenticate", "Basic realm=\"<script>alert(1)</script>\"")
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, `{"error":%q}`, evil)
		})).certify()
		Expect(got.out + got.err).NotTo(ContainSubstring("\x1b"))
		Expect(got.out + got.err).NotTo(ContainSubstring("\u202e"))
		page, err := os.ReadFile(filepath.Join(dir, "report.html"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(page)).NotTo(ContainSubstring("<script"))
		for _, name := range []string{"report.json", "junit.xml", "report.md"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			Expect(err).NotTo(HaveOccurred())
			Expect(string(text)).NotTo(ContainSubstring("\x1b"), name)
		}
	})
})
