package probe

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// expiryCases send tokens that have expired. They also send tokens and secrets in URLs, which come last (BRR-10, BRR-14, SEC-05).
func expiryCases() []row {
	withTokenInURL := func(n Node) bool { return n.Target.AllowTokenInURL }
	hasExpiredToken := func(n Node) bool { return !n.Target.ExpiredToken.IsZero() }
	patient := func(n Node) bool { return n.Target.Patience() > 0 }
	beforeWait := in(stageLast).inLane("expired")
	afterWait := in(stageExpired).inLane("expired")
	withExpired := afterWait.onlyIf(func(n Node) bool { return hasExpiredToken(n) || patient(n) })
	withUsed := afterWait.onlyIf(patient)
	withUsedOnFunding := withUsed.alsoOn(onFunding).onlyIf(notQuick)
	withIdleOnFunding := withUsedOnFunding.onlyIf(func(n Node) bool { return !hasExpiredToken(n) })
	return slices.Concat([]row{
		// Only the rows that send an expired token use this one. It is requested before the session token, because a node may keep only the newest token of a client.
		{Label: "token.to-expire", Words: "for a token that is to expire", Send: spareToken, Learn: keepTokenAs(idleToken),
			Plan: in(stageTokens, stageToken).inLane("to expire").onlyIf(patient).onlyIf(func(n Node) bool { return !hasExpiredToken(n) })},
		{Label: "token.secret-in-url", Words: "with the credentials in the URL", Send: secretInURL,
			Plan: in(stageLast).onlyIf(func(n Node) bool { return n.Target.AllowSecretInURL })},
		// Only P.token-in-query uses this token.
		{Label: "token.throw-away", Words: "for a throw-away token", Send: spareToken, Learn: keepTokenAs(throwawayToken),
			Plan: in(stageLast).onceKnown(probeTarget).onlyIf(withTokenInURL)},
		{Label: "P.token-in-query", Words: "with the token in the query", Plan: in(stageLast).onlyIf(withTokenInURL), Send: controlled(tokenInQuery)},
		// This row is sent only if the server hands out a token again: expires_in must be the remaining lifetime, and the token must live until then.
		{Label: "token.later", Words: "for a token at the end of the run", Plan: beforeWait.onceKnown(probeTarget).onlyIf(notQuick), Send: tokenAtEnd, Learn: keepTokenAs(laterToken)},
		{Label: "P.handed-out-again", Words: "with a token that was handed out again, after its first end", Plan: beforeWait.onlyIf(patient).onlyIf(notQuick), Send: controlled(presentBetweenEnds)},
		// These rows use the session token: it must work now, and is tried again after it has expired.
		{Label: "P.in-use", Words: "with the token in use", Plan: beforeWait.onlyIf(patient), Learn: learnInUse,
			Send: withToken(func(*run, *recorder.Request, string) {})},
		{Label: "P.before-end", Words: "with the token in use, shortly before its stated end", Plan: withUsed.onlyIf(notQuick), Send: controlled(presentBeforeEnd)},
		{Label: "P.expired", Words: "with an expired token", Plan: withExpired, Send: controlled(presentExpired)},
		{Label: "P.lost-early", Words: "with a token that was used during the wait, before its stated end", Plan: withUsed.onlyIf(notQuick).onDemand(), Send: sentDuringWait},
		{Label: "P.expired-in-use", Words: "with a token that was in use until it expired", Plan: withUsed, Send: presentUsed},
		// These rows repeat a call a minute later if the expired token was accepted, because answers of introspection may be cached.
		{Label: "P.expired-again", Words: "with an expired token, a minute later", Plan: withExpired, Send: againLater("expired", presentExpired)},
		{Label: "P.expired-in-use-again", Words: "with a token that was in use until it expired, a minute later", Plan: withUsed, Send: presentUsedAgain},
		// These rows do the same on the list and the detail, because each guard may have its own cache of verified tokens.
		{Label: "op/*.in-use", Words: "with the token in use", Plan: in(stageLast).alsoOn(onFunding).onlyIf(patient).onlyIf(notQuick), Learn: learnInUse,
			Send: withToken(func(*run, *recorder.Request, string) {})},
		{Label: "op/*.expired", Words: "with an expired token", Plan: withIdleOnFunding, Send: controlled(presentExpired)},
		{Label: "op/*.expired-in-use", Words: "with a token that was in use until it expired", Plan: withUsedOnFunding, Send: presentUsed},
		{Label: "op/*.expired-again", Words: "with an expired token, a minute later", Plan: withExpired.alsoOn(onFunding).onlyIf(notQuick), Send: againLater("expired", presentExpired)},
		{Label: "op/*.expired-in-use-again", Words: "with a token that was in use until it expired, a minute later", Plan: withUsedOnFunding, Send: presentUsedAgain},
		{Label: "op/*.expired", Words: "with an expired token", Send: controlled(presentExpired), Plan: in(stageRest, stageAuthorized).alsoOn(onFunding).onlyIf(notQuick).
			onlyIf(hasExpiredToken)},
	}, lateCases(patient))
}

// lateCases read records again at the very end, after the waits of the run, because a record may change meanwhile (ROB-08).
func lateCases(patient func(Node) bool) []row {
	withoutWait := in(stageLast).onlyIf(notQuick).onDemand().onlyIf(func(n Node) bool { return !patient(n) })
	afterWait := in(stageExpired).inLane("expired").onlyIf(notQuick).onDemand().onlyIf(patient)
	var out []row
	for n, drawn := range evidence.DrawnItems()[:lateRecords] {
		for _, p := range []timing{withoutWait, afterWait} {
			out = append(out, row{Label: evidence.DetailOperation.With(evidence.LateCase(n + 1)), Words: "for a record that was read before, at the end of the run", Plan: p, Send: readLate(n, drawn)})
		}
	}
	return out
}

// lateRecords is how many records are read again.
const lateRecords = 3

// readLate reads the nth drawn record again, if its answer had a strong ETag, which must change with the record.
func readLate(n int, drawn evidence.Case) sender {
	call := callDrawnItem(n)
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		x, sent := r.Journal.Log().Get(at.With(drawn))
		if !sent || x.Status() != 200 || !strings.HasPrefix(strings.Join(evidence.Values(x.Response.Header, "ETag"), ","), `"`) {
			return recorder.Request{}, notApplicable("the answer to %s had no strong ETag", at.With(drawn))
		}
		request, reason := call(ctx, r, at)
		if reason == nil && r.Redactor.Text(request.URL) != x.Request.URL {
			return recorder.Request{}, notApplicable("other records of the list are drawn by now")
		}
		return request, reason
	}
}

const (
	// leeway covers the time after the expiry that servers allow for clocks that differ: Spring 60 s, others up to 120 s.
	leeway = 130 * time.Second
	// cachePause is the wait before an expired token is tried again, so that caches of introspection answers have dropped it.
	cachePause = 60 * time.Second
)

// These are the names of tokens with one purpose.
const (
	throwawayToken = "throw-away token" // it may appear in a URL
	idleToken      = "idle token"       // it is not used until it has expired
	usedToken      = "used token"       // it was in use until it expired
	laterToken     = "later token"      // it is requested at the end of the run
)

// tokenAtEnd requests a token again if the server hands out tokens again. It waits until half of the lifetime is over if the run may wait for that, or else
// for [roundingPause].
func tokenAtEnd(ctx context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	t := r.current()
	issued := r.facts.issueOf(t)
	switch {
	case t.Value == "":
		return recorder.Request{}, unmet("there is no access token")
	case !r.facts.handsOutAgain():
		return recorder.Request{}, notApplicable("the server issues a new token each time")
	}
	pause := issued.first.Obtained.Add(issued.first.Life / 2).Sub(r.Clock())
	if pause > r.Target.Patience() {
		pause = issued.first.Obtained.Add(roundingPause).Sub(r.Clock())
	}
	if pause > 0 {
		if err := r.Pause(ctx, pause); err != nil {
			return recorder.Request{}, cutShort("the run ended first: %v", err)
		}
	}
	q := r.request(r.goodForm())
	if !issued.first.Until.IsZero() { // the answer that brought the token may be that of a renewal, which is not recorded
		q.Given = map[string]string{"token": r.Redactor.Secret(AccessToken, t.Value), "obtained": issued.first.Obtained.UTC().Format(time.RFC3339Nano), "stated": strconv.FormatFloat(issued.first.Life.Seconds(), 'f', -1, 64)}
	}
	return q, nil
}

// roundingPause is the time after which even a rounded expires_in has decreased. A run against a fast node may be shorter.
const roundingPause = 6 * time.Second

const (
	// minEndsGap is the minimum time between the two stated ends of a token for a call between them. endMargin is how long after the first end and before the
	// second end this call is sent.
	minEndsGap = 15 * time.Second
	endMargin  = 3 * time.Second
)

// presentBetweenEnds sends a token that was handed out twice, after the first stated end and before the second one.
func presentBetweenEnds(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	issued := r.facts.issueOf(r.facts.token(laterToken))
	if issued.times < 2 || issued.first.Until.IsZero() || issued.last.Until.Sub(issued.first.Until) < minEndsGap {
		return recorder.Request{}, notApplicable("no token was handed out again with another end")
	}
	left := issued.first.Until.Add(endMargin).Sub(r.Clock())
	if left > r.Target.Patience() {
		return recorder.Request{}, notApplicable("the token lives for another %s, and --wait allows %s", left.Round(time.Second), r.Target.Patience())
	}
	if left > 0 {
		if err := r.Pause(ctx, left); err != nil {
			return recorder.Request{}, cutShort("the run ended first: %v", err)
		}
	}
	if !r.Clock().Before(issued.last.Until.Add(-endMargin)) {
		return recorder.Request{}, notApplicable("both stated lifetimes of the token are over")
	}
	return res.Authorized(issued.last.Value), nil
}

// beforeEnd is how long before its stated end a token is tried again. It allows for clocks that differ and for the time of transfer.
const beforeEnd = 4 * time.Second

// presentBeforeEnd sends the token in use shortly before its stated end, until which it must live. It waits only if the run also waits for the end. For a
// token that is handed out again, [presentBetweenEnds] shows whether the stated lifetime holds.
func presentBeforeEnd(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	t := r.facts.token(usedTokenName(res.Name))
	life, left := t.Until.Sub(t.Obtained), t.Until.Add(-beforeEnd).Sub(r.Clock())
	switch {
	case t.Value == "":
		return recorder.Request{}, unmet("the token in use was not accepted at the end of the run")
	case t.Until.IsZero() || life+leeway > r.Target.Patience():
		return recorder.Request{}, notApplicable("the run does not wait until the token expires (--wait)")
	case r.facts.issueOf(t).times > 1:
		return recorder.Request{}, notApplicable("the server hands out a token again")
	case left < 0:
		return recorder.Request{}, notApplicable("the token has almost expired")
	}
	if err := r.pauseInUse(ctx, left, "the end of a token", nil); err != nil {
		return recorder.Request{}, cutShort("the run ended first: %v", err)
	}
	left = t.Until.Sub(r.Clock())
	if left < beforeEnd/2 {
		return recorder.Request{}, notApplicable("the token has almost expired, because the calls during the wait took long")
	}
	q := res.Authorized(t.Value)
	q.Given = map[string]string{"left": left.Round(time.Second).String(), "until": t.Until.UTC().Format(time.RFC3339Nano)}
	return q, nil
}

// spareToken requests a token that other calls do not use.
func spareToken(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	if r.current().Value == "" {
		return recorder.Request{}, unmet("there is no access token")
	}
	return r.request(r.goodForm()), nil
}

// learnInUse keeps the token in use for the resource, if the node has just accepted it there.
func learnInUse(r *run, at evidence.Resource, a recorder.Answer) {
	if a.Status/100 == 2 {
		r.facts.with(func(f *facts) { f.tokens[usedTokenName(at)] = f.tokens[AccessToken] })
	}
}

// usedTokenName returns the name of the token that was in use on a resource until it expired.
func usedTokenName(at evidence.Resource) string { return usedToken + " " + string(at) }

// presentUsed sends the token that was in use on the resource, after it has expired.
func presentUsed(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	return controlled(presentWaited(usedTokenName(at)))(ctx, r, at)
}

// presentUsedAgain is [presentUsed] a minute later, if the token was accepted the first time.
func presentUsedAgain(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	return againLater("expired-in-use", presentWaited(usedTokenName(at)))(ctx, r, at)
}

// presentExpired sends a token that has expired: the operator's, or a token of the run after its expiry.
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

// presentWaited waits until a token of the run has expired, and sends it.
func presentWaited(name string) func(context.Context, *run, Resource) (recorder.Request, *unsent) {
	return func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		t := r.facts.token(name)
		if issued := r.facts.issueOf(t); issued.last.Until.After(t.Until) { // it was handed out again since, with a later end
			t = issued.last
		}
		if reason := r.waitFor(ctx, t); reason != nil {
			return recorder.Request{}, reason
		}
		q := badTokenRequest(res, AccessToken, t.Value)
		q.Given = map[string]string{"token": fmt.Sprintf("issued %s before", r.Clock().Sub(t.Obtained).Round(time.Second))}
		return q, nil
	}
}

// againLater repeats a case whose expired token was accepted. It waits first, so that caches of introspection answers drop the token.
func againLater(c evidence.Case, send func(context.Context, *run, Resource) (recorder.Request, *unsent)) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		if !r.facts.good(res.Name.With(c)) {
			return recorder.Request{}, notApplicable("the expired token was not accepted the first time")
		}
		if left := r.cacheExpiry().Sub(r.Clock()); left > 0 {
			if err := r.wait(ctx, left, "caches to forget an expired token"); err != nil {
				return recorder.Request{}, cutShort("the run ended first: %v", err)
			}
		}
		return send(ctx, r, res)
	})
}

// cacheExpiry returns when caches have dropped the expired tokens that were accepted: [cachePause] from now. On this machine the run waits only once.
func (r *run) cacheExpiry() time.Time {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	if r.facts.cacheExpiry.IsZero() || !r.Target.Loopback() {
		r.facts.cacheExpiry = r.Clock().Add(cachePause)
	}
	return r.facts.cacheExpiry
}

// waitFor waits until a token has expired by any clock, or says why it does not wait.
func (r *run) waitFor(ctx context.Context, t Token) *unsent {
	wait := r.Target.Patience()
	switch {
	case t.Value == "":
		return unmet("no token was issued that could expire")
	case t.Until.IsZero():
		return cutShort("the lifetime of the token is not known, so it cannot be waited for")
	}
	if life := t.Until.Sub(t.Obtained); life+leeway > wait {
		return notApplicable("the token lives %s, and clocks may differ by %s: --wait %s is needed, %s was allowed (or give an --expired-token, if tokens are JWTs)",
			life.Round(time.Second), leeway, (life + leeway).Round(time.Second), wait)
	}
	if left := t.Until.Add(leeway).Sub(r.Clock()); left > 0 {
		if err := r.pauseInUse(ctx, left, "a token to expire", r.takeFresh(ctx, r.usedTokens())); err != nil {
			return cutShort("the run ended before the token had expired: %v", err)
		}
	}
	return nil
}

// wait announces a pause, and pauses.
func (r *run) wait(ctx context.Context, d time.Duration, cause string) error {
	if r.Waiting != nil {
		r.Waiting(d, cause)
	}
	return r.Pause(ctx, d)
}

// maxTouches bounds how often a token in use is used during a pause.
const maxTouches = 20

// pauseInUse waits like [run.wait]. During the pause it makes calls with the tokens that are to expire in use, also after their stated end, until the node
// refuses them: a node may extend the life of a token each time it is used. These calls are not recorded as evidence. fresh is a token that
// is used in the same way, to notice a node that ends tokens early (expiry_fresh.go); it may be nil.
func (r *run) pauseInUse(ctx context.Context, d time.Duration, cause string, fresh *freshInUse) error {
	if r.Waiting != nil {
		r.Waiting(d, cause)
	}
	used := r.usedTokens()
	until := r.Clock().Add(d) // the calls take time, too
	for touches := touchesDuring(d, used, r.budget-r.before-r.recorder.Sent()); touches > 0; touches-- {
		if err := r.Pause(ctx, max(0, until.Sub(r.Clock()))/time.Duration(touches)); err != nil {
			return err
		}
		if touches == 1 {
			break // at the end of the pause the caller makes the call
		}
		used = slices.DeleteFunc(used, func(u tokenInUse) bool {
			answer := r.recorder.Send(ctx, u.resource.Authorized(u.token.Value))
			return answer.Status == http.StatusUnauthorized
		})
		fresh = r.use(ctx, fresh)
	}
	return nil
}

// touchesDuring returns how often tokens in use are used during a pause: at least twice during the life of each, and in a short pause every 12 seconds,
// because some caches drop an entry that nobody uses for 15 seconds. Half of the requests that are left are kept for the calls after the pause.
func touchesDuring(d time.Duration, used []tokenInUse, left int) int {
	const minTouches, interval = 4, 12 * time.Second
	touches := minTouches
	for _, u := range used {
		if life := u.token.Until.Sub(u.token.Obtained); life > 0 {
			touches = max(touches, int(2*d/life)+1)
		}
	}
	touches = min(touches, maxTouches)
	if n := int(d/interval) + 1; n <= maxTouches && len(used) > 0 {
		touches = max(touches, min(n, left/2/len(used)))
	}
	return touches
}

// tokenInUse is a token that is to expire in use on a resource.
type tokenInUse struct {
	resource Resource
	token    Token
}

// usedTokens lists the resources on which a token is to expire in use, with that token.
func (r *run) usedTokens() (out []tokenInUse) {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	for at, resource := range r.facts.urls {
		if t := r.facts.tokens[usedTokenName(at)]; t.Value != "" {
			out = append(out, tokenInUse{resource, t})
		}
	}
	return out
}

// tokenInQuery sends the throw-away token in a URL. No other call uses this token, because URLs end up in logs.
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

// secretInURL requests a token with the credentials in the query. The operator has allowed this, because URLs end up in logs.
func secretInURL(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	c := r.Target.Credentials
	if r.current().Value == "" {
		return recorder.Request{}, unmet("there is no access token")
	}
	f := r.goodForm()
	f.fields, f.once = f.fields[:1], true // only the grant type stays in the body
	q := r.request(f)
	q.URL = withQuery(q.URL, pair{"client_id", c.ClientID}, pair{"client_secret", c.ClientSecret.Reveal()})
	q.FollowSameOrigin = false
	return q, nil
}
