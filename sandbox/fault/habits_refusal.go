package fault

import (
	"net/http"
	"strings"
)

// challengeHabits are unusual challenges that say the same.
func challengeHabits() []Deviation {
	return []Deviation{
		{
			Name: "challenge-among-others",
			Why:  "The Bearer challenge stands behind two others in one header line, whose parameters hold commas, as IIS with Windows authentication sends it.",
			Wrap: challenges(func(bearer string) []string {
				return []string{`Negotiate, Basic realm="files, mail and more", ` + bearer}
			}),
		},
		{
			Name: "challenge-before-others",
			Why:  "Another challenge follows the Bearer challenge in the same header line, as APIs send it that take Basic as well.",
			Wrap: challenges(func(bearer string) []string { return []string{bearer + `, Basic realm="ris", charset="UTF-8"`} }),
		},
		{
			Name: "challenge-in-a-line-of-its-own",
			Why:  "Each challenge has a header line, Bearer comes last, as ASP.NET Core sends it with several schemes.",
			Wrap: challenges(func(bearer string) []string {
				return []string{"Negotiate", "NTLM", `Digest realm="a", nonce="bm9uY2U=", qop="auth, auth-int"`, bearer}
			}),
		},
		{
			Name: "challenge-in-lower-case",
			Why:  "The scheme of the challenge is spelled bearer, and its parameters in capitals; neither has a case.",
			Wrap: challenges(func(bearer string) []string {
				_, rest, _ := strings.Cut(bearer, " ")
				return []string{"bearer " + strings.NewReplacer("realm=", "Realm=", "error=", "ERROR=").Replace(rest)}
			}),
		},
		{
			Name: "challenge-without-quotes",
			Why:  "Realm and error stand in the challenge without quotes, which single words may.",
			Wrap: challenges(func(bearer string) []string { return []string{"Bearer realm=ris" + unquoted(bearer)} }),
		},
		{
			Name: "challenge-oddly-spaced",
			Why:  "There are blanks around the equals signs, tabs and an empty member in the challenge; the grammar of HTTP has room for all of them.",
			Wrap: challenges(func(bearer string) []string {
				return []string{"Bearer realm = \"ris\" ,\t," + strings.Replace(strings.TrimPrefix(unquoted(bearer), ","), "=", " =\t", 1)}
			}),
		},
		{
			Name: "challenge-with-escapes",
			Why:  "The realm has quotes and commas in it, escaped as HTTP wants it.",
			Wrap: challenges(func(bearer string) []string {
				_, rest, _ := strings.Cut(bearer, `", `)
				if rest != "" {
					rest = ", " + rest
				}
				return []string{`Bearer realm="research \"information\", node 1, \\ris"` + rest}
			}),
		},
		{
			Name: "challenge-with-metadata",
			Why:  "The challenge names the scope and where the resource is described, as RFC 9728 has it.",
			Wrap: challenges(func(bearer string) []string {
				return []string{bearer + `, scope="ris.read ris.list", resource_metadata="https://node.example/.well-known/oauth-protected-resource"`}
			}),
		},
		{
			Name: "refusals-of-spring", Warns: []string{"BRR-05"},
			Why: "An anonymous call gets a bare Bearer, a bad token an error_description and an error_uri, and no refusal has a body: Spring Security unchanged.",
			Wrap: reword(func(r *http.Request, a *editableAnswer) {
				challenge := a.Header.Get("WWW-Authenticate")
				switch {
				case challenge == "":
					return
				case anonymous(r):
					challenge = "Bearer"
				case a.Status == http.StatusForbidden:
					challenge = `Bearer error="insufficient_scope", error_description="The request requires higher privileges than provided by the access token.", ` +
						`error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"`
				default:
					a.restate(http.StatusUnauthorized)
					challenge = `Bearer error="invalid_token", error_description="An error occurred while attempting to decode the Jwt: Malformed token", ` +
						`error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"`
				}
				a.become(a.Status, "", "")
				a.challenge(challenge)
			}, protected()...),
		},
	}
}

// challenges makes a Wrap that replaces the challenge of each refusal of a protected resource by header lines.
func challenges(replace func(bearer string) []string) wrap {
	return rewrite(func(_ *http.Request, a *editableAnswer) {
		if bearer := a.Header.Get("WWW-Authenticate"); strings.HasPrefix(bearer, "Bearer ") {
			a.Header["Www-Authenticate"] = replace(bearer)
		}
	}, protected()...)
}

// unquoted is the error of a challenge as a parameter without quotes, empty when there is none.
func unquoted(challenge string) string {
	_, rest, found := strings.Cut(challenge, `error="`)
	code, _, _ := strings.Cut(rest, `"`)
	if !found {
		return ""
	}
	return ", error=" + code
}

// refusalHabits are unusual refusals at the API: in another order, with another status, with another body.
func refusalHabits() []Deviation {
	return []Deviation{
		{
			Name: "refusals-without-body",
			Why:  "Refusals of the API have no body, as Spring, Kong and nginx send them where nobody wrote one.",
			Wrap: rewrite(when(failed, func(_ *http.Request, a *editableAnswer) {
				header := a.Header
				a.become(a.Status, "", "")
				for _, name := range []string{"WWW-Authenticate", "Allow"} {
					a.set(name, header.Get(name))
				}
			}), protected()...),
		},
		{
			Name: "refusals-as-simple-json",
			Why:  "Errors are a small JSON object of the framework's, as Spring Boot writes them, and the document describes them so.",
			Wrap: both(simpleErrors, specs(func(document map[string]any, _ Env) { describeErrors(document, "application/json") })),
		},
		{
			Name: "not-found-before-unauthorized",
			Why:  "Whoever asks for an unknown id is told so before the token is looked at, as routers do that load the record first.",
			Wrap: earlier(http.StatusNotFound, FundingDetail),
		},
		{
			Name: "bad-request-before-unauthorized",
			Why:  "Bad parameters are told before the token is looked at, as API gateways do that validate by the document.",
			Wrap: earlier(http.StatusBadRequest, FundingList),
		},
		{
			Name: "paths-denied-by-default",
			Why:  "Paths that lead nowhere are answered 401 without a token and 403 with one: Spring Security with denyAll as its last rule.",
			Wrap: outside(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if a.Status == http.StatusNotFound {
					a.become(http.StatusForbidden, "", "")
					if anonymous(r) {
						a.Status = http.StatusUnauthorized
						a.challenge(`Bearer realm="ris"`)
					}
				}
				a.send(w, r)
			}),
		},
		{
			Name: "unknown-id-gone",
			Why:  "An id that is not there is answered 410, by a service that keeps no records of closed calls, and the document says so.",
			Wrap: both(
				rewrite(when(missing, func(_ *http.Request, a *editableAnswer) {
					a.become(http.StatusGone, "application/problem+json", `{"type":"about:blank","title":"Gone","status":410,"detail":"no such record any more"}`)
				}), FundingDetail),
				specs(func(document map[string]any, env Env) {
					member(detailOperation(document, env), "responses")["410"] = problemResponse()
				}),
			),
		},
		{
			Name: "problems-of-its-own",
			Why:  "Problem documents have a type of their own, further members and no detail, as Quarkus and Zalando's library write them.",
			Wrap: rewrite(when(failed, object(func(problem map[string]any) {
				if _, isProblem := problem["status"]; !isProblem {
					return
				}
				problem["type"] = "/problems/refused?lang=de#top"
				problem["title"] = "Zugriff verweigert – „so nicht“"
				problem["instance"] = "urn:uuid:0b8a5e1c-8a5d-4b0e-9d0a-1f2e3d4c5b6a"
				problem["violations"] = []any{map[string]any{"field": "id", "message": nil}}
			})), protected()...),
		},
		{
			Name: "role-missing-bare", Warns: []string{"BRR-19"},
			Why: "A missing role is answered 403 without challenge and body, as most frameworks do.",
			Wrap: rewrite(when(refusedRole, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusForbidden, "", "")
			}), FundingList, FundingDetail),
		},
	}
}

// simpleErrors writes the problems of the node as Spring Boot does.
func simpleErrors(next http.Handler, env Env) http.Handler {
	return rewrite(when(failed, func(r *http.Request, a *editableAnswer) {
		if a.Header.Get("Content-Type") != "application/problem+json" {
			return
		}
		a.set("Content-Type", "application/json")
		a.editObject(func(problem map[string]any) {
			title, code := problem["title"], problem["status"]
			clear(problem)
			problem["timestamp"], problem["status"], problem["error"] = "2026-03-02T09:00:00.000+00:00", code, title
			problem["path"] = r.URL.Path
		})
	}), Info, Spec, FundingList, FundingDetail)(next, env)
}

// describeErrors changes the media type of all errors in the document, and takes their schema away.
func describeErrors(document map[string]any, mediaType string) {
	for _, item := range member(document, "paths") {
		operations, _ := item.(map[string]any)
		for method := range operations {
			responses := member(operations, method, "responses")
			for status := range responses {
				answer := member(responses, status)
				if _, problem := member(answer, "content")["application/problem+json"]; problem {
					answer["content"] = map[string]any{mediaType: map[string]any{"schema": map[string]any{"type": "object"}}}
				}
			}
		}
	}
}

// earlier makes a Wrap that refuses with the status before it asks for a token: the caller is told what a client with all
// permissions would be told.
func earlier(status int, kind Kind) wrap {
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if a.Status == http.StatusUnauthorized {
			if told := capture(next, env.admit(r)); told.Status == status {
				a = told
			}
		}
		a.send(w, r)
	}, kind)
}

// methodHabits are unusual answers to methods other than GET.
func methodHabits() []Deviation {
	return []Deviation{
		{
			Name: "head-not-allowed",
			Why:  "HEAD is answered 405, by frameworks that route GET and nothing with it, before the token is looked at.",
			Wrap: refusing(http.MethodHead, http.StatusMethodNotAllowed),
		},
		{
			Name: "head-not-implemented",
			Why:  "HEAD is answered 501 by a front server that knows GET and POST.",
			Wrap: refusing(http.MethodHead, http.StatusNotImplemented),
		},
		{
			Name: "head-without-length",
			Why:  "HEAD has no Content-Length and no validator, by frameworks that answer it without making the body.",
			Wrap: rewrite(when(func(r *http.Request, _ *editableAnswer) bool { return r.Method == http.MethodHead }, func(_ *http.Request, a *editableAnswer) {
				a.set("Content-Length", "")
				a.set("ETag", "")
			}), Info, Spec, FundingList, FundingDetail),
		},
		{
			Name: "options-not-allowed",
			Why:  "OPTIONS is answered 405, by nodes that no browser calls.",
			Wrap: refusing(http.MethodOptions, http.StatusMethodNotAllowed),
		},
		{
			Name: "options-unauthorized",
			Why:  "OPTIONS needs a token like every other method, as a filter does that knows no preflight.",
			Wrap: around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodOptions || !anonymous(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := &editableAnswer{}
				a.become(http.StatusUnauthorized, "", "")
				a.challenge(`Bearer realm="ris"`)
				a.send(w, r)
			}, protected()...),
		},
		{
			Name: "browsers-sent-to-login",
			Why:  "Who accepts text/html and has no token is sent to the login of the web pages, as Spring Security does beside its API.",
			Wrap: pageForBrowsers(func(a *editableAnswer) { a.become(http.StatusFound, "", ""); a.set("Location", "/login") }),
		},
		{
			Name: "browsers-get-login",
			Why:  "Who accepts text/html and has no token gets a login page with 200 at once.",
			Wrap: pageForBrowsers(func(a *editableAnswer) {
				a.become(http.StatusOK, "text/html;charset=utf-8", "<!doctype html><title>Login</title><form method=post><input name=user></form>")
			}),
		},
		{
			Name: "post-forbidden",
			Why:  "A POST of info is answered 403 by the protection against forged requests of Spring Security, whatever token comes with it.",
			Wrap: rewrite(when(notAllowed, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusForbidden, "", "")
			}), Info),
		},
	}
}

// pageForBrowsers makes a Wrap that answers browsers without a token otherwise than API clients.
func pageForBrowsers(page func(a *editableAnswer)) wrap {
	return rewrite(when(func(r *http.Request, _ *editableAnswer) bool { return anonymous(r) && fromBrowser(r) },
		func(_ *http.Request, a *editableAnswer) { page(a) }), protected()...)
}

// refusing makes a Wrap that refuses a method of the API, and says what is allowed.
func refusing(method string, status int) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		if r.Method != method {
			next.ServeHTTP(w, r)
			return
		}
		a := &editableAnswer{}
		a.become(status, "", "")
		a.set("Allow", "GET")
		a.send(w, r)
	}, Info, Spec, FundingList, FundingDetail)
}
