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
	return slices.Concat(first.withScopes(plan), []row{
		{Label: "op/*.roleless-scope", Words: "by the client without the role, with a token for a scope", Send: presentOfSecond(scopedToken, "the client without the role got no token for a scope"),
			Plan: in(stageRest, stageAuthorized, stageSecond).alsoOn(onFunding).onlyIf(withSecond).onlyIf(notQuick)},
	})
}

// scopedToken is the name of a token of the second client that was issued for a scope.
const scopedToken = "scoped token"

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
		f := c.form(r)
		f.fields = append(f.fields, Field{Name: "scope", Value: scope})
		q := c.request(r, f)
		q.Given = map[string]string{"scope": scope}
		if unknown != "" {
			q.Given["unknown"] = unknown
		}
		return q, nil
	}
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
