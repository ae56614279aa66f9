package fault

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// refusalDeviations break the refusal of wrong and missing client credentials.
func refusalDeviations() []Deviation {
	return []Deviation{
		{Name: "secret-not-checked", Breaks: []string{"TER-01"},
			Why:  "Any secret is accepted for an existing client: oauth2-mock-server and other mocks never check it.",
			Wrap: acceptSecret(func(string, string) bool { return true })},
		{Name: "secret-compared-by-prefix", Breaks: []string{"TER-01"},
			Why: "Only the first eight characters of the secret count, as with the DES hashes of crypt(3).",
			Wrap: acceptSecret(func(right, given string) bool {
				return len(given) >= 8 && strings.HasPrefix(right, given[:8])
			})},
		{Name: "secret-compared-to-72-bytes", Breaks: []string{"TER-01"},
			Why: "Only the first 72 bytes of the secret count, as with bcrypt; only clients with a longer secret notice.",
			Wrap: acceptSecret(func(right, given string) bool {
				const read = 72
				return len(right) >= read && len(given) >= read && right[:read] == given[:read]
			})},
		{Name: "secret-of-later-clients-not-checked", Breaks: []string{"TER-01"},
			Why: "Only the first client's secret is compared: the others were registered by a script that stores no hash, and without a hash any secret passes.",
			Wrap: authenticateIf(func(q tokenRequest, env Env) bool {
				return q.Get("client_secret") != "" && !isFirst(q.Get("client_id"), env)
			})},
		{Name: "secret-compared-without-case", Breaks: []string{"TER-01"},
			Why:  "The secret is looked up in a database column that ignores case, the default of MySQL and SQL Server.",
			Wrap: acceptSecret(strings.EqualFold)},
		{Name: "secret-of-fixed-length", Breaks: []string{"TER-01"},
			Why:  "The secret is compared with a column of type CHAR, which ignores blanks at the end.",
			Wrap: acceptSecret(func(right, given string) bool { return strings.TrimRight(given, " ") == right })},
		{Name: "secret-read-as-pattern", Breaks: []string{"TER-01"},
			Why:  "The secret is looked up with LIKE, so that a wildcard stands for any character.",
			Wrap: acceptSecret(matchesLike)},
		{Name: "wrong-secret-server-error", Breaks: []string{"TER-02"},
			Why:  "A wrong secret is reported as server_error: every exception is mapped to this code.",
			Wrap: rewriteToken(isSecretRefusal, tokenError(http.StatusBadRequest, "server_error"))},
		{Name: "wrong-secret-unauthorized-client", Breaks: []string{"TER-02"},
			Why:  "A wrong secret is reported as unauthorized_client, as by Keycloak.",
			Wrap: rewriteToken(isSecretRefusal, tokenError(http.StatusUnauthorized, "unauthorized_client"))},
		{Name: "wrong-secret-without-code", Breaks: []string{"TER-02", "TER-04"},
			Why: "The refusal of a wrong secret is the problem document of the web framework, without the member error.",
			Wrap: rewriteToken(isSecretRefusal,
				become(http.StatusUnauthorized, "application/problem+json", `{"status":401,"title":"Unauthorized"}`))},
		{Name: "wrong-secret-status-200", Breaks: []string{"TER-03"},
			Why:  "Errors of the token endpoint have status 200 and a member error, as in GraphQL services.",
			Wrap: rewriteToken(isSecretRefusal, setStatus(http.StatusOK))},
		{Name: "wrong-secret-status-403", Breaks: []string{"TER-03"},
			Why:  "A wrong secret is answered 403, as by gateways that have no other refusal.",
			Wrap: rewriteToken(isSecretRefusal, setStatus(http.StatusForbidden))},
		{Name: "wrong-secret-of-later-clients-crashes", Breaks: []string{"TER-03"},
			Why: "The hashes of later clients have a format that the library does not know, so that a wrong secret raises an exception.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				return isSecretRefusal(q, a) && isKnown(q.Get("client_id"), a.env) && !isFirst(q.Get("client_id"), a.env)
			},
				crash)},
		{Name: "id-alone-refused-with-page", Breaks: []string{"TER-04"},
			Why:  "A request without a secret fails before the OAuth code is reached, and the framework shows its error page.",
			Wrap: rewriteToken(isMissingSecretRefusal, become(http.StatusUnauthorized, "text/html", loginPage))},
		{Name: "missing-secret-refused-without-body", Breaks: []string{"TER-04"},
			Why:  "A request without a secret is answered with an empty 401, as by Spring Authorization Server.",
			Wrap: rewriteToken(isMissingSecretRefusal, become(http.StatusUnauthorized, "", ""))},
		{Name: "errors-as-plain-text", Breaks: []string{"TER-04"},
			Why:  "Errors of the token endpoint are JSON that is declared as text/plain.",
			Wrap: rewrite(when(isTokenError, setHeader("Content-Type", "text/plain")), Token)},
		{Name: "error-description-in-german", Breaks: []string{"TER-04"},
			Why:  "error_description contains umlauts, because the identity provider has a German language pack.",
			Wrap: rewrite(when(isTokenError, edit(put("error_description", "ungültige Anfrage"))), Token)},
		{Name: "anonymous-client", Breaks: []string{"TER-05"},
			Why:  "A request without credentials gets a token for a default client.",
			Wrap: authenticate(tokenRequest.lacksClient)},
		{Name: "missing-client-is-invalid-grant", Breaks: []string{"TER-05"},
			Why: "A request without credentials is refused with invalid_grant, the code for authorization codes.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool { return q.lacksClient() && !a.ok() },
				tokenError(http.StatusBadRequest, "invalid_grant"))},
		{Name: "login-guards-token", Breaks: []string{"TER-03", "TER-04", "TER-05"},
			Why: "A request without credentials is redirected to a login page, as by Spring Security with formLogin.",
			Wrap: rewriteToken(func(q tokenRequest, _ *answer) bool { return q.lacksClient() },
				redirectTo(http.StatusFound, "/login"))},
		{Name: "client-public", Breaks: []string{"TER-06"},
			Why:  "The client is public, so its id alone yields a token: in Keycloak, Client authentication is off.",
			Wrap: authenticate(func(q tokenRequest) bool { return q.Get("client_id") != "" && q.Get("client_secret") == "" })},
		{Name: "basic-admits-unknown-client", Breaks: []string{"TER-01", "TER-10"},
			Why:  "HTTP Basic of an unknown client yields a token: the node relies on a proxy to check the credentials, and there is no proxy.",
			Wrap: replaceRequest(admitUnknownBasic, Token)},
		{Name: "secret-looked-up-among-all-clients", Breaks: []string{"TER-01"},
			Why:  "The secret is looked up among all clients, and the client_id is not compared: one client's secret opens every account.",
			Wrap: editForm(setClientBySecret)},
		{Name: "basic-failure-as-page", Breaks: []string{"TER-04"},
			Why:  "Wrong Basic credentials are refused by the filter of the web framework, with its error page and a good challenge.",
			Wrap: rewriteToken(isBasicRefusal, inOrder(become(http.StatusUnauthorized, "text/html", loginPage), challenge(`Basic realm="token"`)))},
		{Name: "token-error-member-twice", Breaks: []string{"TER-04"},
			Why:  "Errors of the token endpoint have the member error twice: a gateway inserts its own code into the JSON text.",
			Wrap: rewrite(when(isTokenError, replaceText(`"error":`, `"error":"invalid_request","error":`)), Token)},
		{Name: "wrong-secret-of-later-clients-refused-with-page", Breaks: []string{"TER-04"},
			Why: "A wrong secret of any client but the first is refused with a page: the others are stored in a directory, whose login filter was made for people.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				return isSecretRefusal(q, a) && !isFirst(q.Get("client_id"), a.env)
			},
				become(http.StatusUnauthorized, "text/html", loginPage))},
		{Name: "token-error-member-twice-for-later-clients", Breaks: []string{"TER-04"},
			Why: "The refusal of a wrong secret has error twice for any client but the first: two places in the code for these clients write the member.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				return isSecretRefusal(q, a) && !isFirst(q.Get("client_id"), a.env)
			},
				replaceText(`"error":`, `"error":"invalid_request","error":`))},
	}
}

// matchesLike reports whether a secret fits a pattern of SQL's LIKE.
func matchesLike(secret, pattern string) bool {
	expression := strings.NewReplacer("%", ".*", "_", ".").Replace(regexp.QuoteMeta(pattern))
	fits, err := regexp.MatchString("(?s)^"+expression+"$", secret)
	return err == nil && fits
}

// isFirst reports whether an id is that of the client that was registered first.
func isFirst(id string, env Env) bool {
	clients := env.Clients()
	return len(clients) > 0 && clients[0].ID == id
}

// isKnown reports whether an id is that of a registered client.
func isKnown(id string, env Env) bool {
	_, known := env.Client(id)
	return known
}

// admitUnknownBasic replaces the Basic credentials of an unknown client by those of the first client.
func admitUnknownBasic(r *http.Request, env Env) *http.Request {
	id, _, basic := r.BasicAuth()
	if decoded, err := url.QueryUnescape(id); err == nil { // clients encode their id like a form (RFC 6749, 2.3.1)
		id = decoded
	}
	first, ok := env.clientWithSecret()
	if _, known := env.Client(id); !basic || known || !ok {
		return r
	}
	changed := r.Clone(r.Context())
	setBasic(changed, first)
	return changed
}

// setClientBySecret replaces the client_id of a form by the id of the client that has the secret in the form.
func setClientBySecret(q tokenRequest, env Env) {
	owner, found := env.findClient(func(c Client) bool { return c.Secret != "" && c.Secret == q.Get("client_secret") })
	if found && q.Get("client_id") != "" {
		q.Set("client_id", owner.ID)
	}
}

// isTokenError holds for answers of the token endpoint with the status of an OAuth error.
func isTokenError(a *answer) bool {
	return a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized
}

// isSecretRefusal holds for refusals of a secret in the form.
func isSecretRefusal(q tokenRequest, a *answer) bool {
	return a.Status == http.StatusUnauthorized && q.Get("client_secret") != ""
}

// isMissingSecretRefusal holds for refusals of a client id without a secret.
func isMissingSecretRefusal(q tokenRequest, a *answer) bool {
	return a.Status == http.StatusUnauthorized && q.Get("client_id") != "" && q.Get("client_secret") == ""
}
