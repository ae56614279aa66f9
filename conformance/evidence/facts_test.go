package evidence_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
)

func jwt(header, claims, signature string) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(header)) + "." + enc([]byte(claims)) + "." + signature
}

var _ = Describe("FactsOf", func() {
	DescribeTable("judges the alphabet of a b64token",
		func(token string, good bool, offending string) {
			f := evidence.FactsOf("access_token", token, "12345678")
			Expect(f.Alphabet).To(Equal(good))
			Expect(f.Offending).To(Equal(offending))
			Expect(f.Length).To(Equal(len(token)))
		},
		Entry("every character", "AZaz09-._~+/==", true, ""),
		Entry("nothing", "", false, ""),
		Entry("padding alone", "=", false, `"="`),
		Entry("padding inside", "a=b", false, `"b"`),
		Entry("a blank", "a b", false, `" "`),
		Entry("a line feed", "ab\n", false, `"\n"`),
		Entry("an umlaut", "tokän", false, `"ä"`),
		Entry("broken UTF-8", "a\xff", false, `"�"`),
	)

	It("reads a JSON Web Token", func() {
		f := evidence.FactsOf("access_token", jwt(`{"alg":"ES256"}`, `{"sub":"sa","exp":1790000000}`, "c2ln"), "12345678")
		Expect(f.JWT).To(Equal(&evidence.JWTFacts{
			Header: map[string]any{"alg": "ES256"}, Claims: map[string]any{"sub": "sa", "exp": json.Number("1790000000")}, Signature: true,
		}))
	})

	DescribeTable("treats other tokens as opaque",
		func(token string) { Expect(evidence.FactsOf("access_token", token, "").JWT).To(BeNil()) },
		Entry("two segments", "e30.e30"),
		Entry("five segments", "e30.e30.e30.e30.e30"),
		Entry("no base64url", "e30.e3+.x"),
		Entry("claims that are not an object", jwt(`{}`, `[1]`, "x")),
		Entry("null", jwt(`{}`, `null`, "x")),
		Entry("more after the object", jwt(`{}`, `{} {}`, "x")),
		Entry("deeply nested", jwt(`{}`, `{"a":`+strings.Repeat("[", 20)+strings.Repeat("]", 20)+`}`, "x")),
		Entry("too large", jwt(`{}`, `{"a":"`+strings.Repeat("a", 40<<10)+`"}`, "x")),
	)
})

var _ = DescribeTable("Chance counts the bits of a token that can be random",
	func(token, other string, bits int) { Expect(evidence.Chance(token, other)).To(Equal(bits)) },
	Entry("the whole token if there is no other", "0123456789abcdef0123456789abcdef", "", 128),
	Entry("a UUID without its hyphens", "1b4e28ba-2fa1-41d2-883f-0016d3cca427", "", 128),
	Entry("letters of both cases", "Zx3kQ9", "", 36),
	Entry("digits", "482913", "", 19),
	Entry("the part after a common beginning", "rin_9f3c", "rin_07ab", 20),
	Entry("the part between a common beginning and a common end", "aaaa12aaaa", "aaaa34aaaa", 8),
	Entry("the part beyond the length of the other token", "abcabc12", "abc", 20),
	Entry("the whole token if the other is equal", "0123abcd", "0123abcd", 32),
	Entry("no part of an empty token", "", "abc", 0),
)

func FuzzFactsOf(f *testing.F) {
	f.Add(jwt(`{"alg":"none"}`, `{"a":[{"b":"\u0000\"["}]}`, ""))
	f.Add("a b\xff")
	f.Fuzz(func(t *testing.T, token string) {
		facts := evidence.RedactToken(redact.New(nil), "access_token", token)
		if facts.Alphabet && facts.Offending != "" {
			t.Fatal("the token fits the alphabet, but has a character outside of it")
		}
		if _, err := json.Marshal(facts); err != nil {
			t.Fatal(err)
		}
	})
}

var _ = DescribeTable("Count", func(n int, noun, text string) {
	Expect(evidence.Count(n, noun)).To(Equal(text))
},
	Entry("one", 1, "item", "1 item"),
	Entry("none", 0, "item", "0 items"),
	Entry("several", 3, "more reason", "3 more reasons"),
	Entry("several entries", 2, "other entry", "2 other entries"),
	Entry("several statuses", 2, "documented status", "2 documented statuses"),
)
