package main_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	"github.com/rin-network/rin/cmd/rin/test"
)

// secureNode is a running rin sandbox --tls.
type secureNode struct {
	base, authority, secret, script string
	stop                            func()
}

func newSecureNode(flags ...string) secureNode {
	GinkgoHelper()
	authority := filepath.Join(GinkgoT().TempDir(), "its authority.pem") // the printed commands must quote the blank
	args := append([]string{"sandbox", "--tls", "--tls-ca-file", authority, "--addr", "127.0.0.1:0", "--calls", "10"}, flags...)
	session, err := gexec.Start(exec.Command(binary, args...), nil, nil)
	Expect(err).NotTo(HaveOccurred())
	stop := func() { session.Kill().Wait("10s") }
	DeferCleanup(stop)
	Eventually(session.Out, "20s").Should(gbytes.Say(`(?s)listening on https://127\.0\.0\.1:\d+.*authority .*page\[size\]=2'\n`))
	text := string(session.Out.Contents())
	script, _, _ := strings.Cut(text[strings.Index(text, "export RIN_CLIENT_SECRET="):], "rin certify") // rin is on no path here
	return secureNode{
		stop: stop,
		base: regexp.MustCompile(`https://\S+`).FindString(text), authority: authority,
		secret: regexp.MustCompile(`secret  (\S+)`).FindStringSubmatch(text)[1], script: script,
	}
}

// certify runs rin certify on the node by its URLs.
func (n secureNode) certify(more ...string) (outcome, string) {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	args := append([]string{"certify", "--report-dir", dir, "--token-url", n.base + "/oauth/token", "--info-url", n.base + "/ris-synergy/info/v1/oauth/info/",
		"--client-id", "demo-client", "--client-secret", "env:SECRET"}, more...)
	return rin([]string{"SECRET=" + n.secret}, args...), dir
}

var _ = Describe("A node with TLS", func() {
	It("is served with an authority in a file and commands that work, and certified with --cacert", func() {
		n := newSecureNode()
		if _, err := exec.LookPath("curl"); err == nil {
			answers, err := exec.Command("sh", "-c", n.script).Output()
			Expect(err).NotTo(HaveOccurred())
			Expect(string(answers)).To(SatisfyAll(ContainSubstring(`"endpoints"`), ContainSubstring(`"callStages"`)))
		}
		got, dir := n.certify("--profile", "auth", "--cacert", n.authority, "--registry", n.base+"/registry/registry.json", "--node", "XA")
		Expect(got.code).To(Equal(0), got.out+got.err)
		found := reportIn(dir).outcomes()
		for _, id := range []string{"REG-01", "REG-02", "REG-03", "REG-04", "REG-05", "REG-06", "TLS-01", "TLS-02", "TLS-03", "TLS-04", "TLS-05"} {
			Expect(found).To(HaveKeyWithValue(id, "pass"))
		}
		_, evidence, err := test.ReadOutput(filepath.Join(dir, "evidence.jsonl.gz"))
		Expect(err).NotTo(HaveOccurred())
		Expect(evidence).To(SatisfyAll(ContainSubstring(`"kind":"handshake","handshake":{"label":"tls/token.modern"`), ContainSubstring(`"label":"cleartext/token.same-port"`)))
	})

	It("is inconclusive without --cacert, with a hint", func() {
		n := newSecureNode()
		got, dir := n.certify("--profile", "auth")
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(got.out).To(SatisfyAll(ContainSubstring("--cacert"), ContainSubstring("unknown authority")))
		Expect(reportIn(dir).outcomes()).To(HaveKeyWithValue("TLS-03", "inconclusive"))
	})

	DescribeTable("fails with exit code 1 for a bad certificate",
		func(deviation, message string) {
			n := newSecureNode("--deviate", deviation)
			got, dir := n.certify("--profile", "auth", "--cacert", n.authority)
			Expect(got.code).To(Equal(1), got.out+got.err)
			Expect(strings.Join(strings.Fields(got.out), " ")).To(SatisfyAll(ContainSubstring("TLS-03"), ContainSubstring(message)))
			Expect(reportIn(dir).outcomes()).To(SatisfyAll(HaveKeyWithValue("TLS-03", "fail"), HaveKeyWithValue("TLS-04", "pass"), HaveKeyWithValue("TLS-05", "pass"),
				HaveKeyWithValue("TOK-01", "blocked"), HaveKeyWithValue("INF-01", "blocked")))
		},
		Entry("expired", "certificate-expired", "a certificate has expired"),
		Entry("incomplete", "certificate-chain-incomplete", "RFC 8446 §4.4.2"),
		Entry("of another host", "certificate-of-another-host", "www.provider.invalid"),
	)

	It("is certified by demo --tls, which finds its faults", func() {
		Expect(rin(nil, "demo", "--tls", "--calls", "20").code).To(Equal(0))
		got := rin(nil, "demo", "--tls", "--calls", "20", "--deviate", "tls11-accepted")
		Expect(got.code).To(Equal(0), "a recommendation that is not met does not prevent the certificate")
		Expect(got.out).To(ContainSubstring("the server accepts TLS 1.1"))
	})

	DescribeTable("is refused with a hint",
		func(hint string, args ...string) {
			got := rin(nil, args...)
			Expect(got.code).To(Equal(2), got.out+got.err)
			Expect(got.err).To(ContainSubstring("hint: " + hint))
		},
		Entry("a deviation of TLS without it", "add --tls", "sandbox", "--deviate", "certificate-expired", "--addr", "127.0.0.1:0"),
		Entry("the same for demo", "add --tls", "demo", "--deviate", "certificate-expired"),
		Entry("a file for the authority without --tls", "add --tls", "sandbox", "--tls-ca-file", "ca.pem", "--addr", "127.0.0.1:0"),
		Entry("a directory that is not there", "name a file", "sandbox", "--tls", "--tls-ca-file", "missing/ca.pem", "--addr", "127.0.0.1:0"),
	)

	It("keeps its authority with --data, so that clients that trust it do so after a restart", func() {
		data := filepath.Join(GinkgoT().TempDir(), "books")
		before := newSecureNode("--data", data)
		trusted, err := os.ReadFile(before.authority)
		Expect(err).NotTo(HaveOccurred())
		before.stop()
		kept := filepath.Join(data, "authority.pem")
		info, err := os.Stat(kept)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))

		after := newSecureNode("--data", data)
		pool := x509.NewCertPool()
		Expect(pool.AppendCertsFromPEM(trusted)).To(BeTrue())
		wire := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
		defer wire.CloseIdleConnections()
		answer, err := (&http.Client{Transport: wire}).Get(after.base + "/registry/registry.json")
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Body.Close()).To(Succeed())
		after.stop()

		start := func(flags ...string) outcome {
			return rinIn(GinkgoT().TempDir(), "", nil, append([]string{"sandbox", "--tls", "--addr", "127.0.0.1:0", "--data", data}, flags...)...)
		}
		got := start("--public-url", "https://node.example")
		Expect(got.code).To(Equal(2), got.out)
		Expect(got.err).To(SatisfyAll(ContainSubstring("is not for node.example"), ContainSubstring("hint: remove the file")))
		Expect(os.Chmod(kept, 0o644)).To(Succeed())
		got = start()
		Expect(got.code).To(Equal(2), got.out)
		Expect(got.err).To(SatisfyAll(ContainSubstring("can be read or written by others (mode 0644)"), ContainSubstring("hint: remove the file")))
		Expect(os.Chmod(kept, 0o600)).To(Succeed())
		Expect(os.WriteFile(kept, []byte("dear diary"), 0o600)).To(Succeed())
		Expect(start().err).To(SatisfyAll(ContainSubstring("authority.pem: expected the certificate"), ContainSubstring("hint: remove the file")))
		Expect(os.ReadFile(kept)).To(Equal([]byte("dear diary")))
	})

	It("never replaces a file that is not the authority of a sandbox", func() {
		dir := GinkgoT().TempDir()
		path := filepath.Join(dir, "diary.txt")
		Expect(os.WriteFile(path, []byte("dear diary"), 0o600)).To(Succeed())
		got := rinIn(dir, "", nil, "sandbox", "--tls", "--tls-ca-file", "diary.txt", "--addr", "127.0.0.1:0")
		Expect(got.code).To(Equal(2), got.out)
		Expect(got.err).To(SatisfyAll(ContainSubstring("is not the certificate authority of a sandbox"), ContainSubstring("hint: name another file")))
		Expect(os.ReadFile(path)).To(Equal([]byte("dear diary")))

		other := rinIn(dir, "", []string{"SECRET=0123456789abcdef"}, "certify", "--profile", "auth", "--token-url", "https://127.0.0.1:1/t", "--info-url", "https://127.0.0.1:1/i",
			"--client-id", "a", "--client-secret", "env:SECRET", "--cacert", "diary.txt")
		Expect(other.code).To(Equal(2))
		Expect(other.err).To(ContainSubstring("no certificate in PEM"))
	})
})
