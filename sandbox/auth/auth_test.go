package auth_test

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/auth"
)

var _ = Describe("Issuer", func() {
	It("reports a random source that ends too early", func() {
		_, err := auth.NewIssuer(auth.ES256, time.Minute, time.Now, strings.NewReader("short"), rand.Reader)
		Expect(err).To(MatchError(ContainSubstring("ES256")))
		_, err = auth.NewIssuer(auth.Opaque, time.Minute, time.Now, strings.NewReader("short"), rand.Reader)
		Expect(err).To(HaveOccurred())
	})
})

var _ = Describe("Verifier", func() {
	const base = "http://node/p"

	It("refuses the tokens of a revoked client, cached or not, and tokens with another service account than the client's", func() {
		for _, cached := range []int{0, 4} {
			issuer, revoked := newIssuer(GinkgoTB(), auth.EdDSA), &atomic.Bool{}
			verifier := auth.NewVerifier(issuer, book{revoked}, nil, places(), time.Now, cached)
			token, err := issuer.Issue("http://node", base, "c", "s", auth.Scope)
			Expect(err).NotTo(HaveOccurred())
			Expect(verifier.Verify(token, base)).To(HaveField("Subject", "s"))
			revoked.Store(true)
			for range 2 {
				_, err = verifier.Verify(token, base)
				Expect(err).To(MatchError(ContainSubstring("not registered any more")))
			}
			revoked.Store(false)
			Expect(verifier.Verify(token, base)).To(HaveField("Subject", "s"))

			earlier, err := issuer.Issue("http://node", base, "c", "an-earlier-account", auth.Scope)
			Expect(err).NotTo(HaveOccurred())
			_, err = verifier.Verify(earlier, base)
			Expect(err).To(MatchError(ContainSubstring("not registered any more")))
		}
	})

	It("caches a limited number of tokens and verifies the others again", func() {
		issuer := newIssuer(GinkgoTB(), auth.EdDSA)
		verifier := auth.NewVerifier(issuer, book{}, nil, places(), time.Now, 4)
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

	It("refuses tokens for another audience, of another issuer, and signed by another node", func() {
		issuer := newIssuer(GinkgoTB(), auth.ES256)
		published := places()
		published.PublicURL = "http://node"
		verifier := auth.NewVerifier(issuer, book{}, nil, published, time.Now, 4)
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

	It("is safe for concurrent use", func() {
		issuer := newIssuer(GinkgoTB(), auth.EdDSA)
		verifier := auth.NewVerifier(issuer, book{}, nil, places(), time.Now, 2)
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
	It("passes the principal to the resource", func() {
		issuer := newIssuer(GinkgoTB(), auth.ES256)
		var caller auth.Principal
		guard := auth.NewGuard(auth.NewVerifier(issuer, book{}, nil, places(), time.Now, 4), places())
		protected := guard.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			caller, _ = auth.Caller(r.Context())
		}))
		token, err := issuer.Issue("http://example.com", "http://example.com/p", "c", "s", auth.Scope)
		Expect(err).NotTo(HaveOccurred())
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		_, known := auth.Caller(r.Context())
		Expect(known).To(BeFalse())
		r.Header.Set("Authorization", "Bearer "+token)
		protected.ServeHTTP(httptest.NewRecorder(), r)
		Expect(caller).To(Equal(auth.Principal{ClientID: "c", Subject: "s"}))
	})
})
