package deviation

import (
	"net/http"
	"strings"
)

// refusalDeviations break the refusal of wrong and missing client credentials.
func refusalDeviations() []Deviation {
	return []Deviation{
		{
			Name: "secret-not-checked", Breaks: []string{"TER-01"},
			Why:  "Any secret will do for a client that exists: oauth2-mock-server and other mocks never check it.",
			Wrap: guess(func(string, string) bool { return true }),
		},
		{
			Name: "secret-compared-by-prefix", Breaks: []string{"TER-01"},
			Why: "Only the first eight characters of the secret count, as with crypt(3) and its DES hashes.",
			Wrap: guess(func(right, given string) bool {
				return len(given) >= 8 && strings.HasPrefix(right, given[:8])
			}),
		},
		{
			Name: "secret-compared-without-case", Breaks: []string{"TER-01"},
			Why:  "The secret is looked up in a database column that compares without case, the default of MySQL and SQL Server.",
			Wrap: guess(strings.EqualFold),
		},
		{
			Name: "wrong-secret-server-error", Breaks: []string{"TER-02"},
			Why:  "A wrong secret is reported as server_error: every exception is mapped to the same code.",
			Wrap: exchange(whenWrongSecret(func(a *Answer) { a.refuse(http.StatusBadRequest, "server_error") })),
		},
		{
			Name: "wrong-secret-unauthorized-client", Breaks: []string{"TER-02"},
			Why:  "A wrong secret is reported as unauthorized_client, as Keycloak says it.",
			Wrap: exchange(whenWrongSecret(func(a *Answer) { a.refuse(http.StatusUnauthorized, "unauthorized_client") })),
		},
		{
			Name: "wrong-secret-without-code", Breaks: []string{"TER-02", "TER-04"},
			Why: "The refusal of a wrong secret is the problem document of the web framework, without the member error.",
			Wrap: exchange(whenWrongSecret(func(a *Answer) {
				a.become(http.StatusUnauthorized, "application/problem+json", `{"status":401,"title":"Unauthorized"}`)
			})),
		},
		{
			Name: "wrong-secret-status-200", Breaks: []string{"TER-03"},
			Why:  "Errors of the token endpoint come with status 200 and a member error, as GraphQL services answer.",
			Wrap: exchange(whenWrongSecret(func(a *Answer) { a.Status = http.StatusOK })),
		},
		{
			Name: "wrong-secret-status-403", Breaks: []string{"TER-03"},
			Why:  "A wrong secret is answered 403, as by gateways that know no other refusal.",
			Wrap: exchange(whenWrongSecret(func(a *Answer) { a.Status = http.StatusForbidden })),
		},
		{
			Name: "id-alone-refused-with-page", Breaks: []string{"TER-04"},
			Why:  "A request without a secret fails before the OAuth code is reached, and the framework shows its error page.",
			Wrap: exchange(whenSecretMissing(func(a *Answer) { a.become(http.StatusUnauthorized, "text/html", page) })),
		},
		{
			Name: "missing-secret-refused-without-body", Breaks: []string{"TER-04"},
			Why:  "A request without a secret is answered with an empty 401, as Spring Authorization Server answers it.",
			Wrap: exchange(whenSecretMissing(func(a *Answer) { a.become(http.StatusUnauthorized, "", "") })),
		},
		{
			Name: "errors-as-plain-text", Breaks: []string{"TER-04"},
			Why:  "Errors of the token endpoint are JSON, but declared as text/plain.",
			Wrap: rewrite(when(refusedExchange, field("Content-Type", "text/plain")), Token),
		},
		{
			Name: "error-description-in-german", Breaks: []string{"TER-04"},
			Why:  "The error_description has umlauts, because the language pack of the identity provider is German.",
			Wrap: rewrite(when(refusedExchange, object(put("error_description", "ungültige Anfrage"))), Token),
		},
		{
			Name: "anonymous-client", Breaks: []string{"TER-05"},
			Why:  "A request without credentials gets a token for a default client.",
			Wrap: identify(tokenRequest.unauthenticated),
		},
		{
			Name: "missing-client-is-invalid-grant", Breaks: []string{"TER-05"},
			Why: "A request without credentials is refused with invalid_grant, the code for authorization codes.",
			Wrap: exchange(func(q tokenRequest, a *Answer) {
				if q.unauthenticated() && !a.ok() {
					a.refuse(http.StatusBadRequest, "invalid_grant")
				}
			}),
		},
		{
			Name: "login-guards-token", Breaks: []string{"TER-03", "TER-04", "TER-05"},
			Why: "A request without credentials is redirected to a login page, as Spring Security does with formLogin.",
			Wrap: exchange(func(q tokenRequest, a *Answer) {
				if q.unauthenticated() {
					a.become(http.StatusFound, "", "")
					a.set("Location", "/login")
				}
			}),
		},
		{
			Name: "client-public", Breaks: []string{"TER-06"},
			Why: "The client is public, its id alone yields a token: in Keycloak, Client authentication is off.",
			Wrap: identify(func(q tokenRequest) bool {
				return q.form.Get("client_id") != "" && q.form.Get("client_secret") == ""
			}),
		},
	}
}

// refusedExchange holds for errors of the token endpoint that are OAuth answers.
func refusedExchange(_ *http.Request, a *Answer) bool {
	return a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized
}

// whenWrongSecret changes refusals of a secret in the form.
func whenWrongSecret(alter func(a *Answer)) func(tokenRequest, *Answer) {
	return func(q tokenRequest, a *Answer) {
		if a.Status == http.StatusUnauthorized && q.form.Get("client_secret") != "" {
			alter(a)
		}
	}
}

// whenSecretMissing changes refusals of a client id that comes alone.
func whenSecretMissing(alter func(a *Answer)) func(tokenRequest, *Answer) {
	return func(q tokenRequest, a *Answer) {
		if a.Status == http.StatusUnauthorized && q.form.Get("client_id") != "" && q.form.Get("client_secret") == "" {
			alter(a)
		}
	}
}
