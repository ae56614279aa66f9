package target_test

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/target"
)

// good returns a valid target, with changes.
func good(change ...func(*target.Target)) target.Target {
	t := target.Target{
		TokenURL: "https://sso.example/oauth/token", InfoURL: "https://api.example/ris/info/v1/oauth/info/",
		SpecURL: "https://api.example/ris/funding/v3/api-docs", BaseURL: "https://api.example/ris",
		Credentials: target.Credentials{ClientID: "client", ClientSecret: target.NewSecret("s")},
		Profile:     "funding",
		Staging: &target.Staging{TokenURL: "https://staging.example/token",
			Credentials: target.Credentials{ClientID: "client", ClientSecret: target.NewSecret("staged")}},
	}
	for _, c := range change {
		c(&t)
	}
	return t
}

var _ = Describe("Validate", func() {
	DescribeTable("accepts",
		func(change func(*target.Target)) { Expect(good(change).Validate()).To(Succeed()) },
		Entry("a full target", func(*target.Target) {}),
		Entry("the profile auth without a document", func(t *target.Target) { t.Profile, t.SpecURL, t.BaseURL = "auth", "", "" }),
		Entry("http on this machine", func(t *target.Target) {
			t.TokenURL, t.InfoURL = "http://127.0.0.1:8080/oauth/token", "http://[::1]:8080/v1/info"
			t.SpecURL, t.BaseURL = "http://localhost/v3/api-docs", "http://node.localhost"
		}),
		Entry("http where it is allowed by name", func(t *target.Target) {
			t.InfoURL, t.AllowOrigins = "http://staging.example/v1/info", []string{"http://staging.example"}
		}),
		Entry("a registry", func(t *target.Target) {
			*t = target.Target{Registry: "https://registry.example/r.json", NodeID: "XA", Credentials: t.Credentials, Profile: "full"}
		}),
		Entry("a registry file", func(t *target.Target) {
			*t = target.Target{RegistryDocument: []byte("{}"), NodeID: "XA", Credentials: t.Credentials, Profile: "auth"}
		}),
		Entry("a query in a URL (RFC 6749 §3.2)", func(t *target.Target) { t.TokenURL += "?tenant=1" }),
	)

	DescribeTable("refuses, naming the flag",
		func(flag, says string, change func(*target.Target)) {
			err := good(change).Validate()
			var problem *target.Problem
			Expect(errors.As(err, &problem)).To(BeTrue())
			Expect(problem.Flag).To(Equal(flag))
			Expect(problem.Hint).NotTo(BeEmpty())
			Expect(err).To(MatchError(ContainSubstring(says)))
		},
		Entry("no token URL", "--token-url", "is missing", func(t *target.Target) { t.TokenURL = "" }),
		Entry("no info URL", "--info-url", "is missing", func(t *target.Target) { t.InfoURL = "" }),
		Entry("funding without a document", "--spec-url", "funding needs it", func(t *target.Target) { t.SpecURL = "" }),
		Entry("a relative URL", "--info-url", "absolute", func(t *target.Target) { t.InfoURL = "/v1/info" }),
		Entry("not a URL", "--info-url", "is not a URL", func(t *target.Target) { t.InfoURL = "https://[::1" }),
		Entry("another scheme", "--token-url", "http or https", func(t *target.Target) { t.TokenURL = "ftp://sso.example/token" }),
		Entry("a fragment", "--token-url", "fragment", func(t *target.Target) { t.TokenURL += "#top" }),
		Entry("an empty fragment", "--token-url", "fragment", func(t *target.Target) { t.TokenURL += "#" }),
		Entry("a password in the URL", "--info-url", "user name or password", func(t *target.Target) { t.InfoURL = "https://u:pw@api.example/v1/info" }),
		Entry("cleartext", "--token-url", "not encrypted", func(t *target.Target) { t.TokenURL = "http://sso.example/token" }),
		Entry("a node without a registry", "--registry", "is missing", func(t *target.Target) { t.NodeID = "XA" }),
		Entry("a registry without a node", "--node", "is missing", func(t *target.Target) { t.Registry = "https://registry.example/" }),
		Entry("no client id", "--client-id", "is missing", func(t *target.Target) { t.Credentials.ClientID = "" }),
		Entry("no secret", "--client-secret", "is missing", func(t *target.Target) { t.Credentials.ClientSecret = target.Secret{} }),
		Entry("a second client without a secret", "--client-secret2", "is missing", func(t *target.Target) { t.Second = &target.Credentials{ClientID: "b"} }),
		Entry("the same client twice", "--client-id2", "same client", func(t *target.Target) { c := t.Credentials; t.Second = &c }),
		Entry("an unknown profile", "--profile", "not a profile", func(t *target.Target) { t.Profile = "gold" }),
		Entry("a path as an origin", "--allow-origin", "not an origin", func(t *target.Target) { t.AllowOrigins = []string{"https://a.example/x"} }),
		Entry("a negative rate", "--rate", "below 0", func(t *target.Target) { t.Politeness.Rate = -1 }),
		Entry("too many requests at a time", "--concurrency", "not between", func(t *target.Target) { t.Politeness.Concurrency = 1000 }),
		Entry("a negative time", "--timeout", "below 0", func(t *target.Target) { t.Politeness.Timeout = -time.Second }),
		Entry("a negative deadline", "--deadline", "below 0", func(t *target.Target) { t.Politeness.Deadline = -time.Second }),
		Entry("the first client as the client of another audience", "--other-client-id", "same client", func(t *target.Target) { c := t.Credentials; t.Other = &c }),
		Entry("another client without a secret", "--other-client-secret", "is missing", func(t *target.Target) { t.Other = &target.Credentials{ClientID: "c"} }),
		Entry("staging without its client", "--staging-client-id", "is missing", func(t *target.Target) { t.Staging.Credentials.ClientID = "" }),
		Entry("staging without its secret", "--staging-client-secret", "is missing", func(t *target.Target) { t.Staging.Credentials.ClientSecret = target.Secret{} }),
		Entry("staging without its URL", "--staging-token-url", "is missing", func(t *target.Target) { t.Staging.TokenURL = "" }),
		Entry("staging in cleartext", "--staging-token-url", "not encrypted", func(t *target.Target) { t.Staging.TokenURL = "http://staging.example/token" }),
		Entry("a secret of production for staging", "--staging-client-secret", "never reach", func(t *target.Target) {
			t.Staging.Credentials.ClientSecret = target.NewSecret("s")
		}),
		Entry("a negative wait", "--wait", "below 0", func(t *target.Target) { t.Wait = new(-time.Second) }),
		Entry("a wait that the deadline cuts short", "--wait", "does not fit", func(t *target.Target) {
			t.Wait, t.Politeness.Deadline = new(time.Minute), time.Minute
		}),
		Entry("an unknown effort", "--effort", "not an effort", func(t *target.Target) { t.Effort = "much" }),
		Entry("a budget without a deep run", "--budget", "belongs to --effort deep", func(t *target.Target) { t.Budget = 10 }),
		Entry("a negative budget", "--budget", "not between", func(t *target.Target) { t.Effort, t.Budget = "deep", -1 }),
		Entry("no certificate", "--cacert", "no certificate", func(t *target.Target) { t.CACert = []byte("x") }),
	)

	It("reports all mistakes at once and never shows a password", func() {
		err := target.Target{InfoURL: "https://u:hunter2@api.example/"}.Validate()
		for _, flag := range []string{"--token-url", "--info-url", "--client-id", "--client-secret", "--profile"} {
			Expect(err).To(MatchError(ContainSubstring(flag + ": ")))
		}
		Expect(err).To(MatchError(Not(ContainSubstring("hunter2"))))
	})
})

var _ = Describe("A target", func() {
	DescribeTable("knows whether everything is on this machine",
		func(token, info, spec string, want bool) {
			Expect(target.Target{TokenURL: token, InfoURL: info, SpecURL: spec}.Loopback()).To(Equal(want))
		},
		Entry(nil, "http://127.0.0.1:1/t", "http://localhost/i", "http://[::1]/s", true),
		Entry(nil, "http://127.3.2.1/t", "http://LOCALHOST./i", "", true),
		Entry(nil, "http://127.0.0.1/t", "https://api.example/i", "", false),
		Entry(nil, "http://127.0.0.1/t", "http://127.0.0.1/i", "https://api.example/s", false),
		Entry("a name that only begins like it", "http://localhost.example/t", "http://127.0.0.1/i", "", false),
		Entry("URLs that are still in a registry", "", "", "", false),
	)

	It("lists the origins that may receive the token, never the registry's", func() {
		t := good(func(t *target.Target) {
			t.Registry, t.NodeID = "https://registry.example/r.json", "XA"
			t.BaseURL, t.AllowOrigins = "HTTPS://API.example:443/ris", []string{"https://files.example:8443"}
		})
		Expect(t.Origins()).To(Equal([]string{"https://sso.example", "https://api.example", "https://files.example:8443"}))
	})

	DescribeTable("fills in rate and concurrency, depending on where the node is",
		func(t target.Target, rate float64, concurrency int) {
			p := t.Defaults().Politeness
			Expect(p).To(Equal(target.Politeness{Rate: rate, Concurrency: concurrency, Timeout: 35 * time.Second, Deadline: 10 * time.Minute}))
		},
		Entry("on another machine", good(), 4.0, 2),
		Entry("on this machine", target.Target{TokenURL: "http://127.0.0.1/t", InfoURL: "http://127.0.0.1/i"}, 0.0, 8),
		Entry("with --polite", good(func(t *target.Target) { t.Polite = true }), 1.0, 1),
		Entry("as its operator says", good(func(t *target.Target) { t.Politeness.Rate, t.Politeness.Concurrency = 10, 5 }), 10.0, 5),
		Entry("before the registry was read", target.Target{Registry: "http://127.0.0.1/r", NodeID: "XA"}, 0.0, 0),
	)

	It("waits for a token to expire in the profile full, unless its operator says otherwise or has an expired one", func() {
		Expect(good().Defaults().Patience()).To(BeZero())
		full := good(func(t *target.Target) { t.Profile = "full" })
		Expect(full.Defaults().Patience()).To(Equal(10 * time.Minute))
		Expect(full.Defaults().Politeness.Deadline).To(Equal(20*time.Minute), "the wait comes on top")
		Expect(full.Defaults().Defaults()).To(Equal(full.Defaults()))
		full.Wait = new(time.Duration(0))
		Expect(full.Defaults().Patience()).To(BeZero())
		full.Wait, full.ExpiredToken = nil, target.NewSecret("old")
		Expect(full.Defaults().Patience()).To(BeZero())
		Expect(full.Defaults().Politeness.Deadline).To(Equal(10 * time.Minute))
	})

	It("is certified for funding by default when a document is given", func() {
		Expect(good(func(t *target.Target) { t.Profile = "" }).Defaults().Profile).To(Equal("funding"))
		Expect(target.Target{}.Defaults().Profile).To(Equal("auth"))
		Expect(good(func(t *target.Target) { t.Profile = "full" }).Defaults().Profile).To(Equal("full"))
	})
})
