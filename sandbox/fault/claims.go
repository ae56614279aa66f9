package fault

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// claimDeviations break what stands in the access token (JWT-01 to JWT-07). The API takes the odd tokens like good ones.
func claimDeviations() []Deviation {
	return []Deviation{
		{
			Name: "token-alg-none", Breaks: []string{"JWT-01"},
			Why: "The authorization server issues tokens with alg none, as a library does when it is given no key.",
			Wrap: reissued(func(p parts, _ Env, _ map[string]any) (string, error) {
				p.header["alg"] = "none"
				delete(p.header, "kid")
				return p.encoded(""), nil
			}),
		},
		{
			Name: "token-without-signature", Breaks: []string{"JWT-01"},
			Why:  "The header names an algorithm and the signature is empty: a gateway cuts it off to save room.",
			Wrap: reissued(func(p parts, _ Env, _ map[string]any) (string, error) { return p.encoded(""), nil }),
		},
		{
			Name: "exp-in-milliseconds", Breaks: []string{"JWT-02"},
			Why:  "exp is in milliseconds, as Date.now() gives them, so that the token does not expire in this age.",
			Wrap: reissued(signed(func(p parts, _ Env) { p.claims["exp"] = p.seconds("exp") * 1000 })),
		},
		{
			Name: "exp-as-text", Breaks: []string{"JWT-02"},
			Why:  "exp is a text of digits.",
			Wrap: reissued(signed(func(p parts, _ Env) { p.claims["exp"] = strconv.FormatInt(p.seconds("exp"), 10) })),
		},
		{
			Name: "exp-as-date", Breaks: []string{"JWT-02"},
			Why: "exp is an ISO date.",
			Wrap: reissued(signed(func(p parts, _ Env) {
				p.claims["exp"] = time.Unix(p.seconds("exp"), 0).UTC().Format(time.RFC3339)
			})),
		},
		{
			Name: "exp-in-local-time", Breaks: []string{"JWT-02"},
			Why:  "exp is computed from local time without its zone, and lies an hour in the past.",
			Wrap: reissued(signed(func(p parts, _ Env) { p.claims["exp"] = p.seconds("exp") - 3600 })),
		},
		{
			Name: "exp-missing", Breaks: []string{"JWT-02"},
			Why:  "The token does not say when it expires.",
			Wrap: withoutClaim("exp"),
		},
		{
			Name: "token-outlived-by-expires-in", Breaks: []string{"JWT-03"},
			Why: "expires_in is 3600 from a setting of its own, and the token expires after a minute.",
			Wrap: reissued(func(p parts, env Env, answer map[string]any) (string, error) {
				p.claims["exp"], answer["expires_in"] = p.seconds("iat")+60, 3600
				return env.Sign(p.header, p.claims)
			}),
		},
		{
			Name: "token-outlives-expires-in", Breaks: []string{"JWT-03"},
			Why:  "The token is good for a day longer than the answer says.",
			Wrap: reissued(signed(func(p parts, _ Env) { p.claims["exp"] = p.seconds("exp") + 86_400 })),
		},
		{
			Name: "iss-of-inner-host", Breaks: []string{"JWT-04"},
			Why:  "iss is the host behind the proxy, since the authorization server does not know its public name.",
			Wrap: claim("iss", "http://localhost:8080/realms/ris"),
		},
		{
			Name: "iss-missing", Breaks: []string{"JWT-04"},
			Why:  "The token does not name its issuer.",
			Wrap: withoutClaim("iss"),
		},
		{
			Name: "iss-no-url", Breaks: []string{"JWT-04"},
			Why:  "iss is the name of a product, under which nobody finds keys.",
			Wrap: claim("iss", "identity-server"),
		},
		{
			Name: "client-not-named", Breaks: []string{"JWT-04"},
			Why:  "The token names the service account and not the client.",
			Wrap: withoutClaim("client_id"),
		},
		{
			Name: "another-client-named", Breaks: []string{"JWT-04"},
			Why:  "All tokens name the gateway that asked for them in the clients' place.",
			Wrap: claim("client_id", "api-gateway"),
		},
		{
			Name: "aud-missing", Breaks: []string{"JWT-05"},
			Why:  "The token is not restricted to an audience: stock Keycloak without an audience mapper.",
			Wrap: withoutClaim("aud"),
		},
		{
			Name: "aud-account", Breaks: []string{"JWT-05"},
			Why:  "The audience is the account service of Keycloak, as its default client scope sets it.",
			Wrap: claim("aud", "account"),
		},
		{
			Name: "secret-in-claims", Breaks: []string{"JWT-06"},
			Why: "A mapper copies all settings of the client into the token, its secret among them.",
			Wrap: reissued(signed(func(p parts, env Env) {
				p.claims["client"] = map[string]any{"settings": []any{secretOf(p, env)}}
			})),
		},
		{
			Name: "secret-in-token-header", Breaks: []string{"JWT-06"},
			Why: "The header of the token holds the client's credentials in base64, for a service behind the gateway.",
			Wrap: reissued(signed(func(p parts, env Env) {
				id, _ := p.claims["client_id"].(string)
				p.header["x-forwarded-credentials"] = base64.StdEncoding.EncodeToString([]byte(id + ":" + secretOf(p, env)))
			})),
		},
		{
			Name: "password-in-claims", Breaks: []string{"JWT-06"},
			Why:  "The token carries the password of a service that stands behind the API.",
			Wrap: claim("backend", map[string]any{"user": "ris", "dbPassword": "changeit"}),
		},
		{
			Name: "typ-jwt", Breaks: []string{"JWT-07"},
			Why:  "The type of the token is JWT like that of an ID token, as Keycloak sends it by default.",
			Wrap: reissued(signed(func(p parts, _ Env) { p.header["typ"] = "JWT" })),
		},
		{
			Name: "token-signed-with-client-secret", Breaks: []string{"JWT-01"},
			Why:  "The token is signed by HS256 with the client's own secret, so that each client can write tokens with any role.",
			Wrap: reissued(func(p parts, env Env, _ map[string]any) (string, error) { return p.sealed(secretOf(p, env)), nil }),
		},
		{
			Name: "token-signed-with-common-word", Breaks: []string{"JWT-01"},
			Why:  "The token is signed by HS256 with the word of the library's example.",
			Wrap: reissued(func(p parts, _ Env, _ map[string]any) (string, error) { return p.sealed("your-256-bit-secret"), nil }),
		},
		{
			Name: "nbf-in-an-hour", Breaks: []string{"JWT-02"},
			Why:  "nbf is computed from local time without its zone: the token is not to be used for another hour.",
			Wrap: reissued(signed(func(p parts, _ Env) { p.claims["nbf"] = p.seconds("iat") + 3600 })),
		},
		{
			Name: "iat-in-milliseconds", Breaks: []string{"JWT-03"},
			Why:  "iat is in milliseconds, and exp is in seconds.",
			Wrap: reissued(signed(func(p parts, _ Env) { p.claims["iat"] = p.seconds("iat") * 1000 })),
		},
		{
			Name: "expires-in-starts-again", Breaks: []string{"JWT-03"},
			Why: "A token is handed out again from a cache, and expires_in is that of a new one: clients use it for minutes after its end.",
			Wrap: reissued(signed(func(p parts, _ Env) {
				const age = 200
				p.claims["iat"], p.claims["exp"] = p.seconds("iat")-age, p.seconds("exp")-age
			})),
		},
		{
			Name: "aud-of-anybody", Breaks: []string{"JWT-05"},
			Why:  "aud is *, so that the token opens each service that knows the issuer.",
			Wrap: claim("aud", "*"),
		},
	}
}

// secretOf is the secret of the client that a token names.
func secretOf(p parts, env Env) string {
	id, _ := p.claims["client_id"].(string)
	client, _ := env.Client(id)
	return client.Secret
}

// living makes a Wrap in which tokens live for that many seconds, and say so.
func living(seconds int64) wrap {
	return reissued(func(p parts, env Env, answer map[string]any) (string, error) {
		p.claims["exp"], answer["expires_in"] = json.Number(strconv.FormatInt(p.seconds("iat")+seconds, 10)), seconds
		return env.Sign(p.header, p.claims)
	})
}

// publicationDeviations break what the authorization server publishes: its keys (JWT-08) and its metadata (SEC-06).
func publicationDeviations() []Deviation {
	return []Deviation{
		{
			Name: "key-set-lacks-kid", Breaks: []string{"JWT-08"},
			Why: "The key set lacks the key that signs: the new key is used before it is published.",
			Wrap: published(keySet, func(document map[string]any) {
				for _, key := range objects(document, "keys") {
					key["kid"] = "retired-2019"
				}
			}),
		},
		{
			Name: "key-set-empty", Breaks: []string{"JWT-08"},
			Why:  "The key set is empty, since the keys stand in a file that only the API reads.",
			Wrap: published(keySet, put("keys", []any{})),
		},
		{
			Name: "key-set-of-another-key", Breaks: []string{"JWT-08"},
			Why: "The key set names the right kid and holds another key: a replica with a key of its own.",
			Wrap: published(keySet, func(document map[string]any) {
				for _, key := range objects(document, "keys") {
					// The point of RFC 7515 appendix A.3.
					key["x"], key["y"] = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
				}
			}),
		},
		{
			Name: "key-set-not-found", Breaks: []string{"JWT-08"},
			Why:  "The metadata names a key set that the gateway does not let through.",
			Wrap: rewriteAt(keySet, func(_ *http.Request, a *editableAnswer) { a.become(http.StatusNotFound, "", "") }),
		},
		{
			Name: "metadata-inner-host", Breaks: []string{"SEC-06"},
			Why:  "token_endpoint in the metadata has the host name of the container, as Keycloak writes it behind a proxy that it does not know.",
			Wrap: published(metadataPaths, put("token_endpoint", "http://keycloak:8080/realms/ris/protocol/openid-connect/token")),
		},
		{
			Name: "metadata-other-issuer", Breaks: []string{"SEC-06"},
			Why: "The issuer in the metadata has a slash at its end that the tokens do not have.",
			Wrap: published(metadataPaths, func(document map[string]any) {
				if issuer, ok := document["issuer"].(string); ok {
					document["issuer"] = issuer + "/"
				}
			}),
		},
		{
			Name: "metadata-without-grant", Breaks: []string{"SEC-06"},
			Why:  "The metadata lists the grants for people only, and client_credentials works all the same.",
			Wrap: published(metadataPaths, put("grant_types_supported", []any{"authorization_code", "refresh_token"})),
		},
	}
}

// keySet and metadataPaths are where the node's authorization server publishes; the staging environment is left alone.
func keySet(env Env) []string { return []string{env.Places.Certs()} }

func metadataPaths(env Env) []string {
	realm := env.Places.RealmIssuer()
	return []string{
		"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration",
		"/.well-known/oauth-authorization-server" + realm, realm + "/.well-known/openid-configuration",
	}
}

// published makes a Wrap that edits a document of the authorization server.
func published(at func(Env) []string, edit func(map[string]any)) wrap {
	return rewriteAt(at, object(edit))
}

// rewriteAt makes a Wrap that changes the answers at some paths.
func rewriteAt(at func(Env) []string, alter change) wrap {
	return func(next http.Handler, env Env) http.Handler {
		paths := at(env)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !slices.Contains(paths, r.URL.Path) {
				next.ServeHTTP(w, r)
				return
			}
			a := capture(next, r)
			alter(r, a)
			a.send(w, r)
		})
	}
}
