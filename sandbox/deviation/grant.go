package deviation

import (
	"net/http"
	"strings"
)

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
			Wrap: exchange(func(q tokenRequest, a *Answer) {
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
			Wrap: exchange(whenGrantUnknown(func(a *Answer) { a.refuse(http.StatusBadRequest, "invalid_request") })),
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
			Wrap: exchange(whenBasicFails(func(a *Answer) { a.challenge("") })),
		},
		{
			Name: "basic-failure-bearer-challenge", Breaks: []string{"TER-10"},
			Why:  "Wrong Basic credentials are answered with a Bearer challenge: the filter of the API guards the token endpoint as well.",
			Wrap: exchange(whenBasicFails(func(a *Answer) { a.challenge(`Bearer realm="ris"`) })),
		},
		{
			Name: "basic-failure-status-400", Breaks: []string{"TER-10"},
			Why: "Wrong Basic credentials are answered 400, as older Keycloak versions do.",
			Wrap: exchange(whenBasicFails(func(a *Answer) {
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
				a := &Answer{}
				a.become(http.StatusOK, "text/html", page)
				a.send(w, r)
			}),
		},
		{
			Name: "repeated-parameter-crashes", Breaks: []string{"TER-12"},
			Why:  "A repeated parameter arrives as an array, and the code that expects text fails with 500, as in PHP and Express.",
			Wrap: exchange(whenRepeated(func(a *Answer) { a.become(http.StatusInternalServerError, "", "") })),
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

func whenGrantUnknown(alter func(a *Answer)) func(tokenRequest, *Answer) {
	return func(q tokenRequest, a *Answer) {
		if grant := q.form.Get("grant_type"); !a.ok() && grant != "" && grant != "client_credentials" {
			alter(a)
		}
	}
}

func whenScoped(edit func(q tokenRequest, answer map[string]any)) func(tokenRequest, *Answer) {
	return func(q tokenRequest, a *Answer) {
		if a.ok() && q.form.Get("scope") != "" {
			a.editObject(func(answer map[string]any) { edit(q, answer) })
		}
	}
}

func whenBasicFails(alter func(a *Answer)) func(tokenRequest, *Answer) {
	return func(q tokenRequest, a *Answer) {
		if q.basic && a.Status == http.StatusUnauthorized {
			alter(a)
		}
	}
}

func whenRepeated(alter func(a *Answer)) func(tokenRequest, *Answer) {
	return func(q tokenRequest, a *Answer) {
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
