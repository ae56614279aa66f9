package probe

import (
	"context"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

// current is the token in use, which may be none.
func (r *run) current() discover.Token {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.current
}

// token is the token for an authorized request, fetched anew when it is stale.
func (r *run) token(ctx context.Context) (string, *unsent) {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	t := r.current()
	if t.Value == "" {
		return "", unmet("there is no access token")
	}
	if r.unrenewed || !t.Stale(r.Clock()) {
		return t.Value, nil
	}
	ask := discover.TokenRequest(r.Target, exchange.OK, discover.ClientSecret, discover.Credentialed(r.Target.Credentials)...)
	ask.Label = "" // the evidence holds the token requests that say something; this one keeps the run going
	if fresh, ok := discover.ReadToken(r.recorder.Send(ctx, ask), r.Clock()); ok {
		r.facts.keep(fresh)
		return fresh.Value, nil
	}
	r.unrenewed = true // asking again and again would not be polite
	return t.Value, nil
}

// authorized is the good request to a resource.
func (r *run) authorized(ctx context.Context, res discover.Resource, c exchange.Case) (record.Ask, *unsent) {
	token, reason := r.token(ctx)
	return res.Authorized(c, token), reason
}

// secondProbe fetches a token for the client without the role.
func (r *run) secondProbe() probe {
	return probe{
		prepare: func(context.Context) (record.Ask, *unsent) {
			if r.Target.Second == nil {
				return record.Ask{}, notApplicable("no second client was given")
			}
			ask := discover.TokenRequest(r.Target, exchange.OK, discover.SecondSecret, discover.Credentialed(*r.Target.Second)...)
			ask.Issues = discover.SecondAccessToken
			return ask, nil
		},
		learn: func(a record.Answer) {
			if t, ok := discover.ReadToken(a, r.Clock()); ok {
				r.facts.with(func(f *facts) { f.second = t })
			}
		},
	}
}
