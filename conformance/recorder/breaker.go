package recorder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

const (
	// TimeoutsInRow is how many requests to one origin may time out in a row before the origin is rechecked.
	TimeoutsInRow = 2
	// RecheckTimeout bounds a recheck, unless the recorder's own timeout is shorter.
	RecheckTimeout = 10 * time.Second
)

// breaker stops sending to an origin that no longer answers. Without it, each remaining request of a run waits for its whole timeout, twice.
//
// After two timeouts in a row the origin is rechecked with an anonymous GET, and other requests to it wait for the result. One path may hang
// while others answer, so the recheck asks for what was answered soonest. Only if it fails, too, nothing more is sent to the origin.
type breaker struct {
	mu       sync.Mutex
	circuits map[string]*circuit // by origin
}

// circuit is what is known of one origin.
type circuit struct {
	timeouts int           // in a row
	latest   string        // the URL of the latest timeout
	known    string        // the URL that was answered soonest; empty if none was
	took     time.Duration // how long its answer took
	good     bool          // its answer was a 2xx
	checking chan struct{} // closed when the recheck ends; nil without one
	answers  int           // answers so far
	cause    string        // the reason why nothing is sent any more
}

func newBreaker() *breaker { return &breaker{circuits: map[string]*circuit{}} }

// at returns the circuit of an origin. The caller holds the lock.
func (b *breaker) at(origin string) *circuit {
	if b.circuits[origin] == nil {
		b.circuits[origin] = &circuit{}
	}
	return b.circuits[origin]
}

// stoppedError is the reason why a request to an origin that stopped answering is not sent.
type stoppedError string

// Error implements error.
func (e stoppedError) Error() string { return string(e) }

// pass waits for a recheck of the origin. It returns an error if nothing is sent to the origin any more.
func (b *breaker) pass(ctx context.Context, origin string) error {
	for {
		b.mu.Lock()
		c := b.at(origin)
		cause, checking := c.cause, c.checking
		b.mu.Unlock()
		switch {
		case cause != "":
			return stoppedError(cause)
		case checking == nil:
			return nil
		}
		select {
		case <-checking:
		case <-ctx.Done():
			return endedFirst(context.Cause(ctx))
		}
	}
}

// Outage returns the reason why nothing is sent to the origin of a URL any more, or "".
func (r *Recorder) Outage(url string) string {
	r.breaker.mu.Lock()
	defer r.breaker.mu.Unlock()
	if c := r.breaker.circuits[evidence.OriginOf(url)]; c != nil {
		return c.cause
	}
	return ""
}

func endedFirst(cause error) error { return errors.New("the run ended first: " + cause.Error()) }

// answered notes an answer to a request. It is a candidate for a recheck if sample is true.
func (b *breaker) answered(origin, url string, status int, took time.Duration, sample bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.at(origin)
	c.timeouts = 0
	c.answers++
	good := status/100 == 2
	if sample && (c.known == "" || good && !c.good || good == c.good && took < c.took) {
		c.known, c.took, c.good = url, took, good
	}
}

// timedOut notes a request without a complete answer in time. It returns what to recheck if the caller must do so.
func (b *breaker) timedOut(origin, url string) (recheck, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.at(origin)
	c.timeouts++
	if url != "" {
		c.latest = url
	}
	if c.timeouts < TimeoutsInRow || c.checking != nil || c.cause != "" {
		return recheck{}, false
	}
	c.checking = make(chan struct{})
	check := recheck{origin: origin, url: c.known, answers: c.answers, timeout: max(RecheckTimeout, 2*c.took)}
	if check.url == "" {
		check.url = c.latest
	}
	if check.url == "" {
		check.url = origin + "/"
	}
	return check, true
}

// recheck is one anonymous GET that decides whether an origin still answers.
type recheck struct {
	origin, url string
	timeout     time.Duration
	answers     int // those of the origin when the recheck began
}

// settle ends a recheck. An answer to another request in the meantime is as good as one to the recheck.
func (b *breaker) settle(k recheck, answered bool, cause string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.at(k.origin)
	c.timeouts = 0
	if !answered && c.answers == k.answers {
		c.cause = cause
	}
	close(c.checking)
	c.checking = nil
}

// observe tells the breaker what became of an attempt, and rechecks the origin if necessary. The caller holds a slot of the gate.
func (r *Recorder) observe(ctx context.Context, p prepared, o outcome) {
	origin := evidence.Origin(p.url)
	safe := p.request.Method == http.MethodGet && !p.request.Raw && r.options.Redactor.Text(p.request.URL) == p.request.URL
	switch {
	case o.reply != nil:
		r.breaker.answered(origin, p.request.URL, o.reply.status, o.duration, safe)
	case o.failure.Kind == evidence.FailureTimeout:
		url := p.request.URL
		if !safe {
			url = ""
		}
		r.observeTimeout(ctx, origin, url)
	}
}

// observeTimeout notes a timeout, and rechecks the origin if necessary.
func (r *Recorder) observeTimeout(ctx context.Context, origin, url string) {
	check, necessary := r.breaker.timedOut(origin, url)
	if !necessary {
		return
	}
	timeout := r.timeout(check.timeout)
	answered := r.recheck(ctx, check, timeout)
	r.breaker.settle(check, answered, fmt.Sprintf("%s stopped answering: %d requests in a row had no complete answer within their timeout, and a recheck had none within %s",
		origin, TimeoutsInRow, timeout))
}

// recheck reports whether the origin still answers. A request that may not be sent does not count against the origin.
func (r *Recorder) recheck(ctx context.Context, k recheck, timeout time.Duration) bool {
	p, err := r.prepare(Request{URL: k.url, Header: []evidence.Field{{Name: "Accept", Value: "application/json"}}, Timeout: timeout, Limit: freeOfAllowance})
	if err != nil || r.gate.wait(ctx) != nil || !r.gate.spend() {
		return true
	}
	result := r.attempt(ctx, p)
	return result.reply != nil || result.failure.Kind == evidence.FailureCanceled
}
