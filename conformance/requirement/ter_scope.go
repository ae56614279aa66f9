package requirement

import (
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file holds the check of TER-09: if the server grants less than the requested scope, the answer must name the scope.

// scopeLabels returns the token requests with scopes that the server names itself.
func scopeLabels() []evidence.Label {
	return append(labelsOf([]evidence.Resource{evidence.TokenEndpoint, evidence.SecondClient}, "scope-known", "scope-more"), evidence.TokenEndpoint.With("scope-two"),
		narrowScopeLabel(), listScopeLabel(), evidence.SecondClient.With("scope-documented"))
}

// judgeScopes judges the made-up scope, and then every other request with a scope.
func judgeScopes(e Evidence) Judgement {
	label := evidence.TokenEndpoint.With("unknown-scope")
	first := onAnswer(label, func(x evidence.Exchange) Judgement { return judgeUnknownScope(e, x) })(e)
	var others []evidence.Exchange
	for _, l := range scopeLabels() {
		if x, sent := e.Get(l); sent && x.Answered() {
			others = append(others, x)
		}
	}
	named := onEvery(first, label, e.sweep().tokens, judgeScopeForm)
	return onEvery(named, label, others, func(x evidence.Exchange) Judgement {
		if hasToken(x) {
			return judgeGrantedScope(e, x)
		}
		if serverError(x) {
			return expect(x, "a token, or 400 with error invalid_scope").failed("a scope that the server names crashes the token endpoint", describe(x))
		}
		return judgeScopeRefusal(e, x)
	})
}

// judgeScopeRefusal judges the refusal of scopes that the server names. A server may refuse a scope to a client, but not a scope that it grants without
// a request and that the document requires: a client that is generated from the document requests that scope, and gets no token.
func judgeScopeRefusal(e Evidence, x evidence.Exchange) Judgement {
	given, required := givenScopes(e), requiredScopes(e)
	for _, scope := range strings.Fields(requestedScope(x)) {
		if x.Label.Resource() != evidence.TokenEndpoint || x.Given["unknown"] != "" || !slices.Contains(given, scope) {
			return Judgement{Outcome: Pass}
		}
	}
	if oauthError(x) != "invalid_scope" || !clientError(x) {
		return Judgement{Outcome: Pass}
	}
	const reason, hint = "a scope that the client gets without asking is refused when it asks for it", "register the scope for the client, or accept it where it is a default one"
	want := expect(x, "a token with the scope "+quote(requestedScope(x)))
	if slices.ContainsFunc(strings.Fields(requestedScope(x)), func(scope string) bool { return slices.Contains(required, scope) }) {
		return want.failed(reason+", although the document requires it", describeError(x)).Hinting(hint)
	}
	return want.warned(reason, describeError(x)).Hinting(hint)
}

// givenScopes returns the scopes of the first token, which the client requested without a scope.
func givenScopes(e Evidence) []string {
	x := e.exchange(evidence.TokenEndpoint.With(evidence.OK))
	o, _ := jsonObject(x)
	if named, isText := o["scope"].(string); isText {
		return strings.Fields(named)
	}
	inside, _ := scopeInside(x)
	return inside
}

// requiredScopes returns the scopes that the document requires for its operations.
func requiredScopes(e Evidence) []string {
	var out []string
	for _, r := range e.Roles.Operations {
		if o, known := operation(e, r); known && o.Security != nil {
			out = append(out, o.Security.Scopes...)
		}
	}
	return out
}

// judgeScopeForm judges the form in which any token answer names its scope.
func judgeScopeForm(x evidence.Exchange) Judgement {
	o, _ := jsonObject(x)
	if _, text := o["scope"].(string); text || o["scope"] == nil {
		return Judgement{Outcome: Pass}
	}
	return expect(x, "scope as one text, with blanks between scopes (RFC 6749 §5.1)").
		failed("the scope of a token answer is not a text, so that no client can read it", "scope: "+valueType(o["scope"]))
}

// judgeUnknownScope judges the answer to a request with a made-up scope.
func judgeUnknownScope(e Evidence, x evidence.Exchange) Judgement {
	if !hasToken(x) {
		if success(x) && oauthError(x) != "" {
			return expect(x, "400 with error invalid_scope").failed("an unknown scope is refused with a status of success", describeError(x))
		}
		return judgeExpectedError(x, "invalid_scope", "an unknown scope crashes the token endpoint", "an unknown scope is refused for another reason")
	}
	return judgeGrantedScope(e, x)
}

// judgeGrantedScope judges a token that was requested with a scope. An answer without a scope grants the requested one.
func judgeGrantedScope(e Evidence, x evidence.Exchange) Judgement {
	want := expect(x, "400 with error invalid_scope, or a token answer with the scope that was granted")
	requested := strings.Fields(requestedScope(x))
	unknown := x.Given["unknown"]
	if x.Label == evidence.TokenEndpoint.With("unknown-scope") {
		unknown = requestedScope(x)
	}
	o, _ := jsonObject(x)
	granted, named := o["scope"].(string)
	inside, isInside := scopeInside(x)
	switch {
	case named && unknown != "" && slices.Contains(strings.Fields(granted), unknown):
		return want.failed("an undefined scope is reported as granted", "scope: "+quote(granted))
	case named && isInside && overlap(inside, strings.Fields(granted)) && !sameSet(inside, strings.Fields(granted)): // if no scope is in both, the claim uses other names
		return want.failed("the answer names another scope than the token holds", "scope: "+quote(granted)+", and in the token "+quote(strings.Join(inside, " ")))
	case named:
		return Passed(x.Label)
	case isInside && !sameSet(inside, requested):
		return want.failed("the token is for another scope than the one that was asked for, and the answer does not say so", "no scope in the answer, and in the token "+quote(strings.Join(inside, " ")))
	case unknown == "":
		return Passed(x.Label)
	case hasScopes(e):
		return want.failed("a server that uses scopes leaves out the requested one without saying so, or grants an undefined one", describe(x)+" without scope")
	}
	return want.warned("a token was issued without saying that the scope was not granted", describe(x)+" without scope")
}

// hasScopes reports whether the server works with scopes: it refuses the made-up one, or names the scope of a token.
func hasScopes(e Evidence) bool {
	if oauthError(e.exchange(evidence.TokenEndpoint.With("unknown-scope"))) == "invalid_scope" {
		return true
	}
	return slices.ContainsFunc(e.sweep().tokens, func(x evidence.Exchange) bool {
		o, _ := jsonObject(x)
		scope, _ := o["scope"].(string)
		return strings.TrimSpace(scope) != ""
	})
}

// scopeInside returns the scope that a JWT names (RFC 9068 §2.2.3). Spring Authorization Server writes it as a list.
func scopeInside(x evidence.Exchange) (scope []string, ok bool) {
	facts, known := tokenFacts(x)
	if !known || facts.JWT == nil {
		return nil, false
	}
	if list, isList := facts.JWT.Claims["scope"].([]any); isList {
		for _, one := range list {
			text, _ := one.(string)
			scope = append(scope, text)
		}
		return scope, true
	}
	text, ok := facts.JWT.Claims["scope"].(string)
	return strings.Fields(text), ok
}

// sameSet reports whether two lists have the same members.
func sameSet(a, b []string) bool {
	notIn := func(all []string) func(string) bool { return func(s string) bool { return !slices.Contains(all, s) } }
	return !slices.ContainsFunc(a, notIn(b)) && !slices.ContainsFunc(b, notIn(a))
}

// overlap reports whether two lists share a member.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// requestedScope returns the scope of a token request, or "".
func requestedScope(x evidence.Exchange) string {
	form, _ := url.ParseQuery(string(x.Request.Body)) // keeps the pairs that can be read
	return form.Get("scope")
}
