package tokenforge_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/tokenforge"
)

func TestForge(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Forge")
}

// issueToken returns a new token of an authorization server, and the key set that the server publishes.
func issueToken(kid string) (token string, set []byte) {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	options := (&jose.SignerOptions{}).WithType("at+jwt")
	if kid != "" {
		options.WithHeader("kid", kid)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, options)
	Expect(err).NotTo(HaveOccurred())
	signed, err := signer.Sign([]byte(`{"iss":"https://as.example","exp":1800000300,"n":12345678901234567890}`))
	Expect(err).NotTo(HaveOccurred())
	token, err = signed.CompactSerialize()
	Expect(err).NotTo(HaveOccurred())
	set, err = json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: kid, Use: "sig"}}})
	Expect(err).NotTo(HaveOccurred())
	return token, set
}

var _ = Describe("A token that was read", func() {
	It("is a compact JWS of two objects and nothing else", func() {
		token, _ := issueToken("k")
		read, ok := tokenforge.Read(token)
		Expect(ok).To(BeTrue())
		Expect(read.Issuer()).To(Equal("https://as.example"))
		Expect(read.KeyID()).To(Equal("k"))
		Expect(read.Claims["n"]).To(Equal(json.Number("12345678901234567890")))
		for _, other := range []string{"", "opaque", "a.b.c", "e30.W10.x", token + ".x", "eyJ9.e30.x", strings.Repeat("a", 70_000) + ".e30."} {
			_, ok := tokenforge.Read(other)
			Expect(ok).To(BeFalse(), "%.20s", other)
		}
	})
})

var _ = Describe("A forged token", func() {
	var token string
	var good tokenforge.Token
	BeforeEach(func() {
		token, _ = issueToken("k")
		good, _ = tokenforge.Read(token)
	})
	header := func(forged string) map[string]any {
		read, ok := tokenforge.Read(forged)
		Expect(ok).To(BeTrue())
		return read.Header
	}

	It("without a signature keeps the payload byte by byte", func() {
		forged, err := good.Unsigned("None")
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Split(forged, ".")[1:]).To(Equal([]string{strings.Split(token, ".")[1], ""}))
		Expect(header(forged)).To(Equal(map[string]any{"alg": "None", "kid": "k", "typ": "at+jwt"}))
		Expect(good.Header["alg"]).To(Equal("ES256"), "the good token is unchanged")
	})

	It("under HS256 verifies with the public key as the secret", func() {
		forged, err := good.HMAC("HS256", []byte("public"))
		Expect(err).NotTo(HaveOccurred())
		cut := strings.LastIndexByte(forged, '.')
		mac := hmac.New(sha256.New, []byte("public"))
		mac.Write([]byte(forged[:cut]))
		Expect(forged[cut+1:]).To(Equal(base64.RawURLEncoding.EncodeToString(mac.Sum(nil))))
	})

	DescribeTable("is signed with a new key for the algorithm of the good one",
		func(algorithm, used string) {
			key, err := tokenforge.NewKey(algorithm)
			Expect(err).NotTo(HaveOccurred())
			forged, err := good.Signed(key, map[string]any{"kid": key.ID, "jwk": key.Public}, "https://other.example")
			Expect(err).NotTo(HaveOccurred())
			Expect(header(forged)).To(HaveKeyWithValue("alg", used))
			read, _ := tokenforge.Read(forged)
			Expect(read.Issuer()).To(Equal("https://other.example"))
			Expect(read.Claims["exp"]).To(Equal(json.Number("1800000300")))
			public, err := json.Marshal(map[string]any{"keys": []any{key.Public}})
			Expect(err).NotTo(HaveOccurred())
			Expect(tokenforge.Verify(forged, "f", public).Verified).To(BeTrue(), "the key in the header is the one that signed")
			Expect(key.Public).NotTo(HaveKey("d"), "the private part is not published")
		},
		Entry(nil, "ES256", "ES256"), Entry(nil, "ES384", "ES384"), Entry(nil, "EdDSA", "EdDSA"),
		Entry(nil, "PS256", "PS256"), Entry("an algorithm without a key pair", "HS256", "RS256"), Entry("none", "", "RS256"),
	)
})

var _ = Describe("A key set", func() {
	It("verifies the token that it signed", func() {
		token, set := issueToken("k")
		v := tokenforge.Verify(token, "f", set)
		Expect(v.Verified).To(BeTrue(), v.Why)
		Expect(v.KeyID).To(Equal("k"))
		token, set = issueToken("")
		Expect(tokenforge.Verify(token, "f", set).Verified).To(BeTrue(), "neither names a kid")
	})

	It("verifies a token with the public part of a key that was published with its private part", func() {
		token, set := issueToken("k")
		whole := strings.Replace(string(set), `"kid":"k"`, `"kid":"k","d":"c2VjcmV0"`, 1)
		v := tokenforge.Verify(token, "f", []byte(whole))
		Expect(v.Verified).To(BeTrue(), v.Why)
		keys, err := tokenforge.Keys([]byte(whole))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(keys[0].JWK())).NotTo(ContainSubstring("c2VjcmV0"))
	})

	DescribeTable("says why it does not verify a token",
		func(set func(own, other string) string, why string) {
			token, own := issueToken("k")
			_, other := issueToken("k")
			v := tokenforge.Verify(token, "f", []byte(set(string(own), string(other))))
			Expect(v.Verified).To(BeFalse())
			Expect(v.Why).To(ContainSubstring(why))
		},
		Entry("another kid", func(own, _ string) string { return strings.Replace(own, `"kid":"k"`, `"kid":"old"`, 1) }, `no published key has the kid "k"`),
		Entry("another key", func(_, other string) string { return other }, "does not verify"),
		Entry("no key", func(string, string) string { return `{"keys":[]}` }, "holds no public key"),
		Entry("a page", func(string, string) string { return "<html>" }, "not a JWK Set"),
		Entry("a symmetric key", func(string, string) string { return `{"keys":[{"kty":"oct","kid":"k","k":"c2VjcmV0"}]}` }, "holds no public key"),
		Entry("a key for encryption", func(own, _ string) string { return strings.Replace(own, `"use":"sig"`, `"use":"enc"`, 1) }, "holds no public key"),
		Entry("too large", func(string, string) string { return `{"keys":[` + strings.Repeat(" ", 300<<10) + `]}` }, "larger than"),
	)

	It("is read without the members that are not keys of a known type", func() {
		_, set := issueToken("k")
		mixed := strings.Replace(string(set), `{"keys":[`, `{"keys":[{"kty":"AKP","kid":"new"},17,`, 1)
		keys, err := tokenforge.Keys([]byte(mixed))
		Expect(err).NotTo(HaveOccurred())
		Expect(keys).To(HaveLen(1))
		pem, err := keys[0].PEM()
		Expect(err).NotTo(HaveOccurred())
		Expect(string(pem)).To(And(HavePrefix("-----BEGIN PUBLIC KEY-----\n"), HaveSuffix("-----END PUBLIC KEY-----\n")))
		Expect(json.Valid(keys[0].JWK())).To(BeTrue())
	})
})

// FuzzVerify feeds what a node sends as token and key set to everything that reads them.
func FuzzVerify(f *testing.F) {
	f.Add("eyJhbGciOiJFUzI1NiJ9.e30.AA", []byte(`{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`))
	f.Add("a.b.c", []byte(`{"keys":[{"kty":"RSA","n":"AQ","e":"AQ"}]}`))
	f.Fuzz(func(t *testing.T, token string, set []byte) {
		v := tokenforge.Verify(token, "f", set)
		if !v.Verified && v.Why == "" {
			t.Fatal("the token is not verified, and no reason is given")
		}
		read, ok := tokenforge.Read(token)
		if !ok {
			return
		}
		for _, forged := range []func() (string, error){
			func() (string, error) { return read.Unsigned("none") },
			func() (string, error) { return read.HMAC("HS256", set) },
		} {
			if s, err := forged(); err == nil && strings.Count(s, ".") != 2 {
				t.Fatalf("%q is not a compact JWS", s)
			}
		}
	})
}
