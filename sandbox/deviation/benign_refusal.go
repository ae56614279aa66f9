package deviation

import (
	"net/http"
)

// refusalHabits are unusual refusals at the API: in another order, with another status, with another body.
func refusalHabits() []Deviation {
	return []Deviation{
		{
			Name: "refusals-without-body",
			Why:  "Refusals of the API have no body, as Spring, Kong and nginx send them where nobody wrote one.",
			Wrap: rewrite(when(failed, func(_ *http.Request, a *Answer) {
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
				rewrite(when(missing, func(_ *http.Request, a *Answer) {
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
			Wrap: rewrite(when(refusedRole, func(_ *http.Request, a *Answer) {
				a.become(http.StatusForbidden, "", "")
			}), FundingList, FundingDetail),
		},
	}
}

// simpleErrors writes the problems of the node as Spring Boot does.
func simpleErrors(next http.Handler, env Env) http.Handler {
	return rewrite(when(failed, func(r *http.Request, a *Answer) {
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
