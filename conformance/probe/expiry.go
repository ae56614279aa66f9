package probe

import (
	"context"
	"fmt"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// expiryCases are tokens that have expired, and tokens and secrets in URLs, which come last (BRR-10, BRR-14, SEC-05).
func expiryCases() []row {
	withTokenInURL := func(n Node) bool { return n.Target.AllowTokenInURL }
	withGiven := func(n Node) bool { return !n.Target.ExpiredToken.IsZero() }
	patient := func(n Node) bool { return n.Target.Patience() > 0 }
	last := in(stageLast).inLane("expired")
	expired := last.onlyIf(func(n Node) bool { return withGiven(n) || patient(n) })
	return []row{
		// Its token is used for P.expired alone. It comes before the session's token: a node may know one token of a client at a time.
		{Label: "token.to-expire", Words: "for a token that is to expire", Send: spareToken, Learn: keepTokenAs(idleToken),
			Plan: in(stageTokens, stageToken).inLane("to expire").onlyIf(patient).onlyIf(func(n Node) bool { return !withGiven(n) })},
		{Label: "token.secret-in-url", Words: "with the credentials in the URL", Send: secretInURL,
			Plan: in(stageLast).onlyIf(func(n Node) bool { return n.Target.AllowSecretInURL })},
		// Its token is used for P.token-in-query alone.
		{Label: "token.throw-away", Words: "for a throw-away token", Send: spareToken, Learn: keepTokenAs(throwawayToken),
			Plan: in(stageLast).onceKnown(probeTarget).onlyIf(withTokenInURL)},
		{Label: "P.token-in-query", Words: "with the token in the query", Plan: in(stageLast).onlyIf(withTokenInURL), Send: controlled(tokenInQuery)},
		// The token of the session, which most calls of the run had: it is seen to work, and tried again once it has expired.
		{Label: "P.in-use", Words: "with the token in use", Plan: last.onlyIf(patient), Learn: learnInUse,
			Send: withToken(func(*run, *recorder.Request, string) {})},
		{Label: "P.expired", Words: "with an expired token", Plan: expired, Send: controlled(presentExpired)},
		{Label: "P.expired-in-use", Words: "with a token that was in use until it expired", Plan: last.onlyIf(patient), Send: controlled(presentWaited(usedToken))},
		// Only what was accepted: the same a minute later, for caches of introspection.
		{Label: "P.expired-again", Words: "with an expired token, a minute later", Plan: expired, Send: againLater("expired", presentExpired)},
		{Label: "P.expired-in-use-again", Words: "with a token that was in use until it expired, a minute later", Plan: last.onlyIf(patient),
			Send: againLater("expired-in-use", presentWaited(usedToken))},
		{Label: "op/*.expired", Words: "with an expired token", Send: controlled(presentExpired), Plan: in(stageRest, stageAuthorized).alsoOn(onFunding).onlyIf(notQuick).
			onlyIf(withGiven)},
	}
}

const (
	// leeway is what servers allow beyond the expiry for clocks that differ: Spring 60 s, others up to 120 s.
	leeway = 130 * time.Second
	// cachePause is the wait before an expired token is tried again, so that caches of introspection answers forget it.
	cachePause = 60 * time.Second
)

// The names of tokens that are kept for one thing.
const (
	throwawayToken = "throw-away token" // a URL may hold it
	idleToken      = "idle token"       // it is used for nothing until it has expired
	usedToken      = "used token"       // it was in use until it expired
)

// spareToken fetches a token that is kept apart.
func spareToken(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	if r.current().Value == "" {
		return recorder.Request{}, unmet("there is no access token")
	}
	return r.request(r.goodForm()), nil
}

// learnInUse keeps the token in use, if the node has just accepted it.
func learnInUse(r *run, _ evidence.Resource, a recorder.Answer) {
	if a.Status/100 == 2 {
		r.facts.keep(usedToken, r.current())
	}
}

// presentExpired asks with a token that has expired: one that was given, or one that is waited for.
func presentExpired(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	given := r.Target.ExpiredToken.Reveal()
	if given == "" {
		return presentWaited(idleToken)(ctx, r, res)
	}
	q := badTokenRequest(res, ExpiredToken, given)
	q.Given = map[string]string{"token": "given"}
	if t, isJWT := tokenforge.Read(given); isJWT && tokenforge.Asymmetric(t.Algorithm()) {
		if keys := r.facts.issuerFacts().keys; len(keys) > 0 {
			verification := tokenforge.VerifyWith(given, r.Redactor.Secret(ExpiredToken, given), keys)
			q.Verify = func([]byte) *evidence.Verification { return verification }
		}
	}
	return q, nil
}

// presentWaited asks with a token of the run, once it has expired.
func presentWaited(name string) func(context.Context, *run, Resource) (recorder.Request, *unsent) {
	return func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		t := r.facts.token(name)
		if reason := r.waitFor(ctx, t); reason != nil {
			return recorder.Request{}, reason
		}
		q := badTokenRequest(res, AccessToken, t.Value)
		q.Given = map[string]string{"token": fmt.Sprintf("issued %s before", r.Clock().Sub(t.Obtained).Round(time.Second))}
		return q, nil
	}
}

// againLater repeats a case that was accepted, when caches of introspection answers have had the time to forget the token.
func againLater(c evidence.Case, send func(context.Context, *run, Resource) (recorder.Request, *unsent)) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		if !r.facts.good(res.Name.With(c)) {
			return recorder.Request{}, notApplicable("the expired token was not accepted the first time")
		}
		if !r.Target.Loopback() {
			if err := r.Pause(ctx, cachePause); err != nil {
				return recorder.Request{}, cutShort("the run ended first: %v", err)
			}
		}
		return send(ctx, r, res)
	})
}

// waitFor returns when a token has expired for every clock, or says why it is not waited for.
func (r *run) waitFor(ctx context.Context, t Token) *unsent {
	wait := r.Target.Patience()
	switch {
	case t.Value == "":
		return unmet("no token was issued that could expire")
	case t.Until.IsZero():
		return cutShort("the lifetime of the token is not known, so it cannot be waited for")
	}
	if needed := t.Until.Sub(t.Obtained) + leeway; needed > wait {
		return notApplicable("the lifetime of the token exceeds the wait budget: %s are needed, %s allowed (--wait, or give an --expired-token)",
			needed.Round(time.Second), wait)
	}
	if left := t.Until.Add(leeway).Sub(r.Clock()); left > 0 {
		if err := r.Pause(ctx, left); err != nil {
			return cutShort("the run ended before the token had expired: %v", err)
		}
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
