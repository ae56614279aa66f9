package probe

import (
	"context"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// scopeCases are token requests with scopes that the authorization server names itself, alone, two together, and beside one that it cannot know. They
// come before the token of the session: a server may know one token of a client at a time.
func scopeCases() []row {
	first := client{evidence.TokenEndpoint, "", ClientSecret, AccessToken, func(t target.Target) *target.Credentials { return &t.Credentials }}
	plan := in(stageTokens, stageToken, stageMetadata).inLane("scopes").onlyIf(notQuick)
	// A scope of the document is asked for at the end: the server may know one token of a client at a time.
	documented := in(stageLast).inLane("documented scopes").onlyIf(notQuick).onDemand()
	return slices.Concat(first.withScopes(plan), []row{
		{Label: "token.scope-narrow", Words: "with another scope than the operations need", Plan: documented.onceKnown(documentRead), Send: first.narrowScope, Learn: keepTokenAs(narrowToken)},
		{Label: "op/*.narrow-scope", Words: "with a token for another scope", Plan: documented.alsoOn(onFunding), Send: controlled(func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
			t := r.facts.token(narrowToken)
			if t.Value == "" {
				return recorder.Request{}, notApplicable("the server issued no token for another scope than the operations need")
			}
			return res.GetWith(AccessToken, "Bearer "+t.Value), nil
		})},
		{Label: evidence.SecondClient.With("scope-documented"), Words: "the token request of the second client with the scopes that the document names", Plan: documented.onceKnown(documentRead).onlyIf(withSecond),
			Send: secondClient().documentedScope, Learn: keepTokenAs(documentedToken)},
		{Label: "op/*.roleless-documented-scope", Words: "by the client without the role, with a token for the scopes that the document names", Plan: documented.alsoOn(onFunding).onlyIf(withSecond),
			Send: presentOfSecond(documentedToken, "the client without the role got no token for the scopes that the document names")},
		{Label: "op/*.roleless-scope", Words: "by the client without the role, with a token for a scope", Send: presentOfSecond(scopedToken, "the client without the role got no token for a scope"),
			Plan: in(stageRest, stageAuthorized, stageSecond).alsoOn(onFunding).onlyIf(withSecond).onlyIf(notQuick)},
	})
}

// Names of tokens: of the second client, issued for a scope of the server or for those of the document, and of the first client, issued for another
// scope than the operations need.
const (
	scopedToken     = "scoped token"
	documentedToken = "token for documented scopes"
	narrowToken     = "narrow token"
)

// withScopes are the requests of a client with scopes.
func (c client) withScopes(plan timing) []row {
	words := func(text string) string {
		if c.words == "" {
			return text
		}
		return "the token request of " + c.words + " " + text
	}
	out := []row{
		{Label: c.at.With("scope-known"), Words: words("with a scope that the server names"), Plan: plan, Send: c.scope(func(_ draw.Source, known []string) (string, string) {
			return known[0], ""
		})},
		{Label: c.at.With("scope-more"), Words: words("with an unknown scope beside one that the server names"), Plan: plan, Send: c.scope(func(s draw.Source, known []string) (string, string) {
			unknown := s.Name()
			both := []string{known[0], unknown}
			draw.Shuffle(s, both)
			return strings.Join(both, " "), unknown
		})},
		{Label: c.at.With("scope-two"), Words: words("with two scopes that the server names"), Plan: plan, Send: c.scope(func(_ draw.Source, known []string) (string, string) {
			return strings.Join(known[:min(2, len(known))], " "), ""
		})},
	}
	if c.at == evidence.SecondClient {
		out[0].Learn = keepTokenAs(scopedToken)
	}
	return out
}

// scope asks for scopes that are made of the ones that the server names, in a drawn order. The second result is the one that it cannot know.
func (c client) scope(choose func(s draw.Source, known []string) (scope, unknown string)) sender {
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
		if scope == known[0] && unknown == "" && len(known) > 1 && at == evidence.SecondClient {
			scope = known[1] // another than the first client's draw may give
		}
		q := c.asking(r, scope)
		if unknown != "" {
			q.Given["unknown"] = unknown
		}
		return q, nil
	}
}

// narrowScope asks for a scope that neither the list nor the detail needs by the document.
func (c client) narrowScope(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	needed := r.node.scopes()
	if len(needed) == 0 {
		return recorder.Request{}, notApplicable("the document asks for no scope")
	}
	others := slices.DeleteFunc(append(r.facts.scopeNames(), r.node.Document.Scopes...), func(scope string) bool { return slices.Contains(needed, scope) })
	if len(others) == 0 {
		return recorder.Request{}, notApplicable("no scope is known that the operations do not need")
	}
	return c.asking(r, draw.One(r.source(at, "narrow scope"), others...)), nil
}

// documentedScope asks for the scopes that the list and the detail need by the document.
func (c client) documentedScope(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	needed := r.node.scopes()
	if len(needed) == 0 {
		return recorder.Request{}, notApplicable("the document asks for no scope")
	}
	return c.asking(r, strings.Join(needed, " ")), nil
}

// asking is the token request of the client with a scope.
func (c client) asking(r *run, scope string) recorder.Request {
	f := c.form(r)
	f.fields = append(f.fields, Field{Name: "scope", Value: scope})
	q := c.request(r, f)
	q.Given = map[string]string{"scope": scope}
	return q
}

// scopes are those that the document asks for at the list and the detail.
func (n Node) scopes() []string {
	var out []string
	for _, key := range []string{n.List, n.Detail} {
		if o, ok := n.Operation(key); ok && o.Security != nil {
			out = append(out, o.Security.Scopes...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// scopeNames lists the scopes that the authorization server named so far, without those of OpenID Connect that are about people.
func (f *facts) scopeNames() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := slices.Clone(f.scopes)
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(scope string) bool {
		return slices.Contains([]string{"", "openid", "profile", "email", "address", "phone", "offline_access"}, scope) || !isPrintable(scope) || strings.ContainsAny(scope, " \"\\")
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

// presentOfSecond asks with a token that the client without the role got in some other way: neither a scope nor another client's id may take the
// place of the role.
func presentOfSecond(name, missing string) sender {
	return controlled(func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		t := r.facts.token(name)
		if t.Value == "" {
			return recorder.Request{}, notApplicable("%s", missing)
		}
		return res.GetWith(SecondAccessToken, "Bearer "+t.Value), nil
	})
}
