package screen_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
)

// issueToken makes a node issue a token with these claims and an invalid signature.
func issueToken(claims any) func(http.Handler) http.Handler {
	GinkgoHelper()
	text, err := json.Marshal(claims)
	Expect(err).NotTo(HaveOccurred())
	part := base64.RawURLEncoding.EncodeToString
	token := part([]byte(`{"alg":"ES256","typ":"at+jwt","kid":"\u001b[2Jkid\u202e"}`)) + "." + part(text) + "." + part([]byte(strings.Repeat("s", 64)))
	return answering("/oauth/token", 200, "application/json", fmt.Sprintf(`{"access_token":%q,"token_type":"Bearer","expires_in":300}`, token))
}

var _ = Describe("Reading the token", func() {
	It("shows header and claims with their meaning, and counts the remaining time down", func() {
		b := newFixture(flow.Reading, options{}).press("enter")
		Expect(b.frame(80, 40)).To(And(ContainSubstring("Valid for another 5:00 of 5:00"), ContainSubstring("✓ The signature is valid"),
			MatchRegexp(`alg +ES256 +the signature algorithm`), MatchRegexp(`exp +12:05:00 UTC \(1772366700\) +when it expires, in 5:00`), MatchRegexp(`iss +http://127.0.0.1:10001 +who issued it`)))
		b.node.Clock.Add(43 * time.Second)
		b.settle(b.Update(screen.Tick{}))
		Expect(b.frame(80, 40)).To(And(ContainSubstring("Valid for another 4:17 of 5:00"), ContainSubstring("expires, in 4:17")))
		b.node.Clock.Add(time.Hour)
		b.settle(b.Update(screen.Tick{}))
		Expect(b.frame(80, 40)).To(And(ContainSubstring("! The token has expired"), ContainSubstring("when it expires; by the"), Not(MatchRegexp(`-\d+:|another -`))))
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
	})

	It("matches its golden", func() {
		b := newFixture(flow.Reading, options{change: issueToken(map[string]any{"iss": "https://sso.example/realms/ris", "aud": []string{"https://api.example", "account"},
			"sub": "9f1c", "client_id": "demo-client", "iat": 1772366400, "exp": 1772366700, "scope": "openid", "affiliation": "XA"})}).press("enter")
		b.golden("reading")
	})

	It("says that an opaque token is fine", func() {
		b := newFixture(flow.Reading, options{config: sandbox.Config{TokenFormat: auth.Opaque}}).press("enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("Valid for another 5:00"), ContainSubstring("The token is opaque"), ContainSubstring("opaque")))
		b.golden("reading-opaque")
	})

	It("says that a signature does not verify", func() {
		b := newFixture(flow.Reading, options{change: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				issueToken(map[string]any{"iss": "http://" + r.Host, "exp": 1772366700})(next).ServeHTTP(w, r)
			})
		}}).press("enter")
		Expect(b.frame(80, 40)).To(ContainSubstring("✗ The signature does not verify with the published keys"))
	})

	It("keeps its layout whatever the claims say", func() {
		deep := any("x")
		for range 12 {
			deep = map[string]any{"\x1b]8;;http://evil\a": deep}
		}
		b := newFixture(flow.Reading, options{change: issueToken(map[string]any{"iss": "\x1b[31m\u202e" + strings.Repeat("長", 300), "aud": []any{1, nil, "\r\n", deep}, "exp": 1e300, "nbf": "\u2066",
			strings.Repeat("name ", 90): strings.Repeat("y", 3000), "\x9b2J": deep, "jti": "e\u0301\u0301"})}).press("enter")
		for _, size := range [][2]int{{40, 15}, {80, 24}, {120, 40}} {
			for range 40 {
				b.frame(size[0], size[1])
				b.press("pgdown")
			}
			b.press("home")
		}
	})
})
