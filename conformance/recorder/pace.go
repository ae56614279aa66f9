package recorder

import (
	"math"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// pace finds the highest rate that a node accepts, as TCP does: it lowers the rate when the node refuses requests for load (429, or 503 with
// Retry-After), and raises it slowly otherwise. Each refusal gives an estimate of that rate: the number of requests that the node accepted since the
// refusal before, divided by the time that they and the wait took.
type pace struct {
	rate    float64 // requests a second; 0 means unlimited
	maxRate float64 // upper bound of rate; 0 means unlimited

	lastSent time.Time     // when the latest request was sent
	begun    time.Time     // when the first request after the latest wait was sent
	wait     time.Duration // from waitFrom, as the node asked for
	waitFrom time.Time
	waiting  bool // wait applies to the next request

	perRequest float64 // added to the rate for each accepted request of an earlier epoch
	ceiling    float64 // upper bound of the rate while perRequest is added; 0 means unlimited
	run        int     // requests accepted since the latest decrease
	sinceRaise int     // requests accepted since the rate was last raised
	step       float64 // added to the rate when it is raised
	epoch      int     // number of decreases
	refusals   int
	status     int // of the latest refusal

	previous  acceptedRun
	equalRuns int // runs in a row that were as long as the one before, at another rate
}

// acceptedRun is the number of requests that a node accepted between two refusals, and the rate at the second one.
type acceptedRun struct {
	length int
	rate   float64
}

const (
	// safety keeps the rate below the estimate, so that not every burst is refused.
	safety = 0.9
	// The rate is raised after every growAfter accepted requests, because a refusal may have been an exception: first by the share growBy of
	// the rate after the latest decrease, then by twice that, and so on.
	growAfter = 20
	growBy    = 0.05
	// rin assumes that a node counts requests, and ignores their rate, if equalCounts runs in a row have the length of the run before, although the rate
	// changed by more than the share otherRate. Then a lower rate does not help.
	equalCounts = 2
	otherRate   = 0.08
	// slowest is the lowest rate: MaxRetryAfter between two requests.
	slowest = 1 / 60.0
)

// interval returns how long the next n requests, which are sent at once, have to wait for the rate.
func (p *pace) interval(now time.Time, n int) time.Duration {
	if p.rate == 0 || p.lastSent.IsZero() {
		return 0
	}
	return max(0, time.Duration(float64(n)*float64(time.Second)/p.rate)-now.Sub(p.lastSent))
}

// takeWait returns how much is left of the wait that the latest refusal asked for. The caller then waits, so the wait is returned once only; pending is
// false if no wait is pending.
func (p *pace) takeWait(now time.Time) (left time.Duration, pending bool) {
	if !p.waiting {
		return 0, false
	}
	p.waiting = false
	p.begun = time.Time{}
	return max(0, p.wait-now.Sub(p.waitFrom)), true
}

// sent notes that a request is sent.
func (p *pace) sent(now time.Time) {
	p.lastSent = now
	if p.begun.IsZero() {
		p.begun = now
	}
}

// accepted notes that the node accepted a request of an epoch. A request from before the latest decrease completes the estimate of that decrease.
func (p *pace) accepted(epoch int) {
	if epoch < p.epoch {
		p.rate += p.perRequest
		if p.ceiling > 0 {
			p.rate = min(p.rate, p.ceiling)
		}
		p.step = p.rate * growBy
		return
	}
	p.run++
	if p.step == 0 {
		return
	}
	p.sinceRaise++
	if p.sinceRaise < growAfter {
		return
	}
	p.sinceRaise = 0
	p.rate, p.step = p.rate+p.step, 2*p.step
	if p.maxRate > 0 {
		p.rate = min(p.rate, p.maxRate)
	}
}

// refused lowers the rate, and reports whether it did. It keeps the rate if the request is from before the latest decrease, because one burst counts once. It
// raises the rate if the node counts requests.
func (p *pace) refused(now time.Time, epoch, status int, retryAfter time.Duration) bool {
	p.refusals++
	p.status = status
	if !p.waiting || retryAfter > p.wait-now.Sub(p.waitFrom) {
		p.wait, p.waitFrom, p.waiting = retryAfter, now, true
	}
	if epoch < p.epoch {
		return false
	}
	p.epoch++
	next, counts := p.rate/2, p.countsRequests()
	if counts {
		p.perRequest, next = 0, 2*p.rate
		if p.maxRate > 0 {
			next = min(next, p.maxRate)
		}
	} else if p.run > 0 {
		period := max(now.Sub(p.begun), retryAfter, time.Millisecond)
		p.perRequest, p.ceiling = safety/period.Seconds(), safety*p.rate
		next = p.perRequest * float64(p.run)
		if p.ceiling > 0 {
			next = min(next, p.ceiling)
		}
	} else {
		p.perRequest = 0
	}
	p.rate = next
	if next > 0 { // 0 stays 0: without an estimate and a limit, only the wait slows the run down
		p.rate = max(next, slowest)
	}
	p.step, p.run, p.sinceRaise = p.rate*growBy, 0, 0
	return !counts
}

// countsRequests reports whether the node refuses each nth request, whatever the rate.
func (p *pace) countsRequests() bool {
	latest, previous := acceptedRun{p.run, p.rate}, p.previous
	sameLength := latest.length > 1 && max(latest.length-previous.length, previous.length-latest.length) <= 1
	rateChanged := math.Abs(latest.rate-previous.rate) > otherRate*previous.rate
	if sameLength && rateChanged {
		p.equalRuns++
	} else {
		p.equalRuns = 0
	}
	p.previous = latest
	return p.equalRuns >= equalCounts
}

func (p *pace) slowdown() evidence.Slowdown {
	return evidence.Slowdown{Refusals: p.refusals, Status: p.status, Rate: math.Round(p.rate*100) / 100}
}
