package screen_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
	"github.com/rin-network/rin/tui/tuitest"
)

var _ = Describe("Trouble on a screen", func() {
	wrongClock := tuitest.ReplaceAnswer("/info/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", "Sun, 01 Mar 2026 13:00:00 GMT")
		w.WriteHeader(http.StatusUnauthorized)
	})
	DescribeTable("says what happened, what causes it and what to try; enter tries again, and e leads to where the cause is edited",
		func(step flow.Step, change func(http.Handler) http.Handler, changeTarget func(*target.Target), what, cause string, editStep flow.Step, name string) {
			b := newFixture(step, options{change: change})
			goodTarget := b.Walk.Target()
			if changeTarget != nil {
				t := goodTarget
				changeTarget(&t)
				b.Walk.SetTarget(t)
			}
			b.press("enter")
			seen := b.frame(80, 50)
			Expect(seen).To(And(ContainSubstring("✗ "), ContainSubstring(what), ContainSubstring("What usually causes it"), ContainSubstring(cause), ContainSubstring("What to try")))
			Expect(b.hints()).To(HavePrefix("enter again, e edit"))
			b.golden("trouble-" + name)
			Expect(b.press("e").outgoing).To(ConsistOf(screen.GoToStep{To: editStep, Edit: true}))
			sent := len(b.Walk.History())
			Expect(len(b.press("enter").Walk.History())).To(BeNumerically(">", sent), "it tries again")
			if change == nil {
				b.Walk.SetTarget(goodTarget)
				Expect(b.press("enter").frame(80, 50)).NotTo(ContainSubstring("What usually causes it"))
			}
		},
		Entry("the node is down", flow.Token, nil, func(t *target.Target) { t.TokenURL = "http://127.0.0.1:1/oauth/token" }, "no server answers", "the node is down", flow.Node, "down"),
		Entry("TLS is wrong", flow.Token, nil, func(t *target.Target) { t.TokenURL = strings.Replace(t.TokenURL, "http:", "https:", 1) }, "TLS connection failed", "does not know the authority", flow.Node, "tls"),
		Entry("the clock is off", flow.Info, wrongClock, nil, "status 401", "the clocks differ by 1 hour", flow.Node, "clock"),
		Entry("the secret is wrong", flow.Token, nil, func(t *target.Target) { t.Credentials.ClientSecret = target.NewSecret("not-the-secret-of-it") }, "does not accept this client", "the secret is wrong", flow.Credentials, "secret"),
		Entry("HTML in place of a token", flow.Token, answering("/oauth/token", 200, "text/html", "<html>login</html>"), nil, "HTML where JSON was expected", "web page", flow.Node, "html"),
		Entry("HTML in place of the document", flow.Specification, answering("/api-docs", 200, "text/html", "<html></html>"), nil, "HTML where JSON was expected", "web page", flow.Node, "html-document"),
		Entry("no token to read", flow.Reading, nil, func(t *target.Target) { t.Credentials.ClientSecret = target.NewSecret("not-the-secret-of-it") }, "does not accept this client", "swapped", flow.Credentials, "reading"),
		Entry("an account without the role", flow.Calls, nil, func(t *target.Target) { t.Credentials = *t.Second }, "status 403", "EXTERNAL_API_CLIENT", flow.Credentials, "role"),
	)

	It("is over after the wrong secret is corrected", func() {
		b := newFixture(flow.Token, options{})
		t := b.Walk.Target()
		good := t.Credentials.ClientSecret.Reveal()
		t.Credentials.ClientSecret = target.NewSecret("not-the-secret-of-it")
		b.Walk.SetTarget(t)
		b.press("enter", "e")
		token := b.Screen
		b.Screen = screen.Screens(b.Session)[flow.Credentials]
		b.settle(b.Open())
		b.settle(b.Update(screen.OpenEditor{}))
		b.submit("› Client secret").typeText(good).submit("enter continue with them")
		b.Screen = token
		b.settle(b.Open())
		Expect(b.frame(80, 24)).To(ContainSubstring("enter ask for a token"), "the trouble is over")
		Expect(b.press("enter").frame(80, 24)).To(ContainSubstring("has issued an access token"))
	})
})
