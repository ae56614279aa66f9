package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// errorForm returns the requirements on the form of refusals.
func errorForm() []Requirement {
	return []Requirement{
		{
			ID: "TER-03", Title: "Token errors use 400 or 401",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.2"),
			Quote:    "The authorization server responds with an HTTP 400 (Bad Request) status code (unless specified otherwise) and includes the following parameters with the response:",
			Probe:    "The statuses of the answers to the wrong secret, no client, an id alone, no grant type and an unknown grant type. Every other refusal: whether it is a crash, has a status of success, or answers a wrong grant type or scope with 401.",
			Forgives: "401 for credentials in the body; 403, 405, 415, 422 and 429 are warnings. A 500 counts if it comes again, or also for another wrong request.",
			Fix:      "Answer errors of the token endpoint with 400, or 401 for invalid_client. A redirect means that a browser login guards the path: in Spring Security give the token endpoint a filter chain without formLogin().",
			Breaks:   "A wrong secret is answered 200 with {\"error\": …}.",
			Needs:    judgedRefusals(), Reads: append(lockoutControls(), evidence.WholeRun), After: []ID{tokenRequirement}, Check: unlessLockedOut(judgeErrorStatuses),
		},
		{
			ID: "TER-04", Title: "Error body is JSON with a string error in the allowed alphabet",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.2"),
			Quote:    "The parameters are included in the entity-body of the HTTP response using the \"application/json\" media type as defined by [RFC4627].",
			Probe:    "The bodies of all refusals of the token endpoint, whichever client asked.",
			Forgives: "An empty 401 where no secret was sent, as Spring Authorization Server answers, and an error_description with quotes or line breaks, as Azure and Authlib send: warnings. Block pages are left out.",
			Fix:      "Answer errors of the token endpoint with Content-Type: application/json and {\"error\": \"…\", \"error_description\": \"…\"} in ASCII, also for requests that fail before the OAuth code is reached (error handler of the framework, proxy).",
			Breaks:   "An HTML error page instead of JSON.",
			Needs:    judgedRefusals(), Reads: slices.Concat(everyTokenRequest(), []evidence.Label{evidence.SecondClient.With("wrong-secret")}, lockoutControls(), forbiddenAtToken()),
			After: []ID{tokenRequirement}, Check: unlessLockedOut(judgeTokenErrors),
		},
		{
			ID: "TER-10", Title: "Basic authentication failure answers 401 with a Basic challenge",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.2"),
			Quote:    "If the client attempted to authenticate via the \"Authorization\" request header field, the authorization server MUST respond with an HTTP 401 (Unauthorized) status code and include the \"WWW-Authenticate\" response header field matching the authentication scheme used by the client.",
			Probe:    "A token request with HTTP Basic of a random unknown id and secret; it is compared with every other failure by HTTP Basic, such as a wrong secret.",
			Forgives: "Keycloak (400 in older versions, no challenge) and Spring Authorization Server (no challenge): a warning, if all failures are answered so. It does not apply where this client cannot use Basic (TOK-13).",
			Fix:      "Answer 401 with WWW-Authenticate: Basic realm=\"…\" when Basic credentials are wrong. Spring Authorization Server: set an errorResponseHandler on clientAuthentication(…) that adds the header.",
			Breaks:   "401 without WWW-Authenticate.",
			Needs:    atToken("basic-unknown-client"), Reads: append(atToken("basic", "basic-unencoded"), evidence.WholeRun),
			After: []ID{tokenRequirement}, Check: judgeBasicFailures,
		},
	}
}

// judgeEachRefusal judges the answers of the labels one by one. Answers with a token are left out: they fail the requirement on that request.
func judgeEachRefusal(e Evidence, labels []evidence.Label, judge func(evidence.Exchange) Judgement) Judgement {
	var parts []Judgement
	for _, l := range labels {
		if x, sent := e.Get(l); sent && x.Answered() && !hasToken(x) {
			parts = append(parts, judge(x))
		}
	}
	if len(parts) == 0 {
		return Inapplicable("every wrong request yielded a token, so there is no error answer")
	}
	return gather(parts...)
}

// judgeErrorStatuses is the check of TER-03.
func judgeErrorStatuses(e Evidence) Judgement {
	first := judgeEachRefusal(e, judgedRefusals(), func(x evidence.Exchange) Judgement { return judgeErrorStatus(e, x) })
	return onEvery(first, "", furtherStatuses(e), func(x evidence.Exchange) Judgement { return judgeFurtherStatus(e, x) })
}

// furtherStatuses returns the further refusals, and the refusal of a secret that a framework may fail to read.
func furtherStatuses(e Evidence) []evidence.Exchange {
	out := furtherRefusals(e)
	for _, x := range e.Exchanges {
		if (x.Label == evidence.SpareClient.With("secret-null") || x.Label == evidence.SpareClient.With("secret-padded")) && x.Answered() && !hasToken(x) {
			out = append(out, x)
		}
	}
	return out
}

// judgeErrorStatus judges the status of one of the refusals that [judgedRefusals] lists.
func judgeErrorStatus(e Evidence, x evidence.Exchange) Judgement {
	want := expect(x, "400 or 401")
	if wafPage(x) && !rateLimited(x) {
		j, _ := inconclusiveAnswer(x)
		return j
	}
	reason := fmt.Sprintf("%s was answered %s", tokenRequestName(x), clip(x.StatusText()))
	switch status := x.Status(); {
	case status == 400 || status == 401:
		return Passed(x.Label)
	case slices.Contains([]int{403, 405, 415, 422}, status):
		return want.warned(reason, describe(x))
	case rateLimited(x):
		limited, _ := inconclusiveAnswer(x)
		return want.warned(reason+": "+limited.Reason, describe(x)).Hinting(limited.Hint)
	case status == 500 && !crashesAgain(e, x):
		return want.unclear(reason+", and rin did not repeat the request, because failed attempts may lock the client out", describe(x)).Hinting(crashHint)
	case redirected(x):
		return want.failed(reason, describe(x)).
			Hinting("a browser login guards the token endpoint: give its path a filter chain without formLogin() in Spring Security, or take it out of the proxy's login")
	}
	return want.failed(reason, describe(x))
}

// judgeTokenErrors is the check of TER-04.
func judgeTokenErrors(e Evidence) Judgement {
	labels := judgedRefusals()
	for _, l := range atToken("unknown-scope", "repeated-grant-type") {
		if !serverError(e.exchange(l)) { // TER-09 and TER-12 judge a crash, as advice
			labels = append(labels, l)
		}
	}
	if isTokenAnswer(e.exchange(evidence.TokenEndpoint.With("basic"))) { // without HTTP Basic, a server in front may refuse the request
		labels = append(labels, evidence.TokenEndpoint.With("basic-unknown-client"))
	}
	j := onEvery(judgeEachRefusal(e, labels, judgeTokenError), "", e.sweep().refusals, func(x evidence.Exchange) Judgement {
		return gather(judgeErrorJSON(x, e.jsonFault(x)), judgeDescription(x))
	})
	// TER-03 judges crashes.
	return onEvery(j, "", furtherRefusals(e), func(x evidence.Exchange) Judgement {
		if further := judgeFurtherBody(e, x); further.Outcome == Fail {
			return further
		}
		return Judgement{Outcome: Pass}
	})
}

// judgeErrorJSON judges the JSON of any refusal of the token endpoint. fault is the result of [jsonFault].
func judgeErrorJSON(x evidence.Exchange, fault string) Judgement {
	got, _ := encodingFault(x)
	switch {
	case fault != "":
		return expect(x, "each parameter once (RFC 6749 §3.2), and texts in Unicode").failed("parsers disagree on a refusal of the token endpoint: "+fault, fault).
			Hinting("let a JSON library write the whole refusal, and each member once")
	case got != "":
		return expect(x, "ASCII (RFC 6749 §5.2)").warned("a refusal of the token endpoint is not in plain UTF-8, or its charset names another encoding", got).
			Hinting("write error and error_description in ASCII; " + charsetHint)
	}
	return Passed(x.Label)
}

// judgeTokenError judges the body of one refusal of the token endpoint.
func judgeTokenError(x evidence.Exchange) Judgement {
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	want := expect(x, "application/json with a string error")
	request := tokenRequestName(x)
	o, isObject := jsonObject(x)
	code, isString := o["error"].(string)
	switch c := x.Label.Case(); {
	case c == "basic-unknown-client" && len(x.Response.Body) == 0:
		return want.warned("the answer to "+request+" is empty", describe(x))
	case len(x.Response.Body) == 0 && x.Status() == 401 && (c == "no-client" || c == "id-only"):
		// Spring Authorization Server answers so when no converter finds credentials.
		return want.warned("the answer to "+request+" is empty, as Spring Authorization Server sends it", describe(x)).Habit(springServer)
	case !isObject:
		return want.failed("the answer to "+request+" is not a JSON object", describe(x))
	case !isString || code == "":
		got := fmt.Sprintf("%s, error: %s", describe(x), openapi.JSONType(o["error"]))
		if _, has := o["error"]; !has {
			got = describe(x) + " without error"
		}
		return want.failed("the answer to "+request+" has no string error", got)
	case !inErrorAlphabet(code):
		return expect(x, "printable ASCII without \" and \\").failed("the error code for "+request+" has characters outside the allowed set", "error: "+quote(code))
	case !jsonMedia(mediaType(x)):
		return expect(x, "Content-Type: application/json").failed("the answer to "+request+" is JSON, but not declared as such", headerText(x, "Content-Type"))
	}
	if text, _ := o["error_description"].(string); !inErrorAlphabet(text) {
		return expect(x, "printable ASCII without \" and \\").warned("the error_description for "+request+" has characters outside the allowed set", "error_description: "+quote(text))
	}
	return Passed(x.Label)
}

// inErrorAlphabet reports whether all characters are allowed in error texts (RFC 6749 §5.2): %x20-21 / %x23-5B / %x5D-7E.
func inErrorAlphabet(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r > 0x7e || r == '"' || r == '\\' })
}

// judgeBasicFailures is the check of TER-10.
func judgeBasicFailures(e Evidence) Judgement {
	j := judgeBasicFailure(e)
	if j.Outcome != Pass && j.Outcome != Warn {
		return j
	}
	return gather(append([]Judgement{j}, judgeBasicChallenges(e)...)...)
}

// judgeBasicFailure judges the refusal of an unknown client that authenticates by HTTP Basic.
func judgeBasicFailure(e Evidence) Judgement {
	if _, ok := e.passes("TOK-13"); !ok || !isTokenAnswer(e.exchange(evidence.TokenEndpoint.With("basic"))) {
		return Inapplicable("this client cannot authenticate by HTTP Basic, which TOK-13 judges")
	}
	x := e.exchange(evidence.TokenEndpoint.With("basic-unknown-client"))
	want := expect(x, "401 with WWW-Authenticate: Basic …")
	got := fmt.Sprintf("%s, %s", describeError(x), headerText(x, "WWW-Authenticate"))
	if hasToken(x) {
		return want.failed("an unknown client got a token by HTTP Basic", got)
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	challenges, _ := evidence.ParseChallenges(header(x, "WWW-Authenticate"))
	for _, c := range challenges {
		if strings.EqualFold(c.Scheme, "Basic") && x.Status() == 401 {
			return Passed(x.Label)
		}
	}
	switch {
	case x.Status() == 401 && len(challenges) == 0:
		return want.warned("wrong Basic credentials are answered 401 without a challenge, as Spring Authorization Server and Keycloak do", got).Habit(keycloak, springServer)
	case x.Status() == 400 && oauthError(x) != "":
		return want.warned("wrong Basic credentials are answered 400, as older Keycloak versions do", got).Habit(keycloak)
	case x.Status() == 401:
		return want.failed("wrong Basic credentials are answered with a challenge for another scheme", got)
	}
	return want.failed(fmt.Sprintf("wrong Basic credentials are answered %s", clip(x.StatusText())), got)
}

// judgedRefusals returns the labels of the answers whose form TER-03 and TER-04 judge.
func judgedRefusals() []evidence.Label {
	return atToken("wrong-secret", "no-client", "id-only", "no-grant-type", "unknown-grant-type")
}
