package fault

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/auth"
)

// grantDeviations break the token endpoint at grant types, scopes, HTTP Basic, GET requests and repeated parameters.
func grantDeviations() []Deviation {
	return []Deviation{
		{Name: "grant-type-assumed", Breaks: []string{"TER-07"},
			Why: "A request without grant_type is treated as client_credentials, the only grant that is offered.",
			Wrap: editForm(func(q tokenRequest, _ Env) {
				if !q.Has("grant_type") {
					q.Set("grant_type", "client_credentials")
				}
			})},
		{Name: "grant-type-missing-unsupported", Breaks: []string{"TER-07"},
			Why: "A missing grant_type is reported as unsupported, as by league/oauth2-server.",
			Wrap: rewriteToken(func(q tokenRequest, _ *answer) bool { return !q.Has("grant_type") },
				tokenError(http.StatusBadRequest, "unsupported_grant_type"))},
		{Name: "grant-type-ignored", Breaks: []string{"TER-08"},
			Why: "grant_type is not read: any value is treated as client_credentials.",
			Wrap: editForm(func(q tokenRequest, _ Env) {
				if len(q.Values["grant_type"]) == 1 {
					q.Set("grant_type", "client_credentials")
				}
			})},
		{Name: "grant-type-unknown-invalid", Breaks: []string{"TER-08"},
			Why: "An unknown grant_type is reported as invalid_request, because the request is first validated against a list of values.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				grant := q.Get("grant_type")
				return !a.ok() && grant != "" && grant != "client_credentials"
			}, tokenError(http.StatusBadRequest, "invalid_request"))},
		{Name: "unknown-scope-granted", Breaks: []string{"TER-09"},
			Why:  "The requested scope is reported as granted even if it does not exist.",
			Wrap: rewriteToken(grantsScope, func(a *answer) { a.editObject(put("scope", a.form.Get("scope"))) })},
		{Name: "unknown-scope-unreported", Breaks: []string{"TER-09"},
			Why:  "An unknown scope is silently dropped.",
			Wrap: rewriteToken(grantsScope, edit(drop("scope")))},
		{Name: "scope-as-list", Breaks: []string{"TER-09"},
			Why:  "The scope of a token answer is a list, as the library stores it, and not one text.",
			Wrap: rewriteToken(func(_ tokenRequest, a *answer) bool { return a.ok() }, edit(put("scope", []any{"funding"})))},
		{Name: "unknown-scope-refused-with-200", Breaks: []string{"TER-03", "TER-09"},
			Why:  "An unknown scope is refused with invalid_scope and status 200, because the handler of this error sets no status.",
			Wrap: rewriteToken(grantsOtherScope, become(http.StatusOK, "application/json", `{"error":"invalid_scope"}`))},
		{Name: "scope-not-that-of-the-token", Breaks: []string{"TER-09"},
			Why:  "The answer names all scopes of the client's configuration, and the token has only some of them.",
			Wrap: rewriteToken(grantsOtherScope, edit(update("scope", func(granted string) string { return granted + " funding.read" })))},
		{Name: "scope-narrowed-in-silence", Breaks: []string{"TER-09"},
			Why: "An unknown scope alone is refused; beside a known scope it is dropped, and the answer does not say so.",
			Wrap: both(
				rewriteToken(func(q tokenRequest, a *answer) bool {
					return grantsOtherScope(q, a) && len(strings.Fields(q.Get("scope"))) == 1
				}, tokenError(http.StatusBadRequest, "invalid_scope")),
				rewriteToken(grantsOtherScope, edit(drop("scope"))))},
		{Name: "scope-narrowed-for-later-clients", Breaks: []string{"TER-09"},
			Why:  "The answer names the granted scope for the first client only: the others go through an older code path.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool { return grantsOtherScope(q, a) && !isFirst(a.client(), a.env) }, edit(drop("scope")))},
		{Name: "own-scope-refused", Breaks: []string{"TER-09"},
			Why: "A token has the scope that the document requires, and a client that asks for this scope is refused: it is a default, and is not registered for the client.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				return a.ok() && slices.Contains(strings.Fields(q.Get("scope")), auth.Scope)
			}, tokenError(http.StatusBadRequest, "invalid_scope"))},
		{Name: "scope-in-place-of-role", Breaks: []string{"BRR-18"},
			Why:  "A token that was requested with a scope opens the fundings for any client: the scope is checked, and the role only if the token has no scope.",
			Wrap: stateful(ignoreRoleForScopes)},
		{Name: "scope-not-checked", Breaks: []string{"BRR-20"},
			Why:  "The document requires a scope, the server issues tokens without it, and the API accepts them, too: its rules name only the role.",
			Wrap: scopesByResource(false)},
		{Name: "scope-widened-in-silence", Breaks: []string{"BRR-20"},
			Why:  "A token that was requested with the scope of the statistics also opens the fundings, and neither the answer nor the token says so.",
			Wrap: both(hideScope(narrowScope), scopesByResource(false))},
		{Name: "revoked-token-accepted", Breaks: []string{"BRR-21"},
			Why:  "Tokens can be revoked, and the document says that revoked ones are refused. The API verifies them as JWTs and does not ask the authorization server.",
			Wrap: serveRevocation(func(revocation) {}, func(string) bool { return false })},
		{Name: "token-revoked-by-another-client", Breaks: []string{"BRR-21"},
			Why: "Any client can end any token: the revocation endpoint authenticates the client, and does not compare it with the client of the token.",
			Wrap: stateful(func() wrap {
				var revoked memory[bool]
				return serveRevocation(func(q revocation) { revoked.put(q.token, true) }, revoked.has)
			})},
		{Name: "revocation-believes-hint", Breaks: []string{"BRR-21"},
			Why:  "A token is looked for among the tokens of the hinted type only, and the revocation is answered with 200 even if it is not found there.",
			Wrap: revokeOwn(func(q revocation) bool { return q.hint == "" || q.hint == "access_token" })},
		{Name: "role-by-token-request", Breaks: []string{"BRR-18"},
			Why:  "A client gives itself a role: all parameters of the token request are copied into the session, for a test page that once needed it.",
			Wrap: stateful(func() wrap { return admitSelfGranted("") })},
		{Name: "role-by-unknown-scope", Breaks: []string{"BRR-18"},
			Why:  "A scope with the name of the role gives the role: the authorization server ignores scopes that it does not know, and the service reads those that were requested.",
			Wrap: stateful(func() wrap { return admitSelfGranted("scope") })},
		{Name: "token-for-the-client-of-the-form", Breaks: []string{"TER-06", "BRR-18"},
			Why:  "HTTP Basic is checked, and the token is made for the client_id of the form: the filter reads the header, and the handler reads the form.",
			Wrap: issueToFormClient()},
		{Name: "basic-failure-without-challenge", Breaks: []string{"TER-10"},
			Why:  "Wrong Basic credentials are answered 401 without a challenge, as by Spring Authorization Server and Keycloak.",
			Wrap: rewriteToken(isBasicRefusal, challenge(""))},
		{Name: "basic-failure-of-unknown-client-without-challenge", Breaks: []string{"TER-10"},
			Why: "A wrong secret by HTTP Basic is answered with a challenge; an unknown client is refused by the handler for all other errors, which sends no challenge.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				id, _, _ := a.request.BasicAuth()
				name, err := url.QueryUnescape(id)
				return isBasicRefusal(q, a) && err == nil && !isKnown(name, a.env)
			}, challenge(""))},
		{Name: "basic-failure-bearer-challenge", Breaks: []string{"TER-10"},
			Why:  "Wrong Basic credentials are answered with a Bearer challenge: the filter of the API also guards the token endpoint.",
			Wrap: rewriteToken(isBasicRefusal, challenge(`Bearer realm="ris"`))},
		{Name: "basic-failure-status-400", Breaks: []string{"TER-10"},
			Why:  "Wrong Basic credentials are answered 400, as by older Keycloak versions.",
			Wrap: rewriteToken(isBasicRefusal, inOrder(setStatus(http.StatusBadRequest), challenge("")))},
		{Name: "get-yields-token", Breaks: []string{"TER-11"},
			Why:  "A GET of the token URL yields an anonymous token, left over from a first test in the browser.",
			Wrap: replaceRequest(postForGet, Token)},
		{Name: "get-shows-page", Breaks: []string{"TER-11"},
			Why:  "A GET of the token URL shows a page about the service.",
			Wrap: refuseEarly(hasMethod(http.MethodGet), become(http.StatusOK, "text/html", loginPage), Token)},
		{Name: "repeated-parameter-crashes", Breaks: []string{"TER-12"},
			Why:  "A repeated parameter arrives as an array, and code that expects text fails with 500, as in PHP and Express.",
			Wrap: rewriteToken(repeatsParameter, become(http.StatusInternalServerError, "", ""))},
		{Name: "repeated-parameter-accepted", Breaks: []string{"TER-12"},
			Why: "The first value of a repeated parameter counts, as in most form parsers.",
			Wrap: editForm(func(q tokenRequest, _ Env) {
				for name, values := range q.Values {
					q.Values[name] = values[:1]
				}
			})},
		{Name: "repeated-secret-accepted", Breaks: []string{"TER-12"},
			Why: "A repeated parameter is refused, except client_secret, whose last value counts: it is missing from the list of checked parameters.",
			Wrap: editForm(func(q tokenRequest, _ Env) {
				if n := len(q.Values["client_secret"]); n > 1 {
					q.Values["client_secret"] = q.Values["client_secret"][n-1:]
				}
			})},
		{Name: "repeated-scope-accepted", Breaks: []string{"TER-12"},
			Why: "A repeated parameter is refused, except scope, whose first value counts: clients once sent each scope in its own parameter.",
			Wrap: editForm(func(q tokenRequest, _ Env) {
				if n := len(q.Values["scope"]); n > 1 {
					q.Values["scope"] = q.Values["scope"][:1]
				}
			})},
		{Name: "registered-grant-crashes", Breaks: []string{"TER-03"},
			Why: "A grant type that the library knows crashes when its own parameters are missing: the code does not check whether they are there.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				return !a.ok() && slices.Contains([]string{"password", "refresh_token", "authorization_code"}, q.Get("grant_type"))
			}, crash)},
		{Name: "unknown-client-server-error", Breaks: []string{"TER-02"},
			Why: "A client that does not exist is reported as server_error: the code does not expect that the database finds nothing.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				return isSecretRefusal(q, a) && !isKnown(q.Get("client_id"), a.env) || isBasicRefusal(q, a)
			}, edit(put("error", "server_error")))},
		{Name: "unknown-scope-is-401", Breaks: []string{"TER-03", "TER-09"},
			Why: "An unknown scope is answered 401, the status of the base class of all OAuth errors.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				return !a.ok() && bytes.Contains(a.Body, []byte("invalid_scope")) || grantsOtherScope(q, a) && q.Get("scope") != ""
			},
				inOrder(setStatus(http.StatusUnauthorized), become(http.StatusUnauthorized, "application/json", `{"error":"invalid_scope"}`)))},
		{Name: "registered-grant-assumed", Breaks: []string{"TER-08"},
			Why: "A grant type that the library knows falls back to client_credentials when its own parameters are missing.",
			Wrap: editForm(func(q tokenRequest, _ Env) {
				if slices.Contains([]string{"password", "refresh_token", "authorization_code"}, q.Get("grant_type")) {
					q.Set("grant_type", "client_credentials")
				}
			})},
		{Name: "get-routed-as-post", Breaks: []string{"TER-11"},
			Why:  "The token endpoint is routed for every method, and a GET is read from its query.",
			Wrap: replaceRequest(readGetAsPost, Token)},
		{Name: "query-before-body", Breaks: []string{"SEC-05", "TER-11"},
			Why:  "Credentials are read from the query first and then from the body, as by code that began as a test in a browser.",
			Wrap: replaceRequest(preferQueryClient, Token)},
		{Name: "query-merged-into-form", Breaks: []string{"SEC-05", "TER-11"},
			Why:  "What the form lacks is taken from the query, as by r.FormValue in Go and request.values in Flask.",
			Wrap: replaceRequest(completeFromQuery, Token)},
	}
}

// grantsScope holds for good answers to token requests with a scope.
func grantsScope(q tokenRequest, a *answer) bool { return a.ok() && q.Get("scope") != "" }

// grantsOtherScope is [grantsScope] for tokens whose scope differs from the requested one. The node then names the granted scope in the answer.
func grantsOtherScope(q tokenRequest, a *answer) bool {
	return grantsScope(q, a) && bytes.Contains(a.Body, []byte(`"scope"`))
}

// ignoreRoleForScopes admits tokens that were requested with a scope, whether or not their client has the role.
func ignoreRoleForScopes() wrap {
	var tokens memory[bool] // the tokens that were requested with a scope
	remember := rewriteToken(grantsScope, edit(func(body map[string]any) { tokens.put(text(body["access_token"]), true) }))
	return both(remember, ignoreRoleIf(func(r *http.Request) bool { return tokens.has(bearer(r)) }, List, Detail))
}

// admitSelfGranted admits tokens for which the client sent a role, whether or not it has the role. The role may be in any parameter if name is empty.
func admitSelfGranted(name string) wrap {
	var tokens memory[bool] // the tokens for which the client sent a role
	sendsRole := func(q tokenRequest, a *answer) bool {
		values := slices.Concat(slices.Collect(maps.Values(q.Values))...)
		if name != "" {
			values = strings.Fields(q.Get(name))
		}
		return a.ok() && slices.Contains(values, model.RoleExternalAPIClient)
	}
	remember := rewriteToken(sendsRole, edit(func(body map[string]any) { tokens.put(text(body["access_token"]), true) }))
	return both(remember, ignoreRoleIf(func(r *http.Request) bool { return tokens.has(bearer(r)) }, List, Detail))
}

// narrowScope is a scope that the fundings do not need.
const narrowScope = "api.statistics"

// scopesByResource makes a wrap in which clients may also request a token with [narrowScope], and the document says that the fundings need [auth.Scope].
// If checked is true, the fundings refuse a token with [narrowScope].
func scopesByResource(checked bool) wrap {
	document := editDocument(func(d apiDocument) {
		var alternatives []any
		for name, s := range d.at("components", "securitySchemes") {
			if scheme, ok := s.(map[string]any); ok && scheme["flows"] != nil {
				member(scheme, "flows", "clientCredentials", "scopes")[narrowScope] = "Reads numbers about the fundings."
				alternatives = append(alternatives, map[string]any{name: []any{auth.Scope}})
			}
		}
		d.list()["security"], d.detail()["security"] = alternatives, alternatives
	})
	requestsNarrowScope := func(q tokenRequest, a *answer) bool { return a.ok() && q.Get("scope") == narrowScope }
	issue := both(editTokens(func(t issuedToken) {
		if t.body["scope"] == narrowScope {
			t.claims["scope"] = narrowScope
		}
	}), rewriteToken(requestsNarrowScope, edit(put("scope", narrowScope))))
	guard := refuseEarly(func(r *http.Request) bool {
		t, ok := parseJWT(bearer(r))
		return checked && ok && t.claims["scope"] == narrowScope
	}, inOrder(problem(http.StatusForbidden, "the token lacks the scope"), challenge(`Bearer realm="ris", error="insufficient_scope", scope="`+auth.Scope+`"`)), List, Detail)
	return both(both(document, guard), issue)
}

// hideScope makes a wrap that removes a requested scope from the token answer and from the token.
func hideScope(scope string) wrap {
	return both(
		rewriteToken(func(q tokenRequest, a *answer) bool { return a.ok() && q.Get("scope") == scope }, edit(drop("scope"))),
		editTokens(func(t issuedToken) {
			if t.claims["scope"] == scope {
				delete(t.claims, "scope")
			}
		}))
}

// issueToFormClient makes a wrap that issues a token of the first client to any client that authenticates by HTTP Basic and names the first client in the
// form.
func issueToFormClient() wrap {
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		first, known := env.clientWithSecret()
		q, ok := readTokenRequest(r)
		if !known || !ok || !q.basic || q.Get("client_id") != first.ID {
			next.ServeHTTP(w, r)
			return
		}
		q.Del("client_id")
		a := capture(next, withForm(r, q.Encode()))
		if a.ok() {
			other := withForm(r, q.Encode())
			setBasic(other, first)
			a = capture(next, other)
		}
		a.send(w, r)
	}, Token)
}

// isBasicRefusal holds for refusals of Basic credentials.
func isBasicRefusal(q tokenRequest, a *answer) bool {
	return q.basic && a.Status == http.StatusUnauthorized
}

func repeatsParameter(q tokenRequest, _ *answer) bool {
	for _, values := range q.Values {
		if len(values) > 1 {
			return true
		}
	}
	return false
}

// postForGet turns a GET into a valid token request of the first client.
func postForGet(r *http.Request, env Env) *http.Request {
	client, ok := env.clientWithSecret()
	if r.Method != http.MethodGet || !ok {
		return r
	}
	post := withForm(r, "grant_type=client_credentials")
	post.Method = http.MethodPost
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	setBasic(post, client)
	return post
}

// readGetAsPost turns a GET into a POST whose form is the query.
func readGetAsPost(r *http.Request, _ Env) *http.Request {
	if r.Method != http.MethodGet {
		return r
	}
	post := withForm(r, r.URL.RawQuery)
	post.Method, post.URL.RawQuery = http.MethodPost, ""
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return post
}

// preferQueryClient replaces the credentials in the form by those in the query.
func preferQueryClient(r *http.Request, _ Env) *http.Request {
	q, ok := readTokenRequest(r)
	query := r.URL.Query()
	if !ok || !query.Has("client_id") {
		return r
	}
	q.Set("client_id", query.Get("client_id"))
	q.Set("client_secret", query.Get("client_secret"))
	other := withForm(r, q.Encode())
	other.URL.RawQuery = ""
	return other
}

// completeFromQuery adds the parameters of the query to a form that lacks them.
func completeFromQuery(r *http.Request, _ Env) *http.Request {
	q, ok := readTokenRequest(r)
	if !ok || r.Method != http.MethodPost || r.URL.RawQuery == "" {
		return r
	}
	form := url.Values{}
	for name, values := range r.URL.Query() {
		if !q.Has(name) {
			form[name] = values
		}
	}
	for name, values := range q.Values {
		form[name] = values
	}
	other := withForm(r, form.Encode())
	other.URL.RawQuery = ""
	return other
}

// setBasic sets the credentials of a client by HTTP Basic. It form-encodes only the two characters that decoding would change (RFC 6749 §2.3.1).
func setBasic(r *http.Request, client Client) {
	encode := strings.NewReplacer("%", "%25", "+", "%2B").Replace
	r.SetBasicAuth(encode(client.ID), encode(client.Secret))
}

// redirectTo replaces the answer by a redirect.
func redirectTo(status int, location string) change {
	return func(a *answer) {
		a.become(status, "", "")
		a.set("Location", location)
	}
}
