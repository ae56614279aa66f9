package fault

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
)

// tokenHabits are unusual answers to a good token request.
func tokenHabits() []Deviation {
	return []Deviation{
		{Name: "token-type-in-lower-case",
			Why:  "token_type is bearer in lower case, as from Cloud Foundry UAA and older Spring servers; its value is case-insensitive.",
			Wrap: editTokenAnswer(put("token_type", "bearer"))},
		{Name: "token-type-in-capitals",
			Why:  "token_type is BEARER in capitals, as some enums are serialised; its value is case-insensitive.",
			Wrap: editTokenAnswer(put("token_type", "BEARER"))},
		{Name: "token-with-members-of-keycloak",
			Why: "The token answer has not-before-policy, refresh_expires_in 0 and the client's default scope, as from Keycloak.",
			Wrap: editTokenAnswer(func(body map[string]any) {
				body["refresh_expires_in"] = 0
				body["not-before-policy"] = 0
				if _, known := body["scope"]; !known {
					body["scope"] = "email profile"
				}
			})},
		{Name: "token-with-members-of-entra",
			Why: "The token answer has ext_expires_in and other members of the vendor, some of them nested, as from Microsoft Entra and Salesforce.",
			Wrap: editTokenAnswer(func(body map[string]any) {
				body["ext_expires_in"] = body["expires_in"]
				body["instance_url"] = "https://node.example"
				body["issued_at"] = "1772442000000"
				body["refresh_token"] = nil
				body["audit"] = map[string]any{"id": "b1d9", "hops": []any{}}
			})},
		{Name: "token-lifetime-with-fraction",
			Why:  "The lifetime is the number 300.0, as from languages with one type for all numbers.",
			Wrap: editTokenAnswer(update("expires_in", func(n json.Number) json.Number { return n + ".0" }))},
		{Name: "token-opaque",
			Why: "The token is opaque, contains + / and =, and stands for a JWT behind the gateway: the phantom token of Curity and Kong.",
			Wrap: replaceTokens(func(token string, _ map[string]any, _ Env) string {
				sum := sha256.Sum256([]byte(token))
				return base64.StdEncoding.EncodeToString(append([]byte{0xfb, 0xef, 0xff}, sum[:]...))
			})},
		{Name: "token-remembered",
			Why:  "A client gets the same token until it has almost expired, with its remaining lifetime, as from Spring Security OAuth and Apigee.",
			Wrap: reuseTokens},
		{Name: "token-cache-control-of-spring",
			Why: "Caching is forbidden in every possible way, including no-store, as by Spring Security.",
			Wrap: rewrite(setHeaders(
				"Cache-Control", "no-cache, no-store, max-age=0, must-revalidate",
				"Expires", "0",
			), Token)},
		{Name: "token-as-oauth-2-1-has-it", Warns: []string{"TOK-07"},
			Why:  "Pragma is not sent: HTTP has deprecated it, and the drafts of OAuth 2.1 have dropped it.",
			Wrap: rewrite(setHeader("Pragma", ""), Token)},
	}
}

// reuseTokens answers a client with its previous token as long as that remains valid for a minute.
func reuseTokens(next http.Handler, env Env) http.Handler {
	type issued struct {
		token   any
		expires time.Time
	}
	var tokens memory[issued]
	return rewriteToken(func(q tokenRequest, a *answer) bool { return a.ok() && q.Get("client_id") != "" }, func(a *answer) {
		client := a.form.Get("client_id")
		a.editObject(func(body map[string]any) {
			if before, known := tokens.get(client); known && before.expires.Sub(env.Now()) > time.Minute {
				body["access_token"] = before.token
				body["expires_in"] = int(before.expires.Sub(env.Now()) / time.Second)
				return
			}
			lifetime := time.Duration(number(body["expires_in"])) * time.Second
			tokens.put(client, issued{body["access_token"], env.Now().Add(lifetime)})
		})
	})(next, env)
}

// tokenErrorHabits are unusual errors of the token endpoint.
func tokenErrorHabits() []Deviation {
	return []Deviation{
		{Name: "token-errors-of-keycloak", Warns: []string{"TER-02"},
			Why: "A wrong or missing secret is unauthorized_client and an unknown client is invalid_client, with Keycloak's descriptions.",
			Wrap: withEnv(func(env Env) wrap {
				return rewriteToken(func(q tokenRequest, a *answer) bool {
					return a.Status == http.StatusUnauthorized && !q.basic && q.Get("client_id") != ""
				}, func(a *answer) {
					a.editObject(func(body map[string]any) {
						if _, known := env.Client(a.form.Get("client_id")); known {
							body["error"] = "unauthorized_client"
						}
						body["error_description"] = "Invalid client or Invalid client credentials"
					})
				})
			})},
		{Name: "token-errors-of-entra",
			Why: "Errors have a long description, an error_uri, codes, a time and correlation ids beside the code, as from Microsoft Entra.",
			Wrap: rewrite(when(failed, edit(func(body map[string]any) {
				body["error_description"] = "AADSTS7000215: Invalid client credentials provided. Trace ID: 0a1b2c3d Timestamp: 2026-03-02 09:00:00Z"
				body["error_uri"] = "https://login.node.example/error?code=7000215"
				body["error_codes"] = []any{7000215}
				body["timestamp"] = "2026-03-02 09:00:00Z"
				body["trace_id"], body["correlation_id"] = "0a1b2c3d-4e5f", "5f4e3d2c-1b0a"
			})), Token)},
		{Name: "token-errors-with-code-alone",
			Why:  "Errors consist of the code only, as from minimal servers.",
			Wrap: rewrite(when(failed, edit(drop("error_description"))), Token)},
		{Name: "client-errors-status-400",
			Why: "Wrong credentials in the form are answered 400 instead of 401, which RFC 6749 allows; Basic credentials are answered 401.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				return a.Status == http.StatusUnauthorized && !q.basic && len(a.Body) > 0
			}, func(a *answer) { a.Status = http.StatusBadRequest })},
		{Name: "client-errors-with-challenge",
			Why: "A refused client is asked for Basic credentials even if it sent a form, because RFC 9110 requires a challenge with each 401.",
			Wrap: rewrite(when(hasStatus(http.StatusUnauthorized),
				challenge(`Basic realm="token endpoint", charset="UTF-8"`)), Token)},
		{Name: "client-missing-empty-answer", Warns: []string{"TER-04"},
			Why: "A request without client authentication is answered 401 without a body, as by Spring Authorization Server.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool { return !a.ok() && q.lacksClient() },
				become(http.StatusUnauthorized, "", ""))},
		{Name: "token-by-get-not-found",
			Why:  "A GET of the token endpoint is answered 404 with invalid_request, as by node-oidc-provider.",
			Wrap: rewrite(when(notAllowed, tokenError(http.StatusNotFound, "invalid_request")), Token)},
		{Name: "token-by-get-unauthorized",
			Why:  "A GET of the token endpoint is answered 401 without a body by the filter in front, as Spring Security denies unknown requests.",
			Wrap: rewrite(when(notAllowed, become(http.StatusUnauthorized, "", "")), Token)},
		{Name: "token-by-get-documentation",
			Why:  "A GET of the token endpoint redirects with 303 to the page that explains it.",
			Wrap: rewrite(when(notAllowed, redirectTo(http.StatusSeeOther, "/docs/token")), Token)},
	}
}
