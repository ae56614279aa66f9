package requirement

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// tokenRequests returns TOK-13 to TOK-18, about further requests that must yield a token.
func tokenRequests() []Requirement {
	return []Requirement{
		{
			ID: "TOK-13", Title: "HTTP Basic client authentication is supported",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "2.3.1"),
			Quote:    "The authorization server MUST support the HTTP Basic authentication scheme for authenticating clients that were issued a client password.",
			Probe:    "A token request with Authorization: Basic, id and secret form-encoded as the RFC wants it, and only grant_type in the body; once for each client that was given. For the first client also with letters percent-encoded, which decoding makes good. Where the request is refused and the encoding changes id or secret, the same request with plain values.",
			Forgives: "A server without HTTP Basic: a warning, because the network promises credentials in the body only, and because Spring Authorization Server, node-oidc-provider and Okta take only the method a client is registered for. A server that takes Basic must decode it: the RFC asks for the encoding, and clients and libraries apply it.",
			Fix:      "Allow client_secret_basic beside client_secret_post. Spring Authorization Server: add ClientAuthenticationMethod.CLIENT_SECRET_BASIC to the registered client; node-oidc-provider and Okta know one method for each client, so this stays a note there.",
			Breaks:   "Basic works with the plain secret and not with the form-encoded one.",
			Needs:    atToken("basic"), Reads: slices.Concat(atToken("basic-unencoded", "basic-percent-encoded"), otherClientsByBasic(), lockout()), After: []ID{tokenRequirement}, Check: unlessRefusedByLockout(judgeBasic),
		},
		{
			ID: "TOK-14", Title: "Unrecognized request parameters are ignored",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "3.2"),
			Quote:    "The authorization server MUST ignore unrecognized request parameters.",
			Probe:    "The good token request with a made-up parameter added.",
			Forgives: "Block pages and rate limits: the requirement is inconclusive then.",
			Fix:      "Ignore parameters that the token endpoint does not know; loosen strict form binding (Jackson FAIL_ON_UNKNOWN_PROPERTIES, additionalProperties: false).",
			Breaks:   "400 invalid_request on unknown parameters.",
			Needs:    atToken("unknown-parameter"), Reads: lockout(), After: []ID{tokenRequirement}, Check: unlessRefusedByLockout(onAnswer(evidence.TokenEndpoint.With("unknown-parameter"), judgeUnknownParameter)),
		},
		{
			ID: "TOK-15", Title: "A parameter sent without a value is treated as omitted",
			Level: StandardMust, Gate: Advice, Profile: Auth,
			Source:   RFC(6749, "3.2"),
			Quote:    "Parameters sent without a value MUST be treated as if they were omitted from the request.",
			Probe:    "The good token request with an empty scope= added, and one by HTTP Basic with an empty client_secret= in the form.",
			Forgives: "invalid_scope, as Keycloak says it: a warning. It never gates: clients of this network send no scope.",
			Fix:      "Treat an empty scope like a missing one. Keycloak refuses it (seen with 26.4) and cannot be configured otherwise, which stays a warning.",
			Breaks:   "scope= is answered with invalid_scope.",
			Needs:    atToken("empty-scope"), Reads: append(atToken("basic-empty-secret"), lockout()...), After: []ID{tokenRequirement}, Check: unlessRefusedByLockout(judgeEmptyParameters),
		},
		{
			ID: "TOK-16", Title: "Form encoding is decoded",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "4.4.2").And(RFC(6749, "B")),
			Quote:    "The client makes a request to the token endpoint by adding the following parameters using the \"application/x-www-form-urlencoded\" format per Appendix B with a character encoding of UTF-8 in the HTTP request entity-body:",
			Probe:    "The good token request with a few harmless bytes percent-encoded (%63lient_credentials, first and last byte of client_id) and Content-Type …; charset=UTF-8.",
			Forgives: "Block pages: the requirement is inconclusive then.",
			Fix:      "Read the body with a form parser (PHP $_POST, Spring @RequestParam, Go r.PostForm) instead of splitting it by hand, and accept a charset parameter in Content-Type: secrets with + & = % cannot be sent otherwise.",
			Breaks:   "A server that compares raw, undecoded values.",
			Needs:    atToken("percent-encoded"), Reads: lockout(), After: []ID{tokenRequirement}, Check: unlessRefusedByLockout(onAnswer(evidence.TokenEndpoint.With("percent-encoded"), judgeFormDecoding)),
		},
		{
			ID: "TOK-17", Title: "Token URL answers directly, without redirect",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(9110, "15.4.2"),
			Quote:    "Note: For historical reasons, a user agent MAY change the request method from POST to GET for the subsequent request.",
			Probe:    "The good token request: whether the recorded URL itself answers it, or leads to another one.",
			Forgives: "Nothing: the URL that is recorded is the one that is judged, with or without a slash at its end.",
			Fix:      "Record the final URL of the token endpoint in the registry, with its exact scheme, host and trailing slash.",
			Breaks:   "308 to the same path with a slash.",
			Needs:    atToken(evidence.OK), Check: onAnswer(issuedToken(), judgeTokenRedirects),
		},
		{
			ID: "TOK-18", Title: "Repeated token requests work and do not revoke earlier tokens",
			Level: Recommended, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.1").AsDerived(),
			Quote:    "For example, the value \"3600\" denotes that the access token will expire in one hour from the time the response was generated.",
			Probe:    "Three token requests in sequence, then, when all other tokens of the client were issued, a call of the protected resource with the first token of the run. If a token comes again, expires_in must be the rest of its life: with --wait, a call after its first stated end shows whether it lives on. With --wait also a call with the token in use a few seconds before its stated end, and calls with another token during the wait. At the end come two bursts of three token requests, by two clients at the same time, and then one request alone. If the document says that wrong secrets lock out their client, a good request of the first client follows at once when the client that may be locked out (--spare-client-id) is.",
			Forgives: "The same token several times while it is valid. Rate limits leave it inconclusive. For requests at the same time: 429, 503, and failures in only one of the two bursts, which may be chance. The bursts are not sent if the operator lowers the rate below two requests a second or sends one request at a time, or once the node has refused requests because of its load.",
			Fix:      "Issue tokens independently of each other and let each live until its own expiry: the network's known client fetches a token for every page it reads. Let token requests at the same time wait for the database, not fail.",
			Breaks:   "Issuing a token revokes the one before.",
			Needs:    atToken(evidence.OK, "repeat-1", "repeat-2", "repeat-3"),
			Reads:    slices.Concat(onTarget("first-token", "handed-out-again", "in-use", "before-end", "lost-early", evidence.OK), []evidence.Label{evidence.TokenEndpoint.With("later"), evidence.BesideLock}, parallelTokenRequests(), lockout()),
			After:    []ID{tokenRequirement}, Check: unlessRefusedByLockout(judgeRepeatedTokens),
		},
	}
}

// otherClientsByBasic returns the requests by HTTP Basic of the clients beside the first, and the request that shows that the spare one has a good secret.
func otherClientsByBasic() []evidence.Label {
	others := []evidence.Resource{evidence.SecondClient, evidence.OtherClient, evidence.SpareClient}
	return append(labelsOf(others, "basic", "basic-unencoded"), evidence.SpareClient.With(evidence.OK))
}

// judgeYield judges a variant of the good token request, which must yield a token as well. A 5xx is a fault of the node, because the good request
// works in the same run.
func judgeYield(x evidence.Exchange, reason string) Judgement {
	if isTokenAnswer(x) {
		return Passed(x.Label)
	}
	if !serverError(x) {
		if j, unclear := inconclusiveAnswer(x); unclear {
			return j
		}
	}
	return expect(x, "200 with an access token, as without the change").failed(reason, describeError(x))
}

// isTokenAnswer reports whether the answer is a 2xx with a token.
func isTokenAnswer(x evidence.Exchange) bool {
	_, ok := tokenIn(x)
	return ok && success(x)
}

// judgeBasic judges the requests by HTTP Basic: that of the first client, and, if it works, those of the others.
func judgeBasic(e Evidence) Judgement {
	x, raw := e.exchange(evidence.TokenEndpoint.With("basic")), e.exchange(evidence.TokenEndpoint.With("basic-unencoded"))
	parts := []Judgement{judgeBasicRequest(x, raw)}
	if !isTokenAnswer(x) && !isTokenAnswer(raw) {
		return parts[0]
	}
	for _, r := range []evidence.Resource{evidence.SecondClient, evidence.OtherClient, evidence.SpareClient} {
		x, sent := e.Get(r.With("basic"))
		j := judgeBasicRequest(x, e.exchange(r.With("basic-unencoded")))
		if sent && (j.Outcome == Fail || j.Outcome == Warn) {
			parts = append(parts, j)
		}
	}
	if y := e.exchange(evidence.TokenEndpoint.With("basic-percent-encoded")); clientError(y) && refusedByNode(y) && !rateLimited(y) {
		parts = append(parts, expect(y, "200 with an access token, as without the encoding").
			failed("id and secret of HTTP Basic are not form-decoded, so no client with a special character in its secret can use it", describeError(y)).Hinting(decodingHint))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return gather(parts...)
}

// decodingHint is the fix for a server that compares id and secret without decoding them.
const decodingHint = "decode id and secret as form values after decoding Basic"

// judgeBasicRequest judges the request of one client by HTTP Basic. raw is the request with the plain id and secret, which is sent if encoding changes them.
func judgeBasicRequest(x, raw evidence.Exchange) Judgement {
	want := expect(x, "200 with an access token")
	if isTokenAnswer(x) {
		return Passed(x.Label)
	}
	if isTokenAnswer(raw) {
		return want.failed("HTTP Basic works only with the plain id and secret, not with the form encoding that RFC 6749 §2.3.1 requires", describeError(x)).
			Hinting(decodingHint).Seen(raw.Label)
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	if code := oauthError(x); refusedByNode(x) && (code == "invalid_client" || code == "unauthorized_client") || x.Label.Resource() != evidence.TokenEndpoint {
		return want.warned("this client cannot authenticate by HTTP Basic", describeError(x))
	}
	return want.warned("the token endpoint does not read HTTP Basic", describeError(x))
}

// judgeUnknownParameter is the check of TOK-14.
func judgeUnknownParameter(x evidence.Exchange) Judgement {
	return judgeYield(x, "an unknown parameter makes the token request fail")
}

// judgeEmptyParameters is the check of TOK-15.
func judgeEmptyParameters(e Evidence) Judgement {
	parts := []Judgement{onAnswer(evidence.TokenEndpoint.With("empty-scope"), judgeEmptyScope)(e)}
	if x := e.exchange(evidence.TokenEndpoint.With("basic-empty-secret")); x.Answered() && !success(x) && refusedByNode(x) {
		parts = append(parts, expect(x, "an access token, as without client_secret").failed("an empty client_secret beside HTTP Basic makes the token request fail", describeError(x)).
			Hinting("drop empty parameters before the form is read: libraries and forms of other programs send them"))
	}
	return gather(parts...)
}

// judgeEmptyScope judges the answer to a request with an empty scope.
func judgeEmptyScope(x evidence.Exchange) Judgement {
	if refusedByNode(x) && oauthError(x) == "invalid_scope" {
		return expect(x, "200 with an access token, as without a scope").warned("an empty scope is looked up like a scope and refused, as Keycloak does", describeError(x)).Habit(keycloak)
	}
	return judgeYield(x, "an empty scope makes the token request fail")
}

// judgeFormDecoding is the check of TOK-16.
func judgeFormDecoding(x evidence.Exchange) Judgement {
	j := judgeYield(x, "percent-encoded values of the form are not decoded")
	if j.Outcome == Fail && x.Status() == 415 {
		return j.Hinting("accept Content-Type: application/x-www-form-urlencoded; charset=UTF-8, as fetch clients send it")
	}
	return j
}

// judgeTokenRedirects is the check of TOK-17.
func judgeTokenRedirects(x evidence.Exchange) Judgement {
	want := expect(x, "an answer without a redirect")
	switch {
	case len(x.Redirects) > 0:
		hop := x.Redirects[0]
		return want.failed("the token URL is redirected; many clients do not follow with credentials, or change POST to GET", clip(fmt.Sprintf("%d to %s", hop.Status, hop.Location)))
	case redirected(x):
		return want.failed("the token URL is redirected, and the redirect was not followed", describe(x))
	}
	return Passed(x.Label)
}

// judgeRepeatedTokens is the check of TOK-18.
func judgeRepeatedTokens(e Evidence) Judgement {
	for _, l := range atToken("repeat-1", "repeat-2", "repeat-3") {
		x := e.exchange(l)
		if isTokenAnswer(x) {
			continue
		}
		if j, unclear := inconclusiveAnswer(x); unclear {
			return j
		}
		return expect(x, "200 with an access token, each time").failed("a repeated token request was refused", describeError(x))
	}
	lives := judgeFirstToken(e)
	if faults := slices.Concat(judgeRepeatedStatements(e), findEarlyEnd(e), findFailuresInParallel(e), findLockOfOthers(e)); len(faults) > 0 {
		return gather(append(faults, lives)...)
	}
	return lives
}

// parallelTokenRequests are the token requests of two clients at the same time, and the one after them.
func parallelTokenRequests() []evidence.Label {
	return append(slices.Concat(evidence.ParallelTokenRequests()...), evidence.LoneTokenRequest)
}

// findFailuresInParallel judges the token requests that were sent at the same time. Each burst must have lost one, since a single failure may be chance. A 503 is
// how a server in front limits requests.
func findFailuresInParallel(e Evidence) []Judgement {
	alone := e.exchange(evidence.LoneTokenRequest)
	if !hasToken(alone) {
		return nil
	}
	isLost := func(x evidence.Exchange) bool {
		return serverError(x) && x.Status() != 503 || x.Failure != nil && (x.Failure.Kind == evidence.FailureTimeout || x.Failure.Kind == evidence.FailureReset)
	}
	var lost []evidence.Exchange
	for _, burst := range evidence.ParallelTokenRequests() {
		var found []evidence.Exchange
		for _, l := range burst {
			if x, sent := e.Get(l); sent && isLost(x) {
				found = append(found, x)
			}
		}
		if len(found) == 0 {
			return nil
		}
		lost = append(lost, found...)
	}
	labels := []evidence.Label{alone.Label}
	for _, x := range lost[1:] {
		labels = append(labels, x.Label)
	}
	j := expect(lost[0], "200 with an access token, as alone").
		failed(fmt.Sprintf("%d of %d token requests at the same time fail, and a request alone works", len(lost), len(parallelTokenRequests())-1), describeError(lost[0])).
		Hinting("let requests at the same time wait for each other: a queue for the connections of the database, a timeout for its lock (SQLite busy_timeout, WAL), no row that each token request must change").Seen(labels...)
	isReset := func(x evidence.Exchange) bool { return x.Failure != nil && x.Failure.Kind == evidence.FailureReset }
	if !slices.ContainsFunc(lost, func(x evidence.Exchange) bool { return !isReset(x) }) {
		j.Outcome = Warn // a server in front may limit connections in this way
	}
	return []Judgement{j}
}

// transferTime is how much later than the server a client may begin to count the life of a token.
const transferTime = 2 * time.Second

// findEarlyEnd judges the call shortly before the stated end of the token in use, which was accepted at the end of the run, or the call with another token, which
// was refused during the wait while a new one worked.
func findEarlyEnd(e Evidence) []Judgement {
	x := e.exchange(evidence.ProbeTarget.With("lost-early")) // a new token worked before the call
	if x.Status() != 401 {
		x = e.exchange(evidence.ProbeTarget.With("before-end"))
	}
	if !success(e.exchange(evidence.ProbeTarget.With("in-use"))) || x.Status() != 401 || !refusedByNode(x) {
		return nil
	}
	if until, err := time.Parse(time.RFC3339Nano, x.Given["until"]); err == nil && x.Started.Add(x.Duration).After(until.Add(-transferTime)) {
		return nil // the call came too late
	}
	return []Judgement{expect(x, "2xx: the token lives until the end that was stated").
		failed("a token stops working before its stated end, so clients that rely on that end are refused", describe(x)+", "+clip(x.Given["left"])+" before the end").
		Hinting("state the lifetime that the API applies; its store of tokens, sessions or introspection answers may end earlier")}
}

// judgeFirstToken judges the first token of the run after the repeated requests.
func judgeFirstToken(e Evidence) Judgement {
	labels := e.Resolve(evidence.ProbeTarget.With("first-token"))
	if len(labels) == 0 {
		return Judgement{Outcome: Blocked, BlockedBy: "BRR-01", Reason: "the repeated requests were answered, but there is no protected resource to try the first token on"}
	}
	if j, missing := e.missingAnswer(labels[0]); missing {
		return j
	}
	x, good := e.exchange(labels[0]), e.exchange(evidence.ProbeTarget.With(evidence.OK))
	if success(x) {
		return Passed(atToken("repeat-1", "repeat-2", "repeat-3")...).Seen(x.Label)
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	first := e.exchange(evidence.TokenEndpoint.With(evidence.OK))
	switch {
	case !success(good):
		return Unclear("the first token is refused, but so was the call with a fresh one").Seen(x.Label, good.Label)
	case mayHaveExpired(first, x):
		return Inapplicable("the first token had expired by itself before it was tried again").Seen(x.Label)
	case x.Status() != 401 && x.Status() != 403:
		return expect(x, "2xx: the token lives until its own expiry").unclear("the call with the first token was not answered with data, and not refused either", describe(x))
	}
	return expect(x, "2xx: the token lives until its own expiry").failed("the first token stopped working once others were issued", describe(x))
}

// findLockOfOthers judges the good token request that was sent right after another client had been locked out for wrong secrets. Only the document can promise
// that the lock is for one client: many servers count failures by address.
func findLockOfOthers(e Evidence) []Judgement {
	x := e.exchange(evidence.BesideLock)
	if e.Spec == nil || !e.Spec.LocksOneClient() || !clientError(x) || !refusedByNode(x) && !rateLimited(x) {
		return nil
	}
	j := expect(x, "200 with an access token: the document says that wrong secrets lock out their own client").
		failed("wrong secrets of one client lock out another one, too", describeError(x)).
		Hinting("count failed attempts by client_id, not by address, institution or endpoint: behind one proxy, or in one institution, anybody could lock out the others")
	if rateLimited(x) && !regexp.MustCompile(`(?i)lock|sperr|secret|geheimnis|attempt|versuch|fail|fehl`).Match(x.Response.Body) {
		j.Outcome = Warn // it may be the general limit of a gateway, which is no lock
	}
	return []Judgement{j}
}
