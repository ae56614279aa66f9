package probe

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file calls list and detail as the client without the role, in ways in which the check of a role is often forgotten: right after a good call, with
// ids of others, and by other paths and header fields.

// roleCases are further calls of the list and the detail by the client without the role.
func roleCases() []row {
	plan := in(stageRest, stageSecond, stageAuthorized).onlyIf(withSecond)
	return []row{
		{Label: evidence.EveryOperation.With(evidence.RolelessHead), Words: "by the client without the role", Plan: plan, Send: withoutRole(func(_ context.Context, _ *run, _ Resource, q *recorder.Request) {
			q.Method, q.FollowSameOrigin = http.MethodHead, false
		})},
		{Label: evidence.EveryOperation.With("roleless-together"), Words: "by the client without the role, while the first client calls, too", Plan: plan, Send: withoutRole(sendGoodCalls)},
	}
}

// roleCachePlan requests one URL as the client without the role, then as the good client, and right after it as the client without the role again. A cache
// between the checks of the token and of the role gives that client what the good client has read. The first refusal shows that the operation needs the
// role. The list and the detail are left out, because [accessPlan] covers them.
func roleCachePlan(n Node, o openapi.Operation) (p Plan) {
	if o.Key == n.List || o.Key == n.Detail {
		return p
	}
	plan := in(stageRest, stageSecond, stageAuthorized).inLane("around a good call").onlyIf(withSecond).onlyIf(notQuick)
	addOwnQuery := func(r *run, q *recorder.Request) {
		s := r.source(evidence.EveryOperation, q.URL+" around")
		q.URL = withQuery(q.URL, pair{s.Word(), s.UUID()})
	}
	roleless := withoutRole(func(_ context.Context, r *run, _ Resource, q *recorder.Request) { addOwnQuery(r, q) })
	p.add(n, evidence.OperationResource(o.Key), []row{
		{Label: evidence.EveryOperation.With("roleless-before"), Words: "by the client without the role and with a query that nobody has sent before", Plan: plan, Send: roleless},
		{Label: evidence.EveryOperation.With("good-between"), Words: "with a query that was refused to the client without the role", Plan: plan,
			Send: withToken(func(r *run, q *recorder.Request, _ string) { addOwnQuery(r, q) })},
		{Label: evidence.EveryOperation.With("roleless-behind"), Words: "by the client without the role and with the query of a good call", Plan: plan, Send: roleless},
	}...)
	return p
}

// callerCases request new URLs as the first client and as the spare one, which has a role of its own: a cache may give one caller the answer for another.
// Each client calls one URL first and another one second; a third URL shows whether the answer for the spare client changes.
func callerCases() []row {
	plan := in(stageRest, stageAuthorized, stageSpare).inLane("callers").onlyIf(withSpare).onlyIf(notQuick)
	addQuery := func(q *recorder.Request, r *run, place string) {
		s := r.source(evidence.EveryOperation, q.URL+" caller "+place)
		q.URL = withQuery(q.URL, pair{s.Word(), s.UUID()})
	}
	first := func(kind evidence.Case, words, place string) row {
		return row{Label: evidence.EveryOperation.With(kind), Words: words, Plan: plan, Send: withToken(func(r *run, q *recorder.Request, _ string) { addQuery(q, r, place) })}
	}
	spare := func(kind evidence.Case, words, place string) row {
		return row{Label: evidence.EveryOperation.With(kind), Words: words, Plan: plan, Send: controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
			t := r.issuedToken(ctx, SpareAccessToken)
			if t.Value == "" {
				return recorder.Request{}, unmet("the client that may be locked out got no token")
			}
			q := res.GetWith(SpareAccessToken, "Bearer "+t.Value)
			addQuery(&q, r, place)
			return q, nil
		})}
	}
	return []row{
		spare("caller-spare", "by the client that may be locked out", "a"), first("caller-good-after", "after that client called, at the same URL", "a"),
		first("caller-good", "with a query of its own, before another client calls", "b"), spare("caller-spare-after", "by the client that may be locked out, after the first one called, at the same URL", "b"),
		spare("caller-spare-again", "by the client that may be locked out, at another URL", "c"),
	}
}

// withoutRole changes the good request and sends it with the token of the client without the role.
func withoutRole(change func(ctx context.Context, r *run, res Resource, q *recorder.Request)) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		token, reason := r.secondToken(ctx)
		q := res.GetWith(SecondAccessToken, "Bearer "+token)
		if reason == nil {
			change(ctx, r, res, &q)
		}
		return q, reason
	})
}

// sendGoodCalls sends good calls at the same time as a request: a node that keeps the caller in a global variable confuses the callers. The calls have no
// label, because no requirement needs them.
func sendGoodCalls(ctx context.Context, r *run, res Resource, q *recorder.Request) {
	good, reason := r.authorized(ctx, res)
	if reason != nil {
		return
	}
	good.NoRetry = true
	if o, ok := r.node.operation(res.Name); ok { // one page is enough
		if size, ok := sizeParameter(o); ok && size.In == "query" {
			good.URL = withQuery(good.URL, pair{size.Name, strconv.Itoa(atLeast(size.Schema, 10))})
		}
	}
	q.Beside = slices.Repeat([]recorder.Request{good}, r.recorder.Burst()-1)
}

// roleDetours are the detours of [detourFamilies] with the token of the client without the role, on the list and the detail: [accessPlan] plans them.
func roleDetours() []row {
	var out []row
	for _, d := range slices.Concat([]detour{insideDetour()}, plainPathDetours(), headerDetours(), pathDetours(), traitDetours(), methodDetours()) {
		plan := in(stageRest, stageSecond, stageAuthorized).onlyIf(withSecond).onlyIf(notQuick)
		out = append(out, row{
			Label: evidence.EveryOperation.With("roleless-" + d.variant), Words: strings.Replace(d.words, "without a token", "by the client without the role", 1),
			Family: evidence.RoleDetours, Plan: plan,
			Send: controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
				token, reason := r.secondToken(ctx)
				if reason != nil {
					return recorder.Request{}, reason
				}
				q := res.GetWith(SecondAccessToken, "Bearer "+token)
				if !d.change(r.source(res.Name, "roleless-"+string(d.variant)), r, &q) {
					return q, notApplicable("%s has no such variant", res.Name)
				}
				return q, nil
			}),
		})
	}
	return out
}

// plainPathDetours are the spellings of a path that [bearerCases] tries without a token. The rule for the role often covers only the path in the document,
// although the rule for the token covers every path.
func plainPathDetours() []detour {
	var out []detour
	for _, v := range []struct {
		kind    evidence.Case
		variant func(s draw.Source) func(pathParts) string
	}{
		{"path-slash", always(otherSlash)}, {"path-double-slash", always(doubledSlash)}, {"path-dot", always(dotSegment)}, {"path-upper", drawnCase},
		{"path-extension", always(extension)}, {"path-suffix", pathParameter}, {"path-encoded", func(s draw.Source) func(pathParts) string {
			return draw.One(s, encodedLetter, encodedLetters)(s)
		}},
	} {
		out = append(out, detour{v.kind, "without a token and under another spelling of the path", func(s draw.Source, _ *run, q *recorder.Request) bool {
			text, ok := pathVariant(q.URL, v.variant(s))
			q.URL = text
			return ok
		}})
	}
	return out
}

func always(variant func(pathParts) string) func(draw.Source) func(pathParts) string {
	return func(draw.Source) func(pathParts) string { return variant }
}

// insideDetour names a user, roles and an internal caller at once: a node that trusts one of these headers is open, whatever the others say.
func insideDetour() detour {
	return detour{"inside", "without a token and with a user and roles from inside, by headers", func(s draw.Source, r *run, q *recorder.Request) bool {
		set := func(value string, names ...string) {
			for _, name := range names {
				setHeader(q, name, value)
			}
		}
		set(userName(s, r, q), "X-Forwarded-User", "X-Remote-User", "Remote-User", "X-Auth-Request-User", "X-User-Id", "X-User", "X-Username", "X-Consumer-Username", "X-Authenticated-User", "X-Client-Id")
		set(draw.One(s, "EXTERNAL_API_CLIENT", "EXTERNAL_API_CLIENT", "admin", "ROLE_ADMIN"), "X-User-Roles", "X-Roles", "X-Role", "X-Forwarded-Groups", "X-Auth-Request-Groups", "X-Scopes")
		set(draw.One(s, "true", "1", "yes"), "X-Internal", "X-Internal-Request", "X-Internal-Call", "X-Trusted", "X-Authenticated", "X-Authorized")
		return true
	}}
}
