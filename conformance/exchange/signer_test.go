package exchange_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange"
)

var _ = Describe("The key of a token's signature", func() {
	sealed := func(of func() hash.Hash, key string) string {
		segment := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		input := segment(`{"alg":"HS"}`) + "." + segment(`{"sub":"s"}`)
		mac := hmac.New(of, []byte(key))
		mac.Write([]byte(input))
		return input + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	known := func(token string) string {
		r := exchange.NewRedactor([]byte("salt"))
		r.Secret("client_secret", secretValue)
		return r.Token("access_token", token).JWT.KnownKey
	}

	DescribeTable("is known if others have it",
		func(token, want string) { Expect(known(token)).To(Equal(want)) },
		Entry("the client's secret", sealed(sha256.New, secretValue), "client_secret"),
		Entry("with another hash", sealed(sha512.New, secretValue), "client_secret"),
		Entry("and another", sealed(sha512.New384, secretValue), "client_secret"),
		Entry("a word of examples", sealed(sha256.New, "your-256-bit-secret"), "a common word"),
		Entry("a key of its own", sealed(sha256.New, "0f3b1c9ad24e4f0f8a1f"), ""),
		Entry("no HMAC", tokenValue, ""),
	)

	It("stands in the facts by its name alone", func() {
		r := exchange.NewRedactor([]byte("salt"))
		r.Secret("client_secret", secretValue)
		facts := r.Token("access_token", sealed(sha256.New, secretValue))
		Expect(strings.Contains(facts.JWT.KnownKey, secretValue)).To(BeFalse())
	})
})
