package fault

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
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
		{Name: "scopes-by-resource",
			Why:  "The document requires a scope for the fundings, which refuse a token with another scope with 403.",
			Wrap: scopesByResource(true)},
		{Name: "tokens-revocable",
			Why:  "Clients revoke their tokens at an endpoint that the metadata names (RFC 7009), and the API refuses a revoked token at once.",
			Wrap: revokeOwn(func(revocation) bool { return true })},
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
			Why:  "The token is opaque and contains + / and =; the gateway exchanges it for a JWT: the phantom token of Curity and Kong.",
			Wrap: opaqueTokens()},
		{Name: "token-remembered",
			Why:  "A client gets the same token until it has almost expired, with its remaining lifetime, as from Spring Security OAuth and Apigee.",
			Wrap: stateful(func() wrap { return reuseTokens(remainingLifetime) })},
		{Name: "opaque-token-renewed",
			Why:  "Each client has one opaque token, and each token request extends its lifetime: a session store that sets a new expiry with each write.",
			Wrap: stateful(renewTokens)},
		{Name: "token-cache-control-of-spring",
			Why: "Caching is forbidden in every possible way, including no-store, as by Spring Security.",
			Wrap: rewrite(setHeaders(
				"Cache-Control", "no-cache, no-store, max-age=0, must-revalidate",
				"Expires", "0",
			), Token)},
		{Name: "token-as-oauth-2-1-has-it", Warns: []string{"TOK-07"},
			Why:  "Pragma is not sent: HTTP has deprecated it, and the drafts of OAuth 2.1 have dropped it.",
			Wrap: rewrite(setHeader("Pragma", ""), Token)},
		{Name: "token-members-in-capitals-besides",
			Why:  "The token answer has members that differ from its own by case only, left over from an older client: names in JSON are case-sensitive.",
			Wrap: rewriteSuccess(appendMembers(`"ACCESS_TOKEN":"of-the-old-gateway-0123456789","Token_Type":"mac","EXPIRES_IN":"never"`), Token)},
	}
}

// opaqueTokens makes a wrap that hands out opaque tokens.
func opaqueTokens() wrap {
	return replaceTokens(func(token string, _ map[string]any, _ Env) string { return opaque(token) })
}

// opaque makes an opaque token from a text. The token contains +, / and =, which are allowed.
func opaque(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(append([]byte{0xfb, 0xef, 0xff}, sum[:]...)) // begins with ++//
}

// statedLifetime says which lifetime expires_in states for a token that is issued again.
type statedLifetime bool

const (
	remainingLifetime statedLifetime = true
	fullLifetime      statedLifetime = false // the lifetime of a new token, which is wrong
)

// reuseTokens answers a client with its previous token until that token has at most a minute left.
func reuseTokens(stated statedLifetime) wrap {
	type cachedToken struct {
		token   any
		expires time.Time
	}
	var tokens memory[cachedToken]
	return rewriteToken(func(_ tokenRequest, a *answer) bool { return a.ok() && a.client() != "" }, func(a *answer) {
		client := a.client()
		a.editObject(func(body map[string]any) {
			now := a.env.Now()
			if before, known := tokens.get(client); known && before.expires.Sub(now) > time.Minute {
				body["access_token"] = before.token
				if stated == remainingLifetime {
					body["expires_in"] = int(before.expires.Sub(now) / time.Second)
				}
				return
			}
			lifetime := time.Duration(number(body["expires_in"])) * time.Second
			tokens.put(client, cachedToken{body["access_token"], now.Add(lifetime)})
		})
	})
}

// renewTokens gives each client one opaque token, and replaces it at the API by the newest token that the node issued to the client.
func renewTokens() wrap {
	var handles, newest memory[string]
	issue := rewriteToken(func(_ tokenRequest, a *answer) bool { return a.ok() && a.client() != "" }, func(a *answer) {
		client := a.client()
		a.editObject(func(body map[string]any) {
			token := text(body["access_token"])
			handle, known := handles.get(client)
			if !known {
				handle = opaque(token)
				handles.put(client, handle)
			}
			newest.put(handle, token)
			body["access_token"] = handle
		})
	})
	return both(issue, restoreTokens(&newest))
}

// tokenErrorHabits are unusual errors of the token endpoint.
func tokenErrorHabits() []Deviation {
	return []Deviation{
		{Name: "token-errors-of-keycloak", Warns: []string{"TER-02"},
			Why: "A wrong or missing secret is reported as unauthorized_client and an unknown client as invalid_client, with Keycloak's descriptions.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				return a.Status == http.StatusUnauthorized && !q.basic && q.Get("client_id") != ""
			}, func(a *answer) {
				a.editObject(func(body map[string]any) {
					if _, known := a.env.Client(a.form.Get("client_id")); known {
						body["error"] = "unauthorized_client"
					}
					body["error_description"] = "Invalid client or Invalid client credentials"
				})
			})},
		{Name: "token-errors-of-entra",
			Why: "Errors have a long description, an error_uri, codes, a time and correlation ids beside the code, as from Microsoft Entra.",
			Wrap: rewrite(when(isFailure, edit(func(body map[string]any) {
				body["error_description"] = "AADSTS7000215: Invalid client credentials provided. Trace ID: 0a1b2c3d Timestamp: 2026-03-02 09:00:00Z"
				body["error_uri"] = "https://login.node.example/error?code=7000215"
				body["error_codes"] = []any{7000215}
				body["timestamp"] = "2026-03-02 09:00:00Z"
				body["trace_id"], body["correlation_id"] = "0a1b2c3d-4e5f", "5f4e3d2c-1b0a"
			})), Token)},
		{Name: "token-errors-with-code-alone",
			Why:  "Errors consist of the code only, as from minimal servers.",
			Wrap: rewrite(when(isFailure, edit(drop("error_description"))), Token)},
		{Name: "basic-with-plain-values-besides",
			Why: "HTTP Basic is compared decoded and, if that fails, as it was sent: both readings of RFC 6749 work, as with Keycloak.",
			Wrap: replaceRequest(func(r *http.Request, env Env) *http.Request {
				id, secret, _ := r.BasicAuth()
				client, known := env.Client(id)
				if !known || client.Secret == "" || client.Secret != secret {
					return r
				}
				changed := r.Clone(r.Context())
				setBasic(changed, client)
				return changed
			}, Token)},
		{Name: "later-clients-registered-for-the-form", Warns: []string{"TOK-13"},
			Why: "Each client has one method of authentication: the first one may use HTTP Basic, and the others the form, as with node-oidc-provider.",
			Wrap: rewrite(when(func(a *answer) bool {
				_, _, basic := a.request.BasicAuth()
				return basic && a.ok() && !isFirst(a.client(), a.env)
			}, inOrder(tokenError(http.StatusUnauthorized, "invalid_client"), challenge(`Basic realm="token endpoint"`))), Token)},
		{Name: "unknown-scopes-refused",
			Why:  "A scope that does not exist is refused with invalid_scope, alone and beside others, as by Keycloak.",
			Wrap: rewriteToken(grantsOtherScope, tokenError(http.StatusBadRequest, "invalid_scope"))},
		{Name: "client-errors-status-400",
			Why: "Wrong credentials in the form are answered 400 instead of 401, which RFC 6749 allows; Basic credentials are answered 401.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				return a.Status == http.StatusUnauthorized && !q.basic && len(a.Body) > 0
			}, setStatus(http.StatusBadRequest))},
		{Name: "client-errors-with-challenge",
			Why: "A refused client is asked for Basic credentials even if it sent a form, because RFC 9110 requires a challenge with each 401.",
			Wrap: rewrite(when(hasStatus(http.StatusUnauthorized),
				challenge(`Basic realm="token endpoint", charset="UTF-8"`)), Token)},
		{Name: "client-missing-empty-answer", Warns: []string{"TER-04"},
			Why: "A request without client authentication is answered 401 without a body, as by Spring Authorization Server.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool { return !a.ok() && q.lacksClient() },
				become(http.StatusUnauthorized, "", ""))},
		{Name: "client-limited-after-wrong-secrets",
			Why:  "A client is refused with 429 after five wrong secrets, whatever it sends then.",
			Wrap: stateful(limitWrongSecrets)},
		{Name: "token-by-get-not-found",
			Why:  "A GET of the token endpoint is answered 404 with invalid_request, as by node-oidc-provider.",
			Wrap: rewrite(when(isMethodNotAllowed, tokenError(http.StatusNotFound, "invalid_request")), Token)},
		{Name: "token-by-get-unauthorized",
			Why:  "A GET of the token endpoint is answered 401 without a body by a filter in front of it, as Spring Security denies unknown requests.",
			Wrap: rewrite(when(isMethodNotAllowed, become(http.StatusUnauthorized, "", "")), Token)},
		{Name: "token-by-get-documentation",
			Why:  "A GET of the token endpoint redirects with 303 to the page that explains it.",
			Wrap: rewrite(when(isMethodNotAllowed, redirectTo(http.StatusSeeOther, "/docs/token")), Token)},
	}
}

// claimHabits are unusual contents of a JWT with a valid signature.
func claimHabits() []Deviation {
	return []Deviation{
		{Name: "claims-of-keycloak", Warns: []string{"JWT-05", "JWT-07"},
			Why: "The token has type JWT, audience account, the client as azp, and claims for roles, addresses and flags: Keycloak without an audience mapper.",
			Wrap: editTokens(func(t issuedToken) {
				t.header["typ"] = "JWT"
				t.claims["aud"], t.claims["azp"], t.claims["typ"], t.claims["acr"] = "account", t.claims["client_id"], "Bearer", "1"
				t.claims["realm_access"] = map[string]any{"roles": []any{"offline_access", "default-roles-ris"}}
				t.claims["resource_access"] = map[string]any{"account": map[string]any{"roles": []any{"view-profile"}}}
				t.claims["clientHost"], t.claims["clientAddress"], t.claims["email_verified"] = "192.0.2.7", "192.0.2.7", false
				t.claims["preferred_username"] = "service-account-" + t.client()
			})},
		{Name: "audience-in-a-list",
			Why: "The audience is a list that contains the API among others, as from Auth0 and Keycloak.",
			Wrap: editTokens(func(t issuedToken) {
				t.claims["aud"] = append([]any{"https://userinfo.node.example"}, asList(t.claims["aud"])...)
			})},
		{Name: "audience-as-text",
			Why: "The audience is a string and not a list, as RFC 7519 allows for a single one.",
			Wrap: editTokens(func(t issuedToken) {
				if all := asList(t.claims["aud"]); len(all) > 0 {
					t.claims["aud"] = all[0]
				}
			})},
		{Name: "times-with-fraction",
			Why: "iat and exp have a fraction, as Python writes the time; NumericDate allows it.",
			Wrap: editTokens(func(t issuedToken) {
				t.claims["iat"], t.claims["exp"] = t.seconds("iat")+0.25, t.seconds("exp")+0.25
				t.claims["nbf"] = t.claims["iat"]
			})},
		{Name: "token-not-before-some-seconds-ago",
			Why:  "nbf is half a minute before iat, as from ADFS and Microsoft Entra, to tolerate wrong clocks.",
			Wrap: editTokens(func(t issuedToken) { t.claims["nbf"] = t.seconds("iat") - 30 })},
		{Name: "token-issued-two-minutes-ago",
			Why: "The token was issued two minutes ago for another request, and expires_in is its remaining lifetime: a gateway that caches tokens.",
			Wrap: editTokens(func(t issuedToken) {
				const age = 120
				t.claims["iat"], t.claims["exp"] = t.seconds("iat")-age, t.seconds("exp")-age
				t.body["expires_in"] = number(t.body["expires_in"]) - age
			})},
		{Name: "token-for-65-seconds",
			Why:  "Tokens are valid for 65 seconds, by expires_in and by exp: Keycloak with a short lifetime.",
			Wrap: setLifetime(65)},
		{Name: "token-with-many-groups",
			Why: "The token is long, because it names every group of the account, some with umlauts, like tokens from a directory.",
			Wrap: editTokens(func(t issuedToken) {
				t.header["x5t"], t.header["cty"] = "dGhlIHRodW1icHJpbnQ", "JWT"
				var groups []any
				for n := range 80 {
					groups = append(groups, "CN=Förderstelle "+strconv.Itoa(n)+",OU=Gruppen,DC=must")
				}
				t.claims["groups"], t.claims["org"] = groups, map[string]any{"ä/ö": []any{nil, 1.5, true}}
			})},
		{Name: "claims-in-capitals-besides",
			Why: "The token has claims and header members that differ from its own by case only, from the mapper of another product.",
			Wrap: editTokens(func(t issuedToken) {
				t.header["ALG"], t.header["Kid"] = "none", "another"
				t.claims["EXP"], t.claims["Iss"], t.claims["AUD"], t.claims["Client_Id"] = 1, "nobody", "nowhere", "another"
			})},
	}
}

// metadataHabits are unusual metadata and keys of the authorization server.
func metadataHabits() []Deviation {
	return []Deviation{
		{Name: "metadata-absent",
			Why:  "The node publishes neither metadata nor a key set: both are optional, and gateways that introspect tokens do not need them.",
			Wrap: rewriteSuccess(problem(http.StatusNotFound, "no such record"), Metadata, Keys)},
		{Name: "metadata-of-a-large-server",
			Why: "The metadata has dozens of members that client credentials do not need, like Keycloak's.",
			Wrap: editMetadata(func(document map[string]any) {
				origin := text(document["issuer"])
				document["authorization_endpoint"] = origin + "/protocol/openid-connect/auth"
				document["introspection_endpoint"] = origin + "/protocol/openid-connect/token/introspect"
				document["mtls_endpoint_aliases"] = map[string]any{"token_endpoint": "https://mtls.node.example/token"}
				document["tls_client_certificate_bound_access_tokens"] = true
				grants, _ := document["grant_types_supported"].([]any)
				document["grant_types_supported"] = append([]any{"authorization_code", "urn:ietf:params:oauth:grant-type:device_code"}, grants...)
				document["code_challenge_methods_supported"] = []any{"plain", "S256"}
			})},
		{Name: "metadata-without-grant-types",
			Why:  "The metadata does not list grant types, which RFC 8414 makes optional.",
			Wrap: editMetadata(drop("grant_types_supported"))},
		{Name: "keys-of-two-servers",
			Why: "Two servers issue tokens, each with its own key, and the key set has both keys.",
			Wrap: both(twoSigners(), rewriteSuccess(edit(func(set map[string]any) {
				keys, _ := set["keys"].([]any)
				for _, key := range objects(set, "keys") {
					second := maps.Clone(key)
					second["kid"] = secondKey
					keys = append(keys, second)
				}
				set["keys"] = keys
			}), Keys))},
		{Name: "keys-in-rotation",
			Why: "The key set has earlier and later keys beside the one in use, and one for encryption, with certificates, as Keycloak's rotation does.",
			Wrap: rewriteSuccess(edit(func(set map[string]any) {
				keys, _ := set["keys"].([]any)
				set["keys"] = append([]any{
					map[string]any{"kty": "RSA", "use": "enc", "alg": "RSA-OAEP", "kid": "encryption", "e": "AQAB", "n": unusedModulus, "x5t": "dGhlIHRodW1i"},
					map[string]any{"kty": "OKP", "crv": "Ed448", "kid": "of a curve that few know", "x": "AAAA"},
					map[string]any{"kty": "RSA", "use": "sig", "kid": "yesterday", "e": "AQAB", "n": unusedModulus},
				}, keys...)
			}), Keys)},
		{Name: "metadata-members-in-capitals-besides",
			Why: "Metadata and key set have members that differ from their own by case only: two products publish in one document.",
			Wrap: both(
				rewriteSuccess(appendMembers(`"ISSUER":"nobody","Token_Endpoint":"nowhere","JWKS_URI":"nowhere"`), Metadata),
				rewriteSuccess(appendMembers(`"KEYS":[]`), Keys))},
	}
}

// unusedModulus is the modulus of an RSA key that signs nothing.
const unusedModulus = "u1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gunVTLw7onLRnrq0_IzW7yWR7QkrmBL7jTKEn5u" +
	"-qKhbwKfBstIs-bMY2Zkp18gnTxKLxoS2tFczGkPLPgizskuemMghRniWaoLcyehkd3qqGElvW_VDL5AaWTg0nLVkjRo9z-40RQzuVaE8AkAFmxZzow3x" +
	"-VJYKdjykkJ0iT9wCS0DRTXu269V264Vf_3jvredZiKRkgwlL9xNAwxXFg0x_XFw005UWVRIkdgcKWTjpBP2dPwVZ4WWC-9aGVd-Gyn1o0CLelf4rEjGoXbAAEgAqeGUxrcIlbjXfbcmw"

// appendMembers adds members to the end of the object in a body. A decoder that ignores case would take them for the earlier members.
func appendMembers(members string) change {
	return func(a *answer) {
		if body, isObject := bytes.CutSuffix(bytes.TrimSpace(a.Body), []byte("}")); isObject {
			a.Body = append(append(bytes.Clone(body), ","+members...), '}')
		}
	}
}

// editMetadata makes a wrap that edits the metadata of the authorization server.
func editMetadata(change func(document map[string]any)) wrap {
	return rewriteSuccess(edit(change), Metadata)
}

// limitWrongSecrets refuses a client after five failed authentications.
func limitWrongSecrets() wrap {
	const limit = 5
	var failures memory[int]
	return intercept(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		q, _ := readTokenRequest(r)
		id := q.Get("client_id")
		if name, _, ok := r.BasicAuth(); ok {
			id = name
		}
		count, _ := failures.get(id)
		a := capture(next, r)
		switch {
		case count >= limit:
			tokenError(http.StatusTooManyRequests, "temporarily_unavailable")(a)
		case a.Status == http.StatusUnauthorized && id != "":
			failures.put(id, count+1)
		}
		a.send(w, r)
	}, Token)
}
