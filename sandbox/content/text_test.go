package content_test

import (
	"os/exec"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/content"
)

var _ = Describe("Clip", func() {
	DescribeTable("cuts between characters, and counts them", func(text, want string) {
		Expect(content.Clip(text, 5)).To(Equal(want))
	},
		Entry("a text of that length", "abcdé", "abcdé"),
		Entry("a longer text", "ab日本語s", "ab日本…"),
		Entry("bytes that are not UTF-8", "a\xe6\x97b", "a\uFFFDb"),
		Entry("nothing", "", ""),
	)
})

var _ = Describe("ShellWord", func() {
	DescribeTable("quotes a word only if a shell needs it", func(text, want string) {
		Expect(content.ShellWord(text)).To(Equal(want))
		out, err := exec.Command("sh", "-c", "printf %s "+want).Output()
		Expect(err).NotTo(HaveOccurred())
		Expect(string(out)).To(Equal(text))
	},
		Entry("an address", "http://127.0.0.1:8080/fundings/a%20b", "http://127.0.0.1:8080/fundings/a%20b"),
		Entry("every character that needs no quotes", "azAZ09_-./:@%+=,", "azAZ09_-./:@%+=,"),
		Entry("a query", "http://node/list?a=1&page[size]=2", "'http://node/list?a=1&page[size]=2'"),
		Entry("a quote", "it's", `'it'\''s'`),
		Entry("an expansion", "$(id)", "'$(id)'"),
		Entry("a home directory", "~root", "'~root'"),
		Entry("a leading equals sign, which zsh expands", "=ls", "'=ls'"),
		Entry("a letter beyond ASCII", "é", "'é'"),
		Entry("nothing", "", "''"),
	)

	It("drops control characters", func() {
		Expect(content.ShellWord("a\x1b[31m\nb\x7f")).To(Equal("'a[31mb'"))
	})
})
