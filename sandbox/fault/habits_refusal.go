package fault

import (
	"net/http"
	"strings"
)

// challengeHabits are challenges with the usual meaning and an unusual syntax.
func challengeHabits() []Deviation {
	return []Deviation{
		{Name: "challenge-among-others",
			Why: "The Bearer challenge follows two others in one header line, whose parameters contain commas, as from IIS with Windows authentication.",
			Wrap: rewriteChallenge(func(bearer string) []string {
				return []string{`Negotiate, Basic realm="files, mail and more", ` + bearer}
			})},
		{Name: "challenge-before-others",
			Why:  "Another challenge follows the Bearer challenge in the same header line, as from APIs that also accept Basic.",
			Wrap: rewriteChallenge(func(bearer string) []string { return []string{bearer + `, Basic realm="ris", charset="UTF-8"`} })},
		{Name: "challenge-in-a-line-of-its-own",
			Why: "Each challenge has its own header line, with Bearer last, as from ASP.NET Core with several schemes.",
			Wrap: rewriteChallenge(func(bearer string) []string {
				return []string{"Negotiate", "NTLM", `Digest realm="a", nonce="bm9uY2U=", qop="auth, auth-int"`, bearer}
			})},
		{Name: "challenge-in-lower-case",
			Why: "The scheme of the challenge is spelled bearer, and its parameters in capitals; both are case-insensitive.",
			Wrap: rewriteChallenge(func(bearer string) []string {
				_, rest, _ := strings.Cut(bearer, " ")
				return []string{"bearer " + strings.NewReplacer("realm=", "Realm=", "error=", "ERROR=").Replace(rest)}
			})},
		{Name: "challenge-without-quotes",
			Why:  "Realm and error of the challenge are not quoted, which single words need not be.",
			Wrap: rewriteChallenge(func(bearer string) []string { return []string{"Bearer realm=ris" + unquotedError(bearer)} })},
		{Name: "challenge-oddly-spaced",
			Why: "The challenge has blanks around equals signs, tabs and an empty member, all of which the grammar of HTTP allows.",
			Wrap: rewriteChallenge(func(bearer string) []string {
				return []string{"Bearer realm = \"ris\" ,\t," + strings.Replace(strings.TrimPrefix(unquotedError(bearer), ","), "=", " =\t", 1)}
			})},
		{Name: "challenge-with-escapes",
			Why: "The realm contains quotes and commas, escaped as HTTP requires.",
			Wrap: rewriteChallenge(func(bearer string) []string {
				_, rest, _ := strings.Cut(bearer, `", `)
				if rest != "" {
					rest = ", " + rest
				}
				return []string{`Bearer realm="research \"information\", node 1, \\ris"` + rest}
			})},
		{Name: "challenge-with-metadata",
			Why: "The challenge names the scope and the metadata of the resource, as in RFC 9728.",
			Wrap: rewriteChallenge(func(bearer string) []string {
				return []string{bearer + `, scope="ris.read ris.list", resource_metadata="https://node.example/.well-known/oauth-protected-resource"`}
			})},
		{Name: "refusals-of-spring", Warns: []string{"BRR-05"},
			Why:  "An anonymous call gets a bare Bearer, a bad token gets error_description and error_uri, and no refusal has a body: unmodified Spring Security.",
			Wrap: rewriteRefusals(challengeLikeSpring, protectedKinds()...)},
	}
}

// rewriteChallenge makes a wrap that replaces the challenge of protected resources by header lines.
func rewriteChallenge(replace func(bearer string) []string) wrap {
	return rewrite(func(a *answer) {
		if bearer := a.Header.Get("WWW-Authenticate"); strings.HasPrefix(bearer, "Bearer ") {
			a.Header["Www-Authenticate"] = replace(bearer)
		}
	}, protectedKinds()...)
}

// unquotedError returns the error of a challenge as a parameter without quotes, or "".
func unquotedError(challenge string) string {
	_, rest, found := strings.Cut(challenge, `error="`)
	code, _, _ := strings.Cut(rest, `"`)
	if !found {
		return ""
	}
	return ", error=" + code
}

// challengeLikeSpring rewrites a refusal as Spring Security sends it.
func challengeLikeSpring(a *answer) {
	const uri = `, error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"`
	status, challenge := a.Status, a.Header.Get("WWW-Authenticate")
	switch {
	case challenge == "":
		return
	case isAnonymous(a.request):
		challenge = "Bearer"
	case status == http.StatusForbidden:
		challenge = `Bearer error="insufficient_scope", error_description="The request requires higher privileges than provided by the access token."` + uri
	default:
		status = http.StatusUnauthorized
		challenge = `Bearer error="invalid_token", error_description="An error occurred while attempting to decode the Jwt: Malformed token"` + uri
	}
	a.become(status, "", "")
	a.set("WWW-Authenticate", challenge)
}

// refusalHabits are unusual refusals by the API: in another order, with another status, or with another body.
func refusalHabits() []Deviation {
	return []Deviation{
		{Name: "refusals-without-body",
			Why: "Refusals by the API have no body, the default of Spring, Kong and nginx.",
			Wrap: rewrite(when(isFailure, func(a *answer) {
				challenge, allow := a.Header.Get("WWW-Authenticate"), a.Header.Get("Allow")
				a.become(a.Status, "", "")
				a.set("WWW-Authenticate", challenge)
				a.set("Allow", allow)
			}), protectedKinds()...)},
		{Name: "refusals-as-simple-json",
			Why: "Errors are a small JSON object of the framework, as from Spring Boot, and the document describes them so.",
			Wrap: both(
				rewrite(when(isFailure, simplifyProblem), Info, Document, List, Detail, API),
				editDocument(describeSimpleErrors))},
		{Name: "not-found-before-unauthorized",
			Why:  "A request for an unknown id is answered 404 before the token is checked, as by routers that load the record first.",
			Wrap: revealEarly(http.StatusNotFound, Detail)},
		{Name: "bad-request-before-unauthorized",
			Why:  "Bad parameters are reported before the token is checked, as by API gateways that validate against the document.",
			Wrap: revealEarly(http.StatusBadRequest, List)},
		{Name: "paths-denied-by-default",
			Why:  "Unknown paths are answered 401 without a token and 403 with one: Spring Security with denyAll as its last rule.",
			Wrap: rewrite(when(isNotFound, inOrder(become(http.StatusForbidden, "", ""), whenRequest(isAnonymous, unauthorized))), otherKinds()...)},
		{Name: "unknown-id-gone",
			Why: "An unknown id is answered 410, and described so, by a service that keeps no records of closed calls.",
			Wrap: both(
				rewrite(when(isNotFound, problem(http.StatusGone, "no such record any more")), Detail),
				editDocument(func(d apiDocument) { member(d.detail(), "responses")["410"] = problemResponse() }))},
		{Name: "problems-of-its-own",
			Why: "Problem documents have their own type, additional members and no detail, as from Quarkus and Zalando's library.",
			Wrap: rewrite(when(isFailure, edit(func(problem map[string]any) {
				if _, isProblem := problem["status"]; !isProblem {
					return
				}
				problem["type"] = "/problems/refused?lang=de#top"
				problem["title"] = "Zugriff verweigert – „so nicht“"
				problem["instance"] = "urn:uuid:0b8a5e1c-8a5d-4b0e-9d0a-1f2e3d4c5b6a"
				problem["violations"] = []any{map[string]any{"field": "id", "message": nil}}
			})), protectedKinds()...)},
		{Name: "role-missing-bare", Warns: []string{"BRR-19"},
			Why:  "A missing role is answered 403 without challenge and body, as by most frameworks.",
			Wrap: rewrite(when(isRoleRefusal, become(http.StatusForbidden, "", "")), List, Detail)},
	}
}

// simplifyProblem rewrites a problem document as the error object of Spring Boot.
func simplifyProblem(a *answer) {
	if a.Header.Get("Content-Type") != "application/problem+json" {
		return
	}
	a.set("Content-Type", "application/json")
	a.editObject(func(problem map[string]any) {
		title, code := problem["title"], problem["status"]
		clear(problem)
		problem["timestamp"], problem["status"], problem["error"] = "2026-03-02T09:00:00.000+00:00", code, title
		problem["path"] = a.request.URL.Path
	})
}

// describeSimpleErrors makes the document describe JSON objects wherever it describes problem documents.
func describeSimpleErrors(d apiDocument) {
	for path := range d.at("paths") {
		for method := range d.at("paths", path) {
			responses := d.at("paths", path, method, "responses")
			for status := range responses {
				response := member(responses, status)
				if _, isProblem := member(response, "content")["application/problem+json"]; isProblem {
					response["content"] = jsonContent()
				}
			}
		}
	}
}

// revealEarly makes a wrap that answers with the status before it checks the token: a caller without a good token gets the answer for an admitted
// caller, if that answer has the status.
func revealEarly(status int, kind Kind) wrap {
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if a.Status == http.StatusUnauthorized {
			if admitted := capture(next, env.admit(r)); admitted.Status == status {
				a = admitted
			}
		}
		a.send(w, r)
	}, kind)
}

// methodHabits are unusual answers to methods other than GET.
func methodHabits() []Deviation {
	return []Deviation{
		{Name: "head-not-allowed",
			Why:  "HEAD is answered 405 before the token is checked, by frameworks that route GET only.",
			Wrap: refuseMethod(http.MethodHead, http.StatusMethodNotAllowed)},
		{Name: "head-not-implemented",
			Why:  "HEAD is answered 501 by a front server that knows GET and POST.",
			Wrap: refuseMethod(http.MethodHead, http.StatusNotImplemented)},
		{Name: "head-without-length",
			Why:  "HEAD has no Content-Length and no validator, as from frameworks that answer it without making the body.",
			Wrap: rewrite(whenRequest(isHead, setHeaders("Content-Length", "", "ETag", "")), Info, Document, List, Detail)},
		{Name: "options-not-allowed",
			Why:  "OPTIONS is answered 405 by nodes that no browser calls.",
			Wrap: refuseMethod(http.MethodOptions, http.StatusMethodNotAllowed)},
		{Name: "options-unauthorized",
			Why:  "OPTIONS needs a token like every other method, because the filter ignores preflights.",
			Wrap: refuseEarly(func(r *http.Request) bool { return r.Method == http.MethodOptions && isAnonymous(r) }, unauthorized, protectedKinds()...)},
		{Name: "browsers-sent-to-login",
			Why:  "A caller without a token that accepts text/html is redirected to the login of the web pages, as by Spring Security beside its API.",
			Wrap: answerBrowsers(redirectTo(http.StatusFound, "/login"))},
		{Name: "browsers-get-login",
			Why: "A caller without a token that accepts text/html gets a login page with 200.",
			Wrap: answerBrowsers(become(http.StatusOK, "text/html;charset=utf-8",
				"<!doctype html><title>Login</title><form method=post><input name=user></form>"))},
		{Name: "post-forbidden",
			Why:  "A POST of info is answered 403 by the CSRF protection of Spring Security, with any token.",
			Wrap: rewrite(when(isMethodNotAllowed, become(http.StatusForbidden, "", "")), Info)},
	}
}

// answerBrowsers makes a wrap that changes the answers to browsers without a token.
func answerBrowsers(alter change) wrap {
	return rewrite(whenRequest(func(r *http.Request) bool { return isAnonymous(r) && isFromBrowser(r) }, alter), protectedKinds()...)
}

// refuseMethod makes a wrap that refuses a method of the API and says what is allowed.
func refuseMethod(method string, status int) wrap {
	return refuseEarly(hasMethod(method), inOrder(become(status, "", ""), setHeader("Allow", "GET")), Info, Document, List, Detail)
}
