package record

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// Options say how a [Recorder] sends and where it records.
type Options struct {
	Journal  *exchange.Journal  // required
	Redactor *exchange.Redactor // required
	Clock    func() time.Time   // required
	// Sleep waits for d or until ctx is done, whose error it then returns. It is used for every wait between requests; nil waits in real time.
	Sleep func(ctx context.Context, d time.Duration) error
	// Timeout bounds one request with its whole answer; 0 is 30 s.
	Timeout time.Duration
	// ReadLimit bounds a body, as sent and as decoded, in bytes; 0 is 20 MiB.
	ReadLimit int64
	// TotalLimit bounds the bodies of the whole run, in bytes beyond the first 64 KiB of each; 0 is 64 MiB. What comes after that is cut off.
	TotalLimit int64
	// RootCAs verify the node's certificate; nil takes those of the system.
	RootCAs *x509.CertPool
	// Rate is the number of requests a second; 0 is no limit.
	Rate float64
	// Concurrency is the number of requests at one time; 0 is 1.
	Concurrency int
	// Budget is the number of requests that may be sent, repeats included; 0 is no limit.
	Budget int
	// AllowedOrigins may receive tokens and secrets ("https://node.example", "http://127.0.0.1:8080").
	AllowedOrigins []string
	// Loopback says that the node runs on this machine: errors are repeated at once.
	Loopback bool
	// UserAgent names the suite; empty is "rin-conformance".
	UserAgent string
}

// Limits and pauses that no option changes.
const (
	DefaultTimeout   = 30 * time.Second
	DefaultReadLimit = 20 << 20
	// DefaultTotalLimit leaves room in 512 MB of memory for what reading a body takes beside it.
	DefaultTotalLimit = 64 << 20
	HeaderLimit       = 64 << 10         // bytes of an answer's header
	RetryPause        = 2 * time.Second  // before an error is repeated
	MaxRetryAfter     = 60 * time.Second // the longest Retry-After that is waited for
	MaxTooMany        = 3                // answers of 429 to one request
	MaxTooManyOnce    = 2                // the same with NoRetry
)

func (o Options) complete() (Options, error) {
	if o.Journal == nil || o.Redactor == nil || o.Clock == nil {
		return o, errors.New("recorder: expected a journal, a redactor and a clock")
	}
	if o.Sleep == nil {
		o.Sleep = pause
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.ReadLimit == 0 {
		o.ReadLimit = DefaultReadLimit
	}
	if o.TotalLimit == 0 {
		o.TotalLimit = DefaultTotalLimit
	}
	if o.Concurrency == 0 {
		o.Concurrency = 1
	}
	if o.UserAgent == "" {
		o.UserAgent = "rin-conformance"
	}
	if o.Timeout < 0 || o.ReadLimit < 0 || o.TotalLimit < 0 || o.Concurrency < 0 || o.Rate < 0 || o.Budget < 0 {
		return o, errors.New("recorder: expected limits that are not negative")
	}
	return o, nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func parseOrigin(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("recorder: expected an origin such as https://node.example, got %q", s)
	}
	return exchange.Origin(u), nil
}
