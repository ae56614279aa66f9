package requirement

import (
	"cmp"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file says which token requests must not yield a token, and finds those that did. A token that anybody gets without good credentials prevents the
// certificate, whatever the gate of the requirement whose request showed it.

// forbiddenToken is a request whose answer must not hold a token.
type forbiddenToken struct {
	label evidence.Label
	rule  ID // forbids the token
	// reason says why the requirement fails; if it is empty, the name of the request says so.
	reason string
}

// forbiddenTokens lists the requests whose answer must not hold a token.
func forbiddenTokens() []forbiddenToken {
	token := evidence.TokenEndpoint.With
	out := []forbiddenToken{
		{token("wrong-secret"), "TER-01", "a wrong secret yields a token"},
		{token("basic-unknown-client"), "TER-01", "an unknown client gets a token by HTTP Basic"},
		{evidence.SecondClient.With("wrong-secret"), "TER-01", "a wrong secret of the second client yields a token"},
		{evidence.SecondClient.With("secret-blanks"), "TER-01", "the secret of the second client with blanks around it yields a token"},
		{evidence.SecondClient.With("crossed"), "TER-01", "the id of one client with the secret of another yields a token"},
		{token("no-client"), "TER-05", "a request without any credentials yields a token"},
		{label: token("form-empty"), rule: "TER-05"},
		{label: token("preflight"), rule: "TER-05"},
		{token("id-only"), "TER-06", "the client id alone yields a token"},
		{twoClients(), "TER-06", "one client authenticates by HTTP Basic, and the token is for the other, whose id alone is in the form"},
		{token("no-grant-type"), "TER-07", "a request without grant_type yields a token"},
		{token("unknown-grant-type"), "TER-08", "an unknown grant type yields a token"},
		{label: token("grant-password"), rule: "TER-08"},
		{label: token("grant-refresh-token"), rule: "TER-08"},
		{label: token("grant-authorization-code"), rule: "TER-08"},
		{label: token("grant-token-exchange"), rule: "TER-08"},
		{label: token("grant-jwt-bearer"), rule: "TER-08"},
		{label: token("grant-preceded"), rule: "TER-08"},
		{label: token("grant-followed"), rule: "TER-08"},
		{token("get-unknown-client"), "TER-01", "a GET with an unknown client yields a token"},
		{token("get"), "TER-11", "a GET without credentials yields a token"},
	}
	for _, c := range oddForms() {
		if c != "form-empty" {
			out = append(out, forbiddenToken{label: token(c), rule: "TER-01"})
		}
	}
	for _, label := range cleartextLabels(evidence.CleartextToken) {
		out = append(out, forbiddenToken{label: label, rule: "TER-01"})
	}
	return out
}

// forbiddenBy lists the requests for which one requirement forbids a token.
func forbiddenBy(id ID) []evidence.Label {
	var out []evidence.Label
	for _, f := range forbiddenTokens() {
		if f.rule == id {
			out = append(out, f.label)
		}
	}
	return out
}

// forbiddenAtToken lists the requests at the token endpoint whose answer is a refusal.
func forbiddenAtToken() []evidence.Label {
	var out []evidence.Label
	for _, f := range forbiddenTokens() {
		if f.label.Resource() == evidence.TokenEndpoint {
			out = append(out, f.label)
		}
	}
	return out
}

// allowedTokens lists the requests whose answer may hold a token. Most of them are good requests. The others hold good credentials, and a server
// may issue a token by design:
//   - unknown-scope, and scopes that the server names: a server may ignore a scope (RFC 6749 §3.3); TER-09 judges whether it says so;
//   - repeated parameters: RFC 6749 §3.2 forbids the client to repeat a parameter, and not the server to accept it; TER-12 warns;
//   - get-basic, query-parameters and query-unknown-client: the good secret is not in the URL; TER-11 warns, and SEC-05 judges what is read from there;
//   - the staging client at production: ISO-02 judges it, and warns where both environments share one server;
//   - role-requested and resource: a server ignores parameters that it does not know; BRR-18 and ISO-03 judge what the token opens;
//   - secret-in-url: RFC 6749 §2.3.1 binds the client, too; SEC-05 judges the server.
func allowedTokens() []evidence.Label {
	return slices.Concat(
		atToken(evidence.OK, "ok-after-wrong-secret", "ok-after-id-only", "ok-after-form", "repeat-1", "repeat-2", "repeat-3",
			"basic", "basic-unencoded", "basic-percent-encoded", "basic-empty-secret", "unknown-parameter", "empty-scope", "percent-encoded", "to-expire", "throw-away", "later", "to-revoke", "to-revoke-later", "to-revoke-hinted"),
		parallelTokenRequests(), []evidence.Label{evidence.BesideLock}, repeatedLabels(), atToken("unknown-scope", "secret-in-url", "get-basic", "query-parameters", "query-unknown-client"),
		otherClientsByBasic(), scopeLabels(),
		[]evidence.Label{evidence.SecondClient.With(evidence.OK), evidence.SecondClient.With("ok-after-wrong-secret"), evidence.OtherClient.With(evidence.OK), evidence.SpareClient.With(evidence.OK),
			evidence.StagingEndpoint.With(evidence.OK), evidence.StagingClient, evidence.RecordedToken.With(evidence.OK), evidence.SecondClient.With("role-requested"), evidence.OtherClient.With("resource")},
	)
}

// tokenRules maps the label of a request to the rule that forbids a token in its answer. The rule of an allowed token is empty.
type tokenRules map[evidence.Label]forbiddenToken

// readTokenRules makes the map of the two lists.
func readTokenRules() tokenRules {
	out := tokenRules{}
	for _, label := range allowedTokens() {
		out[label] = forbiddenToken{}
	}
	for _, f := range forbiddenTokens() {
		out[f.label] = f
	}
	return out
}

// ruleFor returns the rule for the answer. A request of a token endpoint that neither list names counts as forbidden, so that a new one cannot be
// forgotten.
func (r tokenRules) ruleFor(e Evidence, x evidence.Exchange) forbiddenToken {
	f, listed := r[x.Label]
	if x.Label == twoClients() && !isTokenOf(x, e.Run.ClientID) { // the token may be for the client that authenticated; BRR-18 judges what it opens
		return forbiddenToken{}
	}
	if !listed && isAnyTokenRequest(e, x) {
		f.rule = "TER-01"
		switch {
		case x.Family == evidence.BareGrants:
			f.rule = "TER-08"
		case lacksSecret(x) && hasToken(e.exchange(evidence.TokenEndpoint.With("id-only"))):
			f.rule = "TER-06"
		}
	}
	return f
}

// twoClients returns the request in which the second client authenticates and the form names the first.
func twoClients() evidence.Label { return evidence.SecondClient.With("two-clients") }

// isTokenOf reports whether the token is a JWT that names the client.
func isTokenOf(x evidence.Exchange, client string) bool {
	facts, known := tokenFacts(x)
	return known && facts.JWT != nil && (facts.JWT.Claims["client_id"] == client || facts.JWT.Claims["azp"] == client)
}

// lacksSecret reports whether the spare client sent no client_secret, or an empty one, as a public client may (RFC 6749 §2.3.1).
func lacksSecret(x evidence.Exchange) bool {
	return x.Label.Resource() == evidence.SpareClient && slices.Contains([]evidence.Case{"secret-not", "secret-list", "secret-empty"}, x.Label.Case())
}

// isAnyTokenRequest reports whether a request was sent to any token endpoint.
func isAnyTokenRequest(e Evidence, x evidence.Exchange) bool {
	switch x.Label.Resource() {
	case evidence.TokenEndpoint, evidence.SecondClient, evidence.OtherClient, evidence.SpareClient, evidence.StagingEndpoint, evidence.RecordedToken, evidence.CleartextToken:
		return true
	}
	return sameURL(x.Request.URL, e.Run.TokenURL)
}

// findForbiddenTokens returns a search of the whole run for tokens that the requirement forbids.
func findForbiddenTokens(id ID) func(Evidence) (Judgement, bool) {
	return func(e Evidence) (Judgement, bool) {
		var parts []Judgement
		rules := readTokenRules()
		for _, x := range e.Exchanges {
			if f := rules.ruleFor(e, x); f.rule == id && hasToken(x) {
				reason := cmp.Or(f.reason, e.RequestName(x.Label)+" yields a token")
				parts = append(parts, expect(x, "4xx without an access token").failed(reason, describeError(x)))
			}
		}
		if len(parts) == 0 {
			return Judgement{}, false
		}
		return gather(parts...), true
	}
}
