package probe

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// This file calls the list with other tokens than the session token. Some were requested for two clients at the same time: a server that keeps the client of
// a request in a variable that all requests share gives some tokens the role, the audience or the account of the other client.

// parallelTokenCases come last, because a server may accept only the newest token of a client. list.new-token shows whether the first token of the run
// belongs to the other client.
func parallelTokenCases() []row {
	plan := in(stageLast).inLane("parallel tokens").onlyIf(notQuick)
	out := append(parallelRequestCases(),
		row{Label: "list.new-token", Words: "with a new token", Plan: plan.onDemand(), Send: callWithNewToken},
		row{Label: "list.old-token", Words: "with the token before the new one", Plan: plan.onDemand(), Send: callWithOldToken})
	for n := range parallelTokens(AccessToken) {
		out = append(out, row{
			Label: evidence.ListOperation.With(evidence.ParallelTokenCase(n + 1)), Words: "with a token that was requested while another client requested one",
			Plan: plan.onlyIf(withSecond), Send: controlled(presentParallel(n)),
		})
	}
	// This row is the control of a refusal: a quota may have been used up meanwhile.
	out = append(out, row{Label: "list.lone-token", Words: "with a token that was requested alone", Plan: plan.onlyIf(withSecond).onDemand(), Send: controlled(presentLone)})
	for n := range parallelTokens(SecondAccessToken) {
		out = append(out, row{
			Label: evidence.ListOperation.With("roleless-" + evidence.ParallelTokenCase(n+1)), Words: "by the client without the role, with a token that was requested while the first client requested one",
			Plan: plan.onlyIf(withSecond), Send: controlled(presentRolelessParallel(n)),
		})
	}
	return out
}

// parallelRequestCases are the token requests of both clients in bursts, and one request after them, whose token the run then uses. The first request of a
// burst sends the others, too. Each row has its own lane, because rows of one lane follow one another.
func parallelRequestCases() []row {
	plan := in(stageLast).onlyIf(withSecond).onlyIf(notQuick).onDemand()
	words := func(l evidence.Label) string {
		if l.Resource() == evidence.SecondClient {
			return "the token request of the second client at the same time as others"
		}
		return "at the same time as requests of another client"
	}
	var out []row
	for _, burst := range evidence.ParallelTokenRequests() {
		out = append(out, row{Label: burst[0], Words: words(burst[0]), Plan: plan, Send: requestInParallel(burst, words), Learn: keepParallel(burst)})
		for _, other := range burst[1:] {
			out = append(out, row{Label: other, Words: words(other), Plan: plan, Send: sentBeside(burst[0])})
		}
	}
	return append(out, row{Label: evidence.LoneTokenRequest, Words: "alone, after several at the same time", Plan: plan, Send: requestAlone, Learn: keepTokenAs(AccessToken)})
}

// requestInParallel sends the token requests of a burst.
func requestInParallel(burst []evidence.Label, words func(evidence.Label) string) sender {
	return func(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
		switch {
		case r.current().Value == "" || r.facts.token(SecondAccessToken).Value == "":
			return recorder.Request{}, unmet("one of the clients got no token")
		case r.recorder.Burst() < len(burst):
			return recorder.Request{}, noBurst()
		}
		var requests []recorder.Request
		for _, l := range burst {
			q := r.secondRequest()
			if l.Resource() == evidence.TokenEndpoint {
				q = TokenRequest(r.Target, ClientSecret, Credentialed(r.Target.Credentials)...)
			}
			q.Label, q.Words, q.Limit, q.NoRetry, q.Verify = l, words(l), limitOf(l), true, r.verifyIssued
			requests = append(requests, q)
		}
		requests[0].Beside = requests[1:]
		return requests[0], nil
	}
}

// verifyIssued verifies the token of an answer with the published keys. It returns nil if they have no key with the kid of the token, because the keys may
// have changed since.
func (r *run) verifyIssued(body []byte) *evidence.Verification {
	var answer struct {
		Token string `json:"access_token"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil
	}
	t, isJWT := tokenforge.Read(answer.Token)
	if !isJWT || !tokenforge.Asymmetric(t.Algorithm()) || t.KeyID() == "" {
		return nil
	}
	keys := r.facts.issuerFacts().keys
	if !slices.ContainsFunc(keys, func(k tokenforge.Published) bool { return k.ID == t.KeyID() }) {
		return nil
	}
	return tokenforge.VerifyWith(answer.Token, r.Redactor.Secret(AccessToken, answer.Token), keys)
}

// sentBeside says why a request was not sent at the same time as another one. If the request was sent, its label has ended, and the reason is ignored.
func sentBeside(first evidence.Label) sender {
	return func(context.Context, *run, evidence.Resource) (recorder.Request, *unsent) {
		return recorder.Request{}, notApplicable("it is sent at the same time as %s only, and that was not sent", first)
	}
}

// keepParallel keeps the tokens of a burst.
func keepParallel(burst []evidence.Label) learner {
	return func(r *run, _ evidence.Resource, a recorder.Answer) {
		if len(a.Beside) == 0 {
			return
		}
		for i, answer := range append([]recorder.Answer{a}, a.Beside...) {
			if t, ok := ReadToken(answer, r.Clock()); ok {
				r.facts.with(func(f *facts) { f.tokens[parallelToken(burst[i])] = t }) // not counted as handed out, because two JWTs of one second may be equal
			}
		}
	}
}

// requestAlone requests a token after the bursts.
func requestAlone(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	isSent := func(burst []evidence.Label) bool { return r.facts.status(burst[0]) > 0 }
	if !r.hasParallelTokens() && !slices.ContainsFunc(evidence.ParallelTokenRequests(), isSent) {
		return recorder.Request{}, notApplicable("no tokens were requested at the same time")
	}
	return tokenRequest(nil)(ctx, r, at)
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

// presentLone sends the token that was requested after the others, if one of the others was refused.
func presentLone(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	refused := false
	for n := range parallelTokens(AccessToken) {
		refused = refused || r.facts.status(res.Name.With(evidence.ParallelTokenCase(n+1)))/100 == 4
	}
	switch {
	case !r.facts.good(evidence.LoneTokenRequest):
		return recorder.Request{}, notApplicable("no token was requested after others at the same time")
	case !refused:
		return recorder.Request{}, notApplicable("it would show the cause of a refusal, and no token that was requested at the same time as others was refused")
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

// parallelTokens lists the names of the tokens that a client requested at the same time as others. client is the name of its tokens in evidence.
func parallelTokens(client string) []string {
	var out []string
	for _, l := range slices.Concat(evidence.ParallelTokenRequests()...) {
		if (client == SecondAccessToken) == (l.Resource() == evidence.SecondClient) {
			out = append(out, parallelToken(l))
		}
	}
	return out
}

// parallelToken returns the name of the token from one of these requests.
func parallelToken(l evidence.Label) string { return "token of " + string(l) }

// hasParallelTokens reports whether one of these requests yielded a token.
func (r *run) hasParallelTokens() bool {
	return slices.ContainsFunc(slices.Concat(evidence.ParallelTokenRequests()...), func(l evidence.Label) bool { return r.facts.token(parallelToken(l)).Value != "" })
}

// presentParallel sends one of the first client's tokens.
func presentParallel(n int) func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	return func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		t := r.facts.token(parallelTokens(AccessToken)[n])
		if t.Value == "" {
			return recorder.Request{}, notApplicable("the client got no token that was requested at the same time as others")
		}
		return res.Authorized(t.Value), nil
	}
}

func presentRolelessParallel(n int) func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	return func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		t := r.facts.token(parallelTokens(SecondAccessToken)[n])
		if t.Value == "" {
			return recorder.Request{}, notApplicable("the client without the role got no such token")
		}
		return res.GetWith(SecondAccessToken, "Bearer "+t.Value), nil
	}
}

// otherWayCases call the list with a token that the client requested in another way than the session token: by HTTP Basic, with encoded values, or with
// parameters that a server must ignore. Other code of the server issues such a token, and may leave out the role or the audience.
func otherWayCases() []row {
	return []row{{Label: evidence.ListOperation.With(evidence.OtherWay), Words: "with a token that was requested in another way",
		Plan: in(stageRest, stageAuthorized, stageTokens).onlyIf(notQuick), Send: controlled(presentOtherWay)}}
}

// otherWays returns the labels of the token requests in other ways.
func otherWays() []evidence.Label {
	return []evidence.Label{"token.basic", "token.basic-unencoded", "token.basic-percent-encoded", "token.percent-encoded", "token.unknown-parameter", "token.empty-scope"}
}

// keepOtherWay keeps the token of a request in another way under a name of its own, beside the session token.
func keepOtherWay(r *run, _ evidence.Resource, a recorder.Answer) {
	if t, ok := ReadToken(a, r.Clock()); ok {
		r.facts.with(func(f *facts) { f.tokens[otherWayName(a.Exchange.Label)] = t })
	}
}

// otherWayName returns the name under which the run keeps the token of a request.
func otherWayName(l evidence.Label) string { return "token of " + string(l) }

// presentOtherWay sends a token that was requested in another way: by HTTP Basic in more than half of the runs, because clients use it more
// often than the other ways.
func presentOtherWay(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	issued := slices.DeleteFunc(otherWays(), func(l evidence.Label) bool {
		t := r.facts.token(otherWayName(l))
		return t.Value == "" || t.Value == r.current().Value || t.Stale(r.Clock())
	})
	if len(issued) == 0 {
		return recorder.Request{}, notApplicable("no token that was requested in another way lives long enough")
	}
	s := r.source(res.Name, "token of another way")
	way := draw.One(s, issued...)
	if s.Below(2) == 0 {
		way = issued[0]
	}
	q := res.Authorized(r.facts.token(otherWayName(way)).Value)
	q.Given = map[string]string{"issued": string(way)}
	return q, nil
}
