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
		{
			Name: "token-type-in-lower-case",
			Why:  "token_type is bearer in lower case, as Cloud Foundry UAA and older Spring servers write it; its value has no case.",
			Wrap: granted(put("token_type", "bearer")),
		},
		{
			Name: "token-type-in-capitals",
			Why:  "token_type is BEARER in capitals, as some enums are serialised; its value has no case.",
			Wrap: granted(put("token_type", "BEARER")),
		},
		{
			Name: "token-with-members-of-keycloak",
			Why:  "The token answer has not-before-policy, refresh_expires_in 0 and the client's default scope, as Keycloak sends them.",
			Wrap: granted(func(answer map[string]any) {
				answer["refresh_expires_in"] = 0
				answer["not-before-policy"] = 0
				if _, told := answer["scope"]; !told {
					answer["scope"] = "email profile"
				}
			}),
		},
		{
			Name: "token-with-members-of-entra",
			Why:  "The token answer has ext_expires_in and further members of the maker's own, nested ones among them, as Microsoft Entra and Salesforce send them.",
			Wrap: granted(func(answer map[string]any) {
				answer["ext_expires_in"] = answer["expires_in"]
				answer["instance_url"] = "https://node.example"
				answer["issued_at"] = "1772442000000"
				answer["refresh_token"] = nil
				answer["audit"] = map[string]any{"id": "b1d9", "hops": []any{}}
			}),
		},
		{
			Name: "token-lifetime-with-fraction",
			Why:  "The lifetime is the number 300.0, as languages write it that know one kind of number.",
			Wrap: granted(func(answer map[string]any) {
				if seconds, ok := answer["expires_in"].(json.Number); ok {
					answer["expires_in"] = json.Number(seconds.String() + ".0")
				}
			}),
		},
		{
			Name: "token-opaque",
			Why:  "The token is opaque, with the signs + / and = in it, and stands for a JWT behind the gateway: the phantom token of Curity and Kong.",
			Wrap: phantom,
		},
		{
			Name: "token-remembered",
			Why:  "A client gets the same token until it is nearly over, with what remains of its life: Spring Security OAuth and Apigee answer so.",
			Wrap: remembered,
		},
		{
			Name: "token-cache-control-of-spring",
			Why:  "Caching is forbidden in every way there is, no-store among them, as Spring Security writes it.",
			Wrap: rewrite(func(_ *http.Request, a *editableAnswer) {
				a.set("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")
				a.set("Expires", "0")
			}, Token),
		},
		{
			Name: "token-as-oauth-2-1-has-it", Warns: []string{"TOK-07"},
			Why:  "Pragma is not sent any more: HTTP has retired it, and the drafts of OAuth 2.1 have dropped it.",
			Wrap: rewrite(field("Pragma", ""), Token),
		},
	}
}

// phantom hands out an opaque token for each that the node issues.
func phantom(next http.Handler, env Env) http.Handler {
	return disguised(func(token string, _ map[string]any) string {
		sum := sha256.Sum256([]byte(token))
		return base64.StdEncoding.EncodeToString(append([]byte{0xfb, 0xef, 0xff}, sum[:]...))
	})(next, env)
}

// disguised makes a Wrap that hands out another token for each that the node issues, and puts the node's own in its place at the API.
// Of what is sent there unchanged, the node decides. disguise may edit the token answer, too; empty is no other token.
func disguised(disguise func(token string, answer map[string]any) string) wrap {
	return func(next http.Handler, env Env) http.Handler {
		var behind memory[string]
		issue := granted(func(answer map[string]any) {
			token := text(answer["access_token"])
			if other := disguise(token, answer); other != "" {
				behind.put(other, token)
				answer["access_token"] = other
			}
		})
		accept := readmit(func(r *http.Request, _ Env) *http.Request {
			scheme, other := credential(r)
			if token, known := behind.get(other); known {
				return authorized(r, scheme+" "+token)
			}
			return r
		}, Info, Spec, FundingList, FundingDetail)
		return both(issue, accept)(next, env)
	}
}

// remembered answers a client with the token that it got before, as long as that one lives long enough.
func remembered(next http.Handler, env Env) http.Handler {
	type kept struct {
		token any
		until time.Time
	}
	const enough = time.Minute
	var tokens memory[kept]
	return exchange(func(q tokenRequest, a *editableAnswer) {
		id := q.form.Get("client_id")
		if !a.ok() || id == "" {
			return
		}
		a.editObject(func(answer map[string]any) {
			if before, known := tokens.get(id); known && before.until.Sub(env.Now()) > enough {
				answer["access_token"] = before.token
				answer["expires_in"] = int(before.until.Sub(env.Now()) / time.Second)
				return
			}
			if seconds, ok := answer["expires_in"].(json.Number); ok {
				life, _ := seconds.Float64() // what is no number is over at once
				tokens.put(id, kept{answer["access_token"], env.Now().Add(time.Duration(life) * time.Second)})
			}
		})
	})(next, env)
}

// tokenErrorHabits are unusual errors of the token endpoint.
func tokenErrorHabits() []Deviation {
	return []Deviation{
		{
			Name: "token-errors-of-keycloak", Warns: []string{"TER-02"},
			Why: "A wrong or missing secret is unauthorized_client, and an unknown client invalid_client, with words that Keycloak has for them.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				return exchange(func(q tokenRequest, a *editableAnswer) {
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
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
				if a.Status == http.StatusUnauthorized && !q.basic && len(a.Body) > 0 {
					a.Status = http.StatusBadRequest
				}
			}),
		},
		{
			Name: "client-errors-with-challenge",
			Why:  "A refused client is challenged for Basic credentials also when it sent a form, as RFC 9110 asks of each 401.",
			Wrap: rewrite(when(func(_ *http.Request, a *editableAnswer) bool { return a.Status == http.StatusUnauthorized },
				field("WWW-Authenticate", `Basic realm="token endpoint", charset="UTF-8"`)), Token),
		},
		{
			Name: "client-missing-empty-answer", Warns: []string{"TER-04"},
			Why: "A request without any client authentication is answered 401 without a body, as Spring Authorization Server does.",
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
				if !a.ok() && q.unauthenticated() {
					a.become(http.StatusUnauthorized, "", "")
				}
			}),
		},
		{
			Name: "token-by-get-not-found",
			Why:  "A GET of the token endpoint is answered 404 with invalid_request, as node-oidc-provider routes it.",
			Wrap: rewrite(when(notAllowed, func(_ *http.Request, a *editableAnswer) {
				a.refuse(http.StatusNotFound, "invalid_request")
			}), Token),
		},
		{
			Name: "token-by-get-unauthorized",
			Why:  "A GET of the token endpoint is answered 401 without a body by the filter before it, as Spring Security denies what it does not know.",
			Wrap: rewrite(when(notAllowed, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusUnauthorized, "", "")
			}), Token),
		},
		{
			Name: "token-by-get-documentation",
			Why:  "A GET of the token endpoint leads to the page that explains it, with 303.",
			Wrap: rewrite(when(notAllowed, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusSeeOther, "", "")
				a.set("Location", "/docs/token")
			}), Token),
		},
	}
}

// failed holds for errors.
func failed(_ *http.Request, a *editableAnswer) bool { return a.Status >= http.StatusBadRequest }
