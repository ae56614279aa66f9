package probe_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/target"
)

// because is why a label was not sent.
func because(log *evidence.Log, label evidence.Label) string {
	GinkgoHelper()
	_, sent := log.Get(label)
	Expect(sent).To(BeFalse(), string(label))
	skipped, planned := log.Skipped(label)
	Expect(planned).To(BeTrue(), string(label))
	return string(skipped.Kind) + ": " + skipped.Because
}

// full is the target for the profile full; nothing in it waits but what a test asks for.
func full(n *node, change func(*target.Target)) target.Target {
	t := targetOf(n)
	t.Profile, t.Wait = "full", new(time.Duration(0))
	change(&t)
	return t
}

// jwtNode issues tokens that look like JWTs of an issuer, and serves whatever stands in published by path.
func jwtNode(issuer string, published map[string]string) *node {
	return newNode(func(n *node) {
		n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
			if body, known := published[q.URL.Path]; known {
				_, _ = fmt.Fprint(w, strings.ReplaceAll(body, "BASE", n.URL))
				return true
			}
			if q.URL.Path != "/oauth/token" || q.Method != http.MethodPost {
				return false
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			n.issued++
			segment := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
			token := segment(`{"alg":"ES256","kid":"k"}`) + "." +
				segment(fmt.Sprintf(`{"iss":%q,"jti":"%d"}`, strings.ReplaceAll(issuer, "BASE", n.URL), n.issued)) + "." + segment("signature")
			n.tokens[token] = clientID
			_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":300}`, token)
			return true
		}
	})
}

var _ = Describe("Tokens that a node must refuse", func() {
	It("are made up where real ones are opaque, and left out where nothing can be rewritten", func() {
		n := newNode()
		log := certify(full(n, func(*target.Target) {}))
		for _, c := range []evidence.Case{"foreign-key", "foreign-issuer"} {
			x, sent := log.Get(evidence.Info.With(c))
			Expect(sent).To(BeTrue())
			Expect(x.Presented.JWT.Claims).To(HaveKeyWithValue("client_id", clientID))
			Expect(evidence.Values(x.Request.Header, "Authorization")[0]).To(HavePrefix("Bearer [[foreign_"), "it is concealed")
		}
		for _, c := range []evidence.Case{"alg-none", "hmac-pem", "embedded-jwk"} {
			Expect(because(log, evidence.Info.With(c))).To(Equal("not-applicable: the access token is not a JWT"))
		}
		Expect(because(log, "metadata/1.published")).To(ContainSubstring("who the issuer is"))
	})

	It("name no host but those that do not exist", func() {
		n := jwtNode("BASE", nil)
		for _, x := range certify(full(n, func(*target.Target) {})).Exchanges {
			if x.Presented != nil && x.Presented.JWT != nil {
				Expect(fmt.Sprint(x.Presented.JWT.Header["jku"])).To(BeElementOf("<nil>", "https://conformance.invalid/jwks"))
				Expect(x.Presented.JWT.Header).NotTo(HaveKey("x5u"))
			}
		}
	})

	It("of a staging environment come from there, where nothing of production goes", func() {
		n, staging := newNode(), newNode(func(n *node) { n.issued = 1000 })
		log := certify(full(n, func(t *target.Target) {
			t.Second = nil
			t.Staging = &target.Staging{TokenURL: staging.URL + "/oauth/token",
				Credentials: target.Credentials{ClientID: secondID, ClientSecret: target.NewSecret(secondSecret)}}
		}))
		x, _ := log.Get(evidence.Info.With("staging-token"))
		Expect(x.Status()).To(Equal(401))
		Expect(staging.log()).To(HaveLen(1))
		asked := staging.log()[0]
		Expect(asked.uri + asked.authorization).To(Equal("/oauth/token"))
		Expect(parseForm(asked.body)).To(Equal(map[string]string{"grant_type": "client_credentials", "client_id": secondID, "client_secret": secondSecret}))
	})
})

var _ = Describe("What an authorization server publishes", func() {
	const metadata = "/.well-known/openid-configuration"

	It("is asked for anonymously, at the issuer's two places, and the keys where it says", func() {
		n := jwtNode("BASE/realms/r", map[string]string{
			"/.well-known/oauth-authorization-server/realms/r": `{"issuer":"BASE/realms/r","jwks_uri":"BASE/keys"}`,
			"/keys": `{"keys":[]}`,
		})
		log := certify(full(n, func(*target.Target) {}))
		first, _ := log.Get("metadata/1.published")
		Expect(first.Request.URL).To(Equal(n.URL + "/realms/r" + metadata))
		Expect(first.Status()).To(Equal(404))
		second, _ := log.Get("metadata/2.published")
		Expect(second.Status()).To(Equal(200))
		keys, _ := log.Get("jwks.published")
		Expect(keys.Verification.Verified).To(BeFalse())
		Expect(keys.Verification.Why).To(ContainSubstring("no public key"))
		again, sent := log.Get("jwks.refetched")
		Expect(sent).To(BeTrue(), "keys may have been rotated")
		Expect(again.Verification).NotTo(BeNil())
		for _, x := range []evidence.Exchange{first, second, keys} {
			Expect(evidence.Values(x.Request.Header, "Authorization")).To(BeEmpty())
		}
	})

	It("is not asked for on another origin on the node's word", func() {
		other := newNode()
		n := jwtNode(other.URL, nil)
		Expect(because(certify(full(n, func(*target.Target) {})), "metadata/1.published")).To(ContainSubstring("--allow-origin"))
		n = jwtNode("BASE", map[string]string{metadata: `{"issuer":"BASE","jwks_uri":"` + other.URL + `/keys"}`})
		log := certify(full(n, func(*target.Target) {}))
		Expect(because(log, "jwks.published")).To(ContainSubstring("--allow-origin"))
		Expect(other.log()).To(BeEmpty())
	})
})

var _ = Describe("What comes last", func() {
	waiting := func(n *node, change func(*target.Target)) (log *evidence.Log, waited []time.Duration) {
		var late atomic.Int64
		log = certify(full(n, change), func(o *probe.Options) {
			o.Clock = func() time.Time { return begun.Add(time.Duration(late.Load())) }
			o.Pause = func(_ context.Context, d time.Duration) error {
				waited = append(waited, d)
				late.Add(int64(d))
				return nil
			}
		})
		return log, waited
	}
	tenMinutes := func(t *target.Target) { t.Wait = new(10 * time.Minute) }

	It("is a token that has expired, two minutes and more ago", func() {
		n := newNode()
		log, waited := waiting(n, tenMinutes)
		Expect(waited).To(Equal([]time.Duration{430 * time.Second}))
		x, _ := log.Get(evidence.Info.With("expired"))
		again, _ := log.Get(evidence.Info.With("expired-again"))
		Expect(again.Status()).To(Equal(200), "this node never forgets a token, so it is asked twice")
		asked := n.log()
		Expect([]string{asked[len(asked)-2].authorization, asked[len(asked)-1].authorization}).To(HaveEach(HavePrefix("Bearer access-token-number-")))
		Expect(x.Given).To(HaveKey("token"))
		Expect(log.Run.Wait).To(Equal(10 * time.Minute))
		working, _ := log.Get(evidence.Info.With("in-use"))
		used, _ := log.Get(evidence.Info.With("expired-in-use"))
		Expect(working.Status()).To(Equal(200))
		Expect(working.Request.Header[0].Value).To(ContainSubstring(used.Presented.Fingerprint), "the token that was in use is tried again")
		Expect(used.Presented.Fingerprint).NotTo(Equal(x.Presented.Fingerprint), "the other one was never used")
		_, sent := log.Get(evidence.Info.With("expired-in-use-again"))
		Expect(sent).To(BeTrue())
	})

	It("is not waited for beyond what is allowed, nor when it was given", func() {
		log, waited := waiting(newNode(func(n *node) { n.life = 3600 }), tenMinutes)
		Expect(waited).To(BeEmpty())
		Expect(because(log, evidence.Info.With("expired"))).To(And(HavePrefix("not-applicable: "), ContainSubstring("1h2m10s are needed, 10m0s allowed")))

		log, waited = waiting(newNode(), func(t *target.Target) {
			t.Wait, t.ExpiredToken = nil, target.NewSecret("an-old-opaque-token")
		})
		Expect(waited).To(BeEmpty())
		Expect(log.Planned).NotTo(ContainElement(evidence.TokenEndpoint.With("to-expire")))
		x, _ := log.Get(evidence.Info.With("expired"))
		Expect(x.Status()).To(Equal(401))
		Expect(because(log, evidence.Info.With("expired-again"))).To(ContainSubstring("not accepted the first time"))

		log, waited = waiting(newNode(), func(t *target.Target) {
			tenMinutes(t)
			t.ExpiredToken = target.NewSecret("an-old-opaque-token")
		})
		Expect(waited).To(HaveLen(1), "the operator asked for both")
		Expect(log.Planned).NotTo(ContainElement(evidence.TokenEndpoint.With("to-expire")))
		given, _ := log.Get(evidence.Info.With("expired"))
		Expect(given.Given).To(HaveKeyWithValue("token", "given"))
		used, _ := log.Get(evidence.Info.With("expired-in-use"))
		Expect(used.Presented).NotTo(BeNil())
	})

	It("puts neither token nor secret into a URL unless it is allowed, and then a token that nothing else is asked with", func() {
		loose := func(n *node) []seen {
			return slices.DeleteFunc(n.log(), func(q seen) bool {
				return !strings.Contains(q.uri, "access_token=") && !strings.Contains(q.uri, "client_secret=")
			})
		}
		n := newNode()
		certify(full(n, func(*target.Target) {}))
		Expect(loose(n)).To(BeEmpty())

		n = newNode()
		log := certify(full(n, func(t *target.Target) { t.AllowTokenInURL, t.AllowSecretInURL = true, true }))
		found := loose(n)
		Expect(found).To(HaveLen(2))
		_, token, _ := strings.Cut(found[1].uri, "access_token=")
		Expect(slices.ContainsFunc(n.log(), func(q seen) bool { return strings.HasSuffix(q.authorization, token) })).To(BeFalse())
		x, _ := log.Get(evidence.Info.With("token-in-query"))
		Expect(x.Request.URL).To(HaveSuffix("access_token=[[access_token.throw-away:" + redact.New([]byte("salt")).Secret("x", token) + ":plain]]"))
		y, _ := log.Get(evidence.TokenEndpoint.With("secret-in-url"))
		Expect(y.Request.URL).NotTo(ContainSubstring("S3cret"))
	})
})
