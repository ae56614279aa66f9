package main_test

import (
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("--value and --gap", func() {
	It("appear in the report, which also names those that fit no operation", func() {
		n := newNode(nil)
		got, dir := n.certify("--value", "id=a=b", "--value", "year=2026", "--gap", "attachment= no record has a file ")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(reportIn(dir).Made.Values).To(Equal([]string{"id", "year"}), "the names only")
		Expect(words(got.out)).To(And(ContainSubstring("Values given (--value): id, year"), ContainSubstring("--value year was given and not used"),
			ContainSubstring("--gap attachment was given and not used"), Not(ContainSubstring("The operator accepts that"))))
	})

	DescribeTable("are refused with a hint if a part is missing",
		func(flag, given, hint string) {
			dir := filepath.Join(GinkgoT().TempDir(), "report")
			n := newNode(nil)
			got := rin(n.env(), append([]string{"certify", "--report-dir", dir}, n.flags(flag, given)...)...)
			Expect(got.code).To(Equal(2), got.out+got.err)
			Expect(got.out).To(BeEmpty())
			Expect(words(got.err)).To(And(HavePrefix("rin: "+flag+": expected "), ContainSubstring(`"`+given+`"`), ContainSubstring("hint: "+hint)))
			Expect(dir).NotTo(BeAnExistingFile())
		},
		Entry("a value without a name", "--value", "=2026", "name a path or query parameter"),
		Entry("a value without an equals sign", "--value", "year", "name a path or query parameter"),
		Entry("a value without a value", "--value", "year=", "name a path or query parameter"),
		Entry("an empty value", "--value", "", "name a path or query parameter"),
		Entry("a gap without a reason", "--gap", "getReport", "name the operationId or path and say why"),
		Entry("a gap with a blank reason", "--gap", "getReport= ", "name the operationId or path and say why"),
		Entry("a gap without an operation", "--gap", "=no report", "name the operationId or path and say why"),
	)
})

var _ = Describe("The hidden file of a run that was killed before its node was found", func() {
	It("is removed by a later run; files of a run that may still go on, and all other files, stay", func() {
		n := newNode(nil)
		dir := GinkgoT().TempDir()
		file := func(name string, age time.Duration) string {
			path := filepath.Join(dir, name)
			Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
			then := time.Now().Add(-age)
			Expect(os.Chtimes(path, then, then)).To(Succeed())
			return path
		}
		abandoned, running := file(".evidence.jsonl.gz-1234", time.Hour), file(".evidence.jsonl.gz-5678", time.Minute)
		other, old := file(".evidence-of-mine", time.Hour), file("notes.txt", time.Hour)
		got := rin(n.env(), append([]string{"certify", "--report-dir", dir}, n.flags("--profile", "auth", "--only", "TOK-01")...)...)
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(abandoned).NotTo(BeAnExistingFile())
		for _, path := range []string{running, other, old} {
			Expect(path).To(BeAnExistingFile())
		}
	})
})
