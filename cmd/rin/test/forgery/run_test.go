// Package forgery_test edits the files of runs as somebody would who wants a certificate without a right node, and looks at which step of the
// verification refuses them. A forgery that contradicts itself is refused even if nothing is signed; a consistent one is refused by
// the signature.
package forgery_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
)

func TestForgery(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "forgery")
}

// suite is the version of rin in these tests.
const suite = "test"

// recorded holds the files of a run, and the lines of its evidence.
type recorded struct {
	lines []string
	files map[string][]byte
	claim []byte
}

// record certifies a sandbox node with these deviations and returns the files of the run.
func record(deviations ...string) recorded {
	GinkgoHelper()
	node, err := sandbox.New(sandbox.Config{Calls: 12, Loopback: true, Deviations: deviations})
	Expect(err).NotTo(HaveOccurred())
	server := httptest.NewServer(http.Handler(node))
	defer server.Close()
	clients, addresses := node.Credentials(), node.Addresses(server.URL)
	credentials := func(c sandbox.Credential) target.Credentials {
		return target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)}
	}
	second := credentials(clients[1])
	t := target.Target{
		Registry: server.URL + "/registry/registry.json", NodeID: "XA", Profile: "funding", Seed: 7,
		Credentials: credentials(clients[0]), Second: &second, InfoURL: addresses.Info,
	}
	path := filepath.Join(GinkgoT().TempDir(), certificate.EvidenceFile)
	ctx, cancel := context.WithTimeoutCause(context.Background(), 2*time.Minute, errors.New("the test took too long"))
	defer cancel()
	result, err := conformance.Certify(ctx, t, worker.Options{Inputs: conformance.Inputs{Suite: suite}, Evidence: path})
	Expect(err).NotTo(HaveOccurred())
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	r := recorded{files: map[string][]byte{certificate.EvidenceFile: content}}
	text, err := evidence.Text(bytes.NewReader(content))
	Expect(err).NotTo(HaveOccurred())
	all, err := io.ReadAll(text)
	Expect(err).NotTo(HaveOccurred())
	r.lines = slices.Collect(strings.Lines(string(all)))
	r.writeReports(result.Report, result.Log)
	return r
}

// writeReports makes the files of the report.
func (r *recorded) writeReports(judged report.Report, log *evidence.Log) {
	GinkgoHelper()
	for _, f := range report.Files(suite) {
		if f.OnDemand {
			continue
		}
		var out bytes.Buffer
		Expect(f.Write(&out, judged, log)).To(Succeed())
		r.files[f.Name] = out.Bytes()
	}
}

// clone returns a copy, which a forgery may change.
func (r recorded) clone() *recorded {
	c := recorded{lines: slices.Clone(r.lines), files: map[string][]byte{}, claim: slices.Clone(r.claim)}
	for name, content := range r.files {
		c.files[name] = slices.Clone(content)
	}
	return &c
}

// pack writes the lines of the evidence into its file.
func (r *recorded) pack() {
	GinkgoHelper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write([]byte(strings.Join(r.lines, "")))
	Expect(errors.Join(err, z.Close())).To(Succeed())
	r.files[certificate.EvidenceFile] = out.Bytes()
}

// judgeAgain makes the report that fits the forged evidence, as a careful forger does.
func (r *recorded) judgeAgain() {
	GinkgoHelper()
	r.pack()
	log, err := evidence.ReadLog(bytes.NewReader(r.files[certificate.EvidenceFile]))
	Expect(err).NotTo(HaveOccurred())
	r.writeReports(conformance.Judge(log, suite), log)
}

// list returns the files in the order of a directory.
func (r *recorded) list() []certificate.File {
	var out []certificate.File
	for _, name := range slices.Concat([]string{certificate.EvidenceFile}, reportNames()) {
		if content, ok := r.files[name]; ok {
			out = append(out, certificate.File{Name: name, Content: content})
		}
	}
	return out
}

func reportNames() []string {
	var out []string
	for _, f := range report.Files(suite) {
		out = append(out, f.Name)
	}
	return out
}

// sign makes the claim about the files.
func (r *recorded) sign(key ed25519.PrivateKey) {
	GinkgoHelper()
	r.claim = signed(r.statement(), key)
}

func (r *recorded) statement() certificate.Statement[certificate.TestResult] {
	GinkgoHelper()
	log, err := evidence.ReadLog(bytes.NewReader(r.files[certificate.EvidenceFile]))
	Expect(err).NotTo(HaveOccurred())
	judged, err := report.ReadJSON(bytes.NewReader(r.files[certificate.ReportFile]))
	Expect(err).NotTo(HaveOccurred())
	claim, err := certificate.NewClaim(certificate.Run{Files: r.list(), Log: log, Report: judged})
	Expect(err).NotTo(HaveOccurred())
	return claim
}

func signed(claim certificate.Statement[certificate.TestResult], key ed25519.PrivateKey) []byte {
	GinkgoHelper()
	envelope, err := certificate.Sign(claim.Payload(), key)
	Expect(err).NotTo(HaveOccurred())
	return envelope
}

func (r *recorded) verify(key ed25519.PublicKey) certificate.Verification {
	GinkgoHelper()
	in := certificate.Input{Files: r.list(), Key: key, RequireSignature: key != nil, Suite: suite}
	if r.claim != nil {
		in.Envelope = certificate.File{Name: certificate.ClaimFile, Content: r.claim}
	}
	return certificate.Verify(in)
}

func newKey() (ed25519.PrivateKey, ed25519.PublicKey) {
	GinkgoHelper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	return private, public
}

// lineWith returns the index of the first line that contains all parts.
func (r *recorded) lineWith(parts ...string) int {
	GinkgoHelper()
	i := slices.IndexFunc(r.lines, func(line string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) })
	})
	Expect(i).To(BeNumerically(">=", 0), "%q", parts)
	return i
}

// exchange returns the index of the line of an exchange.
func (r *recorded) exchange(label string) int {
	GinkgoHelper()
	return r.lineWith(`"kind":"exchange"`, `"label":"`+label+`"`)
}

// replace changes the first occurrence of a text in a line.
func (r *recorded) replace(line int, from, to string) {
	GinkgoHelper()
	Expect(r.lines[line]).To(ContainSubstring(from))
	r.lines[line] = strings.Replace(r.lines[line], from, to, 1)
}

// everywhere changes a text in all lines of a kind.
func (r *recorded) everywhere(kind, from, to string) {
	GinkgoHelper()
	changed := 0
	for i, line := range r.lines {
		if strings.Contains(line, `"kind":"`+kind+`"`) && strings.Contains(line, from) {
			r.lines[i] = strings.ReplaceAll(line, from, to)
			changed++
		}
	}
	Expect(changed).To(BeNumerically(">", 0), "%s of %s", from, kind)
}

// remove takes out a line, and the bodies that no other line names.
func (r *recorded) remove(line int) {
	removed := r.lines[line]
	r.lines = slices.Delete(r.lines, line, line+1)
	r.removeBodies(removed)
}

func (r *recorded) removeBodies(line string) {
	for _, m := range regexp.MustCompile(`"body":"(sha256:[0-9a-f]+)"`).FindAllStringSubmatch(line, -1) {
		if !slices.ContainsFunc(r.lines, func(l string) bool { return strings.Contains(l, `"body":"`+m[1]) }) {
			r.lines = slices.DeleteFunc(r.lines, func(l string) bool { return strings.Contains(l, `"digest":"`+m[1]) })
		}
	}
}

// editObject changes a line of the evidence as a JSON object.
func (r *recorded) editObject(line int, change func(map[string]any)) {
	GinkgoHelper()
	dec := json.NewDecoder(strings.NewReader(r.lines[line]))
	dec.UseNumber()
	var o map[string]any
	Expect(dec.Decode(&o)).To(Succeed())
	change(o)
	text, err := json.Marshal(o)
	Expect(err).NotTo(HaveOccurred())
	r.lines[line] = string(text) + "\n"
}

// member returns the object that a path of names leads to in a JSON object.
func member(o map[string]any, path ...string) map[string]any {
	GinkgoHelper()
	for _, name := range path {
		inner, ok := o[name].(map[string]any)
		Expect(ok).To(BeTrue(), name)
		o = inner
	}
	return o
}

// body returns the body whose digest begins with this text. A large list is stored in parts.
func (r *recorded) body(digest string) string {
	GinkgoHelper()
	var stored struct {
		Body struct {
			Content string
			Parts   []string
		} `json:"body"`
	}
	Expect(json.Unmarshal([]byte(r.lines[r.lineWith(`"kind":"body"`, `"digest":"sha256:`+strings.TrimPrefix(digest, "sha256:"))]), &stored)).To(Succeed())
	if stored.Body.Parts == nil {
		return stored.Body.Content
	}
	var joined strings.Builder
	for _, part := range stored.Body.Parts {
		joined.WriteString(r.body(part))
	}
	return joined.String()
}

// rewriteBody replaces the body of an answer and everything that depends on it: digest, lengths and Content-Length.
func (r *recorded) rewriteBody(label string, change func(string) string) {
	GinkgoHelper()
	line := r.exchange(label)
	before := r.lines[line]
	var body string
	r.editObject(line, func(o map[string]any) {
		answer := member(o, "exchange", "response")
		old, _ := answer["body"].(string)
		whole := r.body(old)
		body = change(whole)
		Expect(body).NotTo(Equal(whole))
		answer["body"], answer["size"], answer["wire"] = evidence.DigestOf([]byte(body)), len(body), len(body)
		delete(answer, "coding")
		var header []any
		fields, _ := answer["header"].([]any)
		for _, f := range fields {
			field, _ := f.(map[string]any)
			if name := field["name"]; name != "Content-Length" && name != "Content-Encoding" {
				header = append(header, f)
			}
		}
		answer["header"] = header
	})
	record, err := json.Marshal(map[string]any{"kind": "body", "body": map[string]any{"digest": evidence.DigestOf([]byte(body)), "size": len(body), "content": body}})
	Expect(err).NotTo(HaveOccurred())
	r.lines = slices.Insert(r.lines, line, string(record)+"\n")
	r.removeBodies(before)
}
