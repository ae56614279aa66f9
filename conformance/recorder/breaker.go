package recorder

import (
	"cmp"
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
// while others answer, so the recheck requests the URL that was answered soonest. If the recheck fails, too, nothing more is sent to the origin.
//
// A gateway may refuse anonymous calls at once while those with a good token hang. So requests with one credential also have a circuit of their own, which is
// rechecked with that credential.
type breaker struct {
	mu       sync.Mutex
	circuits map[route]*circuit
}

// route identifies a circuit: all requests to an origin, or, if credential is not empty, only those that hold this credential.
type route struct{ origin, credential string }

// circuit is what is known of one route.
type circuit struct {
	timeouts int              // in a row
	latest   string           // the URL of the latest timeout
	header   []evidence.Field // of the latest timeout; used with a credential only
	known    string           // the URL that was answered soonest; empty if none was
	took     time.Duration    // how long its answer took
	good     bool             // its answer was a 2xx
	checking chan struct{}    // closed when the recheck ends; nil without one
	answers  int              // answers so far
	cause    string           // the reason why nothing is sent any more
}

func newBreaker() *breaker { return &breaker{circuits: map[route]*circuit{}} }

// at returns the circuit of a route. The caller holds the lock.
func (b *breaker) at(l route) *circuit {
	if b.circuits[l] == nil {
		b.circuits[l] = &circuit{}
	}
	return b.circuits[l]
}

// routesOf returns the routes that a request belongs to: that of its origin, and that of its credential if the credential is meant to be good.
func routesOf(p prepared, req Request) []route {
	origin := evidence.Origin(p.url)
	if req.Credential == "" || req.Presents != "" {
		return []route{{origin: origin}}
	}
	return []route{{origin: origin}, {origin, req.Credential}}
}

// stoppedError is the reason why a request to an origin that stopped answering is not sent.
type stoppedError string

// Error implements error.
func (e stoppedError) Error() string { return string(e) }

// pass waits for rechecks of the routes. It returns an error if nothing is sent any more on one of the routes, see [circuit].
func (b *breaker) pass(ctx context.Context, routes []route) error {
	for _, l := range routes {
		for {
			b.mu.Lock()
			c := b.at(l)
			cause, checking := c.cause, c.checking
			b.mu.Unlock()
			if cause != "" {
				return stoppedError(cause)
			}
			if checking == nil {
				break
			}
			select {
			case <-checking:
			case <-ctx.Done():
				return endedFirst(context.Cause(ctx))
			}
		}
	}
	return nil
}

// Outage returns the reason why requests to the origin of a URL, or only those with some credential, are not sent any more. It returns "" if all are sent.
func (r *Recorder) Outage(url string) string {
	r.breaker.mu.Lock()
	defer r.breaker.mu.Unlock()
	origin, found := evidence.OriginOf(url), ""
	for l, c := range r.breaker.circuits {
		if l.origin == origin && c.cause != "" && (found == "" || l.credential == "") {
			found = c.cause
		}
	}
	return found
}

func endedFirst(cause error) error { return errors.New("the run ended first: " + cause.Error()) }

// answered notes an answer to a request. If sample is true, its URL is a candidate for a recheck.
func (b *breaker) answered(l route, url string, status int, took time.Duration, sample bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.at(l)
	c.timeouts = 0
	c.answers++
	good := status/100 == 2
	if sample && (c.known == "" || good && !c.good || good == c.good && took < c.took) {
		c.known, c.took, c.good = url, took, good
	}
}

// timedOut notes a request without a complete answer in time; url and header are empty if the request cannot be repeated unchanged. If the caller must
// recheck the route, timedOut returns the recheck and true.
func (b *breaker) timedOut(l route, url string, header []evidence.Field) (recheck, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.at(l)
	c.timeouts++
	if url != "" {
		c.latest, c.header = url, header
	}
	if c.timeouts < TimeoutsInRow || c.checking != nil || c.cause != "" || l.credential != "" && c.latest == "" {
		return recheck{}, false
	}
	c.checking = make(chan struct{})
	check := recheck{
		route: l, timeout: max(RecheckTimeout, 2*c.took), answers: c.answers,
		url: cmp.Or(c.known, c.latest, l.origin+"/"), header: []evidence.Field{{Name: "Accept", Value: "application/json"}},
	}
	if l.credential != "" {
		check.header = c.header
	}
	return check, true
}

// recheck is one GET that decides whether a route still answers. It is anonymous unless the route has a credential.
type recheck struct {
	route   route
	url     string
	header  []evidence.Field
	timeout time.Duration
	answers int // those of the route when the recheck began
}

// cause returns the reason why nothing is sent on the route after a recheck without an answer.
func (k recheck) cause(timeout time.Duration) string {
	what := ""
	if k.route.credential != "" {
		what = " requests with credentials"
	}
	return fmt.Sprintf("%s stopped answering%s: %d requests in a row had no complete answer within their timeout, and a recheck had none within %s",
		k.route.origin, what, TimeoutsInRow, timeout)
}

// settle ends a recheck. An answer to another request in the meantime is as good as one to the recheck.
func (b *breaker) settle(k recheck, answered bool, cause string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.at(k.route)
	c.timeouts = 0
	if !answered && c.answers == k.answers {
		c.cause = cause
	}
	close(c.checking)
	c.checking = nil
}

// stopped reports whether nothing is sent on a route any more.
func (b *breaker) stopped(l route) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at(l).cause != ""
}

// observe tells the breaker the result of an attempt, and rechecks its routes if necessary. The caller holds a slot of the gate.
func (r *Recorder) observe(ctx context.Context, req Request, p prepared, o outcome) {
	safe := p.request.Method == http.MethodGet && !p.request.Raw && r.options.Redactor.Text(p.request.URL) == p.request.URL
	for _, l := range routesOf(p, req) {
		switch {
		// A refusal comes from the guard that checks credentials, and does not show that the server behind the guard answers.
		case o.reply != nil && (l.credential == "" || !isRefusal(o.reply.status)):
			r.breaker.answered(l, p.request.URL, o.reply.status, o.duration, safe)
		case o.reply != nil:
		case o.failure.Kind == evidence.FailureTimeout && safe:
			r.observeTimeout(ctx, l, p.request.URL, p.request.Header)
		case o.failure.Kind == evidence.FailureTimeout:
			r.observeTimeout(ctx, l, "", nil)
		}
		if r.breaker.stopped(l) {
			return
		}
	}
}

// isRefusal reports whether a status refuses credentials.
func isRefusal(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnauthorized || status == http.StatusForbidden
}

// observeTimeout notes a timeout, and rechecks the route if necessary.
func (r *Recorder) observeTimeout(ctx context.Context, l route, url string, header []evidence.Field) {
	check, necessary := r.breaker.timedOut(l, url, header)
	if !necessary {
		return
	}
	timeout := r.timeout(check.timeout)
	answered := r.recheck(ctx, check, timeout)
	r.breaker.settle(check, answered, check.cause(timeout))
}

// recheck reports whether the route still answers. A request that may not be sent does not count against it.
func (r *Recorder) recheck(ctx context.Context, k recheck, timeout time.Duration) bool {
	p, err := r.prepare(Request{URL: k.url, Header: k.header, Credential: k.route.credential, Timeout: timeout, Limit: freeOfAllowance})
	if err != nil {
		return true
	}
	if _, err := r.gate.wait(ctx, 1); err != nil || !r.gate.spend() {
		return true
	}
	result := r.attempt(ctx, p)
	return result.reply != nil || result.failure.Kind == evidence.FailureCanceled
}
