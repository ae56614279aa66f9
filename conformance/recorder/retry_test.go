package recorder_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

var _ = Describe("Repetition", func() {
	DescribeTable("repeats a request once after an error",
		func(first http.HandlerFunc) {
			r := newFixture()
			a := r.send(recorder.Request{Method: "POST", URL: serve(answers(first, text("good"))).URL, Body: []byte("a=b")})
			Expect(a.OK()).To(BeTrue())
			Expect(r.recorded().Attempts).To(Equal(2))
			Expect(r.slept).To(Equal([]time.Duration{2 * time.Second}))
			Expect(r.recorder.Sent()).To(Equal(2))
		},
		Entry("a fault of the server", status(503)),
		Entry("a connection that closes before the answer", hijacked("")),
		Entry("a body that ends early", hijacked("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")),
		Entry("bytes that are not HTTP", hijacked("SSH-2.0-node\r\n\r\n")),
	)

	It("does not wait on loopback", func() {
		r := newFixture(func(o *recorder.Options) { o.Loopback = true })
		r.send(recorder.Request{URL: serve(answers(status(500), text("good"))).URL})
		Expect(r.slept).To(Equal([]time.Duration{0}))
	})

	DescribeTable("keeps the second error",
		func(h http.HandlerFunc, check func(evidence.Exchange)) {
			r := newFixture()
			r.send(recorder.Request{URL: serve(h).URL})
			Expect(r.recorded().Attempts).To(Equal(2))
			check(r.recorded())
		},
		Entry("5xx", status(502), func(x evidence.Exchange) { Expect(x.Status()).To(Equal(502)) }),
		Entry("closed", hijacked(""), func(x evidence.Exchange) {
			Expect(x.Failure).To(Equal(&evidence.Failure{Kind: evidence.FailureReset, Message: "the connection was closed before an answer"}))
		}),
		Entry("cut body", hijacked("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), func(x evidence.Exchange) {
			Expect(x.Response.BodyError).To(Equal("connection ended within the body: unexpected end"))
			Expect(string(x.Response.Body)).To(Equal("short"))
		}),
		Entry("bytes that are not HTTP", hijacked("SSH-2.0-node\r\n\r\n"), func(x evidence.Exchange) {
			Expect(x.Failure.Kind).To(Equal(evidence.FailureProtocol))
			Expect(x.Failure.Message).To(ContainSubstring("malformed HTTP"))
		}),
	)

	It("sends the request for the limit once, in the pause after the first 429", func() {
		r := newFixture()
		beside := recorder.Request{Label: "token.beside-lock", URL: serve(answers(status(429), status(429))).URL}
		a := r.send(recorder.Request{URL: serve(answers(status(429, "Retry-After", "7"), status(429, "Retry-After", "7"), text("good"))).URL, AtLimit: &beside})
		Expect(a.OK()).To(BeTrue())
		Expect(a.AtLimit.Status).To(Equal(429))
		Expect(r.recorder.Sent()).To(Equal(4))
		Expect(r.slept).To(HaveLen(2))
	})

	It("sends no request for the limit without a 429", func() {
		r := newFixture()
		a := r.send(recorder.Request{URL: serve(text("good")).URL, AtLimit: &recorder.Request{URL: serve(status(500)).URL}})
		Expect(a.AtLimit).To(BeNil())
		Expect(r.recorder.Sent()).To(Equal(1))
	})

	It("obeys Retry-After of a 429, halves rate and concurrency, and keeps only the last attempt", func() {
		r := newFixture(func(o *recorder.Options) { o.Rate = 4 })
		date := r.now.Add(17 * time.Second).Format(http.TimeFormat)
		a := r.send(recorder.Request{URL: serve(answers(status(429, "Retry-After", "7"), status(429, "Retry-After", date), text("good"))).URL})
		Expect(a.OK()).To(BeTrue())
		Expect(r.recorded().Attempts).To(Equal(3))
		Expect(r.slept).To(Equal([]time.Duration{7 * time.Second, 10 * time.Second}))
		r.slept = nil
		r.recorder.Send(context.Background(), recorder.Request{URL: serve(text("")).URL})
		Expect(r.slept).To(Equal([]time.Duration{time.Second}), "one a second is a quarter of four")
	})

	DescribeTable("bounds Retry-After",
		func(value string, want time.Duration) {
			r := newFixture()
			r.send(recorder.Request{URL: serve(answers(status(429, "Retry-After", value), text("good"))).URL})
			Expect(r.slept).To(Equal([]time.Duration{want}))
		},
		Entry("long", "86400", time.Minute),
		Entry("a number that is too large", "99999999999999999999", 2*time.Second),
		Entry("a date long past", "Mon, 01 Jan 2001 00:00:00 GMT", time.Duration(0)),
		Entry("not a number", "soon", 2*time.Second),
	)

	It("gives up after the fifth 429", func() {
		r := newFixture()
		a := r.send(recorder.Request{URL: serve(status(429)).URL})
		Expect(a.Status).To(Equal(429))
		Expect(r.recorded().Attempts).To(Equal(5))
		Expect(r.recorder.Sent()).To(Equal(5))
	})

	It("does not repeat a request with NoRetry after an answer or a closed connection", func() {
		for _, h := range []http.HandlerFunc{status(401), status(503), hijacked("")} {
			r := newFixture()
			r.send(recorder.Request{URL: serve(h).URL, NoRetry: true})
			Expect(r.recorder.Sent()).To(Equal(1))
		}
	})

	It("repeats a request with NoRetry once after a 429", func() {
		for _, statuses := range [][]int{{429, 401, 200}, {429, 503, 200}, {429, 429, 200}} {
			r, sent := newFixture(), 0
			a := r.send(recorder.Request{NoRetry: true, URL: serve(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(statuses[sent])
				sent++
			}).URL})
			Expect(sent).To(Equal(2))
			Expect(a.Status).To(Equal(statuses[1]))
		}
	})

	It("repeats a request with NoRetry and RepeatCrash once after a 500, and after nothing else", func() {
		for _, statuses := range [][]int{{500, 401, 200}, {500, 500, 200}, {503, 200}, {401, 200}} {
			r, sent := newFixture(), 0
			a := r.send(recorder.Request{NoRetry: true, RepeatCrash: true, URL: serve(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(statuses[sent])
				sent++
			}).URL})
			Expect(sent).To(Equal(len(statuses) - 1))
			Expect(a.Status).To(Equal(statuses[sent-1]))
		}
	})

	It("repeats a request with NoRetry after a failed connection", func() {
		r := newFixture()
		r.send(recorder.Request{URL: "http://" + closedPort(), NoRetry: true})
		x := r.recorded()
		Expect(x.Failure.Kind).To(Equal(evidence.FailureConnect))
		Expect(x.Failure.Message).To(ContainSubstring("connection refused"))
		Expect(x.Attempts).To(Equal(2))
	})

	It("keeps the last attempt if the run ends during a pause", func() {
		r := newFixture()
		ctx, cancel := context.WithCancel(context.Background())
		r.recorder.Send(ctx, recorder.Request{Label: "info.ok", URL: serve(func(w http.ResponseWriter, _ *http.Request) {
			defer cancel()
			w.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(w, "later")
		}).URL})
		Expect(r.recorder.Sent()).To(Equal(1))
	})
})

var _ = Describe("Politeness", func() {
	It("keeps the budget, repeats included, and records what was not sent", func() {
		r := newFixture(func(o *recorder.Options) { o.Budget = 3 })
		url := serve(status(500)).URL
		r.send(recorder.Request{Label: "a.ok", URL: url})
		r.send(recorder.Request{Label: "b.ok", URL: url})
		a := r.send(recorder.Request{Label: "c.ok", URL: url})
		Expect(a.Failure().Kind).To(Equal(evidence.FailureRefused))
		log := r.evidence()
		x, _ := log.Get("b.ok")
		Expect(x.Attempts).To(Equal(1))
		Expect(x.Status()).To(Equal(500))
		Expect(log.NotSent).To(Equal([]evidence.NotSent{{Label: "c.ok", Kind: evidence.OverBudget, Because: "the request budget is used up"}}))
		Expect(r.recorder.Sent()).To(Equal(3))
	})

	It("sends no request after the end of the run", func() {
		r := newFixture()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		r.recorder.Send(ctx, recorder.Request{Label: "a.ok", URL: serve(text("")).URL})
		Expect(r.evidence().NotSent[0].Kind).To(Equal(evidence.OverBudget))
		Expect(r.recorder.Sent()).To(BeZero())
	})

	It("spaces requests by the rate", func() {
		r := newFixture(func(o *recorder.Options) { o.Rate = 4 })
		url := serve(text("")).URL
		for _, l := range []evidence.Label{"a.ok", "b.ok", "c.ok"} {
			r.send(recorder.Request{Label: l, URL: url})
		}
		Expect(r.slept).To(Equal([]time.Duration{250 * time.Millisecond, 250 * time.Millisecond}))
	})

	Describe("concurrency", func() {
		var r *fixture
		var inFlight atomic.Int32
		var release chan int
		var url string

		BeforeEach(func() {
			r = newFixture(func(o *recorder.Options) { o.Concurrency = 4 })
			inFlight.Store(0)
			release = make(chan int)
			url = serve(func(w http.ResponseWriter, q *http.Request) {
				inFlight.Add(1)
				defer inFlight.Add(-1)
				select {
				case code := <-release:
					w.WriteHeader(code)
				case <-q.Context().Done():
				}
			}).URL
		})

		burst := func(prefix string) *sync.WaitGroup {
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() { r.send(recorder.Request{Label: evidence.Label(fmt.Sprintf("%s%d.ok", prefix, i)), URL: url}) })
			}
			return &wg
		}
		expectInFlight := func(want int) {
			GinkgoHelper()
			Eventually(inFlight.Load, "10s").Should(BeEquivalentTo(want))
			Consistently(inFlight.Load, "50ms").Should(BeEquivalentTo(want))
		}
		finish := func(wg *sync.WaitGroup, left int) {
			for range left {
				release <- http.StatusOK
			}
			wg.Wait()
		}

		It("is used fully, and halved after a 429", func() {
			before := burst("before")
			expectInFlight(4)
			finish(before, 8)
			r.send(recorder.Request{Label: "slow.ok", URL: serve(answers(status(429), text(""))).URL})
			after := burst("after")
			expectInFlight(2)
			finish(after, 8)
			Expect(r.evidence().Exchanges).To(HaveLen(17))
		})

		It("is halved while every slot is in use", func() {
			wg := burst("all")
			expectInFlight(4)
			release <- http.StatusTooManyRequests
			expectInFlight(3)
			release <- http.StatusOK
			expectInFlight(2)
			finish(wg, 7)
			Expect(r.evidence().Exchanges).To(HaveLen(8))
		})
	})
})

// closedPort returns an address on loopback where nothing listens.
func closedPort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer l.Close()
	return l.Addr().String()
}
