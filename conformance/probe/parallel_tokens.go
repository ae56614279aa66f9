package probe

import (
	"context"
	"net/http"
	"strconv"
	"sync"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file requests tokens for two clients at the same time, and calls the list with each of them. A server that keeps the client of a request in a variable
// that all requests share gives some tokens the role, the audience or the account of the other client.

// parallelTokens is how many tokens each of the two clients requests at the same time.
const parallelTokens = 3

// parallelTokenCases come last, because a server may accept only the newest token of a client. list.new-token is for a first token of the other client.
func parallelTokenCases() []row {
	plan := in(stageLast).inLane("parallel tokens").onlyIf(notQuick)
	out := []row{
		{Label: "list.new-token", Words: "with a new token", Plan: plan.onDemand(), Send: callWithNewToken},
		{Label: "list.old-token", Words: "with the token before the new one", Plan: plan.onDemand(), Send: callWithOldToken},
	}
	for n := range parallelTokens {
		out = append(out, row{
			Label: evidence.ListOperation.With(evidence.ParallelTokenCase(n + 1)), Words: "with a token that was requested while another client requested one",
			Plan: plan.onlyIf(withSecond), Send: controlled(presentParallel(n)),
		})
	}
	// The control of a refusal: a quota may have been used up meanwhile.
	out = append(out, row{Label: "list.lone-token", Words: "with a token that was requested alone", Plan: plan.onlyIf(withSecond), Send: controlled(presentLone)})
	for n := range parallelTokens {
		out = append(out, row{
			Label: evidence.ListOperation.With("roleless-" + evidence.ParallelTokenCase(n+1)), Words: "by the client without the role, with a token that was requested while the first client requested one",
			Plan: plan.onlyIf(withSecond), Send: controlled(presentRolelessParallel(n)),
		})
	}
	return out
}

// callWithNewToken makes the good call of an operation that answered 403, with a token that is requested while nobody else requests one.
func callWithNewToken(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	if status := r.facts.status(at.With(evidence.OK)); status != http.StatusForbidden {
		return recorder.Request{}, notApplicable("it would show the cause of a refusal with 403, and the answer was %d", status)
	}
	r.facts.keep(oldToken, r.current())
	if !r.takeNewToken(ctx) {
		return recorder.Request{}, unmet("the client got no new token")
	}
	return goodCall(ctx, r, at)
}

// oldToken is the name of the token that [callWithNewToken] replaces.
const oldToken = "old token"

// callWithOldToken sends the refused token again: the client may have got its role meanwhile.
func callWithOldToken(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	old := r.facts.token(oldToken)
	if !r.facts.good(at.With("new-token")) || old.Value == "" || old.Value == r.current().Value {
		return recorder.Request{}, notApplicable("no new token was accepted where another one was refused")
	}
	res, reason := r.locateResource(at)
	return res.Authorized(old.Value), reason
}

// presentLone sends the token that was requested after the others.
func presentLone(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	if r.facts.token(parallelToken(AccessToken, 0)).Value == "" {
		return recorder.Request{}, notApplicable("no tokens were requested at the same time")
	}
	return r.authorized(ctx, res)
}

// takeNewToken requests the token that the run uses from now on. The request has no label, because no requirement needs it.
func (r *run) takeNewToken(ctx context.Context) bool {
	t, ok := ReadToken(r.recorder.Send(ctx, TokenRequest(r.Target, ClientSecret, Credentialed(r.Target.Credentials)...)), r.Clock())
	if ok {
		r.facts.keep(AccessToken, t)
	}
	return ok
}

// parallelToken is the name of the n-th of these tokens, counted from 0, of the client whose tokens have a name in evidence.
func parallelToken(client string, n int) string { return client + " in parallel " + strconv.Itoa(n+1) }

// presentParallel sends one of the first client's tokens. Before the first of these calls it requests all of them, and another one for the rest of the run.
func presentParallel(n int) func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	return func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		if r.Target.Politeness.Rate > 0 {
			return recorder.Request{}, notApplicable("the run limits its rate, so that two requests would not run at the same time")
		}
		if n == 0 {
			r.requestInParallel(ctx)
			r.takeNewToken(ctx)
		}
		t := r.facts.token(parallelToken(AccessToken, n))
		if t.Value == "" {
			return recorder.Request{}, notApplicable("the client got no such token")
		}
		return res.Authorized(t.Value), nil
	}
}

func presentRolelessParallel(n int) func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	return func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		t := r.facts.token(parallelToken(SecondAccessToken, n))
		if t.Value == "" {
			return recorder.Request{}, notApplicable("the client without the role got no such token")
		}
		return res.GetWith(SecondAccessToken, "Bearer "+t.Value), nil
	}
}

// requestInParallel requests tokens for both clients at the same time. The requests have no label, because no requirement needs them.
func (r *run) requestInParallel(ctx context.Context) {
	first, second := TokenRequest(r.Target, ClientSecret, Credentialed(r.Target.Credentials)...), r.secondRequest()
	first.NoRetry, second.NoRetry = true, true
	var group sync.WaitGroup
	request := func(q recorder.Request, name string) {
		group.Go(func() {
			defer func() { _ = recover() }() // an answer of the node must not end the run
			if t, ok := ReadToken(r.recorder.Send(ctx, q), r.Clock()); ok {
				r.facts.keep(name, t)
			}
		})
	}
	for n := range parallelTokens {
		request(first, parallelToken(AccessToken, n))
		request(second, parallelToken(SecondAccessToken, n))
	}
	group.Wait()
}
