package exchange

import (
	"net/http"
	"time"
)

// Exchange is one labelled request of a run with everything that came of it.
type Exchange struct {
	Label Label `json:"label"`
	// Given holds the inputs that the probe chose for this request, such as the filter value or the sample id.
	Given   map[string]string `json:"given,omitempty"`
	Request Request           `json:"request"`
	// Redirects are the answers that were followed by hand before Response, oldest first (same origin only).
	Redirects []Hop `json:"redirects,omitempty"`
	// Response is nil when Failure is set.
	Response *Response `json:"response,omitempty"`
	Failure  *Failure  `json:"failure,omitempty"`
	// Attempts counts how often the request was sent; only the last attempt is kept.
	Attempts int           `json:"attempts"`
	Started  time.Time     `json:"started"`
	Duration time.Duration `json:"durationNs"`
	// Tokens are the facts about access tokens that this answer issued, taken before redaction.
	Tokens []TokenFacts `json:"tokens,omitempty"`
	// Presented are the facts about a token that the request carried and that is no good one: forged, expired, or meant for others.
	Presented *TokenFacts `json:"presented,omitempty"`
	// Verification says what the published keys of this answer make of the run's token; it is made where both are known.
	Verification *Verification `json:"verification,omitempty"`
}

// Answered reports whether a complete HTTP answer was received.
func (x Exchange) Answered() bool { return x.Response != nil }

// Status is the status code of the final answer, 0 without one.
func (x Exchange) Status() int {
	if x.Response == nil {
		return 0
	}
	return x.Response.Status
}

// Request is what was sent, redacted.
type Request struct {
	Method string  `json:"method"`
	URL    string  `json:"url"`
	Header []Field `json:"header,omitempty"`
	Body   Body    `json:"body,omitzero"`
	// Raw says that the bytes were written to the connection by rin itself, because net/http would have mended them.
	Raw bool `json:"raw,omitempty"`
}

// Response is what came back, redacted. Body is decoded (content coding removed) and bounded by the read limit.
type Response struct {
	Proto  string  `json:"proto"`
	Status int     `json:"status"`
	Header []Field `json:"header,omitempty"`
	Body   Body    `json:"body,omitzero"`
	// Size is the number of decoded body bytes that were read.
	Size int64 `json:"size"`
	// Truncated says that the body was longer than the read limit.
	Truncated bool `json:"truncated,omitempty"`
	// Surplus is the number of bytes that came after the end of the message, for requests that read the connection to its end.
	Surplus int64 `json:"surplus,omitempty"`
	// BodyError says why the body could not be read to its end or decoded; empty for a good body.
	BodyError string `json:"bodyError,omitempty"`
	// Withheld says that the body was read and is not kept, because of what BodyError says.
	Withheld bool `json:"withheld,omitempty"`
}

// Hop is one redirect that was followed.
type Hop struct {
	URL      string  `json:"url"`
	Status   int     `json:"status"`
	Header   []Field `json:"header,omitempty"`
	Location string  `json:"location"`
}

// Field is one header line as it stood on the wire.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Failure says why no answer was received.
type Failure struct {
	Kind FailureKind `json:"kind"`
	// Message is the cause in words, redacted and bounded.
	Message string `json:"message"`
}

// FailureKind groups the causes of a missing answer.
type FailureKind string

// The kinds of failure.
const (
	FailureResolve  FailureKind = "resolve"  // the name has no address
	FailureConnect  FailureKind = "connect"  // refused or unreachable
	FailureTLS      FailureKind = "tls"      // handshake or certificate
	FailureTimeout  FailureKind = "timeout"  // no complete answer in time
	FailureReset    FailureKind = "reset"    // closed before an answer
	FailureProtocol FailureKind = "protocol" // not HTTP, or headers over the limit
	FailureRefused  FailureKind = "refused"  // rin's own rules forbade the request (origin, budget)
	FailureCanceled FailureKind = "canceled" // the run ended first
)

// Values lists the values of all header lines with that name, in order; names compare without case (RFC 9110 §5.1).
func Values(header []Field, name string) []string {
	var out []string
	key := http.CanonicalHeaderKey(name)
	for _, f := range header {
		if http.CanonicalHeaderKey(f.Name) == key {
			out = append(out, f.Value)
		}
	}
	return out
}
