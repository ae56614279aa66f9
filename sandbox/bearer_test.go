package sandbox_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/auth"
)

const (
	infoPath     = "/ris-synergy/info/v1/oauth/info/"
	fundingsPath = "/ris-synergy/funding/v3/fundings"
)

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// adjustableClock is a clock that a test sets. It is atomic, because handlers may still read it after their answer was received.
type adjustableClock struct{ now atomic.Pointer[time.Time] }

func newClock(at time.Time) *adjustableClock {
	c := &adjustableClock{}
	c.set(at)
	return c
}

func (c *adjustableClock) set(at time.Time) { c.now.Store(&at) }

func (c *adjustableClock) read() time.Time { return *c.now.Load() }

var noon = time.Date(2026, time.March, 3, 12, 0, 0, 0, time.UTC)

var _ = Describe("the guard of protected resources", func() {
	for _, format := range auth.Formats() {
		Describe("with tokens of the format "+string(format), func() {
			It("accepts a valid token, and refuses a tampered one, an expired one and one from the future", func() {
				clock := newClock(noon)
				node := newNode(sandbox.Config{TokenFormat: format, Clock: clock.read, TokenTTL: 90 * time.Second})
				token := fetchToken(node, stagingToken, node.Credentials()[0])
				Expect(token).To(MatchRegexp(`^[A-Za-z0-9._-]+$`))

				clock.set(noon.Add(89 * time.Second))
				Expect(get(node, infoPath, bearer(token)).status).To(Equal(200))
				Expect(get(node, infoPath, bearer(token)).status).To(Equal(200), "from the cache of verified tokens")

				middle := strings.LastIndex(token, ".") + (len(token)-strings.LastIndex(token, "."))/2
				tampered := token[:middle] + string('A'+(token[middle]+1)%26) + token[middle+1:]
				expectInvalidToken(get(node, infoPath, bearer(tampered)))

				clock.set(noon.Add(90 * time.Second))
				refused := get(node, infoPath, bearer(token))
				expectInvalidToken(refused)
				Expect(refused.body).To(ContainSubstring("expired at 2026-03-03T12:01:30Z"))

				clock.set(noon.Add(-time.Second))
				Expect(get(node, infoPath, bearer(token)).body).To(ContainSubstring("not valid before"))
			})
		})
	}

	Describe("with JWTs", func() {
		var (
			node  runningNode
			token string
		)

		BeforeEach(func() {
			node = newNode(sandbox.Config{})
			token = fetchToken(node, stagingToken, node.Credentials()[0])
		})

		It("challenges a call without a token, without an error code (BRR-01 to BRR-05)", func() {
			for _, path := range []string{infoPath, fundingsPath, fundingsPath + "/XF-00000001"} {
				got := get(node, path, nil)
				Expect(got.status).To(Equal(401))
				Expect(got.header.Values("WWW-Authenticate")).To(Equal([]string{`Bearer realm="ris"`}))
				Expect(got.header.Get("Content-Type")).To(Equal("application/problem+json"))
			}
		})

		DescribeTable("refuses an invalid credential", func(value, detail string, status int, code string) {
			got := get(node, infoPath, http.Header{"Authorization": {strings.ReplaceAll(value, "TOKEN", token)}})
			Expect(got.status).To(Equal(status), got.body)
			Expect(got.body).To(ContainSubstring(detail))
			Expect(got.body).NotTo(ContainSubstring(token))
			challenge := got.header.Get("WWW-Authenticate")
			Expect(challenge).To(HavePrefix(`Bearer realm="ris"`))
			if code == "" {
				Expect(challenge).NotTo(ContainSubstring("error"))
			} else {
				Expect(challenge).To(ContainSubstring(`error="` + code + `"`))
			}
		},
			Entry("garbage (BRR-06 to BRR-08)", "Bearer conformance.invalid.token", "not a JWT", 401, "invalid_token"),
			Entry("no token (BRR-11)", "Bearer", "no access token follows", 400, "invalid_request"),
			Entry("a token without the word Bearer", "TOKEN", "without the word Bearer", 401, ""),
			Entry("the word Bearer twice", "Bearer Bearer TOKEN", "twice", 401, "invalid_token"),
			Entry("quotes around the token", `Bearer "TOKEN"`, "character", 401, "invalid_token"),
			Entry("another scheme with a valid token (BRR-12)", "Token TOKEN", "other than Bearer", 401, ""),
			Entry("HTTP Basic (BRR-12)", "Basic dTpw", "client credentials do not open", 401, ""),
			Entry("6 kB (ROB-01)", "Bearer "+strings.Repeat("A", 6<<10), "not a JWT", 401, "invalid_token"),
			Entry("only dots (ROB-01)", "Bearer ..", "not a JWT", 401, "invalid_token"),
			Entry("a header that is a lone brace (ROB-01)", "Bearer ew.e30.AA", "not a JWT", 401, "invalid_token"),
			Entry("bytes outside ASCII (ROB-01)", "Bearer \xe4\xf6", "character", 401, "invalid_token"),
		)

		It("accepts the scheme in any case and with more blanks (BRR-13)", func() {
			for _, scheme := range []string{"Bearer", "bearer", "BEARER", "Bearer "} {
				Expect(get(node, infoPath, http.Header{"Authorization": {scheme + " " + token}}).status).To(Equal(200), scheme)
			}
		})

		It("ignores a token in the URL and says so (BRR-14)", func() {
			got := get(node, infoPath+"?access_token="+token, nil)
			Expect(got.status).To(Equal(401))
			Expect(got.body).To(ContainSubstring("a token in the URL is not read"))
		})

		It("is not bypassed by other methods, paths or headers (BRR-15, BRR-16, SEC-02)", func() {
			Expect(send(node, http.MethodHead, infoPath, "", nil).status).To(Equal(401))
			for _, path := range []string{
				"/ris-synergy/info/v1/oauth/info", "/ris-synergy/info/v1/oauth//info/", "/ris-synergy/info/v1/oauth/./info/",
				"/ris-synergy/info/v1/oauth/Info/", "/ris-synergy/info/v1/oauth/info;x=1", fundingsPath + "/", fundingsPath + "//",
			} {
				got := rawGet(node, path)
				Expect(got).To(Or(ContainSubstring(" 401 "), ContainSubstring(" 404 "), ContainSubstring(" 301 "), ContainSubstring(" 307 ")), path)
			}
			got := get(node, infoPath, http.Header{"X-Forwarded-User": {"admin"}, "X-Original-Url": {"/"}, "X-Http-Method-Override": {"OPTIONS"}})
			Expect(got.status).To(Equal(401))
		})

		It("forbids shared caches to keep protected answers (BRR-17)", func() {
			got := get(node, infoPath, bearer(token))
			Expect(got.header.Get("Cache-Control")).To(Equal("private, no-cache"))
			Expect(got.header.Get("Vary")).To(ContainSubstring("Authorization"))
			Expect(get(node, infoPath, nil).status).To(Equal(401))
		})

		It("refuses data to a client without the role, and says who grants it (BRR-18, BRR-19)", func() {
			noRole := fetchToken(node, stagingToken, node.Credentials()[1])
			Expect(get(node, infoPath, bearer(noRole)).status).To(Equal(200))
			for _, path := range []string{fundingsPath, fundingsPath + "/XF-00000001"} {
				got := get(node, path, bearer(noRole))
				Expect(got.status).To(Equal(403))
				Expect(got.header.Get("WWW-Authenticate")).To(And(HavePrefix("Bearer "), ContainSubstring(`error="insufficient_scope"`)))
				Expect(got.body).To(ContainSubstring("EXTERNAL_API_CLIENT"))
			}
		})

		It("refuses a token rewritten to alg none, and one that brings its own key (JWT-09, JWT-11)", func() {
			parts := strings.Split(token, ".")
			for _, header := range []string{`{"alg":"none"}`, `{"alg":"NONE"}`, `{"alg":"HS256"}`, `{"alg":"ES256","jwk":{"kty":"EC"}}`} {
				forged := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + parts[1] + "."
				expectInvalidToken(get(node, infoPath, bearer(forged)))
				expectInvalidToken(get(node, infoPath, bearer(forged+parts[2])))
			}
		})

		It("has tokens with the claims of RFC 9068 and without a secret (JWT-01 to JWT-08)", func() {
			client := node.Credentials()[0]
			for path, issuer := range map[string]string{stagingToken: node.url(), realmToken: node.url() + "/realms/ris"} {
				header, claims := decodeJWT(fetchToken(node, path, client))
				Expect(header).To(HaveKeyWithValue("typ", "at+jwt"))
				Expect(header).To(HaveKeyWithValue("alg", "ES256"))
				Expect(claims).To(HaveKeyWithValue("iss", issuer))
				Expect(claims).To(HaveKeyWithValue("sub", client.Subject))
				Expect(claims).To(HaveKeyWithValue("client_id", client.ClientID))
				Expect(claims["aud"]).To(BeElementOf(node.url()+"/ris-synergy", []any{node.url() + "/ris-synergy"}))
				Expect(claims["exp"].(float64) - claims["iat"].(float64)).To(BeEquivalentTo(300))
				Expect(claims["jti"]).To(HaveLen(22))

				var keys struct{ Keys []map[string]any }
				decode(get(node, "/realms/ris/protocol/openid-connect/certs", nil), &keys)
				Expect(keys.Keys).To(ConsistOf(HaveKeyWithValue("kid", header["kid"])))
				Expect(keys.Keys[0]).NotTo(HaveKey("d"))
			}
		})

		It("publishes metadata that agrees with the tokens of each issuer (SEC-06)", func() {
			for issuerPath, tokenPath := range map[string]string{"": stagingToken, "/realms/ris": realmToken} {
				for _, path := range []string{issuerPath + "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server" + issuerPath} {
					var metadata map[string]any
					decode(get(node, path, nil), &metadata)
					Expect(metadata).To(HaveKeyWithValue("issuer", node.url()+issuerPath))
					Expect(metadata).To(HaveKeyWithValue("token_endpoint", node.url()+tokenPath))
					Expect(metadata["grant_types_supported"]).To(ContainElement("client_credentials"))
				}
			}
		})
	})
})

func expectInvalidToken(got answer) {
	GinkgoHelper()
	Expect(got.status).To(Equal(401), got.body)
	Expect(got.header.Get("WWW-Authenticate")).To(ContainSubstring(`error="invalid_token"`))
}

func decodeJWT(token string) (header, claims map[string]any) {
	GinkgoHelper()
	parts := strings.Split(token, ".")
	Expect(parts).To(HaveLen(3))
	for i, into := range []*map[string]any{&header, &claims} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Unmarshal(raw, into)).To(Succeed())
	}
	return header, claims
}

// rawGet sends a path as it is, which net/http's client would clean, and returns the status line.
func rawGet(node endpoint, path string) string {
	GinkgoHelper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(node.url(), "http://"))
	Expect(err).NotTo(HaveOccurred())
	defer connection.Close()
	_, err = fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n", path)
	Expect(err).NotTo(HaveOccurred())
	line, err := bufio.NewReader(connection).ReadString('\n')
	Expect(err).NotTo(HaveOccurred())
	return line
}
