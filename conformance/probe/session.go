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
	ask := discover.TokenRequest(r.Target, exchange.OK, discover.ClientSecret, discover.Credentialed(r.Target.Credentials)...)
	return r.unlessStale(ctx, t, &r.unrenewed, ask, r.facts.keep), nil
}

// secondToken is the same for the client without the role.
func (r *run) secondToken(ctx context.Context) (string, *unsent) {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	r.facts.mu.Lock()
	t := r.facts.second
	r.facts.mu.Unlock()
	if t.Value == "" {
		return "", unmet("the second client got no token")
	}
	return r.unlessStale(ctx, t, &r.secondUnrenewed, r.secondRequest(), r.keepSecond), nil
}

// unlessStale is the token in use, or a fresh one by the request given, which keep is told of. failed says that fetching it failed
// before: asking again and again would not be polite.
func (r *run) unlessStale(ctx context.Context, t discover.Token, failed *bool, ask record.Ask, keep func(discover.Token)) string {
	if *failed || !t.Stale(r.Clock()) {
		return t.Value
	}
	ask.Label = "" // the evidence holds the token requests that say something; this one keeps the run going
	fresh, ok := discover.ReadToken(r.recorder.Send(ctx, ask), r.Clock())
	if !ok {
		*failed = true
		return t.Value
	}
	keep(fresh)
	return fresh.Value
}

func (r *run) secondRequest() record.Ask {
	ask := discover.TokenRequest(r.Target, exchange.OK, discover.SecondSecret, discover.Credentialed(*r.Target.Second)...)
	ask.Issues = discover.SecondAccessToken
	return ask
}

func (r *run) keepSecond(t discover.Token) {
	r.facts.with(func(f *facts) { f.second = t })
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
			return r.secondRequest(), nil
		},
		learn: func(a record.Answer) {
			if t, ok := discover.ReadToken(a, r.Clock()); ok {
				r.keepSecond(t)
			}
		},
	}
}
