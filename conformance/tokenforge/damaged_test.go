package tokenforge_test

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/tokenforge"
)

var _ = Describe("Damaged credentials", func() {
	DescribeTable("a wrong secret differs in one character near its middle",
		func(secret, want string) {
			got, err := tokenforge.Misspell(secret, strings.NewReader("0123456789"))
			Expect(err).NotTo(HaveOccurred())
			Expect(got).To(HaveLen(len(secret)))
			Expect(got).NotTo(Equal(secret))
			Expect(got).To(Equal(want))
		},
		Entry("a letter changes its case", "abcdEfGh", "abcdefGh"),
		Entry("the nearest letter", "123a4-b_", "123A4-b_"),
		Entry("without letters the middle is random", "12345678", "1234w678"),
		Entry("one character", "x", "X"),
		Entry("one digit", "7", "w"),
		Entry("bytes that are not UTF-8", "ab\xff\xfeZz", "ab\xff\xfezz"),
	)

	It("needs randomness for a secret without letters", func() {
		_, err := tokenforge.Misspell("1234", bytes.NewReader(nil))
		Expect(err).To(HaveOccurred())
	})

	DescribeTable("a tampered token differs in the middle of its last segment",
		func(token, want string) { Expect(tokenforge.Tamper(token)).To(Equal(want)) },
		Entry("a JWT", "aaa.bbb.ccccc", "aaa.bbb.ccCcc"),
		Entry("an opaque token", "ccccc", "ccCcc"),
		Entry("the nearest letter", "a.1b45678", "a.1B45678"), Entry("no letter", "a.11111", "a.11A11"),
		Entry("the last character is left alone", "a.1111b", "a.11A1b"),
		Entry("an empty signature: the payload", "aaa.bbb.", "aaa.bBb."),
		Entry("one character", "x", "A"), Entry("dots", "..", "..A"), Entry("nothing", "", "A"),
	)
})

func FuzzTamper(f *testing.F) {
	for _, seed := range []string{"a.b.c", "..", "", "opaque", "AAAA"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if tokenforge.Tamper(token) == token {
			t.Errorf("Tamper(%q) returns the token unchanged", token)
		}
	})
}
