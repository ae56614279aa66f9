package evidence_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func answered(label evidence.Label, status int) evidence.Exchange {
	return evidence.Exchange{
		Label: label, Attempts: 1, Started: start, Duration: 3 * time.Millisecond,
		Request:  evidence.Request{Method: "GET", URL: "https://node.example/info"},
		Response: response(status, "{}"),
	}
}

// response returns an answer with a body that came without a content coding.
func response(status int, body string) *evidence.Response {
	size := int64(len(body))
	return &evidence.Response{Proto: "HTTP/1.1", Status: status, Body: evidence.Body(body), Wire: size, Size: size}
}

// clock returns the time by which records are written.
func clock() time.Time { return start.Add(time.Second) }

func labels(log *evidence.Log) []evidence.Label {
	var out []evidence.Label
	for _, x := range log.Exchanges {
		out = append(out, x.Label)
	}
	return out
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

var _ = Describe("Journal", func() {
	var j *evidence.Journal
	var file *bytes.Buffer

	BeforeEach(func() {
		file = &bytes.Buffer{}
		j = evidence.NewJournal(evidence.NewWriter(file, clock))
		j.Begin(evidence.Run{Suite: "test", Started: start, Profile: "auth"})
	})

	It("orders exchanges, skips and findings by the plan", func() {
		j.Plan("token.ok", "info.no-token", "info.ok", "info.head")
		j.Plan("info.ok", "spec.ok", "spec.head")
		j.Add(answered("z.extra", 200))
		j.Add(answered("a.extra", 200))
		j.Add(answered("info.ok", 200), evidence.SchemaFindings{Label: "info.ok"})
		j.Add(answered("token.ok", 200), evidence.SchemaFindings{Label: "token.ok"})
		j.Skip(evidence.NotSent{Label: "spec.head", Kind: evidence.NotApplicable, Because: "no document"})
		j.Skip(evidence.NotSent{Label: "info.no-token", Kind: evidence.Unmet, Because: "no resource"})
		log := j.Log()
		Expect(log.Planned).To(HaveExactElements(evidence.Label("token.ok"), evidence.Label("info.no-token"),
			evidence.Label("info.ok"), evidence.Label("info.head"), evidence.Label("spec.ok"), evidence.Label("spec.head")))
		Expect(labels(log)).To(HaveExactElements(evidence.Label("token.ok"), evidence.Label("info.ok"),
			evidence.Label("a.extra"), evidence.Label("z.extra")))
		Expect(log.NotSent[0].Label).To(BeEquivalentTo("info.no-token"))
		Expect(log.Findings[0].Label).To(BeEquivalentTo("token.ok"))
	})

	It("returns snapshots that later records do not change", func() {
		j.Add(answered("b.ok", 200))
		log := j.Log()
		j.Plan("a.ok", "b.ok")
		j.Add(answered("a.ok", 200))
		Expect(labels(log)).To(HaveExactElements(evidence.Label("b.ok")))
		Expect(log.Planned).To(BeEmpty())
	})

	It("skips only labels without an answer, and lets an answer replace a skip", func() {
		j.Add(answered("info.ok", 200))
		j.Skip(evidence.NotSent{Label: "info.ok", Kind: evidence.Unmet, Because: "too late"})
		j.Skip(evidence.NotSent{Label: "info.head", Kind: evidence.Unmet, Because: "first"})
		j.Skip(evidence.NotSent{Label: "info.head", Kind: evidence.OverBudget, Because: "second"})
		j.Skip(evidence.NotSent{Label: "spec.ok", Kind: evidence.Unmet, Because: "not yet"})
		j.Add(answered("spec.ok", 200))
		Expect(j.Log().NotSent).To(HaveExactElements(evidence.NotSent{Label: "info.head", Kind: evidence.Unmet, Because: "first"}))
		Expect(j.Err()).NotTo(HaveOccurred())
	})

	It("keeps the first exchange of a label and reports the second", func() {
		j.Add(answered("info.ok", 200))
		j.Add(answered("info.ok", 500))
		x, _ := j.Log().Get("info.ok")
		Expect(x.Status()).To(Equal(200))
		Expect(j.Err()).To(MatchError(ContainSubstring(`"info.ok" has an exchange already`)))
		Expect(strings.Count(conformancetest.Text(file.Bytes()), `"kind":"exchange"`)).To(Equal(1))
	})

	It("keeps the evidence in memory if the file fails, and reports the first error", func() {
		j = evidence.NewJournal(evidence.NewWriter(brokenWriter{}, clock))
		j.Add(answered("info.ok", 200))
		Expect(j.Err()).To(MatchError(ContainSubstring("write evidence: disk full")))
		Expect(labels(j.Log())).To(HaveLen(1))
	})

	It("drops records after the end", func() {
		j.End(evidence.Ended{Complete: true, Requests: 3})
		j.Add(answered("info.ok", 200))
		j.End(evidence.Ended{Cause: "again"})
		Expect(j.Log().Exchanges).To(BeEmpty())
		Expect(j.Log().Ended).To(Equal(&evidence.Ended{Complete: true, Requests: 3}))
		Expect(j.Err()).NotTo(HaveOccurred())
		_, err := evidence.ReadLog(file)
		Expect(err).NotTo(HaveOccurred())
	})

	Describe("Wait", func() {
		wait := func(ctx context.Context) chan error {
			done := make(chan error, 1)
			go func() { done <- j.Wait(ctx) }()
			return done
		}

		It("returns at the end of the run, and at once after it", func(ctx SpecContext) {
			done := wait(ctx)
			j.Add(answered("a.ok", 200))
			Consistently(done, "20ms").ShouldNot(Receive())
			j.End(evidence.Ended{Cause: "deadline"})
			Eventually(done).Should(Receive(BeNil()))
			Expect(j.Wait(ctx)).To(Succeed())
		}, SpecTimeout(5*time.Second))

		It("returns when its context ends", func() {
			ctx, cancel := context.WithCancel(context.Background())
			done := wait(ctx)
			cancel()
			Eventually(done).Should(Receive(MatchError(context.Canceled)))
		})
	})

	It("is read back unchanged, even with hostile text in it", func() {
		x := answered("info.ok", 200)
		x.Given = map[string]string{"value\xff": "\x00\xfe", "mode": "<b>&"}
		x.Request.URL, x.Request.Body = "https://node.example/\xff?a=<>&b", evidence.Body("\xff\x00")
		x.Response = response(200, "<p>\u2028\u0000&amp;\ufffd</p>")
		x.Response.Header = []evidence.Field{{Name: "X-Odd", Value: "caf\xe9 \u2028 </script>"}}
		x.Redirects = []evidence.Hop{{URL: "https://node.example/\xfe", Status: 308, Location: "/\xff"}}
		x.Response.BodyError = "bad \xff"
		x.Started = time.Date(2026, 3, 1, 13, 0, 1, 5, time.FixedZone("CET", 3600))
		x.Tokens = []evidence.TokenFacts{evidence.FactsOf("access_token", "a.b", "12345678"),
			evidence.FactsOf("access_token", jwt(`{"alg":"none"}`, `{"exp":1790000000.5,"a":["x"]}`, ""), "12345678")}
		x.Request.Header = []evidence.Field{}
		failedTokens := []evidence.TokenFacts{}
		failed := answered("spec.ok", 0)
		failed.Response, failed.Failure = nil, &evidence.Failure{Kind: evidence.FailureTLS, Message: "\xff"}
		failed.Tokens, failed.Request.Body = failedTokens, evidence.Body{}
		j.Plan("spec.ok", "info.ok", "token.ok")
		j.Roles(evidence.Roles{List: "op/a", Operations: []evidence.Resource{}, BaseTried: []string{"https://node.example"}})
		j.Registry(json.RawMessage(`{ "id" : "XA<>" }`), evidence.RegistryFacts{
			Entries: 2, Twins: []evidence.RegistryTwin{{TokenURL: "https://node.example/\xff"}}, Repeated: []string{"/member"},
		})
		j.Handshake(evidence.Handshake{
			Label: "tls/token.modern", Offered: []string{}, Distrust: evidence.ChainUntrusted, Message: "\xff", Started: time.Date(2026, 3, 1, 13, 0, 1, 5, time.FixedZone("CET", 3600)),
			Chain: []evidence.Certificate{{Subject: "CN=\xff<b>", Names: []string{"\xfe.example"}, NotAfter: time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("CET", 3600))}},
		})
		j.Handshake(evidence.Handshake{Label: "tls/token.tls11", Failure: &evidence.Failure{Kind: evidence.FailureLocal, Message: "\xff"}, Started: x.Started})
		j.Document(&evidence.Document{Reduced: json.RawMessage("{ \"openapi\": \"3.0.3\",\n \"x\": \"&\" }"), Invalid: []string{"a\xff"}, Removed: []evidence.Removed{}})
		j.Add(x, evidence.SchemaFindings{Label: "info.ok", Total: 1, Findings: []evidence.Finding{{Got: "\xff"}}})
		j.Add(failed)
		j.AddFindings(evidence.SchemaFindings{Label: "spec.ok", Why: "no schema"})
		j.Skip(evidence.NotSent{Label: "token.ok", Kind: evidence.OverBudget, Because: "out\xff"})
		j.End(evidence.Ended{Complete: true, Requests: 3})
		Expect(j.Err()).NotTo(HaveOccurred())
		again, err := evidence.ReadLog(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(again).To(Equal(j.Log()))
	})
})
