package fault

import (
	"net/http"
	"strconv"
	"strings"
)

// claimHabits are unusual contents of a JWT that is signed well.
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
				t.claims["aud"] = append([]any{"https://userinfo.node.example"}, listOf(t.claims["aud"])...)
			})},
		{Name: "audience-as-text",
			Why: "The audience is a text and not a list, as RFC 7519 allows for a single one.",
			Wrap: editTokens(func(t issuedToken) {
				if all := listOf(t.claims["aud"]); len(all) > 0 {
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
			Why:  "Tokens are valid for 65 seconds, in the answer and in the token: Keycloak with a short lifetime.",
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
	}
}

// metadataHabits are unusual metadata and keys of the authorization server.
func metadataHabits() []Deviation {
	return []Deviation{
		{Name: "metadata-absent",
			Why: "There is no metadata and no key set: both are optional, and gateways that introspect have none.",
			Wrap: withEnv(func(env Env) wrap {
				return refuseEarly(func(r *http.Request) bool { return isMetadata(r) || r.URL.Path == env.Places.Certs() },
					problem(http.StatusNotFound, "no such record"), otherKinds()...)
			})},
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
		{Name: "keys-in-rotation",
			Why: "The key set has earlier and later keys beside the one in use, and one for encryption, with certificates, as Keycloak's rotation does.",
			Wrap: withEnv(func(env Env) wrap {
				return rewriteSuccess(whenRequest(func(r *http.Request) bool { return r.URL.Path == env.Places.Certs() }, edit(func(set map[string]any) {
					keys, _ := set["keys"].([]any)
					set["keys"] = append([]any{
						map[string]any{"kty": "RSA", "use": "enc", "alg": "RSA-OAEP", "kid": "encryption", "e": "AQAB", "n": unusedModulus, "x5t": "dGhlIHRodW1i"},
						map[string]any{"kty": "OKP", "crv": "Ed448", "kid": "of a curve that few know", "x": "AAAA"},
						map[string]any{"kty": "RSA", "use": "sig", "kid": "yesterday", "e": "AQAB", "n": unusedModulus},
					}, keys...)
				})), otherKinds()...)
			})},
	}
}

// unusedModulus is that of a key that signs nothing.
const unusedModulus = "u1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gunVTLw7onLRnrq0_IzW7yWR7QkrmBL7jTKEn5u" +
	"-qKhbwKfBstIs-bMY2Zkp18gnTxKLxoS2tFczGkPLPgizskuemMghRniWaoLcyehkd3qqGElvW_VDL5AaWTg0nLVkjRo9z-40RQzuVaE8AkAFmxZzow3x" +
	"-VJYKdjykkJ0iT9wCS0DRTXu269V264Vf_3jvredZiKRkgwlL9xNAwxXFg0x_XFw005UWVRIkdgcKWTjpBP2dPwVZ4WWC-9aGVd-Gyn1o0CLelf4rEjGoXbAAEgAqeGUxrcIlbjXfbcmw"

func isMetadata(r *http.Request) bool { return strings.Contains(r.URL.Path, "/.well-known/") }

// editMetadata makes a wrap that edits the metadata of the authorization server.
func editMetadata(change func(document map[string]any)) wrap {
	return rewriteSuccess(whenRequest(isMetadata, edit(change)), otherKinds()...)
}
