package flow_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/tuitest"
)

var _ = Describe("A walk", func() {
	ctx := context.Background()

	It("leads from the registry to the first funding call, each step judged", func() {
		g := newNode(nil, sandbox.Config{})
		w := g.newWalk()
		result := w.ReadRegistry(ctx)
		Expect(result.OK()).To(BeTrue())
		Expect(w.Entries()).To(ContainElement(HaveField("ID", "XA")))
		Expect(w.ChooseNode("XA")).To(Succeed())
		Expect(w.Target().TokenURL).To(Equal(g.URL + "/oauth/token"))

		var results []flow.Result
		step := func(s flow.Result) flow.Result {
			GinkgoHelper()
			Expect(s.OK()).To(BeTrue(), "%+v", s.Trouble)
			Expect(s.Notes).NotTo(BeEmpty())
			Expect(s.Exchanges).NotTo(BeEmpty())
			Expect(outcomes(s)).To(And(Not(BeEmpty()), HaveEach(Equal(requirement.Pass))), "%+v", s.Verdicts)
			results = append(results, s)
			return s
		}
		Expect(step(w.FetchToken(ctx)).Notes).To(ContainElement(ContainSubstring("valid for 5 minutes:")))
		Expect(step(w.ReadToken(ctx)).Notes).To(ContainElements(ContainSubstring("It expires at 12:05:00 UTC (exp), in 5 minutes."), ContainSubstring("The signature is valid")))
		Expect(step(w.CallInfo(ctx)).Notes).To(ContainElement(ContainSubstring("funding FUNDINGS, version 3.0: " + g.URL)))
		step(w.ReadSpecification(ctx))
		Expect(w.Operations()).To(ContainElements(
			And(HaveField("List", true), HaveField("Path", "/funding/v3/fundings")),
			And(HaveField("Detail", true), HaveField("Required", []string{"id"})),
		))
		Expect(w.Filters()).To(ContainElement(And(HaveField("Name", "region"), HaveField("Values", ContainElement("TYROL")))))
		step(w.ListCalls(ctx, flow.Query{}))
		calls := w.Calls()
		Expect(calls).To(HaveLen(flow.PageSize))
		Expect(flow.Localized(calls[0].Name, "de")).NotTo(Or(BeEmpty(), Equal(flow.Localized(calls[0].Name, "en"))))
		step(w.ListCalls(ctx, flow.Query{Page: 1}))
		Expect(w.Calls()[0].ID > calls[flow.PageSize-1].ID).To(BeTrue(), "the second page follows the first")
		step(w.ListCalls(ctx, flow.Query{Filters: map[string]string{"fundingType": "CALL"}}))
		Expect(w.Calls()).To(HaveEach(HaveField("Type", "CALL")))
		Expect(string(step(w.OpenCall(ctx, calls[0].ID)).Exchanges[0].Response.Body)).To(ContainSubstring(calls[0].ID))
		end := w.ListCalls(ctx, flow.Query{Page: 50})
		Expect(end.OK()).To(BeTrue())
		Expect(end.Notes).To(ContainElement(ContainSubstring("end of the list")))

		token, _ := w.Token()
		for _, s := range results {
			for _, secret := range []string{token.Value, g.Credentials()[0].Secret} {
				Expect(visibleText(s)).NotTo(ContainSubstring(secret))
				Expect(visibleText(s)).NotTo(ContainSubstring(secret[:20]))
			}
		}
		Expect(w.Reveal(string(results[0].Exchanges[0].Request.Body))).To(ContainSubstring("client_secret=" + g.Credentials()[0].Secret))
	})

	It("makes each mistake, and finds that the node answers it correctly", func() {
		g := newNode(nil, sandbox.Config{})
		w := g.walkAtNode()
		for _, m := range flow.Mistakes() {
			if m.Name == "expired" {
				Expect(w.MakeMistake(ctx, m).Notes).To(ConsistOf(ContainSubstring("valid for another")))
				g.Clock.Add(6 * time.Minute)
			}
			result := w.MakeMistake(ctx, m)
			Expect(result.OK()).To(BeTrue(), "%s: %+v", m.Name, result.Trouble)
			Expect(result.Notes).To(ContainElement(m.Lesson), m.Name)
			Expect(outcomes(result)).To(And(Not(BeEmpty()), HaveEach(Equal(requirement.Pass))), "%s: %+v", m.Name, result.Verdicts)
			Expect(visibleText(result)).NotTo(ContainSubstring(g.Credentials()[0].Secret), m.Name)
		}
	})

	DescribeTable("reports a node that accepts a mistake, with the rule and the fix", func(mistake, deviation string, id requirement.ID) {
		g := newNode(nil, sandbox.Config{Deviations: []string{deviation}})
		w := g.walkAtNode()
		for _, m := range flow.Mistakes() {
			if m.Name != mistake {
				continue
			}
			result := w.MakeMistake(ctx, m)
			Expect(outcomes(result)).To(HaveKeyWithValue(id, Or(Equal(requirement.Fail), Equal(requirement.Warn))), "%+v", result)
			for _, v := range result.Verdicts {
				if v.ID == id {
					Expect(v.Reason).NotTo(BeEmpty())
					Expect(v.Fix).NotTo(BeEmpty())
					Expect(v.Source).NotTo(BeEmpty())
				}
			}
		}
	},
		Entry("no token", "no-token", "info-open", requirement.ID("BRR-01")),
		Entry("a tampered token", "tampered", "signature-not-verified", requirement.ID("BRR-09")),
		Entry("a wrong secret", "wrong-secret", "secret-compared-by-suffix", requirement.ID("TER-01")),
		Entry("no role", "no-role", "role-not-checked", requirement.ID("BRR-18")),
		Entry("a token in the URL", "token-in-url", "query-token-accepted", requirement.ID("BRR-14")),
	)

	It("says that an opaque token is fine", func() {
		w := newNode(nil, sandbox.Config{TokenFormat: auth.Opaque}).walkAtNode()
		Expect(w.FetchToken(ctx).OK()).To(BeTrue())
		Expect(w.ReadToken(ctx).Notes).To(ContainElement(ContainSubstring("opaque")))
	})

	It("fetches a new token when the current one is about to expire, and counts its remaining time down", func() {
		g := newNode(nil, sandbox.Config{})
		w := g.walkAtNode()
		Expect(w.FetchToken(ctx).OK()).To(BeTrue())
		first, _ := w.Token()
		Expect(first.Remaining(g.Clock.Now())).To(Equal(5 * time.Minute))
		g.Clock.Add(290 * time.Second)
		Expect(first.Remaining(g.Clock.Now())).To(Equal(10 * time.Second))
		result := w.CallInfo(ctx)
		Expect(result.OK()).To(BeTrue())
		Expect(result.Exchanges).To(HaveLen(2))
		second, _ := w.Token()
		Expect(second.Value).NotTo(Equal(first.Value))
		Expect(first.Remaining(g.Clock.Now().Add(time.Hour))).To(BeZero())
	})
})

var _ = Describe("Trouble on a walk", func() {
	ctx := context.Background()
	answering := func(end string, status int, kind, body string) func(http.Handler) http.Handler {
		return tuitest.ReplaceAnswer(end, tuitest.Answer(status, kind, body))
	}

	DescribeTable("says what happened, what usually causes it and what to try", func(change func(http.Handler) http.Handler, changeTarget func(*target.Target), action func(*flow.Walk) flow.Result, what, cause string) {
		w := newNode(change, sandbox.Config{}).walkAtNode()
		if changeTarget != nil {
			t := w.Target()
			changeTarget(&t)
			w.SetTarget(t)
		}
		result := action(w)
		Expect(result.Trouble).NotTo(BeNil())
		Expect(result.Trouble.What).To(ContainSubstring(what))
		Expect(strings.Join(result.Trouble.Causes, "\n")).To(ContainSubstring(cause))
		Expect(result.Trouble.Try).NotTo(BeEmpty())
	},
		Entry("the node is down", nil, func(t *target.Target) { t.TokenURL = "http://127.0.0.1:1/oauth/token" }, token(ctx), "no server answers", "down"),
		Entry("a name without an address", nil, func(t *target.Target) { t.TokenURL = "http://node.invalid/oauth/token" }, token(ctx), "no address", "typing error"),
		Entry("https on a port for http", nil, func(t *target.Target) { t.TokenURL = strings.Replace(t.TokenURL, "http:", "https:", 1) }, token(ctx), "TLS connection failed", "authority"),
		Entry("a wrong secret", nil, func(t *target.Target) { t.Credentials.ClientSecret = target.NewSecret("not-the-secret-of-it") }, token(ctx), "does not accept this client", "secret is wrong"),
		Entry("HTML in place of a token", answering("/oauth/token", 200, "text/html", "<html>login</html>"), nil, token(ctx), "HTML where JSON was expected", "web page"),
		Entry("a URL that is not a token endpoint", nil, func(t *target.Target) { t.TokenURL += "/none" }, token(ctx), "not a token endpoint", "path is wrong"),
		Entry("a token endpoint that fails", answering("/oauth/token", 503, "text/plain", "no"), nil, token(ctx), "status 503", "fault of the node"),
		Entry("HTML in place of info", answering("/info/", 200, "text/html", "<html>welcome</html>"), nil, info(ctx), "HTML where JSON was expected", "proxy"),
		Entry("an API that refuses good tokens", answering("/info/", 401, "application/json", "{}"), nil, info(ctx), "status 401", "do not belong together"),
		Entry("an account without the role", nil, func(t *target.Target) { t.Credentials = *t.Second }, list(ctx), "status 403", "EXTERNAL_API_CLIENT"),
		Entry("a login page before info", answering("/info/", 302, "text/html", ""), nil, info(ctx), "redirects", "login"),
		Entry("no document", answering("/api-docs", 200, "text/html", "<html></html>"), nil, specification(ctx), "HTML where JSON was expected", "web page"),
		Entry("a document that is not OpenAPI", answering("/api-docs", 200, "application/json", "[]"), nil, specification(ctx), "document cannot be", "not an OpenAPI document"),
	)

	It("pauses before it repeats a request that nobody answered", func() {
		var pauses []time.Duration
		w, err := flow.New(flow.Options{Target: target.Target{Registry: "http://127.0.0.1:1/registry.json"}, Pause: func(_ context.Context, d time.Duration) error {
			pauses = append(pauses, d)
			return nil
		}})
		Expect(err).NotTo(HaveOccurred())
		result := w.ReadRegistry(context.Background())
		Expect(result.Trouble).NotTo(BeNil())
		Expect(pauses).To(Equal([]time.Duration{recorder.RetryPause}))
	})

	It("names a wrong clock as the cause of a refused token", func() {
		g := newNode(tuitest.ReplaceAnswer("/info/", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", "Sun, 01 Mar 2026 13:00:00 GMT")
			tuitest.Answer(http.StatusUnauthorized, "application/json", "")(w, r)
		}), sandbox.Config{})
		result := g.walkAtNode().CallInfo(ctx)
		Expect(result.Trouble.Causes[0]).To(ContainSubstring("the clocks differ by 1 hour"))
	})
})

func token(ctx context.Context) func(*flow.Walk) flow.Result {
	return func(w *flow.Walk) flow.Result { return w.FetchToken(ctx) }
}

func info(ctx context.Context) func(*flow.Walk) flow.Result {
	return func(w *flow.Walk) flow.Result { return w.CallInfo(ctx) }
}

func list(ctx context.Context) func(*flow.Walk) flow.Result {
	return func(w *flow.Walk) flow.Result { return w.ListCalls(ctx, flow.Query{}) }
}

func specification(ctx context.Context) func(*flow.Walk) flow.Result {
	return func(w *flow.Walk) flow.Result {
		return w.ReadSpecification(ctx)
	}
}

var _ = Describe("Credentials", func() {
	DescribeTable("are checked for usual mistakes before they are sent, without showing the secret", func(id, secret, want string) {
		got := flow.CheckCredentials(target.Credentials{ClientID: id, ClientSecret: target.NewSecret(secret)})
		if want == "" {
			Expect(got).To(BeEmpty())
			return
		}
		Expect(got).To(ContainElement(ContainSubstring(want)))
		if len(secret) > 8 {
			Expect(strings.Join(got, "\n")).NotTo(ContainSubstring(secret))
		}
	},
		Entry("none", "demo-client", "dGhpcyBpcyBub3QgYSBzZWNyZXQgMTIz", ""),
		Entry("none for a UUID as id", "7b1f5c1e-94a5-4a29-8c56-0a8b6f7d3c11", "dGhpcyBpcyBub3QgYSBzZWNyZXQgMTIz", ""),
		Entry("a line end", "demo-client", "dGhpcyBpcyBub3QgYSBzZWNyZXQgMTIz\n", "line end"),
		Entry("a blank before the id", " demo-client", "dGhpcyBpcyBub3QgYSBzZWNyZXQgMTIz", "client ID begins or ends"),
		Entry("swapped", "dGhpcyBpcyBub3QgYSBzZWNyZXQgMTIz", "demo-client", "swapped"),
		Entry("quotation marks", "demo-client", `"dGhpcyBpcyBub3QgYSBzZWNyZXQgMTIz"`, "quotation marks"),
		Entry("a token", "demo-client", "eyJhbGciOiJ.eyJpc3MiOiJ4.c2ln", "access token"),
		Entry("an encoded pair", "demo-client", "ZGVtby1jbGllbnQ6c2VjcmV0LXNlY3JldA==", "encoded Authorization"),
		Entry("the name of a place", "demo-client", "env:MY_SECRET", "name of a place"),
		Entry("the same text twice", "demo-client", "demo-client", "same text"),
		Entry("nothing", "", "", "secret is empty"),
	)
})

var _ = Describe("The files to take away", func() {
	It("contain no secret and name this node", func() {
		g := newNode(nil, sandbox.Config{})
		w := g.walkAtNode()
		ctx := context.Background()
		Expect(w.ListCalls(ctx, flow.Query{}).OK()).To(BeTrue())
		issued, _ := w.Token()
		names := []string{}
		for _, f := range w.Takeaways() {
			names = append(names, f.Name)
			var b bytes.Buffer
			Expect(f.Write(&b)).To(Succeed())
			Expect(b.String()).To(ContainSubstring(g.URL), f.Name)
			Expect(b.String()).NotTo(ContainSubstring(g.Credentials()[0].Secret), f.Name)
			Expect(b.String()).NotTo(ContainSubstring(issued.Value), f.Name)
		}
		Expect(names).To(Equal([]string{"README.md", "client.sh", "client.go", "client.py", "client.ts", "requests.sh", "walk.har"}))
	})
})

var _ = Describe("Another node", func() {
	It("is judged by its own answers", func() {
		ctx := context.Background()
		good, bad := newNode(nil, sandbox.Config{}), newNode(nil, sandbox.Config{Deviations: []string{"token-status-201"}})
		w := good.walkAtNode()
		Expect(outcomes(w.FetchToken(ctx))).To(HaveKeyWithValue(requirement.ID("TOK-02"), requirement.Pass))
		w.SetTarget(bad.walkAtNode().Target())
		Expect(w.History()).NotTo(BeEmpty())
		_, kept := w.Token()
		Expect(kept).To(BeFalse())
		Expect(outcomes(w.FetchToken(ctx))).To(HaveKeyWithValue(requirement.ID("TOK-02"), requirement.Fail))
	})
})
