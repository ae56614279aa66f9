package record

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
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
func (r *Recorder) Send(ctx context.Context, ask Ask) Answer {
	for _, name := range slices.Sorted(maps.Keys(ask.Conceal)) {
		r.options.Redactor.Secret(name, ask.Conceal[name])
	}
	presented := r.presented(ask)
	req, err := r.prepare(ask)
	if err != nil {
		return r.keep(ask, outcome{request: req.request, presented: presented, started: r.options.Clock(), failure: &exchange.Failure{Kind: exchange.FailureRefused, Message: err.Error()}})
	}
	o := r.deliver(ctx, ask, req)
	o.presented = presented
	return r.keep(ask, o)
}

// presented conceals the odd token of a request and takes the facts about it.
func (r *Recorder) presented(ask Ask) *exchange.TokenFacts {
	if ask.Presents == "" {
		return nil
	}
	facts := r.options.Redactor.Token(ask.Credential, ask.Presents)
	return &facts
}

// outcome is an attempt with everything that came of it, before redaction.
type outcome struct {
	request exchange.Request
	hops    []exchange.Hop
	reply   *reply
	failure *exchange.Failure
	unsent  string // why nothing was sent at all
	// presented are the facts about the odd token of the request.
	presented *exchange.TokenFacts
	attempts  int
	started   time.Time
	duration  time.Duration
}

// keep redacts and records an outcome, and gives the unredacted answer to the prober.
func (r *Recorder) keep(ask Ask, o outcome) Answer {
	x := exchange.Exchange{
		Label: ask.Label, Given: ask.Given, Request: o.request, Redirects: o.hops, Failure: o.failure,
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
	var findings []exchange.SchemaFindings
	if ask.Annotate != nil {
		findings = ask.Annotate(x)
	}
	answer.Exchange = r.options.Redactor.Exchange(x)
	switch {
	case ask.Label == "":
	case o.unsent != "":
		r.options.Journal.Skip(ask.Label, exchange.OverBudget, r.options.Redactor.Text(o.unsent))
	default:
		r.options.Journal.Add(answer.Exchange, r.redact(ask.Label, findings)...)
	}
	return answer
}

func (r *Recorder) redact(label exchange.Label, list []exchange.SchemaFindings) []exchange.SchemaFindings {
	for i := range list {
		if list[i].Label == "" {
			list[i].Label = label
		}
		list[i] = r.options.Redactor.Findings(list[i])
	}
	return list
}

// unsentFailure tells the prober what the journal calls over budget.
func unsentFailure(because string) *exchange.Failure {
	return &exchange.Failure{Kind: exchange.FailureRefused, Message: fmt.Sprintf("not sent: %s", because)}
}
