package fault

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
			Wrap: exchange(whenWrongSecret(func(a *editableAnswer) { a.refuse(http.StatusBadRequest, "server_error") })),
		},
		{
			Name: "wrong-secret-unauthorized-client", Breaks: []string{"TER-02"},
			Why:  "A wrong secret is reported as unauthorized_client, as Keycloak says it.",
			Wrap: exchange(whenWrongSecret(func(a *editableAnswer) { a.refuse(http.StatusUnauthorized, "unauthorized_client") })),
		},
		{
			Name: "wrong-secret-without-code", Breaks: []string{"TER-02", "TER-04"},
			Why: "The refusal of a wrong secret is the problem document of the web framework, without the member error.",
			Wrap: exchange(whenWrongSecret(func(a *editableAnswer) {
				a.become(http.StatusUnauthorized, "application/problem+json", `{"status":401,"title":"Unauthorized"}`)
			})),
		},
		{
			Name: "wrong-secret-status-200", Breaks: []string{"TER-03"},
			Why:  "Errors of the token endpoint come with status 200 and a member error, as GraphQL services answer.",
			Wrap: exchange(whenWrongSecret(func(a *editableAnswer) { a.Status = http.StatusOK })),
		},
		{
			Name: "wrong-secret-status-403", Breaks: []string{"TER-03"},
			Why:  "A wrong secret is answered 403, as by gateways that know no other refusal.",
			Wrap: exchange(whenWrongSecret(func(a *editableAnswer) { a.Status = http.StatusForbidden })),
		},
		{
			Name: "id-alone-refused-with-page", Breaks: []string{"TER-04"},
			Why:  "A request without a secret fails before the OAuth code is reached, and the framework shows its error page.",
			Wrap: exchange(whenSecretMissing(func(a *editableAnswer) { a.become(http.StatusUnauthorized, "text/html", page) })),
		},
		{
			Name: "missing-secret-refused-without-body", Breaks: []string{"TER-04"},
			Why:  "A request without a secret is answered with an empty 401, as Spring Authorization Server answers it.",
			Wrap: exchange(whenSecretMissing(func(a *editableAnswer) { a.become(http.StatusUnauthorized, "", "") })),
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
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
				if q.unauthenticated() && !a.ok() {
					a.refuse(http.StatusBadRequest, "invalid_grant")
				}
			}),
		},
		{
			Name: "login-guards-token", Breaks: []string{"TER-03", "TER-04", "TER-05"},
			Why: "A request without credentials is redirected to a login page, as Spring Security does with formLogin.",
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
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
func refusedExchange(_ *http.Request, a *editableAnswer) bool {
	return a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized
}

// whenWrongSecret changes refusals of a secret in the form.
func whenWrongSecret(alter func(a *editableAnswer)) func(tokenRequest, *editableAnswer) {
	return func(q tokenRequest, a *editableAnswer) {
		if a.Status == http.StatusUnauthorized && q.form.Get("client_secret") != "" {
			alter(a)
		}
	}
}

// whenSecretMissing changes refusals of a client id that comes alone.
func whenSecretMissing(alter func(a *editableAnswer)) func(tokenRequest, *editableAnswer) {
	return func(q tokenRequest, a *editableAnswer) {
		if a.Status == http.StatusUnauthorized && q.form.Get("client_id") != "" && q.form.Get("client_secret") == "" {
			alter(a)
		}
	}
}

// grantDeviations break the refusal of token requests that are wrong in themselves.
func grantDeviations() []Deviation {
	return []Deviation{
		{
			Name: "grant-type-assumed", Breaks: []string{"TER-07"},
			Why: "A request without grant_type is taken for client_credentials, since nothing else is offered.",
			Wrap: reform(func(q tokenRequest, _ Env) {
				if !q.form.Has("grant_type") {
					q.form.Set("grant_type", "client_credentials")
				}
			}),
		},
		{
			Name: "grant-type-missing-unsupported", Breaks: []string{"TER-07"},
			Why: "A missing grant_type is reported as one that is not supported, as league/oauth2-server does.",
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
				if !q.form.Has("grant_type") {
					a.refuse(http.StatusBadRequest, "unsupported_grant_type")
				}
			}),
		},
		{
			Name: "grant-type-ignored", Breaks: []string{"TER-08"},
			Why: "The grant_type is not looked at: whatever it says is treated as client_credentials.",
			Wrap: reform(func(q tokenRequest, _ Env) {
				if len(q.form["grant_type"]) == 1 {
					q.form.Set("grant_type", "client_credentials")
				}
			}),
		},
		{
			Name: "grant-type-unknown-invalid", Breaks: []string{"TER-08"},
			Why:  "An unknown grant_type is reported as invalid_request, because the request is validated by a list of values first.",
			Wrap: exchange(whenGrantUnknown(func(a *editableAnswer) { a.refuse(http.StatusBadRequest, "invalid_request") })),
		},
		{
			Name: "unknown-scope-granted", Breaks: []string{"TER-09"},
			Why:  "The scope that was asked for is echoed as granted, whether it exists or not.",
			Wrap: exchange(whenScoped(func(q tokenRequest, answer map[string]any) { answer["scope"] = q.form.Get("scope") })),
		},
		{
			Name: "unknown-scope-unreported", Breaks: []string{"TER-09"},
			Why:  "An unknown scope is dropped without a word.",
			Wrap: exchange(whenScoped(func(_ tokenRequest, answer map[string]any) { delete(answer, "scope") })),
		},
		{
			Name: "basic-failure-without-challenge", Breaks: []string{"TER-10"},
			Why:  "Wrong Basic credentials are answered 401 without a challenge, as Spring Authorization Server and Keycloak do.",
			Wrap: exchange(whenBasicFails(func(a *editableAnswer) { a.challenge("") })),
		},
		{
			Name: "basic-failure-bearer-challenge", Breaks: []string{"TER-10"},
			Why:  "Wrong Basic credentials are answered with a Bearer challenge: the filter of the API guards the token endpoint as well.",
			Wrap: exchange(whenBasicFails(func(a *editableAnswer) { a.challenge(`Bearer realm="ris"`) })),
		},
		{
			Name: "basic-failure-status-400", Breaks: []string{"TER-10"},
			Why: "Wrong Basic credentials are answered 400, as older Keycloak versions do.",
			Wrap: exchange(whenBasicFails(func(a *editableAnswer) {
				a.Status = http.StatusBadRequest
				a.challenge("")
			})),
		},
		{
			Name: "get-yields-token", Breaks: []string{"TER-11"},
			Why:  "A GET of the token URL yields an anonymous token, left over from a first test in the browser.",
			Wrap: onGet(getToken),
		},
		{
			Name: "get-shows-page", Breaks: []string{"TER-11"},
			Why: "A GET of the token URL shows a page about the service.",
			Wrap: onGet(func(_ http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				a := &editableAnswer{}
				a.become(http.StatusOK, "text/html", page)
				a.send(w, r)
			}),
		},
		{
			Name: "repeated-parameter-crashes", Breaks: []string{"TER-12"},
			Why:  "A repeated parameter arrives as an array, and the code that expects text fails with 500, as in PHP and Express.",
			Wrap: exchange(whenRepeated(func(a *editableAnswer) { a.become(http.StatusInternalServerError, "", "") })),
		},
		{
			Name: "repeated-parameter-accepted", Breaks: []string{"TER-12"},
			Why: "Of a repeated parameter the first value counts, as in most form parsers.",
			Wrap: reform(func(q tokenRequest, _ Env) {
				for name, values := range q.form {
					q.form[name] = values[:1]
				}
			}),
		},
	}
}

func whenGrantUnknown(alter func(a *editableAnswer)) func(tokenRequest, *editableAnswer) {
	return func(q tokenRequest, a *editableAnswer) {
		if grant := q.form.Get("grant_type"); !a.ok() && grant != "" && grant != "client_credentials" {
			alter(a)
		}
	}
}

func whenScoped(edit func(q tokenRequest, answer map[string]any)) func(tokenRequest, *editableAnswer) {
	return func(q tokenRequest, a *editableAnswer) {
		if a.ok() && q.form.Get("scope") != "" {
			a.editObject(func(answer map[string]any) { edit(q, answer) })
		}
	}
}

func whenBasicFails(alter func(a *editableAnswer)) func(tokenRequest, *editableAnswer) {
	return func(q tokenRequest, a *editableAnswer) {
		if q.basic && a.Status == http.StatusUnauthorized {
			alter(a)
		}
	}
}

func whenRepeated(alter func(a *editableAnswer)) func(tokenRequest, *editableAnswer) {
	return func(q tokenRequest, a *editableAnswer) {
		for _, values := range q.form {
			if len(values) > 1 {
				alter(a)
				return
			}
		}
	}
}

// onGet makes a Wrap that handles a GET of the token endpoint.
func onGet(do handle) wrap {
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		do(next, env, w, r)
	}, Token)
}

// getToken answers a GET like the good POST of the first client.
func getToken(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
	client, ok := env.exposed()
	if !ok {
		next.ServeHTTP(w, r)
		return
	}
	post := withForm(r, "grant_type=client_credentials")
	post.Method = http.MethodPost
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	post.SetBasicAuth(escaped(client.ID), escaped(client.Secret))
	next.ServeHTTP(w, post)
}

// escaped form-encodes the two characters that would change their meaning (RFC 6749 §2.3.1).
func escaped(text string) string {
	return strings.NewReplacer("%", "%25", "+", "%2B").Replace(text)
}
