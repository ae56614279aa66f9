package probe

import (
	"context"
	"fmt"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// outlived plans what comes last: a token that has expired, and tokens and secrets in URLs (BRR-10, BRR-14, SEC-05).
func outlived() theme {
	return theme{
		forTarget: func(t target.Target) Plan {
			var p Plan
			if t.Patience() > 0 {
				// Before the session's token: a node may know one token of a client at a time.
				p.lane(stageTokens, []Stage{stageToken}, evidence.TokenEndpoint, "to-expire")
			}
			if t.AllowSecretInURL {
				p.lane(stageLast, nil, evidence.TokenEndpoint, "secret-in-url")
			}
			return p
		},
		forProbeTarget: func(t target.Target, r evidence.Resource) Plan {
			var p Plan
			if t.AllowTokenInURL {
				p.lane(stageLast, nil, evidence.TokenEndpoint, "throw-away")
				p.lane(stageLast, nil, r, "token-in-query")
			}
			if t.Patience() > 0 || !t.ExpiredToken.IsZero() {
				p.lane(stageLast, nil, r, "expired", "expired-again")
			}
			return p
		},
		forDocument: func(n Node) Plan {
			var p Plan
			if n.Target.ExpiredToken.IsZero() || n.Target.Quick {
				return p
			}
			for _, key := range []string{n.List, n.Detail} {
				if key != "" {
					r := evidence.OperationResource(key)
					p.lane(stageRest, []Stage{opened(r)}, r, "expired")
				}
			}
			return p
		},
		forDocumentMost: func(t target.Target) int {
			if t.ExpiredToken.IsZero() {
				return 0
			}
			return 2 // list and detail
		},
		probe: func(r *run, l evidence.Label) (probe, bool) {
			switch l.Case() {
			case "to-expire", "throw-away":
				return r.spareProbe(l.Case()), true
			case "secret-in-url":
				return probe{prepare: func(context.Context) (recorder.Request, *unsent) { return r.secretInURL() }}, true
			case "token-in-query":
				return r.tokenInQueryProbe(l.Resource()), true
			case "expired", "expired-again":
				return r.expiredProbe(l.Resource(), l.Case()), true
			}
			return probe{}, false
		},
	}
}

const (
	// leeway is what servers allow beyond the expiry for clocks that differ: Spring 60 s, others up to 120 s.
	leeway = 130 * time.Second
	// cachePause is what a cache of introspection answers gets before an expired token is tried again.
	cachePause = 60 * time.Second
)

// spare is a token that is used for one thing alone.
type spare struct {
	token Token
	// until is when nothing says any more that the token is good; zero when nothing says how long it lives.
	until time.Time
}

// spareProbe fetches a token that is kept apart.
func (r *run) spareProbe(c evidence.Case) probe {
	return probe{
		prepare: func(context.Context) (recorder.Request, *unsent) {
			f, reason := form{fields: Credentialed(r.Target.Credentials), credential: ClientSecret}, (*unsent)(nil)
			if r.current().Value == "" {
				reason = unmet("there is no access token")
			}
			return r.tokenAsk(c, f), reason
		},
		learn: func(a recorder.Answer) {
			now := r.Clock()
			t, ok := ReadToken(a, now)
			if !ok {
				return
			}
			s := spare{token: t}
			if life, known := Life(a); known {
				s.until = now.Add(life)
			}
			r.facts.with(func(f *facts) {
				if c == "to-expire" {
					f.expiring = s
				} else {
					f.throwaway = t.Value
				}
			})
		},
	}
}

// expiredProbe asks with a token that has expired: one that was given, or one that is waited for.
func (r *run) expiredProbe(name evidence.Resource, c evidence.Case) probe {
	return probe{prepare: func(ctx context.Context) (recorder.Request, *unsent) {
		res, reason := r.controlled(name)
		if reason != nil {
			return recorder.Request{}, reason
		}
		if c == "expired-again" {
			if reason := r.betweenExpired(ctx, name); reason != nil {
				return recorder.Request{}, reason
			}
		}
		if given := r.Target.ExpiredToken.Reveal(); given != "" {
			ask := presenting(res, c, ExpiredToken, given)
			ask.Given = map[string]string{"token": "given"}
			return ask, nil
		}
		r.facts.mu.Lock()
		s := r.facts.expiring
		r.facts.mu.Unlock()
		if reason := r.waitFor(ctx, s); reason != nil {
			return recorder.Request{}, reason
		}
		ask := presenting(res, c, AccessToken, s.token.Value)
		ask.Given = map[string]string{"token": fmt.Sprintf("issued %s before", r.Clock().Sub(s.token.Obtained).Round(time.Second))}
		return ask, nil
	}}
}

// waitFor returns when a token has expired for every clock, or says why it is not waited for.
func (r *run) waitFor(ctx context.Context, s spare) *unsent {
	wait := r.Target.Patience()
	switch {
	case s.token.Value == "":
		return unmet("no token was issued that could expire")
	case s.until.IsZero():
		return cutShort("the lifetime of the token is not known, so it cannot be waited for")
	}
	if needed := s.until.Sub(s.token.Obtained) + leeway; needed > wait {
		return notApplicable("the lifetime of the token exceeds the wait budget: %s are needed, %s allowed (--wait, or give an --expired-token)",
			needed.Round(time.Second), wait)
	}
	if left := s.until.Add(leeway).Sub(r.Clock()); left > 0 {
		if err := r.Pause(ctx, left); err != nil {
			return cutShort("the run ended before the token had expired: %v", err)
		}
	}
	return nil
}

// betweenExpired gives caches their time, if the expired token was accepted at all.
func (r *run) betweenExpired(ctx context.Context, name evidence.Resource) *unsent {
	if !r.facts.good(name.With("expired")) {
		return notApplicable("the expired token was not accepted the first time")
	}
	if r.Target.Loopback() {
		return nil
	}
	if err := r.Pause(ctx, cachePause); err != nil {
		return cutShort("the run ended first: %v", err)
	}
	return nil
}

// tokenInQueryProbe puts a token into a URL, which ends up in logs: one that is used for nothing else.
func (r *run) tokenInQueryProbe(name evidence.Resource) probe {
	return probe{prepare: func(context.Context) (recorder.Request, *unsent) {
		res, reason := r.controlled(name)
		if reason != nil {
			return recorder.Request{}, reason
		}
		r.facts.mu.Lock()
		token := r.facts.throwaway
		r.facts.mu.Unlock()
		if token == "" {
			return recorder.Request{}, unmet("no throw-away token was issued")
		}
		res.URL = withQuery(res.URL, pair{"access_token", token})
		ask := res.Get("token-in-query")
		ask.Credential, ask.FollowSameOrigin = AccessToken, false
		return ask, nil
	}}
}

// secretInURL asks for a token with the credentials in the query. The operator has said that they may be seen.
func (r *run) secretInURL() (recorder.Request, *unsent) {
	c := r.Target.Credentials
	if r.current().Value == "" {
		return recorder.Request{}, unmet("there is no access token")
	}
	ask := r.tokenAsk("secret-in-url", form{fields: Credentialed(c)[:1], credential: ClientSecret, once: true})
	ask.URL = withQuery(ask.URL, pair{"client_id", c.ClientID}, pair{"client_secret", c.ClientSecret.Reveal()})
	ask.FollowSameOrigin = false
	return ask, nil
}
