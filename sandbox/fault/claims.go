package fault

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// claimDeviations break the content of access tokens (JWT-01 to JWT-07). The API accepts the broken tokens like good ones.
func claimDeviations() []Deviation {
	return []Deviation{
		{Name: "token-alg-none", Breaks: []string{"JWT-01"},
			Why: "The authorization server issues tokens with alg none, as a library does without a key.",
			Wrap: rebuildTokens(func(t issuedToken) string {
				t.header["alg"] = "none"
				delete(t.header, "kid")
				return t.encode("")
			})},
		{Name: "token-without-signature", Breaks: []string{"JWT-01"},
			Why:  "The header names an algorithm and the signature is empty: a gateway removes it to save space.",
			Wrap: rebuildTokens(func(t issuedToken) string { return t.encode("") })},
		{Name: "exp-in-milliseconds", Breaks: []string{"JWT-02"},
			Why:  "exp is in milliseconds, as Date.now() returns them, so the token practically never expires.",
			Wrap: editTokens(func(t issuedToken) { t.claims["exp"] = t.seconds("exp") * 1000 })},
		{Name: "exp-as-text", Breaks: []string{"JWT-02"},
			Why:  "exp is a string of digits.",
			Wrap: editTokens(func(t issuedToken) { t.claims["exp"] = strconv.FormatInt(int64(t.seconds("exp")), 10) })},
		{Name: "exp-as-date", Breaks: []string{"JWT-02"},
			Why: "exp is an ISO date.",
			Wrap: editTokens(func(t issuedToken) {
				t.claims["exp"] = time.Unix(int64(t.seconds("exp")), 0).UTC().Format(time.RFC3339)
			})},
		{Name: "exp-in-local-time", Breaks: []string{"JWT-02"},
			Why:  "exp is computed from local time without its zone, and is an hour in the past.",
			Wrap: editTokens(func(t issuedToken) { t.claims["exp"] = t.seconds("exp") - 3600 })},
		{Name: "exp-missing", Breaks: []string{"JWT-02"},
			Why:  "The token does not say when it expires.",
			Wrap: dropClaim("exp")},
		{Name: "token-outlived-by-expires-in", Breaks: []string{"JWT-03"},
			Why:  "expires_in is 3600, from a setting of its own, and the token expires after a minute.",
			Wrap: editTokens(func(t issuedToken) { t.claims["exp"], t.body["expires_in"] = t.seconds("iat")+60, 3600 })},
		{Name: "token-outlives-expires-in", Breaks: []string{"JWT-03"},
			Why:  "The token is valid for a day longer than the token answer says.",
			Wrap: editTokens(func(t issuedToken) { t.claims["exp"] = t.seconds("exp") + 86_400 })},
		{Name: "iss-of-inner-host", Breaks: []string{"JWT-04"},
			Why:  "iss is the host behind the proxy, because the authorization server does not know its public name.",
			Wrap: setClaim("iss", "http://localhost:8080/realms/ris")},
		{Name: "iss-missing", Breaks: []string{"JWT-04"},
			Why:  "The token does not name its issuer.",
			Wrap: dropClaim("iss")},
		{Name: "iss-no-url", Breaks: []string{"JWT-04"},
			Why:  "iss is the name of a product, from which no keys can be found.",
			Wrap: setClaim("iss", "identity-server")},
		{Name: "client-not-named", Breaks: []string{"JWT-04"},
			Why:  "The token names the service account and not the client.",
			Wrap: dropClaim("client_id")},
		{Name: "another-client-named", Breaks: []string{"JWT-04"},
			Why:  "All tokens name the gateway that requests them for the clients.",
			Wrap: setClaim("client_id", "api-gateway")},
		{Name: "first-client-named-in-all-tokens", Breaks: []string{"JWT-04"},
			Why:  "The tokens of all clients name the one that requested the first token: the claims are cached, and the key of the cache lacks the client.",
			Wrap: stateful(nameFirstClient)},
		{Name: "aud-missing", Breaks: []string{"JWT-05"},
			Why:  "The token is not restricted to an audience: stock Keycloak without an audience mapper.",
			Wrap: dropClaim("aud")},
		{Name: "aud-account", Breaks: []string{"JWT-05"},
			Why:  "The audience is the account service of Keycloak, as its default client scope sets it.",
			Wrap: setClaim("aud", "account")},
		{Name: "secret-in-claims", Breaks: []string{"JWT-06"},
			Why: "A mapper copies all settings of the client into the token, including its secret.",
			Wrap: editTokens(func(t issuedToken) {
				t.claims["client"] = map[string]any{"settings": []any{t.clientSecret()}}
			})},
		{Name: "secret-in-token-header", Breaks: []string{"JWT-06"},
			Why: "The header of the token contains the client's credentials in base64, for a service behind the gateway.",
			Wrap: editTokens(func(t issuedToken) {
				t.header["x-forwarded-credentials"] = base64.StdEncoding.EncodeToString([]byte(t.client() + ":" + t.clientSecret()))
			})},
		{Name: "password-in-claims", Breaks: []string{"JWT-06"},
			Why:  "The token carries the password of a service behind the API.",
			Wrap: setClaim("backend", map[string]any{"user": "ris", "dbPassword": "changeit"})},
		{Name: "typ-jwt", Breaks: []string{"JWT-07"},
			Why:  "The type of the token is JWT like that of an ID token, as Keycloak sends it by default.",
			Wrap: editTokens(func(t issuedToken) { t.header["typ"] = "JWT" })},
		{Name: "token-signed-with-client-secret", Breaks: []string{"JWT-01"},
			Why:  "The token is signed by HS256 with the client's own secret, so each client can write tokens with any role.",
			Wrap: rebuildTokens(func(t issuedToken) string { return t.signHS256(t.clientSecret()) })},
		{Name: "token-signed-with-common-word", Breaks: []string{"JWT-01"},
			Why:  "The token is signed by HS256 with the secret of the library's example.",
			Wrap: rebuildTokens(func(t issuedToken) string { return t.signHS256("your-256-bit-secret") })},
		{Name: "nbf-in-an-hour", Breaks: []string{"JWT-02"},
			Why:  "nbf is computed from local time without its zone: the token cannot be used for another hour.",
			Wrap: editTokens(func(t issuedToken) { t.claims["nbf"] = t.seconds("iat") + 3600 })},
		{Name: "iat-as-text", Breaks: []string{"JWT-02"},
			Why:  "iat is a string of digits, as a date library formats it.",
			Wrap: editTokens(func(t issuedToken) { t.claims["iat"] = strconv.FormatInt(int64(t.seconds("iat")), 10) })},
		{Name: "sub-as-number", Breaks: []string{"JWT-04"},
			Why:  "sub is the number of the service account in the database, and not a text.",
			Wrap: setClaim("sub", 4711)},
		{Name: "jti-of-all-tokens", Breaks: []string{"JWT-04"},
			Why:  "jti is drawn when the server starts, so that all tokens have the same one.",
			Wrap: setClaim("jti", "7f1c2a90-5b1e-4a57-9d0a-3c1f0e6b2d44")},
		{Name: "aud-as-object", Breaks: []string{"JWT-05"},
			Why:  "aud is an object with a switch for each API.",
			Wrap: setClaim("aud", map[string]any{"ris": true})},
		{Name: "iat-in-milliseconds", Breaks: []string{"JWT-03"},
			Why:  "iat is in milliseconds, and exp is in seconds.",
			Wrap: editTokens(func(t issuedToken) { t.claims["iat"] = t.seconds("iat") * 1000 })},
		{Name: "expires-in-starts-again", Breaks: []string{"JWT-03"},
			Why: "A cached token is issued again with the expires_in of a new one: clients use it for minutes after it has expired.",
			Wrap: editTokens(func(t issuedToken) {
				const age = 200
				t.claims["iat"], t.claims["exp"] = t.seconds("iat")-age, t.seconds("exp")-age
			})},
		{Name: "remembered-token-as-if-new", Breaks: []string{"JWT-03"},
			Why:  "A client gets the same token until it has almost expired, and expires_in is the whole lifetime each time: the cache keeps the answer, and not its age.",
			Wrap: stateful(func() wrap { return reuseTokens(fullLifetime) })},
		{Name: "remembered-opaque-token-as-if-new", Breaks: []string{"TOK-18"},
			Why:  "A client gets the same opaque token until it has almost expired, and expires_in is the whole lifetime each time; the token does not show how long it lives.",
			Wrap: both(stateful(func() wrap { return reuseTokens(fullLifetime) }), opaqueTokens())},
		{Name: "tokens-dropped-at-times", Breaks: []string{"TOK-18"},
			Why:  "Every so often the key that signs is replaced and the old one dropped at once, so that all tokens end, whatever is left of their life.",
			Wrap: stateful(dropTokensAtTimes)},
		{Name: "token-ends-early", Breaks: []string{"TOK-18"},
			Why: "The API keeps its own record of tokens for half of the lifetime that the token answer states.",
			Wrap: both(stateful(func() wrap {
				var ends memory[time.Time]
				remember := rewriteToken(func(_ tokenRequest, a *answer) bool { return a.ok() }, func(a *answer) {
					a.editObject(func(body map[string]any) {
						ends.put(text(body["access_token"]), a.env.Now().Add(time.Duration(number(body["expires_in"]))*time.Second/2))
					})
				})
				forget := rewrite(when(func(a *answer) bool {
					end, known := ends.get(bearer(a.request))
					return known && a.ok() && a.env.Now().After(end)
				}, inOrder(problem(http.StatusUnauthorized, "the token is not known"), challenge(`Bearer realm="ris", error="invalid_token"`))), protectedKinds()...)
				return both(remember, forget)
			}), opaqueTokens())},
		{Name: "aud-of-anybody", Breaks: []string{"JWT-05"},
			Why:  "aud is *, so the token opens every service that knows the issuer.",
			Wrap: setClaim("aud", "*")},
	}
}

// nameFirstClient puts the client of the first token into all tokens.
func nameFirstClient() wrap {
	var first memory[any]
	return editTokens(func(t issuedToken) {
		for _, name := range []string{"sub", "client_id"} {
			if value, known := first.get(name); known {
				t.claims[name] = value
			} else {
				first.put(name, t.claims[name])
			}
		}
	})
}

// clientSecret returns the secret of the client that the token names.
func (t issuedToken) clientSecret() string {
	client, _ := t.env.Client(t.client())
	return client.Secret
}

// publicationDeviations break what the authorization server publishes: its keys (JWT-08) and its metadata (SEC-06).
func publicationDeviations() []Deviation {
	return []Deviation{
		{Name: "key-set-lacks-kid", Breaks: []string{"JWT-08"},
			Why:  "The key set lacks the key that signs: the new key is used before it is published.",
			Wrap: editKeys(func(key map[string]any) { key["kid"] = "retired-2019" })},
		{Name: "key-set-empty", Breaks: []string{"JWT-08"},
			Why:  "The key set is empty, because the keys are in a file that only the API reads.",
			Wrap: rewriteSuccess(edit(put("keys", []any{})), Keys)},
		{Name: "key-set-of-another-key", Breaks: []string{"JWT-08"},
			Why: "The key set names the right kid with another key: a replica has its own key.",
			Wrap: editKeys(func(key map[string]any) {
				// This is the public key in RFC 7515 appendix A.3, and the private one below belongs to it.
				key["x"], key["y"] = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
			})},
		{Name: "key-of-one-replica-unpublished", Breaks: []string{"JWT-08"},
			Why:  "Two servers issue tokens, each with its own key, and the key set contains the key of the first server only.",
			Wrap: twoSigners()},
		{Name: "key-set-with-private-key", Breaks: []string{"SEC-04"},
			Why:  "The key set also contains the private part of the key: the whole key was exported.",
			Wrap: editKeys(func(key map[string]any) { key["d"] = "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI" })},
		{Name: "key-set-not-found", Breaks: []string{"JWT-08"},
			Why:  "The metadata names a key set that the gateway blocks.",
			Wrap: rewriteSuccess(become(http.StatusNotFound, "", ""), Keys)},
		{Name: "key-set-member-twice", Breaks: []string{"JWT-08"},
			Why:  "Each key has kid twice: a gateway adds the old kid, so that old clients find the key.",
			Wrap: rewriteSuccess(replaceText(`"kid":`, `"kid":"retired-2019","kid":`), Keys)},
		{Name: "metadata-member-twice", Breaks: []string{"SEC-06"},
			Why:  "The metadata has token_endpoint twice: a proxy adds the public one to the text and leaves the inner one there.",
			Wrap: rewriteSuccess(replaceText(`"token_endpoint":`, `"token_endpoint":"http://keycloak:8080/token","token_endpoint":`), Metadata)},
		{Name: "metadata-inner-host", Breaks: []string{"SEC-06"},
			Why:  "token_endpoint in the metadata has the host name of the container, as Keycloak writes it behind a proxy that it does not know.",
			Wrap: rewriteSuccess(edit(put("token_endpoint", "http://keycloak:8080/realms/ris/protocol/openid-connect/token")), Metadata)},
		{Name: "metadata-other-issuer", Breaks: []string{"SEC-06"},
			Why:  "The issuer in the metadata has a trailing slash that the tokens lack.",
			Wrap: rewriteSuccess(edit(update("issuer", func(issuer string) string { return issuer + "/" })), Metadata)},
		{Name: "metadata-without-grant", Breaks: []string{"SEC-06"},
			Why:  "The metadata lists the grants for people only, although client_credentials works.",
			Wrap: rewriteSuccess(edit(put("grant_types_supported", []any{"authorization_code", "refresh_token"})), Metadata)},
		{Name: "metadata-without-secrets", Breaks: []string{"SEC-06"},
			Why:  "The metadata lists client authentication by keys and certificates only, from a profile for banks, although clients have secrets.",
			Wrap: rewriteSuccess(edit(put("token_endpoint_auth_methods_supported", []any{"private_key_jwt", "tls_client_auth"})), Metadata)},
	}
}

// twoSigners makes a wrap in which every second group of three tokens has the kid of another key. The API accepts all tokens.
func twoSigners() wrap {
	return stateful(func() wrap {
		var issued atomic.Int64
		return editTokens(func(t issuedToken) {
			if issued.Add(1)/3%2 == 1 {
				t.header["kid"] = secondKey
			}
		})
	})
}

// secondKey is the kid of the second key of [twoSigners].
const secondKey = "second-server"

// editKeys makes a wrap that edits each key of the key set.
func editKeys(editKey func(key map[string]any)) wrap {
	return rewriteSuccess(edit(func(set map[string]any) {
		for _, key := range objects(set, "keys") {
			editKey(key)
		}
	}), Keys)
}

// dropTokensAtTimes ends all tokens once, a quarter of their life after the first of them would have ended.
func dropTokensAtTimes() wrap {
	var issued memory[time.Time]
	var mu sync.Mutex
	var drop time.Time
	remember := rewriteToken(func(_ tokenRequest, a *answer) bool { return a.ok() }, func(a *answer) {
		a.editObject(func(body map[string]any) {
			mu.Lock()
			defer mu.Unlock()
			if drop.IsZero() {
				drop = a.env.Now().Add(time.Duration(number(body["expires_in"])) * time.Second * 5 / 4)
			}
			issued.put(text(body["access_token"]), a.env.Now())
		})
	})
	forget := rewrite(when(func(a *answer) bool {
		mu.Lock()
		defer mu.Unlock()
		at, known := issued.get(bearer(a.request))
		return known && a.ok() && at.Before(drop) && a.env.Now().After(drop)
	}, inOrder(problem(http.StatusUnauthorized, "the key of the token is not known"), challenge(`Bearer realm="ris", error="invalid_token"`))), protectedKinds()...)
	return both(remember, forget)
}
