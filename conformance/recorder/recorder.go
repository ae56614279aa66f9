// Package recorder sends labelled requests to a node and turns each into one exchange of the evidence.
//
// Everything from a node is taken as hostile: an answer is bounded in header, body, time and decoded size, nothing is followed
// or decoded behind the prober's back, and there are no cookies and no proxies. Everything sent is taken as precious: a
// credential goes to allowed origins only, and each exchange is redacted before it enters the journal. The prober gets the
// answer as it came, in memory.
//
// Rules of politeness and repetition (T4 of the catalogue) live here, so that no probe can forget them.
package recorder

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
)

// Recorder sends requests and records them. It may be used by several goroutines at once.
type Recorder struct {
	options Options
	allowed map[string]bool
	gate    *gate
	bodies  *allowance
	client  *http.Transport
}

// New makes a recorder. The error names what the options lack.
func New(o Options) (*Recorder, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	allowed := map[string]bool{}
	for _, s := range o.AllowedOrigins {
		origin, err := parseOrigin(s)
		if err != nil {
			return nil, err
		}
		allowed[origin] = true
	}
	return &Recorder{options: o, allowed: allowed, gate: newGate(o), bodies: newAllowance(o.TotalLimit), client: transport(o)}, nil
}

// Close ends idle connections.
func (r *Recorder) Close() { r.client.CloseIdleConnections() }

// Sent is the number of requests handed to the network so far, repeats and followed redirects included.
func (r *Recorder) Sent() int { return r.gate.count() }

// Limit makes the number of requests that may be sent a smaller one; those that were sent count.
func (r *Recorder) Limit(requests int) { r.gate.limit(requests) }

// Send sends one request, repeats it as its rules say, and records the exchange. A request that the budget or the deadline
// leaves no room for is recorded as not sent. Send never waits beyond the end of ctx.
func (r *Recorder) Send(ctx context.Context, ask Request) Answer {
	for _, name := range slices.Sorted(maps.Keys(ask.Conceal)) {
		r.options.Redactor.Secret(name, ask.Conceal[name])
	}
	presented := r.presented(ask)
	req, err := r.prepare(ask)
	if err != nil {
		return r.keep(ask, outcome{request: req.request, presented: presented, started: r.options.Clock(), failure: &evidence.Failure{Kind: evidence.FailureRefused, Message: err.Error()}})
	}
	o := r.deliver(ctx, ask, req)
	o.presented = presented
	return r.keep(ask, o)
}

// presented conceals the odd token of a request and takes the facts about it.
func (r *Recorder) presented(ask Request) *evidence.TokenFacts {
	if ask.Presents == "" {
		return nil
	}
	facts := evidence.RedactToken(r.options.Redactor, ask.Credential, ask.Presents)
	return &facts
}

// outcome is an attempt with everything that came of it, before redaction.
type outcome struct {
	request evidence.Request
	hops    []evidence.Hop
	reply   *reply
	failure *evidence.Failure
	unsent  string // why nothing was sent at all
	// presented are the facts about the odd token of the request.
	presented *evidence.TokenFacts
	attempts  int
	started   time.Time
	duration  time.Duration
}

// keep redacts and records an outcome, and gives the unredacted answer to the prober.
func (r *Recorder) keep(ask Request, o outcome) Answer {
	x := evidence.Exchange{
		Label: ask.Label, Words: ask.Words, Given: ask.Given, Request: o.request, Redirects: o.hops, Failure: o.failure,
		Attempts: o.attempts, Started: o.started, Duration: o.duration,
		Presented: o.presented,
	}
	var answer Answer
	if o.reply != nil {
		x.Response = o.reply.response()
		answer = Answer{Status: o.reply.status, Header: o.reply.header, Body: o.reply.body}
	}
	if ask.Issues != "" && o.reply != nil {
		answer.Token = r.conceal(ask, &x, o.reply.body)
	}
	if ask.Verify != nil && o.reply != nil {
		x.Verification = ask.Verify(o.reply.body)
	}
	var findings []evidence.SchemaFindings
	if ask.Annotate != nil {
		findings = ask.Annotate(x)
	}
	answer.Exchange = x.Redacted(r.options.Redactor)
	switch {
	case ask.Label == "":
	case o.unsent != "":
		r.options.Journal.Skip(evidence.NotSent{Label: ask.Label, Words: ask.Words, Kind: evidence.OverBudget, Because: r.options.Redactor.Text(o.unsent)})
	default:
		for i := range findings {
			findings[i].Label = cmp.Or(findings[i].Label, ask.Label)
		}
		r.options.Journal.Add(answer.Exchange, evidence.RedactFindings(r.options.Redactor, findings)...)
	}
	return answer
}

// unsentFailure tells the prober what the journal calls over budget.
func unsentFailure(because string) *evidence.Failure {
	return &evidence.Failure{Kind: evidence.FailureRefused, Message: fmt.Sprintf("not sent: %s", because)}
}

// Options say how a [Recorder] sends and where it records.
type Options struct {
	Journal  *evidence.Journal // required
	Redactor *redact.Redactor  // required
	Clock    func() time.Time  // required
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
	return evidence.Origin(u), nil
}

// Request is one request to send.
type Request struct {
	// Label is the name in the evidence. An ask without a label is sent under the same rules and recorded nowhere, such as the
	// renewal of a token.
	Label evidence.Label
	// Words say for people what is particular about the request, Given are the inputs chosen for it; both for the evidence.
	Words  string
	Given  map[string]string
	Method string
	URL    string // absolute, http or https; sent as it is spelled
	// Header keeps the spelling of names. The order is kept in the evidence and, with Raw, on the wire.
	Header []evidence.Field
	Body   []byte
	// Credential names the token or secret that the request carries; empty for none. Such a request goes to allowed origins only.
	// A secret that the redactor knows counts even when this is empty.
	Credential string
	// Recipient, if set, is the one origin that may receive the request, in place of the allowed ones: Credential belongs there and
	// nowhere else. The request then must hold no other secret.
	Recipient string
	// Conceal adds secrets to the redactor before anything is sent, name to value: a tampered token or a secret in changed
	// spelling still tells most of the real one.
	Conceal map[string]string
	// Raw writes HTTP/1.1 to the connection itself, for header values that net/http would mend.
	Raw bool
	// ToEnd goes on reading, with Raw, when the answer is complete, for what the node sent beyond it.
	ToEnd bool
	// FollowSameOrigin follows one redirect to the same scheme, host and port; for methods other than GET and HEAD only 307 and 308.
	FollowSameOrigin bool
	// NoRetry sends once: a wrong secret must not be counted twice. It is repeated only when no connection came about, and once after
	// a 429, which a limit of the rate answers before anybody looks at the secret.
	NoRetry bool
	// Once sends once whatever happens: no answer is the answer that was looked for.
	Once bool
	// Timeout bounds this request with its whole answer; 0 is the recorder's.
	Timeout time.Duration
	// Limit bounds the body of this answer, in bytes; 0 is the recorder's ReadLimit.
	Limit int64
	// Issues says that the answer may hold an access token, and names its marker, such as "access_token". Cases other than
	// "ok" get the case appended.
	Issues string
	// Presents is an odd token that the request carries; the facts about it are recorded, and it is concealed under Credential's name.
	Presents string
	// Verify says what the keys in the answer make of the run's token. It sees the body before redaction.
	Verify func(body []byte) *evidence.Verification
	// Annotate judges the answer by the node's document. It sees the exchange before redaction; its findings are redacted. Findings
	// without a label get that of the ask.
	Annotate func(evidence.Exchange) []evidence.SchemaFindings
}

// Answer is what came back, unredacted and for the prober alone. It must not be written anywhere.
type Answer struct {
	Status int // 0 without an answer
	Header http.Header
	Body   []byte // decoded, up to the read limit
	// Token is the access token of an ask with Issues: the string member access_token of a JSON object.
	Token string
	// Exchange is the redacted exchange as it was recorded.
	Exchange evidence.Exchange
}

// Failure says why there is no answer; nil when there is one.
func (a Answer) Failure() *evidence.Failure { return a.Exchange.Failure }

// OK reports a status of 2xx with a body that was read to its end.
func (a Answer) OK() bool {
	r := a.Exchange.Response
	return r != nil && r.Status/100 == 2 && !r.Truncated && r.BodyError == ""
}
