package main_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("Without --profile", func() {
	// certify runs rin certify with the flags of a node except --profile and those in without.
	certify := func(n node, without []string, more ...string) (outcome, string) {
		GinkgoHelper()
		dir := GinkgoT().TempDir()
		args := []string{"certify", "--report-dir", dir}
		flags := n.flags()
		for i := 0; i < len(flags); i += 2 {
			if !slices.Contains(append(without, "--profile"), flags[i]) {
				args = append(args, flags[i], flags[i+1])
			}
		}
		return rin(n.env(), append(args, more...)...), dir
	}

	It("chooses auth where there is no document, funding with one, full with all its inputs, and says why", func() {
		n := newNode(nil)
		got, dir := certify(n, []string{"--spec-url"})
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(reportIn(dir).Profile).To(Equal("funding"), "the document is at the address that the interface document gives")
		Expect(words(got.err)).To(ContainSubstring("profile funding: a document is known; full also needs --other-client-id, --staging-token-url, --expired-token or --wait"))
		Expect(words(got.out)).To(ContainSubstring("Profile chosen by rin: funding, because a document is known"))
		for name, text := range reportFiles(dir) {
			Expect(text).To(ContainSubstring("a document is known"), name)
		}

		everything := slices.DeleteFunc(n.everything(), func(flag string) bool { return flag == "--profile" || flag == "full" })
		got, dir = certify(n, nil, everything...)
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(reportIn(dir).Profile).To(Equal("full"), got.err)

		bare := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "/funding/") {
					http.NotFound(w, r)
					return
				}
				if strings.HasSuffix(r.URL.Path, "/oauth/info/") && r.Header.Get("Authorization") != "" {
					next.ServeHTTP(&withoutEndpoints{ResponseWriter: w}, r)
					return
				}
				next.ServeHTTP(w, r)
			})
		})
		got, dir = certify(bare, []string{"--spec-url"})
		Expect(reportIn(dir).Profile).To(Equal("auth"), got.err)
		Expect(words(got.err)).To(ContainSubstring("profile auth: there is no document at"))
	})

	It("says which inputs were given and not used", func() {
		n := newNode(nil)
		got, dir := certify(n, nil, "--profile", "auth", "--list-operation", "listFundings", "--allow-origin", "https://other.example", "--wait", "2s")
		Expect(got.code).To(Equal(0), got.out+got.err)
		notes := []string{"--spec-url was given and not used", "--list-operation was given and not used: the profile auth has no use for it",
			"--allow-origin https://other.example was given and not used: nothing of the node is there", "--wait 2s was given and not used: the token lives"}
		for _, text := range notes {
			Expect(words(got.err)).To(ContainSubstring(text))
			Expect(words(got.out)).To(ContainSubstring(text))
		}
		Expect(reportFiles(dir)["report.html"]).To(ContainSubstring(notes[1]))
		dir = GinkgoT().TempDir()
		document := filepath.Join(dir, "openapi.yaml")
		Expect(os.WriteFile(document, []byte("openapi: 3.0.3\npaths:\n  /fundings:\n    get: {}\n"), 0o600)).To(Succeed())
		authorities := filepath.Join(dir, "ca.pem")
		trusted := httptest.NewTLSServer(nil)
		DeferCleanup(trusted.Close)
		Expect(os.WriteFile(authorities, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: trusted.Certificate().Raw}), 0o600)).To(Succeed())
		got, _ = n.certify("--base-url", "http://127.0.0.1:1/elsewhere", "--document", document, "--cacert", authorities)
		for _, text := range []string{"--base-url http://127.0.0.1:1/elsewhere was given and not used: the operations answer under ", "--cacert was given and not used: no request was sent by https",
			"--document was given and not used: only --format github and --format gitlab name its lines"} {
			Expect(words(got.err)).To(ContainSubstring(text))
		}
		clean, _ := n.certify()
		Expect(clean.err + clean.out).NotTo(ContainSubstring("given and not used"))
	})
})

// withoutEndpoints replaces each body by an info resource with an empty map of endpoints.
type withoutEndpoints struct{ http.ResponseWriter }

func (l *withoutEndpoints) Write([]byte) (int, error) {
	return l.ResponseWriter.Write([]byte(`{"endpoints":{}}`))
}

func (l *withoutEndpoints) WriteHeader(status int) {
	l.Header().Del("Content-Length")
	l.ResponseWriter.WriteHeader(status)
}
