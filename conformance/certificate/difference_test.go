package certificate_test

import (
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/certificate"
)

var _ = Describe("The first difference of a file", func() {
	It("shows whole characters of a long value", func() {
		for padding := range 4 { // so that any limit falls into a character
			long := `["` + strings.Repeat("a", padding) + strings.Repeat("日", 100) + `"]`
			Expect(certificate.Difference("report.json", []byte(long), []byte(`[1]`))).To(And(
				HavePrefix("report.json[0]: expected "), HaveSuffix("…, got 1"), Satisfy(utf8.ValidString)))
		}
	})

	It("shows whole characters of a line that differs within one", func() {
		Expect(certificate.Difference("report.md", []byte("same\nPrénom\n"), []byte("same\nPrènom\n"))).To(Equal(`report.md, line 2, byte 3: expected "énom", got "ènom"`))
	})
})
