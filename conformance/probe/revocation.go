package probe

import (
	"context"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// This file revokes a separate token if the metadata names a revocation endpoint (RFC 7009), and sends the token before and after the revocation. After the
// first calls the resource server may have cached that the token is good.

// revokedToken is the name of the token that is revoked. No other calls use it.
const revokedToken = "revoked token"

// revocationCases are the revocations and the calls with the token. They come last, in one lane. The token must differ from the session token, which other
// calls still need.
func revocationCases() []row {
	plan := in(stageLast).inLane("revocation").onceKnown(documentRead).alsoOn(inOwnPlan).onDemand()
	list, detail := evidence.ListOperation, evidence.DetailOperation
	before, after, again := "with a token that is to be revoked", "with a revoked token", "with a revoked token, a minute later"
	return []row{
		{Label: evidence.TokenEndpoint.With("to-revoke"), Words: "for a token that is to be revoked", Plan: plan, Send: tokenToRevoke, Learn: keepTokenAs(revokedToken)},
		// Two JWTs without a jti that were issued in one second are the same token.
		{Label: evidence.TokenEndpoint.With("to-revoke-later"), Words: "for a token that is to be revoked, a second later", Plan: plan, Send: laterTokenToRevoke, Learn: keepTokenAs(revokedToken)},
		{Label: list.With("to-revoke"), Words: before, Plan: plan, Send: controlled(presentToRevoke)},
		{Label: detail.With("to-revoke"), Words: before, Plan: plan, Send: controlled(presentToRevoke)},
		// The server must check that the token is of the client that revokes it.
		{Label: evidence.Revocation.With("by-another-client"), Words: "the revocation of a token by the second client", Plan: plan.onlyIf(withSecond), Send: revokeAsSecond},
		{Label: list.With("revoked-by-another"), Words: "with a token that another client revoked", Plan: plan.onlyIf(withSecond), Send: controlled(presentRevokedByAnother)},
		{Label: evidence.Revocation.With(evidence.OK), Words: "the revocation of a token", Plan: plan, Send: revoke, Learn: learnRevoked},
		{Label: list.With("revoked"), Words: after, Plan: plan, Send: controlled(presentRevoked)},
		{Label: detail.With("revoked"), Words: after, Plan: plan, Send: controlled(presentRevoked)},
		// token_type_hint is only a hint: the server must find a token of another type as well.
		{Label: evidence.TokenEndpoint.With("to-revoke-hinted"), Words: "for a token that is to be revoked as one of another type", Plan: plan, Send: tokenToRevokeAgain, Learn: keepTokenAs(hintedToken)},
		{Label: list.With("to-revoke-hinted"), Words: "with a token that is to be revoked as one of another type", Plan: plan, Send: controlled(presentHinted)},
		{Label: evidence.Revocation.With("hinted"), Words: "the revocation of a token as one of another type", Plan: plan, Send: revokeHinted},
		{Label: list.With("revoked-hinted"), Words: "with a token that was revoked as one of another type", Plan: plan, Send: controlled(presentRevokedHinted)},
		// These rows are sent only if the revoked token was accepted, because answers of introspection may be cached for a while (RFC 7662 §4).
		{Label: list.With("revoked-again"), Words: again, Plan: plan, Send: controlled(presentRevokedLater)},
		{Label: detail.With("revoked-again"), Words: again, Plan: plan, Send: controlled(presentRevokedLater)},
	}
}

// revocationPlan plans [revocationCases] in their order, on the list and the detail if the node has them.
func revocationPlan(n Node) (p Plan) {
	roles := map[evidence.Resource]string{evidence.ListOperation: n.List, evidence.DetailOperation: n.Detail}
	var rows []row
	for _, c := range revocationCases() {
		key, isRole := roles[c.Label.Resource()]
		if isRole {
			c.Label = evidence.OperationResource(key).With(c.Label.Case())
		}
		if !isRole || key != "" {
			rows = append(rows, c)
		}
	}
	if n.List != "" {
		p.add(n, "", rows...)
	}
	return p
}

// tokenToRevoke requests a token if the metadata names a revocation endpoint at the origin of the token endpoint: other hosts must not get the secret.
func tokenToRevoke(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	endpoint := r.facts.issuerFacts().revocation
	switch {
	case endpoint == "":
		return recorder.Request{}, notApplicable("the authorization server publishes no revocation endpoint")
	case !evidence.SameOrigin(endpoint, r.Target.TokenURL):
		return recorder.Request{}, notApplicable("the revocation endpoint is on another origin than the token endpoint, and the secret is sent to no other")
	}
	return spareToken(ctx, r, at)
}

// laterTokenToRevoke requests a token again a second later, if the first one had been handed out before.
func laterTokenToRevoke(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	t := r.facts.token(revokedToken)
	switch {
	case t.Value == "":
		return recorder.Request{}, notApplicable("no token was issued that could be revoked")
	case r.facts.issueOf(t).times == 1:
		return recorder.Request{}, notApplicable("the token that is to be revoked is a new one")
	}
	if err := r.wait(ctx, time.Second, "the next second, in which the server may issue another token"); err != nil {
		return recorder.Request{}, cutShort("the run ended first: %v", err)
	}
	return spareToken(ctx, r, at)
}

// presentToRevoke sends the token before its revocation, unless the server had handed it out before.
func presentToRevoke(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	t := r.facts.token(revokedToken)
	switch {
	case t.Value == "":
		return recorder.Request{}, notApplicable("no token was issued that could be revoked")
	case r.facts.issueOf(t).times > 1:
		return recorder.Request{}, notApplicable("the server hands out a token again, and the run needs it")
	}
	return res.Authorized(t.Value), nil
}

// revoke sends the revocation request (RFC 7009 §2.1), if an operation accepted the token.
func revoke(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	accepted := false
	for _, o := range []string{r.node.List, r.node.Detail} {
		accepted = accepted || o != "" && r.facts.good(evidence.OperationResource(o).With("to-revoke"))
	}
	if !accepted {
		return recorder.Request{}, notApplicable("no operation accepted a token that could be revoked")
	}
	return r.revocation(revokedToken, "access_token", ClientSecret, r.Target.Credentials), nil
}

// hintedToken is the name of the token that is revoked with the hint of another type.
const hintedToken = "token revoked as another type"

// tokenToRevokeAgain requests a token if the list refused a revoked one.
func tokenToRevokeAgain(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	if s := r.facts.status(evidence.OperationResource(r.node.List).With("revoked")); s != 401 && s != 403 {
		return recorder.Request{}, notApplicable("the list refused no token because it was revoked")
	}
	return spareToken(ctx, r, at)
}

func presentHinted(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	t := r.facts.token(hintedToken)
	if t.Value == "" || r.facts.issueOf(t).times > 1 {
		return recorder.Request{}, notApplicable("there is no further token that could be revoked")
	}
	return res.Authorized(t.Value), nil
}

// revokeHinted revokes the token with a hint that does not fit it.
func revokeHinted(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	if !r.facts.good(evidence.OperationResource(r.node.List).With("to-revoke-hinted")) {
		return recorder.Request{}, notApplicable("the list accepted no further token that could be revoked")
	}
	return r.revocation(hintedToken, "refresh_token", ClientSecret, r.Target.Credentials), nil
}

func presentRevokedHinted(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	if r.facts.status(evidence.Revocation.With("hinted")) != 200 {
		return recorder.Request{}, notApplicable("no token was revoked as one of another type")
	}
	return res.Authorized(r.facts.token(hintedToken).Value), nil
}

// revocation returns the revocation request of a client.
func (r *run) revocation(token, hint, secret string, c target.Credentials) recorder.Request {
	fields := []Field{{Name: "token", Value: r.facts.token(token).Value}, {Name: "token_type_hint", Value: hint}}
	q := TokenRequest(r.Target, secret, append(fields, Credentialed(c)[1:]...)...)
	q.URL, q.Issues, q.FollowSameOrigin = r.facts.issuerFacts().revocation, "", false
	return q
}

// revokeAsSecond sends the revocation request as the second client, to which the token was not issued, if the list accepted the token.
func revokeAsSecond(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	if r.node.List == "" || !r.facts.good(evidence.OperationResource(r.node.List).With("to-revoke")) {
		return recorder.Request{}, notApplicable("the list accepted no token that could be revoked")
	}
	return r.revocation(revokedToken, "access_token", SecondSecret, *r.Target.Second), nil
}

// presentRevokedByAnother sends the token that another client tried to revoke.
func presentRevokedByAnother(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	if r.facts.status(evidence.Revocation.With("by-another-client")) == 0 {
		return recorder.Request{}, notApplicable("no other client tried to revoke the token")
	}
	return res.Authorized(r.facts.token(revokedToken).Value), nil
}

// learnRevoked keeps the time of a successful revocation.
func learnRevoked(r *run, _ evidence.Resource, a recorder.Answer) {
	if a.Status == 200 {
		now := r.Clock()
		r.facts.with(func(f *facts) { f.revoked = now })
	}
}

// presentRevoked sends the revoked token to a resource that accepted it before.
func presentRevoked(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	if r.revokedAt().IsZero() || !r.facts.good(res.Name.With("to-revoke")) {
		return recorder.Request{}, notApplicable("no token that %s accepted was revoked", res.Name)
	}
	return res.Authorized(r.facts.token(revokedToken).Value), nil
}

// presentRevokedLater sends the revoked token again, after caches should have dropped it.
func presentRevokedLater(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	if !r.facts.good(res.Name.With("revoked")) {
		return recorder.Request{}, notApplicable("the revoked token was not accepted the first time")
	}
	if left := r.revokedAt().Add(cachePause).Sub(r.Clock()); left > 0 {
		if err := r.wait(ctx, left, "caches to forget a revoked token"); err != nil {
			return recorder.Request{}, cutShort("the run ended first: %v", err)
		}
	}
	return res.Authorized(r.facts.token(revokedToken).Value), nil
}

func (r *run) revokedAt() time.Time {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.revoked
}
