package probe_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/target"
)

// because returns why a request was not sent.
func because(log *evidence.Log, label evidence.Label) string {
	GinkgoHelper()
	_, sent := log.Get(label)
	Expect(sent).To(BeFalse(), string(label))
	skipped, planned := log.Skipped(label)
	Expect(planned).To(BeTrue(), string(label))
	return string(skipped.Kind) + ": " + skipped.Because
}

// full returns a target for the profile full, which waits only if a test asks for it.
func full(n *node, change func(*target.Target)) target.Target {
	t := targetOf(n)
	t.Profile, t.Wait = "full", new(time.Duration(0))
	change(&t)
	return t
}

// jwtNode issues tokens that look like JWTs of an issuer, and serves the published documents by path.
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
			token := jwtOf(fmt.Sprintf(`{"iss":%q,"jti":"%d"}`, strings.ReplaceAll(issuer, "BASE", n.URL), n.issued))
			n.tokens[token] = clientID
			_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":300}`, token)
			return true
		}
	})
}

var _ = Describe("Tokens that a node must refuse", func() {
	It("are made up if the real token is opaque, but left out if they change parts of a JWT", func() {
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
		x, sent := log.Get("metadata/1.published")
		Expect(sent).To(BeTrue())
		Expect(x.Given).To(HaveKeyWithValue("from", evidence.GuessedIssuer))
	})

	It("name only hosts that do not exist", func() {
		n, named := jwtNode("BASE", nil), 0
		log := certify(full(n, func(t *target.Target) { t.Effort = draw.Deep }))
		for _, x := range log.Exchanges {
			if x.Presented == nil || x.Presented.JWT == nil {
				continue
			}
			for _, member := range []string{"jku", "x5u", "kid"} {
				if address, _ := x.Presented.JWT.Header[member].(string); strings.HasPrefix(address, "http") {
					named++
					Expect(address).To(MatchRegexp(`^https://[a-z]+\.[a-z]+\.(example(\.(org|com|net))?|test|invalid)/[a-z./-]+$`))
				}
			}
		}
		Expect(named).To(BeNumerically(">=", 4), "the header of several tokens names a host")
	})

	It("are forged in every kind of each family in a deep run, and are never the good one", func() {
		log := certify(full(jwtNode("BASE", nil), func(t *target.Target) { t.Effort = draw.Deep }))
		for _, family := range []evidence.Family{evidence.UnsignedTokens, evidence.ChangedClaims, evidence.PublicSecrets, evidence.NamedKeys, evidence.ForeignTokens} {
			kinds := log.Run.Families[slices.IndexFunc(log.Run.Families, func(f evidence.FamilyKinds) bool { return f.Family == family })].Kinds
			for _, kind := range kinds {
				x, sent := log.Get(evidence.Info.With(kind))
				if skipped, known := log.Skipped(evidence.Info.With(kind)); !sent && known {
					Expect(string(skipped.Kind)).To(Equal("not-applicable"), "%s: %s", kind, skipped.Because)
					continue
				}
				Expect(sent).To(BeTrue(), string(kind))
				Expect(x.Family).To(Equal(family))
				Expect(x.Status()).To(Equal(401), string(kind))
			}
		}
	})

	It("include a token of the staging environment, which receives no credential of production", func() {
		n, staging := newNode(), newNode(func(n *node) { n.issued = 1000 })
		log := certify(full(n, func(t *target.Target) {
			t.Second = nil
			t.Staging = &target.Staging{TokenURL: staging.URL + "/oauth/token",
				Credentials: target.Credentials{ClientID: secondID, ClientSecret: target.NewSecret(secondSecret)}}
		}))
		x, _ := log.Get(evidence.Info.With("staging-token"))
		Expect(x.Status()).To(Equal(401))
		Expect(staging.log()).To(HaveLen(1))
		request := staging.log()[0]
		Expect(request.uri + request.authorization).To(Equal("/oauth/token"))
		Expect(parseForm(request.body)).To(Equal(map[string]string{"grant_type": "client_credentials", "client_id": secondID, "client_secret": secondSecret}))
	})
})

var _ = Describe("What an authorization server publishes", func() {
	const metadata = "/.well-known/openid-configuration"

	It("is requested without credentials, at both well-known URLs of the issuer, and its keys at the URL that it names", func() {
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

	It("is not requested from another origin that only the node names", func() {
		other := newNode()
		n := jwtNode(other.URL, nil)
		Expect(because(certify(full(n, func(*target.Target) {})), "metadata/1.published")).To(ContainSubstring("--allow-origin"))
		n = jwtNode("BASE", map[string]string{metadata: `{"issuer":"BASE","jwks_uri":"` + other.URL + `/keys"}`})
		log := certify(full(n, func(*target.Target) {}))
		Expect(because(log, "jwks.published")).To(ContainSubstring("--allow-origin"))
		Expect(other.log()).To(BeEmpty())
	})
})

var _ = Describe("The token that is revoked", func() {
	It("is requested again a second later, if the server hands out one token for each second", func() {
		var second atomic.Int64
		n := newNode(func(n *node) {
			n.second = second.Load
			n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
				switch q.URL.Path {
				case "/.well-known/openid-configuration":
					_, _ = fmt.Fprintf(w, `{"issuer":%q,"revocation_endpoint":%q}`, n.URL, n.URL+"/oauth/revoke")
				case "/oauth/revoke":
				default:
					return false
				}
				return true
			}
		})
		var causes []string
		log := certify(full(n, func(*target.Target) {}), func(o *probe.Options) {
			o.Waiting = func(d time.Duration, cause string) { causes = append(causes, fmt.Sprint(d, ", ", cause)) }
			o.Pause = func(_ context.Context, d time.Duration) error {
				second.Add(int64(d / time.Second))
				return nil
			}
		})
		Expect(causes).To(ContainElement("1s, the next second, in which the server may issue another token"))
		for _, c := range []evidence.Case{"to-revoke", "revoked"} {
			_, sent := log.Get(evidence.ListOperation.With(c))
			_, operation := log.Get("op/listFundings." + evidence.Label(c))
			Expect(sent || operation).To(BeTrue(), string(c))
		}
	})

	It("is requested once, if it is a new one", func() {
		n := jwtNode("BASE", map[string]string{"/.well-known/openid-configuration": `{"issuer":"BASE","revocation_endpoint":"BASE/oauth/revoke"}`, "/oauth/revoke": ""})
		Expect(because(certify(full(n, func(*target.Target) {})), "token.to-revoke-later")).To(Equal("not-applicable: the token that is to be revoked is a new one"))
	})
})

var _ = Describe("A full run", func() {
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

	It("ends with a token that expired more than two minutes ago", func() {
		n := newNode()
		log, waited := waiting(n, tenMinutes)
		const early = 296 * time.Second / 4 // it is called 4 s before its stated end, too
		Expect(waited[:4]).To(HaveEach(early), "between the parts the token in use is used")
		var late time.Duration
		for _, d := range waited[4:] {
			late += d
		}
		Expect(late).To(Equal(134*time.Second+time.Minute), "this node accepts the token, so it is asked again a minute later")
		Expect(waited[4:]).To(HaveEach(SatisfyAny(BeNumerically("<=", 13*time.Second), Equal(time.Minute))), "a cache may keep a verified token until it rests")
		x, _ := log.Get(evidence.Info.With("expired"))
		again, _ := log.Get(evidence.Info.With("expired-again"))
		Expect(again.Status()).To(Equal(200), "this node never forgets a token, so it is asked twice")
		requests := n.log()
		Expect([]string{requests[len(requests)-2].authorization, requests[len(requests)-1].authorization}).To(HaveEach(HavePrefix("Bearer access-token-number-")))
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

	It("ends with a token that was in use all the time, also after its stated end", func() {
		var late atomic.Int64
		now := func() time.Time { return begun.Add(time.Duration(late.Load())) }
		const life = 65 * time.Second
		ends := map[string]time.Time{}
		n := newNode(func(n *node) {
			n.life = int(life / time.Second)
			n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
				n.mu.Lock()
				defer n.mu.Unlock()
				token := q.Header.Get("Authorization")
				if _, issued := n.tokens[strings.TrimPrefix(token, "Bearer ")]; !issued {
					return false
				}
				if end, used := ends[token]; used && now().After(end) {
					conformancetest.RefuseToken(w)
					return true
				}
				ends[token] = now().Add(life) // each call gives the token a new life
				return false
			}
		})
		log := certify(full(n, tenMinutes), func(o *probe.Options) {
			o.Clock = now
			o.Pause = func(_ context.Context, d time.Duration) error {
				late.Add(int64(d))
				return nil
			}
		})
		used, _ := log.Get(evidence.Info.With("expired-in-use"))
		Expect(used.Status()).To(Equal(200))
	})

	It("announces a wait before it begins", func() {
		var announced []string
		certify(full(newNode(), tenMinutes), func(o *probe.Options) {
			o.Pause = func(context.Context, time.Duration) error { return nil }
			o.Waiting = func(d time.Duration, cause string) {
				announced = append(announced, d.Round(time.Minute).String()+" for "+cause)
			}
		})
		Expect(announced).To(ContainElement("7m0s for a token to expire"))
	})

	It("does not wait longer than allowed, and does not wait if the operator gave an expired token", func() {
		log, waited := waiting(newNode(func(n *node) { n.life = 3600 }), tenMinutes)
		Expect(waited).To(BeEmpty())
		Expect(because(log, evidence.Info.With("expired"))).To(And(HavePrefix("not-applicable: "), ContainSubstring("--wait 1h2m10s is needed, 10m0s was allowed")))

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
		Expect(len(waited)).To(BeNumerically(">", 8), "the operator asked for both")
		Expect(log.Planned).NotTo(ContainElement(evidence.TokenEndpoint.With("to-expire")))
		given, _ := log.Get(evidence.Info.With("expired"))
		Expect(given.Given).To(HaveKeyWithValue("token", "given"))
		used, _ := log.Get(evidence.Info.With("expired-in-use"))
		Expect(used.Presented).NotTo(BeNil())
	})

	It("puts neither token nor secret into a URL unless that is allowed, and then only a token that no other request has", func() {
		withSecretInURL := func(n *node) []seen {
			return slices.DeleteFunc(n.log(), func(q seen) bool {
				id, secret := credentialsOf(q)
				madeUp := id != clientID && secret != clientSecret
				return !strings.Contains(q.uri, "access_token=") && (madeUp || !strings.Contains(q.uri, "client_secret="))
			})
		}
		n := newNode()
		certify(full(n, func(*target.Target) {}))
		Expect(withSecretInURL(n)).To(BeEmpty())
		for _, q := range n.log() {
			Expect(q.uri).NotTo(ContainSubstring("S3cret"))
		}

		n = newNode()
		log := certify(full(n, func(t *target.Target) { t.AllowTokenInURL, t.AllowSecretInURL = true, true }))
		found := withSecretInURL(n)
		Expect(found).To(HaveLen(2))
		_, token, _ := strings.Cut(found[1].uri, "access_token=")
		Expect(slices.ContainsFunc(n.log(), func(q seen) bool { return strings.HasSuffix(q.authorization, token) })).To(BeFalse())
		x, _ := log.Get(evidence.Info.With("token-in-query"))
		Expect(x.Request.URL).To(HaveSuffix("access_token=[[access_token.throw-away:" + redact.New([]byte("salt")).Secret("x", token) + ":plain]]"))
		y, _ := log.Get(evidence.TokenEndpoint.With("secret-in-url"))
		Expect(y.Request.URL).NotTo(ContainSubstring("S3cret"))
	})

	It("puts no real secret into the URL of the token endpoint, and sends no second GET if the endpoint refuses that method", func() {
		cases := []evidence.Case{"get-basic", "get-unknown-client", "query-unknown-client", "query-parameters"}
		urls := func(before func(n *node, w http.ResponseWriter, q *http.Request) bool) (out []string) {
			log := certify(targetOf(newNode(func(n *node) { n.before = before })))
			for _, c := range cases {
				x, sent := log.Get(evidence.TokenEndpoint.With(c))
				if sent {
					_, query, _ := strings.Cut(x.Request.URL, "?")
					out = append(out, x.Request.Method+" "+regexp.MustCompile(`client_id=[^&]+|:[0-9a-f]{8}:[a-z]+`).ReplaceAllString(query, "…"))
				}
			}
			return out
		}
		inQuery := []string{"POST …&client_secret=[[unknown_secret…]]", "POST grant_type=client_credentials&…"}
		Expect(urls(nil)).To(HaveLen(3), "the node has no HTTP Basic")
		Expect(urls(func(_ *node, w http.ResponseWriter, q *http.Request) bool {
			if q.Method != http.MethodGet || q.URL.Path != "/oauth/token" {
				return false
			}
			w.WriteHeader(http.StatusMethodNotAllowed)
			return true
		})).To(Equal(inQuery))
		Expect(urls(func(_ *node, w http.ResponseWriter, q *http.Request) bool {
			if q.Header.Get("Authorization") == "" || q.URL.Path != "/oauth/token" {
				return false
			}
			conformancetest.WriteToken(w, "token-by-basic", 300)
			return true
		})[0]).To(Equal("GET grant_type=client_credentials"))
	})
})
