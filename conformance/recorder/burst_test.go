package recorder_test

import (
	"context"
	"net/http"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// meeting is a node whose requests wait for each other: it answers when a given number of them has arrived.
type meeting struct {
	expected int
	mu       sync.Mutex
	arrived  int
	complete chan struct{}
}

func newMeeting(expected int) *meeting {
	return &meeting{expected: expected, complete: make(chan struct{})}
}

func (m *meeting) ServeHTTP(_ http.ResponseWriter, q *http.Request) {
	m.mu.Lock()
	if m.arrived++; m.arrived == m.expected {
		close(m.complete)
	}
	m.mu.Unlock()
	select {
	case <-m.complete:
	case <-q.Context().Done():
	}
}

var _ = Describe("A burst", func() {
	limited := func(o *recorder.Options) { o.Rate, o.Concurrency, o.Timeout = 4, 2, 5*time.Second }
	// burst sends a request with three beside it.
	burst := func(r *fixture, url string) recorder.Answer {
		beside := recorder.Request{URL: url, NoRetry: true}
		return r.send(recorder.Request{Label: "a.ok", URL: url, NoRetry: true, Beside: []recorder.Request{beside, beside, {Label: "b.ok", URL: url, NoRetry: true}}})
	}

	It("sends all of its requests at the same time, also with a limited rate", func() {
		r := newFixture(limited)
		Expect(r.recorder.Burst()).To(Equal(4))
		a := burst(r, serve(newMeeting(4).ServeHTTP).URL)
		Expect(a.Status).To(Equal(200))
		Expect(a.Beside).To(HaveLen(3))
		for _, other := range a.Beside {
			Expect(other.Status).To(Equal(200))
		}
		Expect(r.evidence().Exchanges).To(HaveLen(2), "those with a label")
	})

	It("waits for the turns of all its requests first, so that the mean rate stays", func() {
		r := newFixture(limited)
		url := serve(text("good")).URL
		r.send(recorder.Request{URL: url})
		burst(r, url)
		r.send(recorder.Request{Label: "c.ok", URL: url})
		Expect(r.slept).To(Equal([]time.Duration{time.Second, 250 * time.Millisecond}))
	})

	DescribeTable("is not sent",
		func(change func(*recorder.Options)) {
			r := newFixture(limited, change)
			Expect(r.recorder.Burst()).To(Equal(1))
			a := burst(r, serve(newMeeting(1).ServeHTTP).URL)
			Expect(a.Status).To(Equal(200))
			Expect(a.Beside).To(BeEmpty())
			Expect(r.recorder.Sent()).To(Equal(1))
		},
		Entry("with a rate below two requests a second", func(o *recorder.Options) { o.Rate = 1.9 }),
		Entry("if requests are sent one at a time", func(o *recorder.Options) { o.Concurrency = 1 }),
	)

	It("is not sent after the node refused a request for load, and gives that reason", func() {
		r := newFixture(limited)
		url := serve(answers(status(429, "Retry-After", "1"), text("good"))).URL
		r.send(recorder.Request{URL: url})
		Expect(r.recorder.Burst()).To(Equal(1))
		Expect(burst(r, url).Beside).To(BeEmpty())
		skipped, _ := r.evidence().Skipped("b.ok")
		Expect(skipped.Because).To(ContainSubstring("the node refused some for load"))
	})

	It("is given up if the node refuses a request while it waits for its turns", func() {
		waiting, refused := make(chan struct{}), make(chan struct{})
		r := newFixture(limited, func(o *recorder.Options) {
			sleep, wait := o.Sleep, sync.OnceFunc(func() { close(waiting); <-refused })
			o.Sleep = func(ctx context.Context, d time.Duration) error {
				if d == time.Second { // the time of four turns
					wait()
				}
				return sleep(ctx, d)
			}
		})
		slow := serve(func(w http.ResponseWriter, _ *http.Request) {
			<-waiting
			w.WriteHeader(http.StatusTooManyRequests)
		}).URL
		begun := make(chan struct{})
		go func() {
			defer GinkgoRecover()
			defer close(refused)
			close(begun)
			r.send(recorder.Request{Label: "slow.ok", URL: slow, Once: true})
		}()
		<-begun
		Eventually(r.recorder.Sent).Should(Equal(1))
		Expect(burst(r, serve(text("good")).URL).Beside).To(BeEmpty())
		Expect(r.recorder.Sent()).To(Equal(2))
	})

	It("sends more requests at the same time if the rate is not limited", func() {
		r := newFixture()
		Expect(r.recorder.Burst()).To(Equal(7))
		Expect(burst(r, serve(newMeeting(4).ServeHTTP).URL).Status).To(Equal(200))
	})

	It("frees its slots for other requests, even if a request of the burst is repeated", func() {
		r := newFixture(limited)
		url := serve(status(500)).URL
		a := r.send(recorder.Request{Label: "a.ok", URL: url, Beside: []recorder.Request{{URL: url}, {URL: "not a URL"}}})
		Expect(a.Exchange.Attempts).To(Equal(2))
		for _, l := range []evidence.Label{"c.ok", "d.ok"} {
			Expect(r.send(recorder.Request{Label: l, URL: url, Once: true}).Status).To(Equal(500))
		}
		var group sync.WaitGroup
		both := serve(newMeeting(2).ServeHTTP).URL
		for _, l := range []evidence.Label{"e.ok", "f.ok"} {
			group.Go(func() { r.send(recorder.Request{Label: l, URL: both, Once: true}) })
		}
		group.Wait()
		x, _ := r.evidence().Get("f.ok")
		Expect(x.Status()).To(Equal(200), "both slots are free again")
	})
})
