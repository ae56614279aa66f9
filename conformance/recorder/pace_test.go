package recorder_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// busyNode admits a burst of requests, and after it one request per interval, by the clock of the test. It refuses all others.
type busyNode struct {
	burst int
	every time.Duration
	clock func() time.Time
	// refuse answers a request that must wait.
	refuse func(w http.ResponseWriter, wait time.Duration)

	mu       sync.Mutex
	full     time.Time // when the whole burst is free again
	admitted int
	refused  int
}

func (n *busyNode) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.clock()
	if n.full.Before(now) {
		n.full = now
	}
	if wait := n.full.Add(n.every).Sub(now) - time.Duration(n.burst)*n.every; wait > 0 {
		n.refused++
		n.refuse(w, wait)
		return
	}
	n.full = n.full.Add(n.every)
	n.admitted++
}

// refusal answers with a status, and with Retry-After in whole seconds if retryAfter is true.
func refusal(status int, retryAfter bool) func(http.ResponseWriter, time.Duration) {
	return func(w http.ResponseWriter, wait time.Duration) {
		if retryAfter {
			w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		}
		w.WriteHeader(status)
	}
}

var _ = Describe("Pace", func() {
	DescribeTable("finds the rate that the node accepts",
		func(burst int, every time.Duration, refuse func(http.ResponseWriter, time.Duration), atMost float64) {
			var slower []evidence.Slowdown
			r := newFixture(func(o *recorder.Options) { o.Slowed = func(s evidence.Slowdown) { slower = append(slower, s) } })
			began := r.now
			n := &busyNode{burst: burst, every: every, clock: r.clock, refuse: refuse}
			url := serve(n.ServeHTTP).URL
			const requests = 300
			for i := range requests {
				a := r.send(recorder.Request{Label: evidence.Label(fmt.Sprintf("call-%d.ok", i)), URL: url})
				Expect(a.Status).To(Equal(200))
			}
			atBest := float64(requests-burst) * every.Seconds()
			fmt.Fprintf(GinkgoWriter, "%d refused, %s, at best %.0f s, %+v\n", n.refused, r.now.Sub(began), atBest, r.recorder.Slowdown())
			Expect(n.refused).To(BeNumerically("<=", requests/16), "a quarter of the budget for repeats")
			Expect(r.now.Sub(began).Seconds()).To(BeNumerically("<=", atMost*atBest+10))
			Expect(r.recorder.Slowdown().Refusals).To(Equal(n.refused))
			Expect(r.recorder.Slowdown().Rate * every.Seconds()).To(And(BeNumerically(">", 0.3), BeNumerically("<", 2.5)))
			Expect(slower).NotTo(BeEmpty())
		},
		Entry("503 with Retry-After, 5 a second", 5, 200*time.Millisecond, refusal(503, true), 1.4),
		Entry("429 with Retry-After, 20 a second", 20, 50*time.Millisecond, refusal(429, true), 1.6),
		Entry("429 with Retry-After, one a second after a burst of 60", 60, time.Second, refusal(429, true), 1.4),
		Entry("429 without Retry-After, 5 a second", 5, 200*time.Millisecond, refusal(429, false), 1.9),
		Entry("503 with Retry-After, 200 a second", 200, 5*time.Millisecond, refusal(503, true), 1.5),
	)

	It("does not slow down without end if the node refuses every tenth request at any rate", func() {
		r := newFixture()
		began, n := r.now, 0
		url := serve(func(w http.ResponseWriter, _ *http.Request) {
			if n++; n%10 == 0 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}).URL
		const requests = 300
		for i := range requests {
			Expect(r.send(recorder.Request{Label: evidence.Label(fmt.Sprintf("call-%d.ok", i)), URL: url}).Status).To(Equal(200))
		}
		Expect(r.now.Sub(began)).To(BeNumerically("<", 50*time.Second), "33 refusals of a second each, and what the search for a rate takes")
	})

	It("obeys 503 with Retry-After like 429, also for a request with NoRetry", func() {
		r, sent := newFixture(), 0
		statuses := []int{503, 503, 200}
		a := r.send(recorder.Request{URL: serve(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(statuses[sent])
			sent++
		}).URL})
		Expect(a.Status).To(Equal(200))
		Expect(r.slept).To(Equal([]time.Duration{3 * time.Second, 3 * time.Second}))

		r, sent = newFixture(), 0
		Expect(r.send(recorder.Request{NoRetry: true, URL: serve(answers(status(503, "Retry-After", "1"), status(401))).URL}).Status).To(Equal(401))
	})

	It("backs off by itself from a 429 without Retry-After", func() {
		r := newFixture()
		r.send(recorder.Request{URL: serve(answers(status(429), status(429), text("good"))).URL})
		Expect(r.slept).To(Equal([]time.Duration{2 * time.Second, 4 * time.Second}))
	})

	It("makes all requests wait as long as the node says", func() {
		r := newFixture()
		url := serve(answers(status(503, "Retry-After", "9"), text("good"))).URL
		r.recorder.Send(GinkgoT().Context(), recorder.Request{Label: "a.ok", URL: url, Once: true})
		r.slept = nil
		r.send(recorder.Request{Label: "b.ok", URL: url})
		Expect(r.slept).To(Equal([]time.Duration{9 * time.Second}))
	})

	It("stays below the rate of its options, and returns to it", func() {
		r := newFixture(func(o *recorder.Options) { o.Rate = 4 })
		url := serve(answers(status(429, "Retry-After", "1"), text("good"))).URL
		for range 480 { // the rate is raised after every 20
			r.send(recorder.Request{Label: "", URL: url})
		}
		Expect(r.recorder.Slowdown().Rate).To(Equal(4.0))
	})
})
