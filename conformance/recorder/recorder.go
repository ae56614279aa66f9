// Package recorder sends labelled requests to a node and turns each into one exchange of the evidence.
//
// Answers may be hostile: headers, bodies, time and decoded sizes are bounded, and there are no cookies, no proxies and no automatic redirects
// or decoding. Requests may hold secrets: a credential goes to allowed origins only, and each exchange is redacted before it enters the
// journal. The prober gets the unredacted answer in memory.
//
// The rules for rate limits and repetition are applied here, for every probe alike.
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
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
)

// Recorder sends requests and records them. It may be used by several goroutines at once.
type Recorder struct {
	options Options
	allowed map[string]bool
	gate    *gate
	breaker *breaker
	bodies  *allowance
	decoded *decodedBodies
	large   chan struct{} // holds a value for each large body that is unpacked and recorded
	client  *http.Transport
	first   sync.Map // the first token by the name under which it was issued
}

// New makes a recorder. The error names what is missing in the options.
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
	return &Recorder{options: o, allowed: allowed, gate: newGate(o), breaker: newBreaker(), bodies: newAllowance(o.TotalLimit), decoded: newDecodedBodies(), large: make(chan struct{}, maxLarge), client: transport(o)}, nil
}

// Close ends idle connections.
func (r *Recorder) Close() { r.client.CloseIdleConnections() }

// Sent returns the number of requests sent so far, repeats and followed redirects included.
func (r *Recorder) Sent() int { return r.gate.count() }

// Limit sets the number of requests that may be sent; requests already sent count.
func (r *Recorder) Limit(requests int) { r.gate.limit(requests) }

// Slowdown returns how far the run has slowed down; it is zero if the node refused no request for load.
func (r *Recorder) Slowdown() evidence.Slowdown {
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	return r.gate.pace.slowdown()
}

// Send sends one request, repeats it by its rules, and records the exchange. A request that exceeds the budget or the deadline is recorded
// as not sent. Send never waits beyond the end of ctx.
func (r *Recorder) Send(ctx context.Context, req Request) Answer {
	if len(req.Beside) > 0 {
		return r.sendTogether(ctx, req)
	}
	return r.send(ctx, req, nil)
}

// send is [Recorder.Send] for one request. Its first attempt may have a ticket, which is used up at the end in any case.
func (r *Recorder) send(ctx context.Context, req Request, ticket func()) Answer {
	if ticket != nil {
		defer ticket()
	}
	for _, name := range slices.Sorted(maps.Keys(req.Conceal)) {
		r.options.Redactor.Secret(name, req.Conceal[name])
	}
	presented := r.concealPresented(req)
	p, err := r.prepare(req)
	if err != nil {
		return r.record(req, outcome{request: p.request, presented: presented, started: r.options.Clock(), failure: &evidence.Failure{Kind: evidence.FailureRefused, Message: err.Error()}})
	}
	p.ticket = ticket
	o := r.deliver(ctx, req, p)
	o.presented = presented
	if o.reply != nil {
		defer r.unpack(ctx, o.reply, p.limit)()
	}
	return r.record(req, o)
}

// concealPresented conceals the bad token of a request and returns the facts about it; nil if there is none.
func (r *Recorder) concealPresented(req Request) *evidence.TokenFacts {
	if req.Presents == "" {
		return nil
	}
	facts := evidence.RedactToken(r.options.Redactor, req.Credential, req.Presents)
	return &facts
}

// outcome is the result of a request before redaction.
type outcome struct {
	request evidence.Request
	hops    []evidence.Hop
	reply   *reply
	failure *evidence.Failure
	unsent  error // the reason why nothing was sent
	// presented are the facts about the bad token of the request.
	presented *evidence.TokenFacts
	attempts  int
	refused   int // attempts that the node refused for load
	atLimit   *Answer
	started   time.Time
	duration  time.Duration
}

// record redacts and records an outcome, and returns the unredacted answer for the prober.
func (r *Recorder) record(req Request, o outcome) Answer {
	x := evidence.Exchange{
		Label: req.Label, Words: req.Words, Family: req.Family, Given: req.Given, Request: o.request, Redirects: o.hops, Failure: o.failure,
		Attempts: o.attempts, Started: o.started, Duration: o.duration,
		Presented: o.presented,
	}
	answer := Answer{AtLimit: o.atLimit}
	if o.reply != nil {
		x.Response = o.reply.response()
		answer = Answer{Status: o.reply.status, Header: o.reply.header, Body: o.reply.body, AtLimit: o.atLimit}
	}
	if req.Issues != "" && o.reply != nil {
		answer.Token = r.conceal(req, &x, o.reply.body)
	}
	if req.Verify != nil && o.reply != nil {
		x.Verification = req.Verify(o.reply.body)
	}
	var findings []evidence.SchemaFindings
	if req.Annotate != nil {
		findings = req.Annotate(x)
	}
	answer.Exchange = x.Redacted(r.options.Redactor)
	if req.Label != "" && o.reply != nil && sameBytes(answer.Exchange.Response.Body, o.reply.body) {
		r.decoded.keep(o.reply.decoded, o.reply.body)
	}
	switch {
	case req.Label == "":
	case o.unsent != nil:
		r.options.Journal.Skip(r.notSent(req.Label, req.Words, o.unsent))
	default:
		for i := range findings {
			findings[i].Label = cmp.Or(findings[i].Label, req.Label)
		}
		r.options.Journal.Add(answer.Exchange, evidence.RedactFindings(r.options.Redactor, findings)...)
	}
	return answer
}

// sameBytes reports whether two texts are the same place in memory.
func sameBytes(a, b []byte) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }

// unsentFailure returns the failure that the prober gets for a request that was not sent.
func unsentFailure(because error) *evidence.Failure {
	return &evidence.Failure{Kind: evidence.FailureRefused, Message: fmt.Sprintf("not sent: %s", because)}
}

// notSent describes for the evidence why a request was not sent.
func (r *Recorder) notSent(label evidence.Label, words string, because error) evidence.NotSent {
	out := evidence.NotSent{Label: label, Words: words, Kind: evidence.OverBudget, Because: r.options.Redactor.Text(because.Error())}
	if _, stopped := errors.AsType[stoppedError](because); stopped {
		out.Kind = evidence.Stopped
	}
	return out
}

// Options configure a [Recorder].
type Options struct {
	Journal  *evidence.Journal // required
	Redactor *redact.Redactor  // required
	Clock    func() time.Time  // required
	// Sleep waits for d or until ctx is done, and then returns the cause. Every wait between requests uses it; nil waits in real time.
	Sleep func(ctx context.Context, d time.Duration) error
	// Timeout bounds one request with its whole answer; 0 is 30 s.
	Timeout time.Duration
	// ReadLimit bounds a body, encoded and decoded, in bytes; 0 is 20 MiB.
	ReadLimit int64
	// TotalLimit bounds the bodies of the whole run, in bytes beyond the first 64 KiB of each; 0 is 64 MiB. The rest is cut off.
	TotalLimit int64
	// RootCAs verify the node's certificate; nil uses those of the system.
	RootCAs *x509.CertPool
	// Rate is the number of requests a second; 0 means unlimited.
	Rate float64
	// Concurrency is the number of concurrent requests; 0 is 1.
	Concurrency int
	// Budget is the number of requests that may be sent, repeats included; 0 means unlimited.
	Budget int
	// AllowedOrigins may receive tokens and secrets ("https://node.example", "http://127.0.0.1:8080").
	AllowedOrigins []string
	// Slowed is called when the node refused a request for load and the run slows down; it may be nil.
	Slowed func(evidence.Slowdown)
	// Loopback reports that the node runs on this machine: errors are repeated at once.
	Loopback bool
	// UserAgent names the suite; empty is "rin-conformance".
	UserAgent string
}

// Defaults of the options, and limits and pauses that no option changes.
const (
	DefaultTimeout   = 30 * time.Second
	DefaultReadLimit = 20 << 20
	// DefaultTotalLimit leaves room for parsing the bodies in 512 MB of memory.
	DefaultTotalLimit = 64 << 20
	HeaderLimit       = 64 << 10         // bytes of an answer's header
	RetryPause        = 2 * time.Second  // before an error is repeated
	MaxRetryAfter     = 60 * time.Second // the longest Retry-After that is waited for
	MaxTooMany        = 5                // refusals of one request for load (429, or 503 with Retry-After)
	MaxTooManyOnce    = 2                // the same with NoRetry
)

func (o Options) complete() (Options, error) {
	if o.Journal == nil || o.Redactor == nil || o.Clock == nil {
		return o, errors.New("recorder: expected a journal, a redactor and a clock")
	}
	if o.Sleep == nil {
		o.Sleep = Pause
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

// Pause waits for d or until ctx ends, whose cause it then returns.
func Pause(ctx context.Context, d time.Duration) error {
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
	// Label is the name in the evidence. A request without a label is sent by the same rules and not recorded, such as a token renewal.
	Label evidence.Label
	// Words describe for people what is particular about the request.
	Words string
	// Family and Given are recorded with the exchange, see [evidence.Exchange].
	Family evidence.Family
	Given  map[string]string
	Method string
	URL    string // absolute, http or https; sent as it is spelled
	// Header keeps the spelling of names. The order is kept in the evidence and, with Raw, on the wire.
	Header []evidence.Field
	Body   []byte
	// Credential names the token or secret in the request. Such a request goes to allowed origins only. A secret that the redactor knows
	// counts even if Credential is empty.
	Credential string
	// Recipient, if set, is the only origin that may receive the request, instead of the allowed ones, because Credential belongs to it. The
	// request must not contain other secrets.
	Recipient string
	// Conceal adds secrets to the redactor before the request is sent, name to value: a tampered token or a misspelt secret reveals most of
	// the real one.
	Conceal map[string]string
	// Raw writes HTTP/1.1 to the connection directly, for header values that net/http would correct.
	Raw bool
	// HTTP10 makes a Raw request one of HTTP/1.0.
	HTTP10 bool
	// ToEnd makes a Raw request read on after the complete answer, to count surplus bytes.
	ToEnd bool
	// FollowSameOrigin follows one redirect to the same scheme, host and port; for methods other than GET and HEAD only 307 and 308.
	FollowSameOrigin bool
	// NoRetry sends once: a wrong secret must not be counted twice. Exceptions are a failed connection, and one refusal for load, which comes
	// before the secret is checked.
	NoRetry bool
	// RepeatCrash repeats a request with NoRetry once if it is answered 500, which may be chance.
	RepeatCrash bool
	// Once sends exactly once, because a missing answer is a result, too.
	Once bool
	// Timeout bounds this request with its whole answer; 0 is the recorder's.
	Timeout time.Duration
	// Limit bounds the body of this answer, in bytes; 0 is the recorder's ReadLimit.
	Limit int64
	// Issues names the marker of an access token that the answer may contain, such as "access_token". If the label has a case
	// other than "ok", the case is appended.
	Issues string
	// Presents is a bad token in the request; its facts are recorded, and it is concealed under Credential's name.
	Presents string
	// Verify verifies the run's token with the keys in the answer. It sees the body before redaction.
	Verify func(body []byte) *evidence.Verification
	// Annotate judges the answer by the node's document. It sees the exchange before redaction; its findings are redacted. Findings without
	// a label get that of the request.
	Annotate func(evidence.Exchange) []evidence.SchemaFindings
	// Beside are requests to send at the same time, fewer than [Recorder.Burst] says. If Burst returns less when their turn comes, they are not sent.
	Beside []Request
	// AtLimit is a request to send once and at once, in the pause that begins when the node answers this request with 429. It is sent only if that is the first
	// refusal for load of the run.
	AtLimit *Request
}

// AnonymousGet returns a request for JSON without a token. It follows one redirect on its origin.
func AnonymousGet(url string) Request {
	return Request{Method: http.MethodGet, URL: url, FollowSameOrigin: true, Header: []evidence.Field{{Name: "Accept", Value: "application/json"}}}
}

// Answer is an unredacted answer for the prober alone. It must not be written anywhere.
type Answer struct {
	Status int // 0 without an answer
	Header http.Header
	Body   []byte // decoded, up to the read limit
	// Token is the access token of a request with Issues: the string member access_token of a JSON object.
	Token string
	// Beside are the answers to the requests that were sent at the same time, in their order; none if they were not sent.
	Beside []Answer
	// AtLimit is the answer to the request of that name; nil if it was not sent.
	AtLimit *Answer
	// Exchange is the exchange as recorded, redacted.
	Exchange evidence.Exchange
}

// Failure returns the reason why no answer came, or nil.
func (a Answer) Failure() *evidence.Failure { return a.Exchange.Failure }

// OK reports whether the answer has a 2xx status and a complete body.
func (a Answer) OK() bool {
	r := a.Exchange.Response
	return r != nil && r.Status/100 == 2 && !r.Truncated && r.BodyError == ""
}
