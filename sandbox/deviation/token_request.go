package deviation

import (
	"net/http"
	"strings"
)

// tokenRequestDeviations break the requests that must yield a token, too.
func tokenRequestDeviations() []Deviation {
	return []Deviation{
		{
			Name: "basic-refused", Breaks: []string{"TOK-13"},
			Why: "HTTP Basic is refused, the client is registered for the form only: node-oidc-provider and Okta know one method for each client.",
			Wrap: exchange(func(q tokenRequest, a *Answer) {
				if q.basic && a.ok() {
					a.refuse(http.StatusUnauthorized, "invalid_client")
				}
			}),
		},
		{
			Name: "basic-not-read", Breaks: []string{"TOK-13"},
			Why: "The Authorization header is not read at the token endpoint, so that credentials in it are missing.",
			Wrap: exchange(func(q tokenRequest, a *Answer) {
				if q.basic {
					a.refuse(http.StatusBadRequest, "invalid_request")
				}
			}),
		},
		{
			Name: "unknown-parameter-refused", Breaks: []string{"TOK-14"},
			Why: "The form is bound strictly, and a parameter that nobody knows is an error.",
			Wrap: exchange(func(q tokenRequest, a *Answer) {
				for name := range q.form {
					switch name {
					case "grant_type", "client_id", "client_secret", "scope":
					default:
						a.refuse(http.StatusBadRequest, "invalid_request")
					}
				}
			}),
		},
		{
			Name: "empty-scope-refused", Breaks: []string{"TOK-15"},
			Why: "A scope parameter without a value is looked up like a scope, and not found.",
			Wrap: exchange(func(q tokenRequest, a *Answer) {
				if q.form.Has("scope") && q.form.Get("scope") == "" {
					a.refuse(http.StatusBadRequest, "invalid_scope")
				}
			}),
		},
		{
			Name: "form-not-decoded", Breaks: []string{"TOK-16"},
			Why:  "The body is split at & and = by hand, and what is percent-encoded in it is compared as it stands.",
			Wrap: readmit(undecoded, Token),
		},
		{
			Name: "form-charset-refused", Breaks: []string{"TOK-16"},
			Why: "The Content-Type is compared as a whole, so that the charset parameter that fetch clients send is refused.",
			Wrap: rewrite(func(r *http.Request, a *Answer) {
				if strings.Contains(r.Header.Get("Content-Type"), ";") {
					a.refuse(http.StatusUnsupportedMediaType, "invalid_request")
				}
			}, Token),
		},
		{
			Name: "token-redirected-to-slash", Breaks: []string{"TOK-17"},
			Why: "The token URL without a slash at its end is redirected to the one with it, as Django and some proxies do.",
			Wrap: around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/") {
					next.ServeHTTP(w, r)
					return
				}
				http.Redirect(w, r, r.URL.Path+"/", http.StatusPermanentRedirect)
			}, Token),
		},
		{
			Name: "issuing-revokes-earlier", Breaks: []string{"TOK-18"},
			Why:  "Each client has one token at a time: the next one revokes it.",
			Wrap: revoking,
		},
	}
}

// undecoded escapes the values of the form once more, so that the node compares them as they were sent.
func undecoded(r *http.Request, _ Env) *http.Request {
	q, ok := readTokenRequest(r)
	if !ok || strings.Contains(q.raw, "+") {
		return r
	}
	return withForm(r, strings.ReplaceAll(q.raw, "%", "%25"))
}

// revoking remembers the newest token of each client and refuses those before it.
func revoking(next http.Handler, env Env) http.Handler {
	var newest memory[string]
	var revoked memory[bool]
	issue := exchange(func(q tokenRequest, a *Answer) {
		if !a.ok() {
			return
		}
		a.editObject(func(answer map[string]any) {
			token, _ := answer["access_token"].(string)
			if before, known := newest.put(q.form.Get("client_id"), token); known {
				revoked.put(before, true)
			}
		})
	})
	refuse := readmit(func(r *http.Request, _ Env) *http.Request {
		if _, gone := revoked.get(bearer(r)); gone {
			return authorized(r, "Bearer revoked")
		}
		return r
	}, protected()...)
	return issue(refuse(next, env), env)
}
