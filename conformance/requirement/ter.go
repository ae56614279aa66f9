package requirement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// tokenRefusals returns the requirements on which token requests are refused, and with which error code. All of them need TOK-01: if good credentials
// yield no token, a refusal of bad ones proves nothing.
func tokenRefusals() []Requirement {
	return []Requirement{
		{
			ID: "TER-01", Title: "A wrong secret yields no token",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "4.4.2").And(RFC(6749, "3.2.1")),
			Quote:    "The authorization server MUST authenticate the client.",
			Probe:    "The token request with one wrong secret, whose kind is drawn: one letter near its middle in the other case, another character, cut or longer; for a secret of 72 bytes or more, changed only after the 72nd byte. A good request follows at once. With a second client, also a wrong secret of that client, its secret with blanks around it by HTTP Basic, and its id with the secret of the first client. With a client that may be locked out (--spare-client-id), every kind of wrong secret, by form and by Basic. All other requests of the run by clients that do not exist count as well, such as those by HTTP Basic, in odd forms and over plain HTTP.",
			Forgives: "Any refusal, whatever its status and form (TER-02 to TER-04 judge them).",
			Fix:      "Compare the whole secret, byte by byte, and issue no token unless it is right. Keycloak: Client authentication on; mock servers such as oauth2-mock-server never check and cannot be certified.",
			Breaks:   "A server that does not check the secret.",
			Needs:    atToken("wrong-secret"), Reads: slices.Concat(lockoutControls(), []evidence.Label{evidence.SecondClient.With("ok-after-wrong-secret")}, forbiddenBy("TER-01")), After: []ID{tokenRequirement},
			Breach: findForbiddenTokens("TER-01"), Check: onWrongRequest("wrong-secret", passWithoutToken),
		},
		{
			ID: "TER-02", Title: "Wrong secret is reported as invalid_client",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.2"),
			Quote:    authenticationFailed,
			Probe:    "The member error of the answer to the wrong secret, and of the answers to clients that do not exist and to wrong secrets of other clients.",
			Forgives: "unauthorized_client, as Keycloak answers, invalid_grant and invalid_request: a warning.",
			Fix:      "Answer {\"error\": \"invalid_client\"} when id and secret do not match. Keycloak's unauthorized_client cannot be configured away and stays a warning.",
			Breaks:   "A wrong secret is answered 400 with error server_error.",
			Needs:    atToken("wrong-secret"), Reads: append(lockoutControls(), evidence.WholeRun), After: []ID{"TER-01"}, Check: unlessLockedOut(judgeWrongSecrets),
		},
		{
			ID: "TER-05", Title: "A request without client authentication is refused",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "3.2.1").And(RFC(6749, "4.4.2")).And(RFC(6749, "5.2")),
			Quote:    "Confidential clients or other clients issued client credentials MUST authenticate with the authorization server as described in Section 2.3 when making requests to the token endpoint.",
			Probe:    "A token request with grant_type=client_credentials and nothing else. One without content, and a preflight of a browser, must not yield a token either.",
			Forgives: "invalid_client, invalid_request or unauthorized_client; an empty 401, as Spring Authorization Server answers (TER-04 warns of it).",
			Fix:      "Refuse token requests without credentials with invalid_client; never fall back to an anonymous or default client.",
			Breaks:   "A token for an anonymous client.",
			Needs:    atToken("no-client"), Reads: slices.Concat(lockoutControls(), forbiddenBy("TER-05")), After: []ID{tokenRequirement},
			Breach: findForbiddenTokens("TER-05"), Check: onWrongRequest("no-client", judgeAnonymousClient),
		},
		{
			ID: "TER-06", Title: "A client id without secret is refused",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "2.2"),
			Quote:    "The client identifier is not a secret; it is exposed to the resource owner and MUST NOT be used alone for client authentication.",
			Probe:    "A token request with the real client_id and without client_secret, once. A good request follows. In another request the second client authenticates by HTTP Basic, and the form has the id of the first client.",
			Forgives: "Any refusal, whatever its status, code and form.",
			Fix:      "Make the client confidential. Keycloak: Client authentication on; Spring Authorization Server: no ClientAuthenticationMethod.NONE on this client.",
			Breaks:   "A public client: its id alone yields a token.",
			Needs:    atToken("id-only"), Reads: append(lockoutControls(), twoClients()), After: []ID{tokenRequirement},
			Breach: findForbiddenTokens("TER-06"), Check: onWrongRequest("id-only", passWithoutToken),
		},
		{
			ID: "TER-07", Title: "Missing grant_type is invalid_request",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.2"),
			Quote:    invalidRequest,
			Probe:    "A token request with client_id and client_secret and without grant_type.",
			Forgives: "Any other refusal, such as 401 invalid_client of Spring Authorization Server: a warning.",
			Fix:      "Require grant_type, and answer 400 {\"error\": \"invalid_request\"} when it is missing.",
			Breaks:   "Without grant_type the server assumes client_credentials, and issues a token.",
			Needs:    atToken("no-grant-type"), Reads: lockoutControls(), After: []ID{tokenRequirement},
			Breach: findForbiddenTokens("TER-07"), Check: onWrongRequest("no-grant-type", judgeMissingGrant),
		},
		{
			ID: "TER-08", Title: "Unknown grant type is unsupported_grant_type",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.2"),
			Quote:    "The authorization grant type is not supported by the authorization server.",
			Probe:    "The good token request with grant_type=urn:example:conformance:none. Then with registered grant types, each without what it needs: password without a user name, refresh_token without a token, authorization_code without a code. Then with names that begin or end with client_credentials. None of these requests may yield a token. Other types, such as token exchange and jwt-bearer, are drawn for each run.",
			Forgives: "Other error codes for the unknown one, such as unauthorized_client, invalid_grant or invalid_request: a warning. Any refusal of the registered ones.",
			Fix:      "Answer 400 {\"error\": \"unsupported_grant_type\"} to grant types that are not offered, and invalid_request or invalid_grant to those that lack a parameter; never fall back to client_credentials.",
			Breaks:   "Any grant_type is treated as client_credentials.",
			Needs:    atToken("unknown-grant-type"), Reads: slices.Concat(lockoutControls(), forbiddenBy("TER-08")), After: []ID{tokenRequirement},
			Breach: findForbiddenTokens("TER-08"), Check: onWrongRequest("unknown-grant-type", judgeUnknownGrant),
		},
		{
			ID: "TER-09", Title: "Unknown scope is refused or reported back",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "3.3"),
			Quote:    "If the issued access token scope is different from the one requested by the client, the authorization server MUST include the \"scope\" response parameter to inform the client of the actual scope granted.",
			Probe:    "The good token request with a made-up scope added. The request with scopes that the server names itself, as the first and as the second client: one alone, two together, and one beside a made-up scope. What the answer says is compared with the scope in the token.",
			Forgives: "A server without scopes that ignores the parameter and says nothing, and other refusals: a warning. Any refusal of a scope that the server names, with one exception: if the first token has a scope without any request for scopes, invalid_scope for this scope is a warning, and a failure if the document requires the scope.",
			Fix:      "Answer 400 {\"error\": \"invalid_scope\"}, or add the scope that was granted to the token answer.",
			Breaks:   "The unknown scope is echoed as granted.",
			Needs:    atToken("unknown-scope"), Reads: slices.Concat(lockoutControls(), scopeLabels(), everyTokenRequest()), After: []ID{tokenRequirement}, Check: unlessLockedOut(judgeScopes),
		},
		{
			ID: "TER-11", Title: "GET on the token endpoint yields no token",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "3.2").And(RFC(6749, "2.3.1")).And(RFC(9110, "9.2.1")),
			Quote:    "The client MUST use the HTTP \"POST\" method when making access token requests.",
			Probe:    "A GET of the token URL without credentials, one with HTTP Basic, and one with a made-up client in the query; good POSTs with a made-up client in the query, and with grant_type and client_id there. A real secret is never put into a URL.",
			Forgives: "Any 4xx: 405 of Keycloak, 404 of node-oidc-provider, 401 of Spring. A redirect to a login page or a page without a token is a warning. So are a token for a GET with good credentials, and an endpoint that reads its query: clients that put no secret there are safe.",
			Fix:      "Route only POST to the token endpoint and answer other methods with 405. Read parameters from the body alone: req.body in Express, request.form in Flask, r.PostForm in Go; servlet containers merge query and body in getParameter.",
			Breaks:   "A GET without credentials yields an anonymous token.",
			Needs:    atToken("get"), Reads: append(atToken("get-basic", "get-unknown-client", "query-unknown-client", "query-parameters", "no-client"), lockout()...),
			After: []ID{tokenRequirement}, Breach: findForbiddenTokens("TER-11"), Check: unlessRefusedByLockout(judgeURLParameters),
		},
		{
			ID: "TER-12", Title: "Repeated parameter is invalid_request",
			Level: StandardShould, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "3.2").And(RFC(6749, "5.2")),
			Quote:    "Request and response parameters MUST NOT be included more than once.",
			Probe:    "The good token request with grant_type, client_id, client_secret or a scope that the server names twice, with one value.",
			Forgives: "A token all the same, from the first or last value, and another refusal: a warning, because the RFC binds the sender. A repeated grant_type that is accepted where a repeated id is refused, as by Spring Authorization Server, and the other way round, as by oauthlib. Not forgiven: an id or a secret that may be repeated while the other may not, and a scope that may be repeated while the other three may not.",
			Fix:      "Refuse repeated parameters with 400 {\"error\": \"invalid_request\"}; parsers that make an array of them (PHP, Express) must not crash.",
			Breaks:   "A repeated grant_type crashes with 500.",
			Needs:    atToken("repeated-grant-type"), Reads: append(lockoutControls(), repeatedLabels()[1:]...), After: []ID{tokenRequirement}, Check: unlessLockedOut(judgeRepetitions),
		},
	}
}

// lockoutControls returns the good requests right after the two requests that fail to authenticate the real client. If one of the good requests is refused,
// the client may be locked out.
func lockoutControls() []evidence.Label {
	return atToken("ok-after-wrong-secret", "ok-after-id-only")
}

// lockout returns the labels that [unlessRefusedByLockout] reads.
func lockout() []evidence.Label { return append(lockoutControls(), atToken("wrong-secret")...) }

// Sentences of RFC 6749 §5.2 that several requirements quote.
const (
	authenticationFailed = "Client authentication failed (e.g., unknown client, no client authentication included, or unsupported authentication method)."
	invalidRequest       = "The request is missing a required parameter, includes an unsupported parameter value (other than grant type), repeats a parameter, includes multiple credentials, utilizes more than one mechanism for authenticating the client, or is otherwise malformed."
)

// unlessLockedOut makes a check inconclusive if a good request was refused right after one that failed to authenticate the client.
func unlessLockedOut(check func(Evidence) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		if j, lockedOut := findLockout(e); lockedOut {
			return j
		}
		return check(e)
	}
}

// findLockout returns an inconclusive judgement if a good request was refused right after one that failed to authenticate the client.
func findLockout(e Evidence) (j Judgement, found bool) {
	for _, control := range lockoutControls() {
		if x, sent := e.Get(control); sent && !isTokenAnswer(x) {
			return Unclear(fmt.Sprintf("the client may be locked out: %s got %s", e.RequestName(control), describeError(x))).
				Hinting("wait until the authorization server, or a gateway in front of it, lets the client in again, then repeat the run; raise the number of failed attempts that this server allows").
				Seen(x.Label), true
		}
	}
	return j, false
}

// unlessRefusedByLockout makes a failure or a warning of a check inconclusive if it rests only on refusals that came after the wrong secret, and a good
// request was refused then, too.
func unlessRefusedByLockout(check func(Evidence) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		j := check(e)
		locked, lockedOut := findLockout(e)
		other := func(s Subject) bool { return !refusedAfterWrongSecret(e, s.Label) }
		if lockedOut && (j.Outcome == Fail || j.Outcome == Warn) && len(j.Subjects) > 0 && !slices.ContainsFunc(j.Subjects, other) {
			return locked
		}
		return j
	}
}

// refusedAfterWrongSecret reports whether the label is of a token request that was refused, as by a lock, after the wrong secret was sent.
func refusedAfterWrongSecret(e Evidence, l evidence.Label) bool {
	x, wrong := e.exchange(l), e.exchange(evidence.TokenEndpoint.With("wrong-secret"))
	return l.Resource() == evidence.TokenEndpoint && l != evidence.BesideLock && slices.Contains([]int{400, 401, 403, 429}, x.Status()) && wrong.Answered() && x.Started.After(wrong.Started)
}

// onWrongRequest makes a check of the answer to one wrong token request.
func onWrongRequest(c evidence.Case, check func(x evidence.Exchange) Judgement) func(Evidence) Judgement {
	return unlessLockedOut(onAnswer(evidence.TokenEndpoint.With(c), check))
}

// passWithoutToken passes every answer of the node without a token; TER-03 and TER-04 judge its status and form.
func passWithoutToken(x evidence.Exchange) Judgement {
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	return Passed(x.Label)
}

// judgeWrongSecrets is the check of TER-02.
func judgeWrongSecrets(e Evidence) Judgement {
	x := e.exchange(evidence.TokenEndpoint.With("wrong-secret"))
	return onEvery(judgeWrongSecret(x), x.Label, furtherRefusals(e), judgeFurtherCode)
}

// judgeWrongSecret judges the error code of the refusal of a wrong secret.
func judgeWrongSecret(x evidence.Exchange) Judgement {
	want := expect(x, "error: \"invalid_client\"")
	switch code := oauthError(x); code {
	case "invalid_client":
		return Passed(x.Label)
	case "":
		return want.failed("the refusal of a wrong secret has no error code that a machine can read", describe(x))
	case "unauthorized_client":
		return want.warned("a wrong secret is reported as unauthorized_client, as Keycloak does", describeError(x)).Habit(keycloak)
	case "invalid_grant", "invalid_request":
		return want.warned("a wrong secret is reported as "+code, describeError(x))
	}
	return want.failed("a wrong secret is reported with a code that means something else", describeError(x))
}

// judgeAnonymousClient is the check of TER-05.
func judgeAnonymousClient(x evidence.Exchange) Judgement {
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	want := expect(x, "401 or 400 with error invalid_client")
	code := oauthError(x)
	switch {
	case slices.Contains([]string{"invalid_client", "invalid_request", "unauthorized_client"}, code),
		code == "" && x.Status() == 401: // an empty 401 of Spring Authorization Server; TER-04 judges the body
		return Passed(x.Label)
	}
	return want.warned("a request without credentials is refused, but not as a failed authentication", describeError(x))
}

// judgeExpectedError judges an answer without a token to a request that must be refused with 400 and an error code. It accepts another status if TER-03
// judges that status. crashReason is the reason for a 5xx, otherReason the one for another refusal.
func judgeExpectedError(x evidence.Exchange, code, crashReason, otherReason string) Judgement {
	want := expect(x, "400 with error "+code)
	if serverError(x) {
		return want.failed(crashReason, describe(x))
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	statusJudged := slices.Contains(judgedRefusals(), x.Label) && x.Status() != 401
	if oauthError(x) == code && (x.Status() == 400 || statusJudged) {
		return Passed(x.Label)
	}
	return want.warned(otherReason, describeError(x))
}

// judgeMissingGrant is the check of TER-07.
func judgeMissingGrant(x evidence.Exchange) Judgement {
	return judgeExpectedError(x, "invalid_request",
		"a request without grant_type crashes the token endpoint",
		"a request without grant_type is refused for another reason")
}

// judgeUnknownGrant is the check of TER-08.
func judgeUnknownGrant(x evidence.Exchange) Judgement {
	j := judgeExpectedError(x, "unsupported_grant_type",
		"an unknown grant type crashes the token endpoint",
		"an unknown grant type is refused for another reason")
	if j.Outcome == Warn && oauthError(x) == "" {
		return Failed("the refusal of an unknown grant type has no error code that a machine can read", j.Expected, j.Got).About(j.Subjects...)
	}
	return j
}

// judgeRepeatedParameter judges the answer to one repeated parameter.
func judgeRepeatedParameter(x evidence.Exchange) Judgement {
	want := expect(x, "400 with error invalid_request")
	if hasToken(x) {
		return want.warned("a repeated parameter is accepted", describeError(x))
	}
	return judgeExpectedError(x, "invalid_request", "a repeated parameter crashes the token endpoint", "a repeated parameter is refused for another reason")
}

// judgeURLParameters is the check of TER-11. It judges GETs, and requests with parameters in the query. Only the plain GET is always sent.
func judgeURLParameters(e Evidence) Judgement {
	parts := []Judgement{judgeGet(e.exchange(evidence.TokenEndpoint.With("get")))}
	if x := e.exchange(evidence.TokenEndpoint.With("get-basic")); hasToken(x) {
		parts = append(parts, expect(x, "405, or another 4xx").warned("a GET with good credentials in the Authorization header yields a token", describe(x)+" with an access token"))
	}
	if x := e.exchange(evidence.TokenEndpoint.With("query-parameters")); hasToken(x) {
		parts = append(parts, expect(x, "400 or 401 without a token").warned("the token endpoint reads grant_type and client_id from the query, where a client may put its secret as well", describe(x)+" with an access token"))
	}
	get, post := e.exchange(evidence.TokenEndpoint.With("get")), e.exchange(evidence.TokenEndpoint.With("no-client"))
	if x := e.exchange(evidence.TokenEndpoint.With("get-unknown-client")); refusesClient(x) && get.Answered() && !refusesClient(get) {
		parts = append(parts, expect(x, describeError(get)+", as without credentials").warned("the token endpoint reads credentials in the query of a GET: a made-up client there is refused as an unknown client", describeError(x)))
	}
	// A server that drops repeated parameters finds no client at all, and answers as it does without credentials.
	if x := e.exchange(evidence.TokenEndpoint.With("query-unknown-client")); refusesClient(x) && post.Answered() && refusalText(x) != refusalText(post) {
		parts = append(parts, expect(x, "a token for the client in the body, or 400 with error invalid_request").
			warned("the token endpoint reads credentials in the query of a POST: a made-up client there takes the place of the good one in the body", describeError(x)))
	}
	return gather(parts...)
}

// refusalText joins the status, the error code and the description of a refusal.
func refusalText(x evidence.Exchange) string {
	o, _ := jsonObject(x)
	text, _ := o["error_description"].(string)
	return strings.Join([]string{strconv.Itoa(x.Status()), oauthError(x), text}, " ")
}

// refusesClient reports whether the error code blames the client and not another part of the request.
func refusesClient(x evidence.Exchange) bool {
	return clientError(x) && slices.Contains([]string{"invalid_client", "unauthorized_client"}, oauthError(x))
}

// judgeGet judges the answer to a GET without credentials.
func judgeGet(x evidence.Exchange) Judgement {
	want := expect(x, "405, or another 4xx")
	switch {
	case clientError(x) && !rateLimited(x): // a gateway may answer, too: no client gets a token by GET there
		return Passed(x.Label)
	case serverError(x):
		return want.failed("a GET crashes the token endpoint", describe(x))
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	return want.warned("a GET of the token URL is not refused", describe(x))
}
