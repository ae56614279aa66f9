package probe_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("The token request", func() {
	t := target.Target{TokenURL: "https://sso.example/token", Credentials: target.Credentials{ClientID: "my client", ClientSecret: target.NewSecret("a+b&c=d%ü")}}

	It("is the network's form, encoded", func() {
		ask := probe.TokenRequest(t, probe.ClientSecret, probe.Credentialed(t.Credentials)...)
		Expect(string(ask.Body)).To(Equal("grant_type=client_credentials&client_id=my+client&client_secret=a%2Bb%26c%3Dd%25%C3%BC"))
		Expect(ask.Header).To(ContainElement(evidence.Field{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}))
		Expect(ask.Method).To(Equal("POST"))
		Expect(ask.Credential).To(Equal("client_secret"))
		Expect(ask.FollowSameOrigin).To(BeTrue(), "clients follow a slash redirect; TOK-17 reports it")
	})

	It("does not encode a value again", func() {
		Expect(string(probe.Form(probe.Field{Name: "a", Value: "%63", Encoded: true}))).To(Equal("a=%63"))
	})
})

var _ = Describe("A token", func() {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

	const assumed = 2 * time.Minute // unless the answer says it

	DescribeTable("lives as long as its answer says",
		func(member string, want time.Duration) {
			token, ok := probe.ReadToken(recorder.Answer{Status: 200, Token: "t", Body: []byte(`{"access_token":"t"` + member + `}`)}, now)
			Expect(ok).To(BeTrue())
			stated := probe.Token{Value: "t", Obtained: now, Life: want, Until: now.Add(want)}
			if want == assumed {
				stated.Until = time.Time{}
			}
			Expect(token).To(Equal(stated))
		},
		Entry(nil, `,"expires_in":300`, 5*time.Minute),
		Entry("as text", `,"expires_in":"60"`, time.Minute),
		Entry("beside a member in another case", `,"expires_in":300,"EXPIRES_IN":1`, 5*time.Minute),
		Entry("not stated", ``, assumed),
		Entry("never", `,"expires_in":0`, assumed),
		Entry("not a number", `,"expires_in":{}`, assumed),
		Entry("NaN", `,"expires_in":"NaN"`, assumed),
		Entry("for ever", `,"expires_in":1e300`, 24*time.Hour),
	)

	It("is not read from an answer without one, or from an error", func() {
		_, ok := probe.ReadToken(recorder.Answer{Status: 200}, now)
		Expect(ok).To(BeFalse())
		_, ok = probe.ReadToken(recorder.Answer{Status: 401, Token: "t"}, now)
		Expect(ok).To(BeFalse())
	})

	DescribeTable("is requested again when less than half of its life or less than 30 seconds are left",
		func(life, age time.Duration, want bool) {
			t := probe.Token{Value: "t", Obtained: now, Life: life}
			Expect(t.Stale(now.Add(age))).To(Equal(want))
		},
		Entry(nil, 300*time.Second, 150*time.Second, false),
		Entry(nil, 300*time.Second, 151*time.Second, true),
		Entry(nil, 50*time.Second, 20*time.Second, false),
		Entry(nil, 50*time.Second, 21*time.Second, true),
		Entry("a life of 30 seconds or less is used to its half", 30*time.Second, 15*time.Second, false),
		Entry(nil, 30*time.Second, 16*time.Second, true),
		Entry("expired", 300*time.Second, time.Hour, true),
	)
})

var _ = Describe("A resource", func() {
	It("is requested as the interface document shows", func() {
		info := probe.Resource{Name: evidence.Info, URL: "https://api.example/info", JSONType: true}
		ask := info.Authorized("t")

		Expect(ask.Header).To(Equal([]evidence.Field{
			{Name: "Authorization", Value: "Bearer t"}, {Name: "Content-Type", Value: "application/json"}, {Name: "Accept", Value: "application/json"},
		}))
		Expect(ask.Credential).To(Equal("access_token"))
		Expect(ask.Body).To(BeEmpty())
		Expect(info.Get().Credential).To(BeEmpty())
	})
})
