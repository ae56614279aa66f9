package deviation

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
			Wrap: rewrite(func(_ *http.Request, a *Answer) {
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
	return exchange(func(q tokenRequest, a *Answer) {
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
