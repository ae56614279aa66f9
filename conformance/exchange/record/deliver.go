package record

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

var errBudget = errors.New("the request budget is used up")

// deliver sends until the answer counts: rule T4 of the catalogue.
func (r *Recorder) deliver(ctx context.Context, ask Ask, p prepared) outcome {
	o := outcome{request: p.request, started: r.options.Clock()}
	repeated, tooMany := false, 0
	for {
		established, err := r.once(ctx, ask, p, &o)
		if err != nil {
			if o.attempts == 0 {
				o.unsent = err.Error()
				o.failure = unsentFailure(o.unsent)
			}
			return o
		}
		wait := time.Duration(0)
		switch {
		case ask.Once:
			return o
		case o.status() == http.StatusTooManyRequests: // whoever limits the rate has looked at nothing else
			if tooMany++; tooMany == MaxTooMany || ask.NoRetry && tooMany == MaxTooManyOnce {
				return o
			}
			wait = retryAfter(o.reply.header, r.options.Clock())
		case ask.NoRetry && established:
			return o
		case !repeated && o.transient():
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

// status is that of the answer, 0 without one.
func (o outcome) status() int {
	if o.reply == nil {
		return 0
	}
	return o.reply.status
}

// transient reports a network error or a fault of the server that may be gone next time.
func (o outcome) transient() bool {
	if o.failure != nil {
		switch o.failure.Kind {
		case exchange.FailureCanceled, exchange.FailureRefused, exchange.FailureTLS: // a certificate is no better the second time
			return false
		}
		return true
	}
	return o.reply.status >= 500 || o.reply.broken
}

// once sends the request and, when asked to, follows one redirect. The error says why nothing was sent; the outcome is unchanged then.
func (r *Recorder) once(ctx context.Context, ask Ask, p prepared, o *outcome) (established bool, err error) {
	if err := r.gate.enter(ctx); err != nil {
		return false, errors.New("the run ended first: " + err.Error())
	}
	defer r.gate.leave()
	if !r.gate.spend() {
		return false, errBudget
	}
	o.attempts++
	o.started, o.hops = r.options.Clock(), nil
	result := r.attempt(ctx, p)
	if to := p.redirect(ask, result.reply); to != nil && r.gate.pace(ctx) == nil && r.gate.spend() {
		o.hops = []exchange.Hop{{
			URL: p.request.URL, Status: result.reply.status, Header: fields(result.reply.header), Location: result.reply.header.Get("Location"),
		}}
		next := p
		next.url, next.request.URL = to, to.String()
		result = r.attempt(ctx, next)
	}
	o.reply, o.failure = result.reply, result.failure
	if o.status() == http.StatusTooManyRequests {
		r.gate.slowDown() // before this place is given on
	}
	o.duration = r.options.Clock().Sub(o.started)
	return result.established, nil
}

// redirect is where the answer sends the request, nil when that is not followed (T2): it stays on the origin, and a method
// other than GET or HEAD is kept.
func (p prepared) redirect(ask Ask, a *reply) *url.URL {
	if a == nil || !ask.FollowSameOrigin || ask.Raw {
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
	if err != nil || to.User != nil || exchange.Origin(to) != exchange.Origin(p.url) {
		return nil
	}
	to.Fragment, to.RawFragment = "", ""
	return to
}

// retryAfter reads Retry-After (RFC 9110 §10.2.3) as seconds or a date, up to MaxRetryAfter.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	d := RetryPause
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(value); err == nil {
		d = date.Sub(now)
	}
	return min(max(d, 0), MaxRetryAfter)
}
