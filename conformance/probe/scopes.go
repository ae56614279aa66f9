package probe

import (
	"context"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// scopeCases plans token requests with scopes that the authorization server names: one, two, and one with an unknown scope. They come before the request for
// the session token, because a server may keep only one valid token for each client.
func scopeCases() []row {
	first := client{evidence.TokenEndpoint, "", ClientSecret, AccessToken, func(t target.Target) *target.Credentials { return &t.Credentials }}
	plan := in(stageTokens, stageToken, stageMetadata).inLane("scopes").onlyIf(notQuick)
	// Requests for the scopes of the document come last, because a server may then revoke the session token.
	documented := in(stageLast).inLane("documented scopes").onlyIf(notQuick).onDemand()
	return slices.Concat(first.scopeCases(plan), []row{
		{Label: "token.repeated-scope", Words: "with scope twice", Plan: plan, Send: first.repeatedScope},
		{Label: "token.scope-narrow", Words: "with another scope than the operations need", Plan: documented.onceKnown(documentRead), Send: first.narrowScope, Learn: keepTokenAs(narrowToken)},
		{Label: "op/*.narrow-scope", Words: "with a token for another scope", Plan: documented.alsoOn(onGuarded), Send: controlled(func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
			t := r.facts.token(narrowToken)
			if t.Value == "" {
				return recorder.Request{}, notApplicable("the server issued no token for another scope than the operations need")
			}
			return res.GetWith(AccessToken, "Bearer "+t.Value), nil
		})},
		{Label: "token.scope-list", Words: "with the scopes that the list and the detail need, and other operations do not", Plan: documented.onceKnown(documentRead), Send: first.listScope, Learn: keepTokenAs(listToken)},
		{Label: "op/*.list-scope", Words: "with a token for the scopes of the list", Plan: documented.alsoOn(onGuarded), Send: controlled(func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
			t, needed := r.facts.token(listToken), r.node.requiredScopes()
			o, _ := r.operation(res.Name)
			switch {
			case t.Value == "":
				return recorder.Request{}, notApplicable("the server issued no token for the scopes of the list")
			case !needsOtherScope(o, needed):
				return recorder.Request{}, notApplicable("the operation needs no other scope than the list")
			}
			return res.GetWith(AccessToken, "Bearer "+t.Value), nil
		})},
		{Label: evidence.SecondClient.With("scope-documented"), Words: "the token request of the second client with the scopes that the document names", Plan: documented.onceKnown(documentRead).onlyIf(withSecond),
			Send: secondClient().documentedScope, Learn: keepTokenAs(documentedToken)},
		{Label: "op/*.roleless-documented-scope", Words: "by the client without the role, with a token for the scopes that the document names", Plan: documented.alsoOn(onFunding).onlyIf(withSecond),
			Send: presentRoleless(documentedToken, "the client without the role got no token for the scopes that the document names")},
		{Label: "op/*.roleless-scope", Words: "by the client without the role, with a token for a scope", Send: presentRoleless(scopedToken, "the client without the role got no token for a scope"),
			Plan: in(stageRest, stageAuthorized, stageSecond).alsoOn(onFunding).onlyIf(withSecond).onlyIf(notQuick)},
	})
}

// These are the names of tokens for scopes.
const (
	scopedToken     = "scoped token"                // of the second client, for a scope that the server names
	documentedToken = "token for documented scopes" // of the second client, for the scopes of the document
	narrowToken     = "narrow token"                // of the first client, for a scope that the list and the detail do not need
	listToken       = "token for the list"          // of the first client, for the scopes that the list and the detail need
)

// scopeCases plans the requests of one client for scopes that the server names.
func (c client) scopeCases(plan timing) []row {
	words := func(text string) string {
		if c.words == "" {
			return text
		}
		return "the token request of " + c.words + " " + text
	}
	out := []row{
		{Label: c.at.With("scope-known"), Words: words("with a scope that the server names"), Plan: plan, Send: c.drawnScope(func(_ draw.Source, known []string) (string, string) {
			return known[0], ""
		})},
		{Label: c.at.With("scope-more"), Words: words("with an unknown scope beside one that the server names"), Plan: plan, Send: c.drawnScope(func(s draw.Source, known []string) (string, string) {
			unknown := draw.One(s, s.Name(), s.Name(), known[0]+"."+s.Word(), strings.ToUpper(known[0])) // scopes have case (RFC 6749 §3.3)
			if slices.Contains(known, unknown) {
				unknown = s.Name()
			}
			both := []string{known[0], unknown}
			draw.Shuffle(s, both)
			return strings.Join(both, " "), unknown
		})},
		{Label: c.at.With("scope-two"), Words: words("with two scopes that the server names"), Plan: plan, Send: c.drawnScope(func(_ draw.Source, known []string) (string, string) {
			return strings.Join(known[:min(2, len(known))], " "), ""
		})},
	}
	if c.at == evidence.SecondClient { // only the first client requests two scopes at once
		out[0].Learn = keepTokenAs(scopedToken)
		out = out[:2]
	}
	return out
}

// drawnScope sends a token request with the scope that choose makes from the known scopes, which are in a drawn order. unknown is the part of it that the server
// cannot know, if any.
func (c client) drawnScope(choose func(s draw.Source, known []string) (scope, unknown string)) sender {
	return func(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		known := r.facts.scopeNames()
		switch {
		case r.facts.token(c.token).Value == "":
			return recorder.Request{}, unmet("there is no access token")
		case len(known) == 0:
			return recorder.Request{}, notApplicable("neither the metadata nor a token answer names a scope")
		}
		s := r.source(at, "scopes")
		draw.Shuffle(s, known)
		scope, unknown := choose(s, known)
		onlyFirst := scope == known[0] && unknown == ""
		if at == evidence.SecondClient && onlyFirst && len(known) > 1 {
			scope = known[1]
		}
		q := c.scopeRequest(r, scope)
		if unknown != "" {
			q.Given["unknown"] = unknown
		}
		return q, nil
	}
}

// repeatedScope sends a token request with a scope that the server names, twice.
func (c client) repeatedScope(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	q, reason := c.drawnScope(func(_ draw.Source, known []string) (string, string) { return known[0], "" })(ctx, r, at)
	if reason == nil {
		q.Body = slices.Concat(q.Body, []byte("&"), Form(Field{Name: "scope", Value: q.Given["scope"]}))
	}
	return q, reason
}

// narrowScope sends a token request with a scope that the document requires neither for the list nor for the detail.
func (c client) narrowScope(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	needed := r.node.requiredScopes()
	if len(needed) == 0 {
		return recorder.Request{}, notApplicable("the document asks for no scope")
	}
	others := slices.DeleteFunc(append(r.facts.scopeNames(), r.node.Document.Scopes...), func(scope string) bool { return slices.Contains(needed, scope) })
	if len(others) == 0 {
		return recorder.Request{}, notApplicable("no scope is known that the operations do not need")
	}
	// A server that compares texts in place of scopes takes funding:read:documents for funding:read.
	alike := slices.DeleteFunc(slices.Clone(others), func(scope string) bool {
		return !slices.ContainsFunc(needed, func(need string) bool { return strings.Contains(scope, need) })
	})
	if len(alike) > 0 {
		others = alike
	}
	return c.scopeRequest(r, draw.One(r.source(at, "narrow scope"), others...)), nil
}

// listScope sends a token request with the scopes that the document requires for the list and the detail, if other operations need others.
func (c client) listScope(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	needed := r.node.requiredScopes()
	for _, o := range r.node.Document.Operations {
		if len(needed) > 0 && needsOtherScope(o, needed) {
			return c.scopeRequest(r, strings.Join(needed, " ")), nil
		}
	}
	return recorder.Request{}, notApplicable("no operation needs another scope than the list and the detail")
}

// needsOtherScope reports whether an operation requires a scope that is not among the given ones.
func needsOtherScope(o openapi.Operation, scopes []string) bool {
	return o.Security != nil && slices.ContainsFunc(o.Security.Scopes, func(scope string) bool { return !slices.Contains(scopes, scope) })
}

// documentedScope sends a token request with the scopes that the document requires for the list and the detail.
func (c client) documentedScope(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	needed := r.node.requiredScopes()
	if len(needed) == 0 {
		return recorder.Request{}, notApplicable("the document asks for no scope")
	}
	return c.scopeRequest(r, strings.Join(needed, " ")), nil
}

// scopeRequest returns the token request of the client with a scope.
func (c client) scopeRequest(r *run, scope string) recorder.Request {
	f := c.form(r)
	f.fields = append(f.fields, Field{Name: "scope", Value: scope})
	q := c.request(r, f)
	q.Given = map[string]string{"scope": scope}
	return q
}

// requiredScopes returns the scopes that the document requires for the list and the detail.
func (n Node) requiredScopes() []string {
	var out []string
	for _, key := range []string{n.List, n.Detail} {
		if o, ok := n.Operation(key); ok && o.Security != nil {
			out = append(out, o.Security.Scopes...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// scopeNames lists the scopes that the authorization server has named so far, without the OpenID Connect scopes for user data.
func (f *facts) scopeNames() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := slices.Clone(f.scopes)
	slices.Sort(out)
	openID := []string{"openid", "profile", "email", "address", "phone", "offline_access"}
	return slices.DeleteFunc(slices.Compact(out), func(scope string) bool {
		valid := scope != "" && isPrintable(scope) && !strings.ContainsAny(scope, " \"\\")
		return !valid || slices.Contains(openID, scope)
	})
}

// learnScopes keeps the scopes that a token answer or the token in it names.
func learnScopes(r *run, a recorder.Answer) {
	answer, _ := evidence.ParseObject(a.Body)
	scopes := strings.Fields(answer.Text("scope"))
	for _, t := range a.Exchange.Tokens {
		if t.JWT != nil {
			text, _ := t.JWT.Claims["scope"].(string)
			scopes = append(scopes, strings.Fields(text)...)
		}
	}
	r.facts.with(func(f *facts) { f.scopes = append(f.scopes, scopes...) })
}

// presentRoleless sends a token that the client without the role got for a scope, or by naming a second client: neither may replace the role. name is the
// name of the token in the facts. If the run has no such token, no request is sent, and absent is the reason.
func presentRoleless(name, absent string) sender {
	return controlled(func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		t := r.facts.token(name)
		if t.Value == "" {
			return recorder.Request{}, notApplicable("%s", absent)
		}
		return res.GetWith(SecondAccessToken, "Bearer "+t.Value), nil
	})
}
