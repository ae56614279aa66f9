package requirement

import (
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file says which token requests must not yield a token, and finds those that did. A token that anybody gets without good credentials
// costs the certificate, whatever the gate of the requirement whose request brought it to light.

// forbiddenTokens lists the requests whose answer must not hold a token, by the requirement that forbids it.
func forbiddenTokens() map[ID][]evidence.Label {
	unknown := slices.DeleteFunc(oddForms(), func(c evidence.Case) bool { return c == "form-empty" })
	return map[ID][]evidence.Label{
		"TER-01": slices.Concat(atToken("wrong-secret", "basic-unknown-client"), atToken(unknown...),
			[]evidence.Label{evidence.SecondClient.With("crossed")}, cleartextLabels(evidence.CleartextToken)),
		"TER-05": atToken("no-client", "form-empty", "preflight"),
		"TER-06": atToken("id-only"),
		"TER-07": atToken("no-grant-type"),
		"TER-08": atToken("unknown-grant-type", "grant-password", "grant-refresh-token", "grant-authorization-code", "grant-token-exchange", "grant-jwt-bearer"),
		"TER-11": atToken("get"),
	}
}

// allowedTokens lists the requests whose answer may hold a token. Most of them are good requests. The others hold good credentials, and a server
// may issue a token by design:
//   - unknown-scope: a server may ignore a scope (RFC 6749 §3.3); TER-09 judges whether it says so;
//   - repeated-grant-type: RFC 6749 §3.2 forbids the client to repeat a parameter, and not the server to accept it; TER-12 warns;
//   - secret-in-url: RFC 6749 §2.3.1 binds the client, too; SEC-05 judges the server.
func allowedTokens() []evidence.Label {
	return slices.Concat(
		atToken(evidence.OK, "ok-after-wrong-secret", "ok-after-id-only", "ok-after-form", "repeat-1", "repeat-2", "repeat-3",
			"basic", "basic-unencoded", "unknown-parameter", "empty-scope", "percent-encoded", "to-expire", "throw-away"),
		atToken("unknown-scope", "repeated-grant-type", "secret-in-url"),
		[]evidence.Label{evidence.SecondClient.With(evidence.OK), evidence.OtherClient.With(evidence.OK),
			evidence.StagingEndpoint.With(evidence.OK), evidence.RecordedToken.With(evidence.OK)},
	)
}

// tokenRules says which requirement forbids a token in the answer to a request.
type tokenRules map[evidence.Label]ID

// readTokenRules puts both lists into one; an allowed token has an empty rule.
func readTokenRules() tokenRules {
	out := tokenRules{}
	for _, label := range allowedTokens() {
		out[label] = ""
	}
	for id, labels := range forbiddenTokens() {
		for _, label := range labels {
			out[label] = id
		}
	}
	return out
}

// of returns the requirement that forbids a token in the answer; "" if a token may come. A request of a token endpoint that neither list names
// counts as forbidden, so that a new one cannot be forgotten.
func (r tokenRules) of(e Evidence, x evidence.Exchange) ID {
	if rule, listed := r[x.Label]; listed {
		return rule
	}
	if atTokenEndpoint(e, x) {
		return "TER-01"
	}
	return ""
}

// atTokenEndpoint reports a request to a token endpoint.
func atTokenEndpoint(e Evidence, x evidence.Exchange) bool {
	switch x.Label.Resource() {
	case evidence.TokenEndpoint, evidence.SecondClient, evidence.OtherClient, evidence.StagingEndpoint, evidence.RecordedToken, evidence.CleartextToken:
		return true
	}
	return sameURL(x.Request.URL, e.Run.TokenURL)
}

// noTokenBy makes the search of everything recorded for tokens that the requirement forbids.
func noTokenBy(id ID) func(Evidence) (Judgement, bool) {
	return func(e Evidence) (Judgement, bool) {
		var parts []Judgement
		rules := readTokenRules()
		for _, x := range e.Exchanges {
			if rules.of(e, x) == id && issued(x) {
				parts = append(parts, gaveToken(x, wrongToken(e, x)))
			}
		}
		if len(parts) == 0 {
			return Judgement{}, false
		}
		return gather(parts...), true
	}
}

// gaveToken is the failure of an answer that has a token although it must not.
func gaveToken(x evidence.Exchange, reason string) Judgement {
	return expect(x, "4xx without an access token").failed(reason, describeError(x))
}

// wrongToken is the reason why a token must not have come.
func wrongToken(e Evidence, x evidence.Exchange) string {
	switch x.Label {
	case evidence.TokenEndpoint.With("wrong-secret"):
		return "a wrong secret yields a token"
	case evidence.TokenEndpoint.With("basic-unknown-client"):
		return "an unknown client gets a token by HTTP Basic"
	case evidence.SecondClient.With("crossed"):
		return "the id of one client with the secret of another yields a token"
	case evidence.TokenEndpoint.With("no-client"):
		return "a request without any credentials yields a token"
	case evidence.TokenEndpoint.With("id-only"):
		return "the client id alone yields a token"
	case evidence.TokenEndpoint.With("no-grant-type"):
		return "a request without grant_type yields a token"
	case evidence.TokenEndpoint.With("unknown-grant-type"):
		return "an unknown grant type yields a token"
	case evidence.TokenEndpoint.With("get"):
		return "a GET without credentials yields a token"
	}
	return e.RequestName(x.Label) + " yields a token"
}
