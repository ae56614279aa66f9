package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("rin diff", Ordered, func() {
	var right, rightAgain, wrong string
	BeforeAll(func() {
		// The requirements are few, so that a run takes a moment; the deviation breaks one of them.
		certify := func(deviations ...string) string {
			_, dir := newNode(nil, deviations...).certify("--profile", "auth", "--only", "TOK-01,TOK-02,TER-01")
			return dir
		}
		right, rightAgain, wrong = certify(), certify(), certify("token-status-201")
	})

	It("finds no difference between two runs of the same node, whatever they drew", func() {
		got := rin(nil, "diff", right, rightAgain)
		Expect(got.code).To(Equal(0), got.out)
		Expect(got.out).To(ContainSubstring("\nnothing changed\n"))
	})

	It("says what broke and what was seen differently, with exit code 1", func() {
		got := rin(nil, "diff", right, wrong)
		Expect(got.code).To(Equal(1), got.out)
		Expect(got.out).To(MatchRegexp(`\n1 broken, \d+ seen differently\n  broken   TOK-0`))
		Expect(got.out).To(MatchRegexp(`200 application/json, now 201 application/json`))
	})

	It("says what was fixed, with exit code 0", func() {
		got := rin(nil, "diff", wrong, right)
		Expect(got.code).To(Equal(0), got.out)
		Expect(got.out).To(ContainSubstring("\n1 fixed, "))
	})

	It("reads reports and evidence alone, and writes Markdown and JSON", func() {
		got := rin(nil, "diff", filepath.Join(right, "report.json"), filepath.Join(wrong, "report.json"), "--format", "markdown")
		Expect(got.code).To(Equal(1), got.err)
		Expect(got.out).To(HavePrefix("# 1 broken\n"))
		got = rin(nil, "diff", filepath.Join(right, "evidence.jsonl.gz"), wrong, "--format", "json")
		Expect(got.code).To(Equal(1), got.err)
		var c struct {
			Schema       string
			Requirements []struct{ Kind, ID string }
			Seen         []struct{ Label string }
		}
		Expect(json.Unmarshal([]byte(got.out), &c)).To(Succeed())
		Expect(c.Schema).To(Equal("rin.comparison/v1"))
		Expect(c.Requirements).To(HaveLen(1))
		Expect(c.Seen).NotTo(BeEmpty())
	})

	It("refuses what is not a run, and unknown formats, with exit code 2", func() {
		empty := GinkgoT().TempDir()
		junk := filepath.Join(empty, "report.json")
		Expect(os.WriteFile(junk, []byte("{}"), 0o600)).To(Succeed())
		for _, args := range [][]string{{right, filepath.Join(empty, "nothing")}, {right, junk}, {right, empty}, {right, wrong, "--format", "pdf"}, {right}} {
			got := rin(nil, append([]string{"diff"}, args...)...)
			Expect(got.code).To(Equal(2), "%q: %s", args, got.err)
		}
	})
})
