package auth_test

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/auth"
)

var _ = Describe("secrets", func() {
	It("have 256 bits when they are generated", func() {
		first, err := auth.NewSecret(rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		second, err := auth.NewSecret(rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		Expect(first).To(MatchRegexp(`^[A-Za-z0-9_-]{43}$`))
		Expect(second).NotTo(Equal(first))
	})

	DescribeTable("are judged by alphabet and length", func(secret string, strong bool) {
		Expect(auth.SecretBits(secret) >= auth.MinimalSecretBits).To(Equal(strong))
	},
		Entry("a password", "correct-horse", false),
		Entry("32 hex digits", "0123456789abcdef0123456789abcdef", true),
		Entry("31 hex digits", "0123456789abcdef0123456789abcde", false),
		Entry("38 digits", "01234567890123456789012345678901234567", false),
		Entry("22 letters and digits", "Zm9vYmFyYmF6cXV4cXV1eG", true),
		Entry("few different characters", strings.Repeat("ab", 40), false),
	)

	It("need a source of randomness", func() {
		_, err := auth.NewSecret(strings.NewReader("short"))
		Expect(err).To(MatchError(ContainSubstring("draw a client secret")))
		_, err = auth.NewIssuer(auth.ES256, time.Minute, time.Now, strings.NewReader("short"))
		Expect(err).To(MatchError(ContainSubstring("ES256")))
		_, err = auth.NewIssuer(auth.Opaque, time.Minute, time.Now, strings.NewReader("short"))
		Expect(err).To(HaveOccurred())
		_, err = auth.NewClients(strings.NewReader(""), nil)
		Expect(err).To(HaveOccurred())
	})
})

var _ = Describe("Verifier", func() {
	const base = "http://node/p"

	It("remembers a bounded number of tokens and verifies what it forgot", func() {
		issuer := newIssuer(GinkgoTB(), auth.EdDSA)
		verifier := auth.NewVerifier(issuer, nil, places(), time.Now, 4)
		var tokens []string
		for range 20 {
			token, err := issuer.Issue("http://node", base, "c", "s", auth.Scope)
			Expect(err).NotTo(HaveOccurred())
			tokens = append(tokens, token)
		}
		for range 2 {
			for _, token := range tokens {
				principal, err := verifier.Verify(token, base)
				Expect(err).NotTo(HaveOccurred())
				Expect(principal).To(Equal(auth.Principal{ClientID: "c", Subject: "s"}))
			}
		}
	})

	It("refuses tokens for another audience, of another issuer and of another node", func() {
		issuer := newIssuer(GinkgoTB(), auth.ES256)
		fixed := places()
		fixed.PublicURL = "http://node"
		verifier := auth.NewVerifier(issuer, nil, fixed, time.Now, 4)
		for _, c := range []struct{ issuer, audience, want string }{
			{"http://node", "http://node/q", "another audience"},
			{"http://elsewhere", "http://elsewhere/p", "not this node"},
		} {
			token, err := issuer.Issue(c.issuer, c.audience, "c", "s", auth.Scope)
			Expect(err).NotTo(HaveOccurred())
			_, err = verifier.Verify(token, base)
			Expect(err).To(MatchError(ContainSubstring(c.want)))
		}
		token, err := newIssuer(GinkgoTB(), auth.ES256).Issue("http://node", base, "c", "s", auth.Scope)
		Expect(err).NotTo(HaveOccurred())
		_, err = verifier.Verify(token, base)
		Expect(err).To(MatchError(ContainSubstring("not signed with a key of this node")))
	})

	It("serves many goroutines at once", func() {
		issuer := newIssuer(GinkgoTB(), auth.EdDSA)
		verifier := auth.NewVerifier(issuer, nil, places(), time.Now, 2)
		faults := make(chan error, 8)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				var fault error
				for range 20 {
					token, err := issuer.Issue("http://node", base, "c", "s", auth.Scope)
					_, verified := verifier.Verify(token, base)
					fault = errors.Join(fault, err, verified)
				}
				faults <- fault
			})
		}
		group.Wait()
		close(faults)
		for fault := range faults {
			Expect(fault).NotTo(HaveOccurred())
		}
	})
})

var _ = Describe("Guard", func() {
	It("tells the resource who calls", func() {
		issuer := newIssuer(GinkgoTB(), auth.ES256)
		var caller auth.Principal
		guard := auth.NewGuard(auth.NewVerifier(issuer, nil, places(), time.Now, 4), places())
		guarded := guard.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			caller, _ = auth.Caller(r.Context())
		}))
		token, err := issuer.Issue("http://example.com", "http://example.com/p", "c", "s", auth.Scope)
		Expect(err).NotTo(HaveOccurred())
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		_, known := auth.Caller(r.Context())
		Expect(known).To(BeFalse())
		r.Header.Set("Authorization", "Bearer "+token)
		guarded.ServeHTTP(httptest.NewRecorder(), r)
		Expect(caller).To(Equal(auth.Principal{ClientID: "c", Subject: "s"}))
	})
})
