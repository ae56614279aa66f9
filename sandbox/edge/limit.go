package edge

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rin-network/rin/sandbox/content"
)

// maxCallers limits the callers whose requests are counted. The least recently seen one is dropped first.
const maxCallers = 4096

// Limiter counts the requests of each caller. It is safe for concurrent use.
type Limiter struct {
	rate    Rate
	mu      sync.Mutex
	buckets *content.Cache[string, *bucket] // by caller
}

// bucket holds the requests that one caller may still send. Its only state is the time at which it will be full again; the requests left follow from
// it (generic cell rate algorithm).
type bucket struct{ full time.Time }

// Size implements content.Sized: each bucket counts as 1, so that the budget of the cache is a number of callers.
func (*bucket) Size() int { return 1 }

// take admits a request at the time now, or returns how long to wait. If the clock was moved back, the bucket counts as empty at worst, so that
// the wait is never longer than Per/Requests.
func (b *bucket) take(r Rate, now time.Time) (wait time.Duration, admitted bool) {
	if b.full.Before(now) {
		b.full = now
	}
	if latest := now.Add(r.Per); b.full.After(latest) {
		b.full = latest
	}
	full := b.full.Add(r.Per / time.Duration(r.Requests))
	if wait := full.Sub(now) - r.Per; wait > 0 {
		return wait, false
	}
	b.full = full
	return 0, true
}

// NewLimiter makes a limiter. Its error names the allowed rates.
func NewLimiter(r Rate) (*Limiter, error) {
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("limit requests: %w", err)
	}
	l := &Limiter{rate: r}
	l.Reset()
	return l, nil
}

// Rate returns the rate that each caller may reach.
func (l *Limiter) Rate() Rate { return l.rate }

// Admit reports whether the caller may send a request now, and otherwise how long it must wait. Only admitted requests count, so that a caller who
// waits that long is admitted.
func (l *Limiter) Admit(caller string, now time.Time) (wait time.Duration, admitted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, _ := l.buckets.Get(caller, func() (*bucket, error) { return &bucket{}, nil }) // building a bucket cannot fail
	return b.take(l.rate, now)
}

// Reset forgets all callers.
func (l *Limiter) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buckets = content.NewCache[string, *bucket](maxCallers)
}

// maxRequests limits the requests of a rate: a higher rate would never refuse a request in practice.
const maxRequests = 10_000

// Rate is a number of requests in a unit of time. The zero value is unlimited.
type Rate struct {
	Requests int
	Per      time.Duration
}

// ParseRate reads a rate: "20/s", "60/m", or "20", which means "20/s".
func ParseRate(text string) (Rate, error) {
	number, unit, given := strings.Cut(text, "/")
	if !given {
		unit = "s"
	}
	requests, err := strconv.Atoi(number)
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute}[unit]
	rate := Rate{Requests: requests, Per: per}
	if err != nil || per == 0 {
		return Rate{}, fmt.Errorf("%q is not a rate: want a number of requests a second or a minute, such as 20/s or 60/m", text)
	}
	return rate, rate.check()
}

func (r Rate) check() error {
	if r.Requests < 1 || r.Requests > maxRequests || r.Per < time.Millisecond || r.Per > time.Hour {
		return fmt.Errorf("rate %d in %s: want 1 to %d requests in a millisecond to an hour", r.Requests, r.Per, maxRequests)
	}
	return nil
}

// String returns the rate in words: "20 requests in 1s".
func (r Rate) String() string {
	if r.Requests == 1 {
		return fmt.Sprintf("1 request in %s", r.Per)
	}
	return fmt.Sprintf("%d requests in %s", r.Requests, r.Per)
}
