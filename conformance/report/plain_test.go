package report_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/report"
)

var _ = Describe("Plain", func() {
	DescribeTable("makes characters visible that act on a terminal or hide", func(in, want string) {
		Expect(report.Plain(in)).To(Equal(want))
	},
		Entry("a harmless text", "Förderung 資金 🙂", "Förderung 資金 🙂"),
		Entry("a terminal escape", "\x1b[31mred", `\x1b[31mred`),
		Entry("the same as one C1 character", "\u009b31mred", `\u009b31mred`),
		Entry("the same as one byte", "\x9b31mred", `\x9b31mred`),
		Entry("bell, backspace and delete", "\a\b\x7f", `\x07\x08\x7f`),
		Entry("line breaks and tabs", "a\r\nb\tc", `a\r\nb\tc`),
		Entry("separators that some viewers break lines at", "a\u2028b\u2029c\u0085d", `a\u2028b\u2029c\u0085d`),
		Entry("a right-to-left override", "\u202egnp.exe", `\u202egnp.exe`),
		Entry("isolates and marks", "\u2066\u2069\u200e\u061c", `\u2066\u2069\u200e\u061c`),
		Entry("invisible characters", "a\u200bb\ufeff\u00ad", `a\u200bb\ufeff\u00ad`),
		Entry("tag characters", "\U000e0041", `\U000e0041`),
		Entry("a non-character", "\uffff", `\uffff`),
		Entry("bytes that are not UTF-8", "a\xff\xfe", `a\xff\xfe`),
		Entry("a real replacement character", "a\ufffd", "a\ufffd"),
		Entry("joiners, which spell words", "می\u200cخواهم 👩\u200d🔬", "می\u200cخواهم 👩\u200d🔬"),
	)

	It("keeps lines where lines are wanted", func() {
		Expect(report.PlainLines("a\r\nb\tc\rd\n\x1b[2J")).To(Equal("a\nb\tc" + `\rd` + "\n" + `\x1b[2J`))
	})
})

// harmful finds a character that Plain must not let through.
func harmful(s string, keep string) string {
	if !utf8.ValidString(s) {
		return "invalid UTF-8"
	}
	for _, r := range s {
		if strings.ContainsRune(keep+"\u200c\u200d", r) {
			continue
		}
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Cf, unicode.Zl, unicode.Zp) {
			return string(r)
		}
	}
	return ""
}

func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"", "plain", evil(), "\x1b[31m", "\u202e", "\xff", "a\nb", "\ufffd"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if bad := harmful(report.Plain(s), ""); bad != "" {
			t.Errorf("Plain(%q) lets %q through", s, bad)
		}
		if bad := harmful(report.PlainLines(s), "\n\t"); bad != "" {
			t.Errorf("PlainLines(%q) lets %q through", s, bad)
		}
		if report.Plain(report.Plain(s)) != report.Plain(s) {
			t.Errorf("Plain(%q) is not plain", s)
		}
	})
}
