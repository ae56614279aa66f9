package exchange_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange"
)

var _ = Describe("A redacted text", func() {
	const secret = `S3cret+&"ü of many bytes`
	redactor := exchange.NewRedactor([]byte("salt"))
	fingerprint := redactor.Secret("client_secret", secret)
	known := func(f string) (string, bool) { return secret, f == fingerprint }

	DescribeTable("gets its secrets back where they were, in their form", func(text, marked string) {
		redacted := redactor.Text(text)
		Expect(redacted).To(ContainSubstring(":" + marked + "]]"))
		Expect(exchange.Reveal(redacted, known)).To(Equal(text))
		Expect(exchange.Reveal(redacted, func(string) (string, bool) { return "", false })).To(Equal(redacted))
		Expect(exchange.Masked(redacted)).To(And(ContainSubstring("‹client_secret›"), Not(ContainSubstring(fingerprint))))
	},
		Entry("plain", "a "+secret+" b", "plain"),
		Entry("in a form", "client_secret=S3cret%2B%26%22%C3%BC+of+many+bytes&x=1", "percent"),
		Entry("in JSON", `{"a":"S3cret+&\"ü of many bytes"}`, "json"),
	)
})
