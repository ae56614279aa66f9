package main_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("rin certify --baseline", func() {
	// certifyWithBaseline certifies the node's token endpoint with a baseline of these entries.
	certifyWithBaseline := func(n node, entries ...string) (outcome, report) {
		GinkgoHelper()
		file := filepath.Join(GinkgoT().TempDir(), "known.yaml")
		Expect(os.WriteFile(file, []byte("schema: rin.baseline/v1\nknown: ["+strings.Join(entries, ", ")+"]\n"), 0o600)).To(Succeed())
		got, dir := n.certify("--profile", "auth", "--only", "TOK-01,TOK-02,TOK-06", "--baseline", file)
		return got, reportIn(dir)
	}
	const known, expired = `{id: TOK-02, reason: "the framework, NET-1", until: 2999-12-31}`, `{id: TOK-02, reason: "the framework, NET-1", until: 2020-01-01}`

	It("passes if all failures are known, and says so", func() {
		got, r := certifyWithBaseline(newNode(nil, "token-status-201"), known)
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(SatisfyAll(
			ContainSubstring("failed, known until 2999-12-31 (the framework, NET-1)"), ContainSubstring("nothing new failed"),
			ContainSubstring("A run with a baseline is never a certificate"),
		))
		Expect(r.Verdict.Decision).To(Equal("partial"))
	})

	It("fails on a failure that is not in the baseline", func() {
		got, r := certifyWithBaseline(newNode(nil, "token-status-201", "token-cacheable"), known)
		Expect(got.code).To(Equal(1), got.out)
		Expect(r.Verdict.Reasons).To(HaveLen(1))
		Expect(got.out).To(ContainSubstring("costs the certificate"))
	})

	It("fails on listed requirements that pass, and on expired entries", func() {
		got, _ := certifyWithBaseline(newNode(nil), known)
		Expect(got.code).To(Equal(1), got.out)
		Expect(got.out).To(ContainSubstring("and it passed: remove"))
		got, _ = certifyWithBaseline(newNode(nil, "token-status-201"), expired)
		Expect(got.code).To(Equal(1), got.out)
		Expect(got.out).To(ContainSubstring("ended on 2020-01-01"))
	})

	It("never gives a certificate, even to a correct node", func() {
		file := filepath.Join(GinkgoT().TempDir(), "known.yaml")
		Expect(os.WriteFile(file, []byte("schema: rin.baseline/v1\nknown: []\n"), 0o600)).To(Succeed())
		got, dir := newNode(nil).certify("--baseline", file)
		Expect(got.code).To(Equal(0), got.out)
		Expect(got.out).NotTo(ContainSubstring("Certified for"))
		Expect(reportIn(dir).Verdict.Decision).To(Equal("partial"))
	})

	It("writes a baseline that makes the same evidence pass", func() {
		n := newNode(nil, "token-status-201")
		file := filepath.Join(GinkgoT().TempDir(), "known.yaml")
		got, dir := n.certify("--write-baseline", file)
		Expect(got.code).To(Equal(1))
		Expect(got.err).To(ContainSubstring("known.yaml: 1;"))
		judged := rin(nil, "judge", filepath.Join(dir, "evidence.jsonl.gz"), "--baseline", file)
		Expect(judged.code).To(Equal(0), judged.out+judged.err)
	})

	It("reports a mistake in the file with its line, before any request is sent", func() {
		file := filepath.Join(GinkgoT().TempDir(), "known.yaml")
		Expect(os.WriteFile(file, []byte("schema: rin.baseline/v1\nknown:\n  - id: TOK-02\n    resaon: typo\n    until: 2999-12-31\n"), 0o600)).To(Succeed())
		got := rin(nil, "certify", "--token-url", "http://127.0.0.1:1/t", "--info-url", "http://127.0.0.1:1/v1/", "--client-id", "a",
			"--client-secret", "env:PATH", "--baseline", file)
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(And(ContainSubstring(`line 4: "resaon" is unknown here`), ContainSubstring("line 3: reason is missing"), ContainSubstring("hint: ")))
	})
})
