package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	reportmodel "github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

// words returns a text with each sequence of white space as one blank, because a terminal wraps lines.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// reportFiles returns the files of a report by their names, without the evidence.
func reportFiles(dir string) map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	for _, name := range []string{"report.html", "report.md", "report.json", "junit.xml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		Expect(err).NotTo(HaveOccurred())
		out[name] = string(text)
	}
	return out
}

// digestOf returns the digest of a file as reports print it.
func digestOf(path string) string {
	GinkgoHelper()
	data, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	return fmt.Sprintf("sha256:%x", sha256.Sum256(data))
}

var _ = Describe("A report", func() {
	It("states the digest of the registry document, --cacert and --allow-origin in every format", func() {
		n := newNode(nil)
		dir := GinkgoT().TempDir()
		response, err := http.Get(n.URL + "/registry/registry.json")
		Expect(err).NotTo(HaveOccurred())
		private := filepath.Join(dir, "registry.json")
		file, err := os.Create(private)
		Expect(err).NotTo(HaveOccurred())
		_, err = file.ReadFrom(response.Body)
		Expect(err).NotTo(HaveOccurred())
		Expect(file.Close()).To(Succeed())
		authorities := filepath.Join(dir, "ca.pem")
		trusted := httptest.NewTLSServer(nil)
		DeferCleanup(trusted.Close)
		Expect(os.WriteFile(authorities, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: trusted.Certificate().Raw}), 0o600)).To(Succeed())

		for _, registry := range []string{n.URL + "/registry/registry.json", private} {
			out := filepath.Join(dir, "out")
			got := rin(n.env(), "certify", "--registry", registry, "--node", "XA", "--profile", "auth", "--only", "TOK-01", "--report-dir", out,
				"--cacert", authorities, "--allow-origin", "https://other.example", "--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET")
			Expect(got.code).To(Equal(0), got.out+got.err)
			files := reportFiles(out)
			files["the terminal"] = words(got.out)
			for name, text := range files {
				text = strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "\n", "") // a digest may be wrapped
				Expect(text).To(And(ContainSubstring(digestOf(private)), ContainSubstring(digestOf(authorities)), ContainSubstring("https://other.example")), name)
			}
			Expect(strings.Contains(words(got.out), "Registry document: a private file, sha256:")).To(Equal(registry == private), got.out)
		}
	})

	It("names the evidence file that was judged again, with its digest and its first run", func() {
		_, dir := newNode(nil).certify("--profile", "auth", "--only", "TOK-01")
		Expect(reportFiles(dir)).To(HaveEach(Not(ContainSubstring("udged again"))))
		recorded, secondDir := evidenceIn(dir), GinkgoT().TempDir()
		got := rin(nil, "judge", recorded, "--report-dir", secondDir)
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(words(got.out)).To(And(ContainSubstring("Judged again: rin judge read "+filepath.Base(recorded)), ContainSubstring("evidence of the run of")))
		for name, text := range reportFiles(secondDir) {
			Expect(text).To(ContainSubstring(digestOf(recorded)), name)
		}
	})

	It("states that the run was blind, and a blind run never names the suite to the node", func() {
		var mu sync.Mutex
		agents := map[string]bool{}
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				agents[r.Header.Get("User-Agent")] = true
				mu.Unlock()
				next.ServeHTTP(w, r)
			})
		})
		got, dir := n.certify("--profile", "auth", "--only", "TOK-01", "--blind")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(agents).To(And(HaveLen(1), HaveKey("Go-http-client/1.1")))
		Expect(words(got.out)).To(ContainSubstring("Blind (--blind): the requests had an ordinary client's headers"))
		for name, text := range reportFiles(dir) {
			Expect(text).To(Or(ContainSubstring("ordinary client"), ContainSubstring(`"blind": true`)), name)
		}
	})

	It("states who ran the suite, the digest of the catalogue, and that the node could know that it was tested", func() {
		n := newNode(nil)
		got, dir := n.certify("--profile", "auth", "--only", "TOK-01", "--operator", "Network office, https://registry.example")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(words(got.out)).To(And(ContainSubstring("Run by: Network office, https://registry.example"), ContainSubstring(" ("+requirement.CatalogueDigest()[:12]+")"), ContainSubstring("the node could know that it was tested")))
		for name, text := range reportFiles(dir) {
			Expect(text).To(And(ContainSubstring("Network office, https://registry.example"), ContainSubstring("sha256:"+requirement.CatalogueDigest())), name)
			Expect(text).To(Or(ContainSubstring("the node could know that it was tested"), ContainSubstring(`"blind": false`)), name)
		}

		_, dir = n.certify("--profile", "auth", "--only", "TOK-01")
		Expect(reportFiles(dir)["report.md"]).To(ContainSubstring("| Run by | `not stated (--operator)` |"), "the login of this machine is not printed")
		got = rin(n.env(), "certify", "--token-url", n.URL+"/oauth/token", "--info-url", n.URL+"/info", "--operator", "a\nb", "--client-id", "me", "--client-secret", "env:SECRET")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("--operator"))
	})

	It("is valid against its schema as report.json", func() {
		_, dir := newNode(nil).certify("--profile", "auth", "--only", "TOK-01")
		c := jsonschema.NewCompiler()
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(reportmodel.Schema()))
		Expect(err).NotTo(HaveOccurred())
		Expect(c.AddResource("report.json", schema)).To(Succeed())
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(reportFiles(dir)["report.json"]))
		Expect(err).NotTo(HaveOccurred())
		Expect(c.MustCompile("report.json").Validate(value)).To(Succeed())
	})

	It("is not written for --blind and a node off loopback", func() {
		got := rin([]string{"SECRET=of-a-client-somewhere"}, "certify", "--token-url", "https://node.example/token", "--info-url", "https://node.example/info", "--profile", "auth",
			"--client-id", "me", "--client-secret", "env:SECRET", "--blind")
		Expect(got.code).To(Equal(2), got.out+got.err)
		Expect(got.err).To(And(ContainSubstring("--blind is only for nodes on loopback"), ContainSubstring("consent of the node's operator")))
	})

	It("lists the binding rules of the network that no test covers", func() {
		got, dir := newNode(nil).certify("--profile", "auth", "--only", "TOK-01")
		Expect(words(got.out)).To(MatchRegexp(`Not fully tested: NET-R3, .*R17, .* \(rin explain\)`))
		for name, text := range reportFiles(dir) {
			Expect(text).To(And(ContainSubstring("NET-R3"), ContainSubstring("reference documentation"), ContainSubstring("the correct affiliation ID")), name)
		}
	})
})

// evidenceIn returns the path of the evidence in a directory.
func evidenceIn(dir string) string {
	GinkgoHelper()
	found, err := filepath.Glob(filepath.Join(dir, "evidence.jsonl*"))
	Expect(err).NotTo(HaveOccurred())
	Expect(found).To(HaveLen(1))
	return found[0]
}
