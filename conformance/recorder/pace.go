package recorder

import (
	"math"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// pace finds the rate that a node bears: it lowers the rate when the node refuses requests for load (429, or 503 with Retry-After), and raises
// it carefully while the node does not, as TCP does. A refusal gives an estimate: the requests that the node accepted since its last refusal,
// divided by the time that they and the wait took.
type pace struct {
	rate float64 // requests a second; 0 means unlimited
	most float64 // upper bound of rate; 0 means unlimited

	departed time.Time     // when the latest request was sent
	begun    time.Time     // when sending began, or began again after the latest refusal
	hold     time.Duration // how long to wait, as the node says; counted from the time held
	held     time.Time
	holding  bool

	share    float64 // what one more accepted request of the latest burst adds to the estimate
	ceiling  float64 // upper bound of the estimate; 0 means unlimited
	taken    int     // requests that the node accepted since its latest refusal
	growing  int     // the same since the rate was last raised
	step     float64 // how much the rate is raised
	epoch    int     // number of decreases
	refusals int
	status   int // of the latest refusal

	previous counted // what the latest refusal but one ended
	equal    int     // how often in a row the node refused after as many requests at another rate
}

// counted is a series of accepted requests and the rate at its end.
type counted struct {
	taken int
	rate  float64
}

const (
	// safety keeps the rate below the estimate, so that not every burst is refused.
	safety = 0.9
	// The rate is raised after every growAfter accepted requests, because a refusal may have been an exception: first by the share growBy of
	// the rate after the latest decrease, then by twice that, and so on.
	growAfter = 20
	growBy    = 0.05
	// A node that refuses after the same number of requests at equalCounts rates in a row, which differ by the share otherRate, counts requests and
	// not their rate. To be slower does not help there.
	equalCounts = 2
	otherRate   = 0.08
	// slowest is the lowest rate: MaxRetryAfter between two requests.
	slowest = 1 / 60.0
)

// interval returns how long the next request has to wait for the rate.
func (p *pace) interval(now time.Time) time.Duration {
	if p.rate == 0 || p.departed.IsZero() {
		return 0
	}
	return max(0, time.Duration(float64(time.Second)/p.rate)-now.Sub(p.departed))
}

// release ends a hold and returns how long it has to last from now on; ok is false if there is none.
func (p *pace) release(now time.Time) (rest time.Duration, ok bool) {
	ok, p.holding = p.holding, false
	if !ok {
		return 0, false
	}
	p.begun = time.Time{}
	return max(0, p.hold-now.Sub(p.held)), true
}

func (p *pace) depart(now time.Time) {
	p.departed = now
	if p.begun.IsZero() {
		p.begun = now
	}
}

// accepted notes an answer to a request of that epoch. One that was sent before the latest decrease belongs to its estimate.
func (p *pace) accepted(epoch int) {
	if epoch < p.epoch {
		if p.rate += p.share; p.ceiling > 0 {
			p.rate = min(p.rate, p.ceiling)
		}
		p.step = p.rate * growBy
		return
	}
	p.taken++
	if p.step == 0 {
		return
	}
	if p.growing++; p.growing == growAfter {
		p.growing = 0
		if p.rate, p.step = p.rate+p.step, 2*p.step; p.most > 0 {
			p.rate = min(p.rate, p.most)
		}
	}
}

// refused lowers the rate, unless the request was sent before the latest decrease: then it belongs to the same burst. It reports whether the rate
// is lower.
func (p *pace) refused(now time.Time, epoch, status int, retryAfter time.Duration) bool {
	p.refusals++
	p.status = status
	if !p.holding || retryAfter > p.hold-now.Sub(p.held) {
		p.hold, p.held, p.holding = retryAfter, now, true
	}
	if epoch < p.epoch {
		return false
	}
	p.epoch++
	next, counts := p.rate/2, p.countsRequests()
	if counts {
		p.share, next = 0, 2*p.rate
		if p.most > 0 {
			next = min(next, p.most)
		}
	} else if p.taken > 0 {
		period := max(now.Sub(p.begun), retryAfter, time.Millisecond)
		p.share, p.ceiling = safety/period.Seconds(), safety*p.rate
		next = p.share * float64(p.taken)
		if p.ceiling > 0 {
			next = min(next, p.ceiling)
		}
	} else {
		p.share = 0
	}
	if p.rate = next; next > 0 { // 0 stays 0: without an estimate and a limit, only the wait slows the run down
		p.rate = max(next, slowest)
	}
	p.step, p.taken, p.growing = p.rate*growBy, 0, 0
	return !counts
}

// countsRequests reports whether the node refuses each nth request, whatever the rate.
func (p *pace) countsRequests() bool {
	now := counted{p.taken, p.rate}
	if now.taken > 1 && abs(now.taken-p.previous.taken) <= 1 && math.Abs(now.rate-p.previous.rate) > otherRate*p.previous.rate {
		p.equal++
	} else {
		p.equal = 0
	}
	p.previous = now
	return p.equal >= equalCounts
}

func abs(n int) int { return max(n, -n) }

func (p *pace) slowdown() evidence.Slowdown {
	return evidence.Slowdown{Refusals: p.refusals, Status: p.status, Rate: math.Round(p.rate*100) / 100}
}
