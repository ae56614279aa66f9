package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file judges the form of refusals of the token endpoint (TER-03, TER-04, TER-10).

// attempt says in words what a refused request of the token endpoint tried.
func attempt(c evidence.Case) string {
	switch c {
	case "wrong-secret":
		return "the wrong secret"
	case "no-client":
		return "the request without credentials"
	case "id-only":
		return "the client id alone"
	case "no-grant-type":
		return "the request without grant_type"
	case "unknown-grant-type":
		return "the unknown grant type"
	case "unknown-scope":
		return "the unknown scope"
	case "repeated-grant-type":
		return "the repeated parameter"
	case "basic", "basic-unencoded":
		return "HTTP Basic"
	case "basic-unknown-client":
		return "HTTP Basic of an unknown client"
	case "unknown-parameter":
		return "the unknown parameter"
	case "empty-scope":
		return "the empty scope"
	case "percent-encoded":
		return "percent-encoded values"
	case "secret-in-url":
		return "the credentials in the URL"
	}
	return strings.ReplaceAll(string(c), "-", " ")
}

// eachRefusal judges the answers under the labels one by one. Answers with a token are left out: the row that sent the request fails.
func eachRefusal(e Evidence, labels []evidence.Label, judge func(evidence.Exchange) Judgement) Judgement {
	var parts []Judgement
	for _, l := range labels {
		if x, sent := e.Get(l); sent && x.Answered() && !issued(x) {
			parts = append(parts, judge(x))
		}
	}
	if len(parts) == 0 {
		return Missing("every request that was wrong has yielded a token, so there is no error answer")
	}
	return gather(parts...)
}

func errorStatuses(e Evidence) Judgement {
	return eachRefusal(e, tokenRefusals(), errorStatus)
}

func errorStatus(x evidence.Exchange) Judgement {
	const expected = "400 or 401"
	if wafPage(x) && !rateLimited(x) {
		j, _ := unclearIfNoVerdict(x)
		return j
	}
	reason := fmt.Sprintf("%s was answered %d", attempt(x.Label.Case()), x.Status())
	switch status := x.Status(); {
	case status == 400 || status == 401:
		return Passed(x.Label)
	case slices.Contains([]int{403, 405, 415, 422, 429}, status):
		return Warned(reason, expected, describe(x)).about(x, expected, describe(x))
	case redirected(x):
		return Failed(reason, expected, describe(x)).about(x, expected, describe(x)).
			Hinting("a browser login guards the token endpoint: give its path a filter chain without formLogin() in Spring Security, or take it out of the proxy's login")
	}
	return Failed(reason, expected, describe(x)).about(x, expected, describe(x))
}

func errorBodies(e Evidence) Judgement {
	labels := tokenRefusals()
	for _, l := range atToken("unknown-scope", "repeated-grant-type") {
		if !serverError(e.The(l)) { // a crash is what TER-09 and TER-12 judge, as advice
			labels = append(labels, l)
		}
	}
	return eachRefusal(e, labels, errorBody)
}

func errorBody(x evidence.Exchange) Judgement {
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	const expected = "application/json with a string error"
	of := attempt(x.Label.Case())
	o, isObject := jsonObject(x)
	code, isString := o["error"].(string)
	switch c := x.Label.Case(); {
	case len(x.Response.Body) == 0 && x.Status() == 401 && (c == "no-client" || c == "id-only"):
		// Spring Authorization Server, when no converter finds credentials. The draft names the request without any only.
		return Warned("the answer to "+of+" is empty, as Spring Authorization Server sends it", expected, describe(x)).about(x, expected, describe(x))
	case !isObject:
		return Failed("the answer to "+of+" is not a JSON object", expected, describe(x)).about(x, expected, describe(x))
	case !isString || code == "":
		got := fmt.Sprintf("%s, error: %s", describe(x), jsonType(o["error"]))
		if _, has := o["error"]; !has {
			got = describe(x) + " without error"
		}
		return Failed("the answer to "+of+" has no string error", expected, got).about(x, expected, got)
	case !errorAlphabet(code):
		return Failed("the error code for "+of+" has characters outside the allowed set", "printable ASCII without \" and \\", "error: "+quote(code)).
			about(x, "printable ASCII without \" and \\", "error: "+quote(code))
	case !jsonMedia(mediaType(x)):
		return Failed("the answer to "+of+" is JSON, but not declared as such", "Content-Type: application/json", headerText(x, "Content-Type")).
			about(x, "Content-Type: application/json", headerText(x, "Content-Type"))
	}
	if text, _ := o["error_description"].(string); !errorAlphabet(text) {
		return Warned("the error_description for "+of+" has characters outside the allowed set", "printable ASCII without \" and \\", "error_description: "+quote(text)).
			about(x, "printable ASCII without \" and \\", "error_description: "+quote(text))
	}
	return Passed(x.Label)
}

// errorAlphabet holds RFC 6749 §5.2: %x20-21 / %x23-5B / %x5D-7E.
func errorAlphabet(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r > 0x7e || r == '"' || r == '\\' })
}

func basicFailureChallenged(e Evidence) Judgement {
	if _, ok := e.standing(tokenSuccess(), "TOK-13"); !ok || !tokenAnswered(e.The(evidence.TokenEndpoint.With("basic"))) {
		return Missing("this client can't authenticate by HTTP Basic, which TOK-13 judges")
	}
	x := e.The(evidence.TokenEndpoint.With("basic-unknown-client"))
	const expected = "401 with WWW-Authenticate: Basic …"
	got := fmt.Sprintf("%s, %s", describeError(x), headerText(x, "WWW-Authenticate"))
	if issued(x) {
		return Failed("an unknown client got a token by HTTP Basic", expected, got).about(x, expected, got)
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
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
		return Warned("wrong Basic credentials are answered 401 without a challenge, as Spring Authorization Server and Keycloak do", expected, got).about(x, expected, got)
	case x.Status() == 400 && oauthError(x) != "":
		return Warned("wrong Basic credentials are answered 400, as older Keycloak versions do", expected, got).about(x, expected, got)
	case x.Status() == 401:
		return Failed("wrong Basic credentials are answered with a challenge for another scheme", expected, got).about(x, expected, got)
	}
	return Failed(fmt.Sprintf("wrong Basic credentials are answered %d", x.Status()), expected, got).about(x, expected, got)
}

// scopes splits a scope value (RFC 6749 §3.3).
func scopes(value string) []string { return strings.Fields(value) }
