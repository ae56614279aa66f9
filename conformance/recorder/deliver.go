package recorder

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
)

// prepared is a request that may be sent.
type prepared struct {
	limit   int64 // bytes of the answer's body
	timeout time.Duration
	request evidence.Request // as it goes out, unredacted
	url     *url.URL
	secret  bool   // it contains a token or secret
	ticket  func() // lets the first attempt pass the gate, see [gate.enterTogether]; nil without one
	toEnd   bool   // read what follows the answer
	http10  bool
}

// prepare checks the request against rin's own rules. If it returns an error, the prepared request is filled as far as possible.
func (r *Recorder) prepare(req Request) (prepared, error) {
	p := prepared{request: evidence.Request{
		Method: req.Method, URL: req.URL, Header: r.header(req), Body: req.Body, Raw: req.Raw,
	}, limit: cmp.Or(req.Limit, r.options.ReadLimit), toEnd: req.ToEnd, http10: req.HTTP10, timeout: r.timeout(req.Timeout)}
	if p.request.Method == "" {
		p.request.Method = http.MethodGet
	}
	if !httpguts.ValidHeaderFieldName(p.request.Method) {
		return p, fmt.Errorf("expected a method, got %.40q", req.Method)
	}
	for _, f := range p.request.Header {
		if !httpguts.ValidHeaderFieldName(f.Name) || strings.ContainsAny(f.Value, "\r\n\x00") {
			return p, fmt.Errorf("header %.40q cannot be sent: its name or value is not valid in a header line", f.Name)
		}
	}
	u, err := url.Parse(req.URL)
	if err != nil {
		return p, errors.New("expected an absolute URL, got one that cannot be read")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return p, fmt.Errorf("expected an http or https URL, got scheme %.20q", u.Scheme)
	case u.Hostname() == "":
		return p, errors.New("expected a URL with a host")
	case u.User != nil:
		return p, errors.New("the URL holds a user name: credentials do not belong in a URL")
	}
	p.url = u
	p.secret = req.Credential != "" || r.containsSecret(p.request)
	if req.Recipient != "" {
		return p, r.checkRecipient(req, p)
	}
	if origin := evidence.Origin(u); p.secret && !r.allowed[origin] {
		return p, fmt.Errorf("%s may not receive %s: allow the origin (--allow-origin) if it belongs to the node", origin, credentialName(req))
	}
	return p, nil
}

// timeout returns the time for one request: its own timeout, but not more than that of the options.
func (r *Recorder) timeout(own time.Duration) time.Duration {
	return min(cmp.Or(own, r.options.Timeout), r.options.Timeout)
}

// checkRecipient checks a request whose credential belongs to one origin: no other secret may go there.
func (r *Recorder) checkRecipient(req Request, p prepared) error {
	if origin := evidence.Origin(p.url); origin != req.Recipient {
		return fmt.Errorf("%s may not receive %s, which belongs to %s", origin, credentialName(req), req.Recipient)
	}
	q := evidence.Exchange{Request: p.request}.Redacted(r.options.Redactor).Request
	text := q.URL + " " + string(q.Body)
	for _, f := range q.Header {
		text += " " + f.Value
	}
	for _, name := range redact.Names(text) {
		if name != req.Credential {
			return fmt.Errorf("%s may not receive the %s", req.Recipient, name)
		}
	}
	return nil
}

func credentialName(req Request) string {
	if req.Credential == "" {
		return "a credential"
	}
	return "the " + req.Credential
}

// containsSecret reports whether the redactor finds a secret in the request.
func (r *Recorder) containsSecret(q evidence.Request) bool {
	if r.options.Redactor.Text(q.URL) != q.URL || string(r.options.Redactor.Bytes(q.Body)) != string(q.Body) {
		return true
	}
	return slices.ContainsFunc(q.Header, func(f evidence.Field) bool { return r.options.Redactor.Text(f.Value) != f.Value })
}

// header returns the header of the request with the lines that net/http would add unseen, so that they are recorded.
func (r *Recorder) header(req Request) []evidence.Field {
	out := slices.Clone(req.Header)
	if len(evidence.Values(out, "User-Agent")) == 0 {
		out = append(out, evidence.Field{Name: "User-Agent", Value: r.options.UserAgent})
	}
	if len(evidence.Values(out, "Accept-Encoding")) == 0 {
		out = append(out, evidence.Field{Name: "Accept-Encoding", Value: "gzip"})
	}
	if req.Raw && len(evidence.Values(out, "Connection")) == 0 {
		out = append(out, evidence.Field{Name: "Connection", Value: "close"})
	}
	return out
}

var errBudget = errors.New("the request budget is used up")

// deliver sends the request. Unless Once is set, it repeats the request when the node refused it for load, and once after a transient error.
// A request with NoRetry is repeated after a transient error only if no connection was established or, with RepeatCrash, if the error is a 500.
func (r *Recorder) deliver(ctx context.Context, req Request, p prepared) outcome {
	o := outcome{request: p.request, started: r.options.Clock()}
	repeated := false
	for {
		established, err := r.sendOnce(ctx, req, p, &o)
		p.ticket = nil // the ticket is for the first attempt
		if err != nil {
			if o.attempts == 0 {
				o.unsent = err
				o.failure = unsentFailure(o.unsent)
			}
			return o
		}
		wait := time.Duration(0)
		mayRepeatCrash := req.RepeatCrash && !repeated && o.status() == http.StatusInternalServerError
		switch {
		case req.Once:
			return o
		case o.isOverloaded(): // the limit answers before anything else is checked
			if req.AtLimit != nil && o.atLimit == nil && o.status() == http.StatusTooManyRequests && r.Slowdown().Refusals == 1 {
				o.atLimit = r.sendAtLimit(ctx, *req.AtLimit)
			}
			if o.refused == MaxTooMany || req.NoRetry && o.refused == MaxTooManyOnce {
				return o
			}
			continue // the gate waits as long as the node says
		case req.NoRetry && established && !mayRepeatCrash:
			return o
		case !repeated && o.isTransient():
			repeated = true
			if !r.options.Loopback {
				wait = RetryPause
			}
		default:
			return o
		}
		if r.options.Sleep(ctx, wait) != nil {
			return o
		}
	}
}

// sendAtLimit sends one request, without repeats, during the pause that the node asked for. The answer shows whom the limit concerns.
func (r *Recorder) sendAtLimit(ctx context.Context, req Request) *Answer {
	req.Once = true
	answer := r.send(ctx, req, func() {})
	return &answer
}

// status returns the status of the answer, or 0.
func (o outcome) status() int {
	if o.reply == nil {
		return 0
	}
	return o.reply.status
}

// isOverloaded reports whether the node refused the request for load: 429, or 503 with Retry-After.
func (o outcome) isOverloaded() bool {
	return o.status() == http.StatusTooManyRequests || o.status() == http.StatusServiceUnavailable && o.reply.header.Get("Retry-After") != ""
}

// isTransient reports whether the outcome is a network error or a server error that the next attempt may not meet.
func (o outcome) isTransient() bool {
	if o.failure != nil {
		switch o.failure.Kind {
		case evidence.FailureCanceled, evidence.FailureRefused, evidence.FailureTLS: // repeating would not help
			return false
		}
		return true
	}
	return o.reply.status >= 500 || o.reply.broken
}

// sendOnce sends the request and may follow one redirect. established reports whether the node may have seen the request. The error is the reason why nothing
// was sent; then the outcome is unchanged.
func (r *Recorder) sendOnce(ctx context.Context, req Request, p prepared, o *outcome) (established bool, err error) {
	leave, err := r.admit(ctx, routesOf(p, req), req.Once, p.ticket)
	if err != nil {
		return false, err
	}
	defer leave()
	o.attempts++
	epoch := r.gate.epoch()
	o.started, o.hops = r.options.Clock(), nil
	result := r.attempt(ctx, p)
	if to := p.redirect(req, result.reply); to != nil && r.mayFollow(ctx) {
		o.hops = []evidence.Hop{{
			URL: p.request.URL, Status: result.reply.status, Header: fields(result.reply.header), Location: result.reply.header.Get("Location"),
		}}
		next := p
		next.url, next.request.URL = to, to.String()
		result = r.attempt(ctx, next)
	}
	o.reply, o.failure = result.reply, result.failure
	switch { // before another request takes the slot
	case o.isOverloaded():
		o.refused++
		r.gate.refused(epoch, o.status(), retryAfter(o.reply.header, r.options.Clock(), RetryPause<<(o.refused-1)))
	case o.reply != nil:
		r.gate.accepted(epoch)
	}
	o.duration = r.options.Clock().Sub(o.started)
	if !req.Once {
		r.observe(ctx, req, p, *o)
	}
	return result.established, nil
}

// admit waits until one more request may be sent on the routes. After a nil error the caller must call leave. An unguarded
// request is sent even if the origin has stopped answering, because its missing answer is a result. A request with a ticket has entered the gate before.
func (r *Recorder) admit(ctx context.Context, routes []route, unguarded bool, ticket func()) (leave func(), err error) {
	pass := func() error {
		if unguarded {
			return nil
		}
		return r.breaker.pass(ctx, routes)
	}
	if err := pass(); err != nil { // before the gate: a request that is not sent need not wait for a slot
		return nil, err
	}
	if leave = ticket; leave == nil {
		if _, err := r.gate.enter(ctx, 1); err != nil {
			return nil, endedFirst(err)
		}
		leave = r.gate.leave
	}
	if err := pass(); err != nil { // the origin may have stopped answering meanwhile
		leave()
		return nil, err
	}
	if !r.gate.spend() {
		leave()
		return nil, errBudget
	}
	return leave, nil
}

// mayFollow waits until a redirect may be followed. It returns false if the run ends first, or if the budget is used up.
func (r *Recorder) mayFollow(ctx context.Context) bool {
	_, err := r.gate.wait(ctx, 1)
	return err == nil && r.gate.spend()
}

// redirect returns the target of a redirect that may be followed, else nil. The target has the same origin. Methods other than GET and HEAD
// follow only 307 and 308, which keep the method.
func (p prepared) redirect(req Request, a *reply) *url.URL {
	if a == nil || !req.FollowSameOrigin || req.Raw {
		return nil
	}
	safe := p.request.Method == http.MethodGet || p.request.Method == http.MethodHead
	switch a.status {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		if !safe {
			return nil
		}
	default:
		return nil
	}
	location := a.header.Values("Location")
	if len(location) != 1 || location[0] == "" {
		return nil
	}
	to, err := p.url.Parse(location[0])
	if err != nil || to.User != nil || evidence.Origin(to) != evidence.Origin(p.url) {
		return nil
	}
	to.Fragment, to.RawFragment = "", ""
	return to
}

// retryAfter reads Retry-After (RFC 9110 §10.2.3) as seconds or a date, up to MaxRetryAfter. It returns fallback if there is no such header.
func retryAfter(h http.Header, now time.Time, fallback time.Duration) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	d := fallback
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(value); err == nil {
		d = date.Sub(now)
	}
	return min(max(d, 0), MaxRetryAfter)
}

// maxMessage bounds the message of a failure in characters.
const maxMessage = 300

// classify returns the failure for a missing answer. run is the context of the whole run, timed the one of this request.
func (r *Recorder) classify(run, timed context.Context, timeout time.Duration, err error, established bool) *evidence.Failure {
	switch {
	case run.Err() != nil:
		return &evidence.Failure{Kind: evidence.FailureCanceled, Message: "the run ended before the answer was complete"}
	case timed.Err() != nil:
		return &evidence.Failure{Kind: evidence.FailureTimeout, Message: fmt.Sprintf("no complete answer within %s", timeout)}
	}
	return &evidence.Failure{Kind: kindOf(err, established), Message: boundedMessage(err)}
}

func kindOf(err error, established bool) evidence.FailureKind {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return evidence.FailureResolve
	case isTLSFault(err):
		return evidence.FailureTLS
	case errors.As(err, &op) && op.Op == "dial":
		return evidence.FailureConnect
	case isClosed(err):
		return evidence.FailureReset
	case !established:
		return evidence.FailureConnect
	case op != nil && op.Timeout():
		return evidence.FailureTimeout
	}
	return evidence.FailureProtocol
}

func isTLSFault(err error) bool {
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &authority) ||
		errors.As(err, &name) || errors.As(err, &invalid) || errors.Is(err, http.ErrSchemeMismatch) ||
		strings.Contains(err.Error(), "tls: ")
}

// isClosed reports whether the error means that the peer ended the connection.
func isClosed(err error) bool {
	if errors.Is(err, errHeaderLimit) {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(err.Error(), "server closed idle connection") || strings.Contains(err.Error(), "GOAWAY")
}

// boundedMessage returns the innermost informative cause, without URL, local addresses and name servers.
func boundedMessage(err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return evidence.Clip(fmt.Sprintf("no address for %q: %s", dns.Name, dns.Err), maxMessage)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return evidence.Clip(op.Op+": "+op.Err.Error(), maxMessage)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the connection was closed before an answer"
	}
	return evidence.Clip(err.Error(), maxMessage)
}
