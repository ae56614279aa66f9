package deviation

import (
	"net/http"
)

// tokenErrorHabits are unusual errors of the token endpoint.
func tokenErrorHabits() []Deviation {
	return []Deviation{
		{
			Name: "token-errors-of-keycloak", Warns: []string{"TER-02"},
			Why: "A wrong or missing secret is unauthorized_client, and an unknown client invalid_client, with words that Keycloak has for them.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				return exchange(func(q tokenRequest, a *Answer) {
					if a.Status != http.StatusUnauthorized || q.basic || q.form.Get("client_id") == "" {
						return
					}
					a.editObject(func(answer map[string]any) {
						if _, known := env.Client(q.form.Get("client_id")); known {
							answer["error"] = "unauthorized_client"
						}
						answer["error_description"] = "Invalid client or Invalid client credentials"
					})
				})(next, env)
			},
		},
		{
			Name: "token-errors-of-entra",
			Why:  "Errors have a long description, an error_uri, codes, a time and correlation ids beside the code, as Microsoft Entra sends them.",
			Wrap: rewrite(when(failed, object(func(answer map[string]any) {
				answer["error_description"] = "AADSTS7000215: Invalid client credentials provided. Trace ID: 0a1b2c3d Timestamp: 2026-03-02 09:00:00Z"
				answer["error_uri"] = "https://login.node.example/error?code=7000215"
				answer["error_codes"] = []any{7000215}
				answer["timestamp"] = "2026-03-02 09:00:00Z"
				answer["trace_id"], answer["correlation_id"] = "0a1b2c3d-4e5f", "5f4e3d2c-1b0a"
			})), Token),
		},
		{
			Name: "token-errors-with-code-alone",
			Why:  "Errors have the code and nothing else, as minimal servers send them.",
			Wrap: rewrite(when(failed, object(func(answer map[string]any) {
				delete(answer, "error_description")
			})), Token),
		},
		{
			Name: "client-errors-status-400",
			Why:  "Wrong credentials in the form are answered 400 and not 401, which RFC 6749 leaves open; Basic credentials are answered 401.",
			Wrap: exchange(func(q tokenRequest, a *Answer) {
				if a.Status == http.StatusUnauthorized && !q.basic && len(a.Body) > 0 {
					a.Status = http.StatusBadRequest
				}
			}),
		},
		{
			Name: "client-errors-with-challenge",
			Why:  "A refused client is challenged for Basic credentials also when it sent a form, as RFC 9110 asks of each 401.",
			Wrap: rewrite(when(func(_ *http.Request, a *Answer) bool { return a.Status == http.StatusUnauthorized },
				field("WWW-Authenticate", `Basic realm="token endpoint", charset="UTF-8"`)), Token),
		},
		{
			Name: "client-missing-empty-answer", Warns: []string{"TER-04"},
			Why: "A request without any client authentication is answered 401 without a body, as Spring Authorization Server does.",
			Wrap: exchange(func(q tokenRequest, a *Answer) {
				if !a.ok() && q.unauthenticated() {
					a.become(http.StatusUnauthorized, "", "")
				}
			}),
		},
		{
			Name: "token-by-get-not-found",
			Why:  "A GET of the token endpoint is answered 404 with invalid_request, as node-oidc-provider routes it.",
			Wrap: rewrite(when(notAllowed, func(_ *http.Request, a *Answer) {
				a.refuse(http.StatusNotFound, "invalid_request")
			}), Token),
		},
		{
			Name: "token-by-get-unauthorized",
			Why:  "A GET of the token endpoint is answered 401 without a body by the filter before it, as Spring Security denies what it does not know.",
			Wrap: rewrite(when(notAllowed, func(_ *http.Request, a *Answer) {
				a.become(http.StatusUnauthorized, "", "")
			}), Token),
		},
		{
			Name: "token-by-get-documentation",
			Why:  "A GET of the token endpoint leads to the page that explains it, with 303.",
			Wrap: rewrite(when(notAllowed, func(_ *http.Request, a *Answer) {
				a.become(http.StatusSeeOther, "", "")
				a.set("Location", "/docs/token")
			}), Token),
		},
	}
}

// failed holds for errors.
func failed(_ *http.Request, a *Answer) bool { return a.Status >= http.StatusBadRequest }
