package probe

import (
	"context"
	"fmt"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// expiryCases are a token that has expired, and tokens and secrets in URLs, which come last (BRR-10, BRR-14, SEC-05).
func expiryCases() []row {
	withTokenInURL := func(n Node) bool { return n.Target.AllowTokenInURL }
	withExpired := func(n Node) bool { return n.Target.Patience() > 0 || !n.Target.ExpiredToken.IsZero() }
	expired := in(stageLast).inLane("expired").onlyIf(withExpired)
	return []row{
		// Its token is used for P.expired alone. It comes before the session's token: a node may know one token of a client at a time.
		{Label: "token.to-expire", Words: "for a token that is to expire", Send: spareToken, Learn: learnExpiring,
			Plan: in(stageTokens, stageToken).inLane("to expire").onlyIf(func(n Node) bool { return n.Target.Patience() > 0 })},
		{Label: "token.secret-in-url", Words: "with the credentials in the URL", Send: secretInURL,
			Plan: in(stageLast).onlyIf(func(n Node) bool { return n.Target.AllowSecretInURL })},
		// Its token is used for P.token-in-query alone.
		{Label: "token.throw-away", Words: "for a throw-away token", Send: spareToken, Learn: keepTokenAs(throwawayToken),
			Plan: in(stageLast).onceKnown(probeTarget).onlyIf(withTokenInURL)},
		{Label: "P.token-in-query", Words: "with the token in the query", Plan: in(stageLast).onlyIf(withTokenInURL), Send: controlled(tokenInQuery)},
		{Label: "P.expired", Words: "with an expired token", Plan: expired, Send: controlled(presentExpired)},
		// Only if the first was accepted: the same a minute later, for caches of introspection.
		{Label: "P.expired-again", Words: "with an expired token, a minute later", Plan: expired, Send: controlled(presentExpiredAgain)},
		{Label: "op/*.expired", Words: "with an expired token", Send: controlled(presentExpired), Plan: in(stageRest, stageAuthorized).alsoOn(onFunding).onlyIf(notQuick).
			onlyIf(func(n Node) bool { return !n.Target.ExpiredToken.IsZero() })},
	}
}

const (
	// leeway is what servers allow beyond the expiry for clocks that differ: Spring 60 s, others up to 120 s.
	leeway = 130 * time.Second
	// cachePause is the wait before an expired token is tried again, so that caches of introspection answers forget it.
	cachePause = 60 * time.Second
)

// spare is a token that is used for one thing alone.
type spare struct {
	token Token
	// until is the end of the stated lifetime; zero if no lifetime is stated.
	until time.Time
}

// throwawayToken is the name of the token that a URL may hold.
const throwawayToken = "throw-away token"

// spareToken fetches a token that is kept apart.
func spareToken(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	if r.current().Value == "" {
		return recorder.Request{}, unmet("there is no access token")
	}
	return r.request(r.goodForm()), nil
}

func learnExpiring(r *run, _ evidence.Resource, a recorder.Answer) {
	now := r.Clock()
	if t, ok := ReadToken(a, now); ok {
		s := spare{token: t}
		if life, known := Life(a); known {
			s.until = now.Add(life)
		}
		r.facts.with(func(f *facts) { f.expiring = s })
	}
}

// presentExpired asks with a token that has expired: one that was given, or one that is waited for.
func presentExpired(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	if given := r.Target.ExpiredToken.Reveal(); given != "" {
		q := badTokenRequest(res, ExpiredToken, given)
		q.Given = map[string]string{"token": "given"}
		return q, nil
	}
	r.facts.mu.Lock()
	s := r.facts.expiring
	r.facts.mu.Unlock()
	if reason := r.waitFor(ctx, s); reason != nil {
		return recorder.Request{}, reason
	}
	q := badTokenRequest(res, AccessToken, s.token.Value)
	q.Given = map[string]string{"token": fmt.Sprintf("issued %s before", r.Clock().Sub(s.token.Obtained).Round(time.Second))}
	return q, nil
}

func presentExpiredAgain(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	if reason := r.betweenExpired(ctx, res.Name); reason != nil {
		return recorder.Request{}, reason
	}
	return presentExpired(ctx, r, res)
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

// betweenExpired waits before the second attempt, which is sent only if the expired token was accepted the first time.
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

// tokenInQuery puts a token into a URL, which ends up in logs: one that is used for nothing else.
func tokenInQuery(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	token := r.facts.token(throwawayToken).Value
	if token == "" {
		return recorder.Request{}, unmet("no throw-away token was issued")
	}
	res.URL = withQuery(res.URL, pair{"access_token", token})
	q := res.Get()
	q.Credential, q.FollowSameOrigin = AccessToken, false
	return q, nil
}

// secretInURL requests a token with the credentials in the query. The operator has allowed that logs hold them.
func secretInURL(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	c := r.Target.Credentials
	if r.current().Value == "" {
		return recorder.Request{}, unmet("there is no access token")
	}
	f := r.goodForm()
	f.fields, f.once = f.fields[:1], true
	q := r.request(f)
	q.URL = withQuery(q.URL, pair{"client_id", c.ClientID}, pair{"client_secret", c.ClientSecret.Reveal()})
	q.FollowSameOrigin = false
	return q, nil
}
