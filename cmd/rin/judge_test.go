package main_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/cmd/rin/test"
)

var _ = Describe("rin judge", func() {
	// recordRun makes a run and returns its evidence, decompressed.
	recordRun := func() string {
		GinkgoHelper()
		_, dir := newNode(nil).certify("--profile", "auth", "--only", "TOK-01,TER-01")
		_, text, err := test.ReadOutput(filepath.Join(dir, "evidence.jsonl.gz"))
		Expect(err).NotTo(HaveOccurred())
		return text
	}
	// judge judges an evidence file with that content.
	judge := func(content []byte) outcome {
		GinkgoHelper()
		path := filepath.Join(GinkgoT().TempDir(), "evidence.jsonl.gz")
		Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
		return rin(nil, "judge", path)
	}
	zipped := func(text string) []byte {
		GinkgoHelper()
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, err := z.Write([]byte(text))
		Expect(errors.Join(err, z.Close())).NotTo(HaveOccurred())
		return out.Bytes()
	}

	It("reads evidence compressed, decompressed, from standard input, and of version 1", func() {
		text := recordRun()
		for _, content := range [][]byte{zipped(text), []byte(text)} {
			got := judge(content)
			Expect(got.code).To(Equal(0), got.out+got.err)
		}
		got := rinIn(GinkgoT().TempDir(), string(zipped(text)), nil, "judge", "-")
		Expect(got.code).To(Equal(0), got.out+got.err)

		old, err := filepath.Abs("../../conformance/evidence/testdata/v1.jsonl")
		Expect(err).NotTo(HaveOccurred())
		got = rin(nil, "judge", old)
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(ContainSubstring("4 passed, of 4 judged"))
	})

	It("refuses evidence that contradicts itself with exit code 1, says where, and writes no report", func() {
		text := recordRun()
		wrongSecret := regexp.MustCompile(`.*"exchange":{"label":"token.wrong-secret".*\n`)
		for changed, message := range map[string]string{
			strings.Replace(text, `invalid_client`, `invalid_clients`, 1):     "its content was changed",
			strings.Replace(text, `"attempts":1`, `"attempts":100000`, 1):     "requests recorded, and",
			strings.Replace(text, `"durationNs":`, `"durationNs":9999999`, 1): "after it was recorded at",
			wrongSecret.ReplaceAllString(text, ""):                            `"token.wrong-secret"`,
		} {
			Expect(changed).NotTo(Equal(text), message)
			path := filepath.Join(GinkgoT().TempDir(), "evidence.jsonl.gz")
			Expect(os.WriteFile(path, zipped(changed), 0o600)).To(Succeed())
			dir := GinkgoT().TempDir()
			got := rinIn(dir, "", nil, "judge", path)
			Expect(got.code).To(Equal(1), got.out+got.err)
			Expect(got.out).To(BeEmpty())
			Expect(got.err).To(SatisfyAll(ContainSubstring("contradicts itself and is not judged: evidence"), ContainSubstring(message), ContainSubstring("hint: ")))
			Expect(filepath.Join(dir, "rin-report")).NotTo(BeAnExistingFile())
		}
	})

	It("refuses evidence without some planned requests, as rin verify does, and writes no report", func() {
		_, dir := newNode(nil).certify("--profile", "auth")
		_, text, err := test.ReadOutput(filepath.Join(dir, "evidence.jsonl.gz"))
		Expect(err).NotTo(HaveOccurred())
		exchange := regexp.MustCompile(`.*"exchange":{"label":"info.tampered".*\n`)
		planned := regexp.MustCompile(`,"info\.tampered"|"info\.tampered",`)
		cut := planned.ReplaceAllString(exchange.ReplaceAllString(text, ""), "")
		Expect(strings.Contains(cut, `"info.tampered"`)).To(BeFalse())
		folder := GinkgoT().TempDir()
		path := filepath.Join(folder, "evidence.jsonl.gz")
		Expect(os.WriteFile(path, zipped(cut), 0o600)).To(Succeed())
		secondDir := filepath.Join(folder, "again")
		for _, args := range [][]string{{"judge", path, "--report-dir", secondDir}, {"verify", path}, {"diff", path, path}} {
			got := rin(nil, args...)
			Expect(got.code).To(Equal(1), got.out+got.err)
			Expect(got.out + got.err).To(SatisfyAll(ContainSubstring(`label "info.tampered"`),
				ContainSubstring("a run of this target, profile, document and seed plans it, and it is missing")))
		}
		Expect(secondDir).NotTo(BeAnExistingFile())
	})

	It("judges what is complete of a file that was cut off", func() {
		_, dir := newNode(nil).certify("--profile", "auth", "--only", "TOK-01,TER-01")
		file, err := os.ReadFile(filepath.Join(dir, "evidence.jsonl.gz"))
		Expect(err).NotTo(HaveOccurred())
		got := judge(file[:len(file)*2/3])
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(got.out).To(ContainSubstring("cut off"))
	})

	It("ends with exit code 3 for evidence of a later version, and with 2 for any other file", func() {
		got := judge([]byte(`{"kind":"run","run":{"schema":"rin.evidence/v3"}}`))
		Expect(got.code).To(Equal(3))
		Expect(got.err).To(ContainSubstring(`got "rin.evidence/v3": use the version of rin that recorded it`))
		for _, content := range [][]byte{[]byte("<html>"), nil, zipped("<html>"), []byte("\x1f\x8bjunk"), zipped(strings.Repeat(" ", 130<<20))} {
			got := judge(content)
			Expect(got.code).To(Equal(2), got.err)
			Expect(got.err).To(ContainSubstring("is not evidence that rin recorded"))
		}
	})
})
