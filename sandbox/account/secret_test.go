package account_test

import (
	"crypto/rand"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/account"
)

var _ = Describe("Secrets", func() {
	It("have 256 bits when they are generated", func() {
		first, err := account.NewSecret(rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		second, err := account.NewSecret(rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		Expect(first).To(MatchRegexp(`^[A-Za-z0-9_-]{43}$`))
		Expect(second).NotTo(Equal(first))
	})

	DescribeTable("are judged by alphabet and length", func(secret string, strong bool) {
		Expect(account.SecretBits(secret) >= account.MinimalSecretBits).To(Equal(strong))
	},
		Entry("a password", "correct-horse", false),
		Entry("32 hex digits", "0123456789abcdef0123456789abcdef", true),
		Entry("31 hex digits", "0123456789abcdef0123456789abcde", false),
		Entry("38 digits", "01234567890123456789012345678901234567", false),
		Entry("22 letters and digits", "Zm9vYmFyYmF6cXV4cXV1eG", true),
		Entry("few different characters", strings.Repeat("ab", 40), false),
	)

	It("report a random source that ends too early", func() {
		_, err := account.NewSecret(strings.NewReader("short"))
		Expect(err).To(MatchError(ContainSubstring("generate a client secret")))
		_, err = account.Open(account.Config{Now: noon, Random: strings.NewReader("")})
		Expect(err).To(MatchError(ContainSubstring("generate a salt")))
	})

	It("are stored as a salted hash", func() {
		one, err := account.NewDigest(rand.Reader, "the-secret")
		Expect(err).NotTo(HaveOccurred())
		other, err := account.NewDigest(rand.Reader, "the-secret")
		Expect(err).NotTo(HaveOccurred())
		Expect(one).NotTo(Equal(other))
		written, err := json.Marshal(one)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(written)).NotTo(ContainSubstring("secret"))
		var read account.Digest
		Expect(json.Unmarshal(written, &read)).To(Succeed())
		Expect(read.Matches("the-secret")).To(BeTrue())
		Expect(read.Matches("the-secret ")).To(BeFalse())
		Expect(json.Unmarshal([]byte(`"c2hvcnQ"`), &read)).To(MatchError(ContainSubstring("damaged")))
	})
})
