package certificate_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/rin-network/rin/conformance/certificate"
)

// newKey returns a key with its public half.
func newKey() (ed25519.PrivateKey, ed25519.PublicKey) {
	GinkgoHelper()
	text, err := certificate.NewKey(rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	key, err := certificate.ReadKey(text)
	Expect(err).NotTo(HaveOccurred())
	public, ok := key.Public().(ed25519.PublicKey)
	Expect(ok).To(BeTrue())
	return key, public
}

var _ = Describe("A key", func() {
	It("is PKCS#8 in PEM, and its public half PKIX in PEM", func() {
		_, public := newKey()
		text, err := certificate.WritePublicKey(public)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).To(HavePrefix("-----BEGIN PUBLIC KEY-----\n"))
		again, err := certificate.ReadPublicKey(text)
		Expect(err).NotTo(HaveOccurred())
		Expect(again).To(Equal(public))
		Expect(certificate.Fingerprint(public)).To(MatchRegexp(`^sha256:[0-9a-f]{64}$`))
	})

	It("is read as OpenSSL writes it", func() {
		// openssl genpkey -algorithm ed25519; openssl pkey -pubout (RFC 8410 §10.3)
		key, err := certificate.ReadKey([]byte("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n"))
		Expect(err).NotTo(HaveOccurred())
		public, err := certificate.ReadPublicKey([]byte("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"))
		Expect(err).NotTo(HaveOccurred())
		Expect(key.Public()).To(Equal(public))
	})

	It("is refused in any other form, without its text in the error", func() {
		other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		der, err := x509.MarshalPKCS8PrivateKey(other)
		Expect(err).NotTo(HaveOccurred())
		private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
		_, err = certificate.ReadKey(private)
		Expect(err).To(MatchError(ContainSubstring("expected an Ed25519 key, got *ecdsa.PrivateKey")))
		_, err = certificate.ReadKey([]byte("-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"))
		Expect(err).To(MatchError(Not(ContainSubstring("c2VjcmV0"))))
		_, err = certificate.ReadKey([]byte("secret"))
		Expect(err).To(MatchError("expected a private key in PEM (PRIVATE KEY)"))
		der, err = x509.MarshalPKIXPublicKey(other.Public())
		Expect(err).NotTo(HaveOccurred())
		for text, says := range map[string]string{
			"": "expected a public key in PEM", string(private): "got a private key",
			string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE"})):            `got a "CERTIFICATE"`,
			string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})): "got *ecdsa.PublicKey",
		} {
			_, err := certificate.ReadPublicKey([]byte(text))
			Expect(err).To(MatchError(ContainSubstring(says)))
		}
	})
})

var _ = Describe("An envelope", func() {
	It("is signed over DSSE's pre-authentication encoding, as the published test vectors are", func() {
		// https://github.com/secure-systems-lab/dsse/blob/master/protocol.md
		Expect(string(dsse.PAE("http://example.com/HelloWorld", []byte("hello world")))).To(Equal("DSSEv1 29 http://example.com/HelloWorld 11 hello world"))
		key, public := newKey()
		text, err := certificate.Sign([]byte("hello world"), key)
		Expect(err).NotTo(HaveOccurred())
		signed, err := certificate.Open(text)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(signed.PAE())).To(Equal("DSSEv1 28 application/vnd.in-toto+json 11 hello world"))
		Expect(ed25519.Verify(public, signed.PAE(), signed.Signature)).To(BeTrue())
		Expect(signed.Check(public)).To(Succeed())
	})

	It("is one line with one signature and no key id", func() {
		key, _ := newKey()
		text, err := certificate.Sign([]byte(`{"a":"<&>"}`), key)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).To(MatchRegexp(`^\{"payloadType":"application/vnd.in-toto\+json","payload":"[A-Za-z0-9+/=]+","signatures":\[\{"sig":"[A-Za-z0-9+/=]{88}"\}\]\}\n$`))
	})

	It("is refused under another key, and after any change", func() {
		key, public := newKey()
		_, stranger := newKey()
		text, err := certificate.Sign([]byte("hello"), key)
		Expect(err).NotTo(HaveOccurred())
		signed, err := certificate.Open(text)
		Expect(err).NotTo(HaveOccurred())
		Expect(signed.Check(stranger)).To(MatchError(ContainSubstring(certificate.Fingerprint(stranger))))
		for i := range text {
			changed := []byte(string(text))
			changed[i] ^= 1
			if s, err := certificate.Open(changed); err == nil {
				Expect(s.Check(public)).NotTo(Succeed(), "byte %d", i)
			}
		}
		_, err = certificate.Open([]byte(`{"payloadType":"","payload":"","signatures":[{"sig":""}]}` + "\n"))
		Expect(err).To(MatchError(ContainSubstring(`payload type: expected "application/vnd.in-toto+json", got ""`)))
		_, err = certificate.Open([]byte(strings.Repeat(" ", 2<<20)))
		Expect(err).To(MatchError(ContainSubstring("at most")))
	})
})

var _ = Describe("A trust mark", func() {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	mark := certificate.Mark{
		Issuer: "https://registry.example", Subject: "https://node.example/info/", Type: "https://registry.example/marks/funding",
		Issued: at, Expires: at.Add(24 * time.Hour), Ref: "https://registry.example/XA/certificate.intoto.json",
	}

	It("is a JWT of its own type, signed with EdDSA", func() {
		key, public := newKey()
		text, err := certificate.SignMark(mark, key)
		Expect(err).NotTo(HaveOccurred())
		parts := strings.Split(text, ".")
		Expect(parts).To(HaveLen(3))
		header, err := base64.RawURLEncoding.DecodeString(parts[0])
		Expect(err).NotTo(HaveOccurred())
		Expect(header).To(MatchJSON(`{"alg":"EdDSA","typ":"trust-mark+jwt"}`))
		claims, err := base64.RawURLEncoding.DecodeString(parts[1])
		Expect(err).NotTo(HaveOccurred())
		var got map[string]any
		Expect(json.Unmarshal(claims, &got)).To(Succeed())
		Expect(got).To(HaveLen(6))
		Expect(got).To(And(HaveKeyWithValue("trust_mark_type", mark.Type), HaveKeyWithValue("exp", BeNumerically("==", at.Add(24*time.Hour).Unix()))))
		Expect(certificate.ReadMark(text, public, at.Add(time.Hour))).To(Equal(mark))
	})

	It("is refused early, late, under another key, and as another type of token", func() {
		key, public := newKey()
		_, stranger := newKey()
		text, err := certificate.SignMark(mark, key)
		Expect(err).NotTo(HaveOccurred())
		for when, says := range map[time.Time]string{at.Add(-time.Hour): "is valid from", at.Add(24 * time.Hour): "expired at"} {
			_, err := certificate.ReadMark(text, public, when)
			Expect(err).To(MatchError(ContainSubstring(says)))
		}
		_, err = certificate.ReadMark(text, stranger, at)
		Expect(err).To(MatchError(ContainSubstring("was not signed by the key")))
		_, payload, _ := strings.Cut(text, ".")
		for _, header := range []string{`{"alg":"EdDSA","typ":"JWT"}`, `{"alg":"EdDSA"}`, `{"alg":"none","typ":"trust-mark+jwt"}`, `{"alg":"HS256","typ":"trust-mark+jwt"}`} {
			_, err := certificate.ReadMark(base64.RawURLEncoding.EncodeToString([]byte(header))+"."+payload, public, at)
			Expect(err).To(HaveOccurred(), header)
		}
	})

	It("needs issuer, subject, type and a time to live", func() {
		key, _ := newKey()
		for _, change := range []func(*certificate.Mark){
			func(m *certificate.Mark) { m.Issuer = "" }, func(m *certificate.Mark) { m.Subject = "" },
			func(m *certificate.Mark) { m.Type = "" }, func(m *certificate.Mark) { m.Expires = m.Issued },
		} {
			m := mark
			change(&m)
			_, err := certificate.SignMark(m, key)
			Expect(err).To(HaveOccurred())
		}
	})
})
