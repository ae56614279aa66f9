package deviation

import (
	"net/http"
	"slices"
)

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
			Wrap: rewriteAt(keySet, func(_ *http.Request, a *Answer) { a.become(http.StatusNotFound, "", "") }),
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
