package fault

import (
	"bytes"
	"net/http"
	"strings"
)

// tokenDeviations break what a good token request is answered with.
func tokenDeviations() []Deviation {
	return []Deviation{
		{
			Name: "token-basic-only", Breaks: []string{"TOK-01"},
			Why: "Client credentials in the body are refused, HTTP Basic alone is read: the default of Spring Authorization Server and ORDS.",
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
				if !q.basic && a.ok() {
					a.refuse(http.StatusUnauthorized, "invalid_client")
				}
			}),
		},
		{
			Name: "token-member-renamed", Breaks: []string{"TOK-01"},
			Why: "The token stands in the member token, as in logins made by hand.",
			Wrap: granted(func(answer map[string]any) {
				answer["token"] = answer["access_token"]
				delete(answer, "access_token")
			}),
		},
		{
			Name: "token-in-envelope", Breaks: []string{"TOK-01"},
			Why: "The token answer is wrapped into data, as frameworks wrap every resource.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				a.edit(func(value any) any { return map[string]any{"data": value} })
			}), Token),
		},
		{
			Name: "token-status-201", Breaks: []string{"TOK-02"},
			Why:  "The token endpoint answers 201 Created, as frameworks do for a POST that makes something.",
			Wrap: rewrite(when(succeeded, status(http.StatusCreated)), Token),
		},
		{
			Name: "token-text-plain", Breaks: []string{"TOK-03"},
			Why:  "The token answer is declared as text/plain, because the script that writes it sets no media type.",
			Wrap: rewrite(when(succeeded, field("Content-Type", "text/plain; charset=utf-8")), Token),
		},
		{
			Name: "token-vendor-json", Breaks: []string{"TOK-03"},
			Why:  "The token answer has a media type of its own that is only built on JSON.",
			Wrap: rewrite(when(succeeded, field("Content-Type", "application/vnd.token+json")), Token),
		},
		{
			Name: "token-type-missing", Breaks: []string{"TOK-04"},
			Why:  "The token answer lacks token_type.",
			Wrap: granted(drop("token_type")),
		},
		{
			Name: "token-type-mac", Breaks: []string{"TOK-05"},
			Why:  "The token is issued as type mac, which bearer clients cannot use.",
			Wrap: granted(put("token_type", "mac")),
		},
		{
			Name: "token-type-dpop", Breaks: []string{"TOK-05"},
			Why:  "The token is issued as type DPoP, as Keycloak does for a client with proof of possession switched on.",
			Wrap: granted(put("token_type", "DPoP")),
		},
		{
			Name: "token-cacheable", Breaks: []string{"TOK-06"},
			Why:  "The token answer may be kept for a minute: a proxy put its own Cache-Control in the place of no-store.",
			Wrap: rewrite(when(succeeded, field("Cache-Control", "max-age=60")), Token),
		},
		{
			Name: "token-private-only", Breaks: []string{"TOK-06"},
			Why:  "The token answer says private, which still lets browsers and clients store it.",
			Wrap: rewrite(when(succeeded, field("Cache-Control", "private")), Token),
		},
		{
			Name: "token-without-pragma", Breaks: []string{"TOK-07"},
			Why:  "The token answer lacks Pragma: no-cache, as newer authorization servers leave it out.",
			Wrap: rewrite(when(succeeded, field("Pragma", "")), Token),
		},
		{
			Name: "token-member-twice", Breaks: []string{"TOK-03"},
			Why: "The token answer holds expires_in twice, with two values: a gateway adds its own before the authorization server's.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				a.Body = bytes.Replace(a.Body, []byte(`"expires_in":`), []byte(`"expires_in":3600,"expires_in":`), 1)
			}), Token),
		},
		{
			Name: "token-byte-order-mark", Breaks: []string{"TOK-03"},
			Why:  "The token answer begins with a byte order mark: a script that was saved on Windows.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) { a.Body = append([]byte("\uFEFF"), a.Body...) }), Token),
		},
	}
}

// lifetimeDeviations break lifetime and syntax of the token.
func lifetimeDeviations() []Deviation {
	return []Deviation{
		{
			Name: "lifetime-missing", Breaks: []string{"TOK-08"},
			Why:  "The token answer does not say how long the token lives.",
			Wrap: granted(drop("expires_in")),
		},
		{
			Name: "lifetime-as-text", Breaks: []string{"TOK-09"},
			Why:  "The lifetime is sent as text, \"3600\", as loosely typed languages do.",
			Wrap: granted(put("expires_in", "3600")),
		},
		{
			Name: "lifetime-as-date", Breaks: []string{"TOK-09"},
			Why:  "The member expires_in holds the point in time at which the token expires.",
			Wrap: granted(put("expires_in", 1_900_000_000)),
		},
		{
			Name: "lifetime-negative", Breaks: []string{"TOK-09"},
			Why:  "The lifetime is -1 for tokens without an end.",
			Wrap: granted(put("expires_in", -1)),
		},
		{
			Name: "lifetime-of-a-year", Breaks: []string{"TOK-10"},
			Why:  "The token lives for a year, so that nobody need fetch a new one.",
			Wrap: living(31_536_000),
		},
		{
			Name: "lifetime-of-a-working-day", Breaks: []string{"TOK-10"},
			Why:  "The token lives for ten hours, as browser sessions do.",
			Wrap: living(36_000),
		},
		{
			Name: "lifetime-under-a-minute", Breaks: []string{"TOK-10"},
			Why:  "The token lives for 50 seconds, shorter than many a list takes to read.",
			Wrap: living(50),
		},
		{
			Name: "refresh-token-issued", Breaks: []string{"TOK-11"},
			Why:  "A refresh token comes with the client credentials grant, as older Keycloak versions did by default.",
			Wrap: granted(put("refresh_token", "bm90LWZvci10aGlzLWdyYW50")),
		},
		{
			Name: "token-holds-its-scheme", Breaks: []string{"TOK-12"},
			Why:  "The member access_token begins with the word Bearer and a blank, ready to be copied into a header.",
			Wrap: prefixed("Bearer "),
		},
		{
			Name: "token-too-long", Breaks: []string{"TOK-12"},
			Why:  "The token is longer than a header line may be in nginx and Tomcat, as Keycloak makes them for accounts with many roles.",
			Wrap: prefixed(strings.Repeat("~", 8200)),
		},
	}
}

// prefixed makes a Wrap that puts prefix before each token it issues, and takes it away again at the API.
func prefixed(prefix string) wrap {
	issue := granted(func(answer map[string]any) {
		if token, ok := answer["access_token"].(string); ok {
			answer["access_token"] = prefix + token
		}
	})
	accept := readmit(func(r *http.Request, _ Env) *http.Request {
		scheme, token := credential(r)
		if rest, ours := strings.CutPrefix(token, prefix); ours {
			return authorized(r, scheme+" "+rest)
		}
		return r
	}, protected()...)
	return func(next http.Handler, env Env) http.Handler { return issue(accept(next, env), env) }
}

// tokenRequestDeviations break the requests that must yield a token, too.
func tokenRequestDeviations() []Deviation {
	return []Deviation{
		{
			Name: "basic-refused", Breaks: []string{"TOK-13"},
			Why: "HTTP Basic is refused, the client is registered for the form only: node-oidc-provider and Okta know one method for each client.",
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
				if q.basic && a.ok() {
					a.refuse(http.StatusUnauthorized, "invalid_client")
				}
			}),
		},
		{
			Name: "basic-not-read", Breaks: []string{"TOK-13"},
			Why: "The Authorization header is not read at the token endpoint, so that credentials in it are missing.",
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
				if q.basic {
					a.refuse(http.StatusBadRequest, "invalid_request")
				}
			}),
		},
		{
			Name: "unknown-parameter-refused", Breaks: []string{"TOK-14"},
			Why: "The form is bound strictly, and a parameter that nobody knows is an error.",
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
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
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
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
			Wrap: rewrite(func(r *http.Request, a *editableAnswer) {
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
	issue := exchange(func(q tokenRequest, a *editableAnswer) {
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
