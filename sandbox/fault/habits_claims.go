package fault

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// claimHabits are unusual contents of a token that is a JWT, well signed.
func claimHabits() []Deviation {
	return []Deviation{
		{
			Name: "claims-of-keycloak", Warns: []string{"JWT-05", "JWT-07"},
			Why: "The token is of type JWT, its audience is account, the client is azp, and roles, addresses and flags stand beside: Keycloak without an audience mapper.",
			Wrap: claims(func(header, claims, _ map[string]any) {
				header["typ"] = "JWT"
				claims["aud"], claims["azp"], claims["typ"], claims["acr"] = "account", claims["client_id"], "Bearer", "1"
				claims["realm_access"] = map[string]any{"roles": []any{"offline_access", "default-roles-ris"}}
				claims["resource_access"] = map[string]any{"account": map[string]any{"roles": []any{"view-profile"}}}
				claims["clientHost"], claims["clientAddress"], claims["email_verified"] = "192.0.2.7", "192.0.2.7", false
				claims["preferred_username"] = "service-account-" + text(claims["client_id"])
			}),
		},
		{
			Name: "audience-in-a-list",
			Why:  "The audience is a list, with the API among others, as Auth0 and Keycloak write several.",
			Wrap: claims(func(_, claims, _ map[string]any) {
				claims["aud"] = append([]any{"https://userinfo.node.example"}, listed(claims["aud"])...)
			}),
		},
		{
			Name: "audience-as-text",
			Why:  "The audience is one text and no list, as RFC 7519 allows for a single one.",
			Wrap: claims(func(_, claims, _ map[string]any) {
				if all := listed(claims["aud"]); len(all) > 0 {
					claims["aud"] = all[0]
				}
			}),
		},
		{
			Name: "times-with-fraction",
			Why:  "iat and exp have a fraction, as Python writes the time; a NumericDate may.",
			Wrap: claims(func(_, claims, _ map[string]any) {
				for _, name := range []string{"iat", "exp"} {
					claims[name] = seconds(claims[name]) + 0.25
				}
				claims["nbf"] = seconds(claims["iat"])
			}),
		},
		{
			Name: "token-not-before-some-seconds-ago",
			Why:  "nbf lies half a minute before iat, as ADFS and Microsoft Entra date it back for clocks that are off.",
			Wrap: claims(func(_, claims, _ map[string]any) { claims["nbf"] = seconds(claims["iat"]) - 30 }),
		},
		{
			Name: "token-issued-two-minutes-ago",
			Why:  "The token was made two minutes ago for another request, and expires_in is what remains of it: a gateway that caches tokens.",
			Wrap: claims(func(_, claims, answer map[string]any) {
				const age = 120
				claims["iat"], claims["exp"] = seconds(claims["iat"])-age, seconds(claims["exp"])-age
				answer["expires_in"] = seconds(answer["expires_in"]) - age
			}),
		},
		{
			Name: "token-for-65-seconds",
			Why:  "Tokens live for 65 seconds, in the answer and in the token: Keycloak with the lifetime turned down.",
			Wrap: claims(func(_, claims, answer map[string]any) {
				const life = 65
				claims["exp"], answer["expires_in"] = seconds(claims["iat"])+life, life
			}),
		},
		{
			Name: "token-with-many-groups",
			Why:  "The token is long, for it names every group of the account, umlauts among them, as tokens from a directory do.",
			Wrap: claims(func(header, claims, _ map[string]any) {
				header["x5t"], header["cty"] = "dGhlIHRodW1icHJpbnQ", "JWT"
				var groups []any
				for n := range 80 {
					groups = append(groups, "CN=Förderstelle "+strconv.Itoa(n)+",OU=Gruppen,DC=must")
				}
				claims["groups"], claims["org"] = groups, map[string]any{"ä/ö": []any{nil, 1.5, true}}
			}),
		},
	}
}

// claims makes a Wrap that edits header and claims of each token, and the answer that it stands in; the node's key signs the result. An
// opaque token has none, and stays.
func claims(edit func(header, claims, answer map[string]any)) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return disguised(func(token string, answer map[string]any) string {
			parts := strings.Split(token, ".")
			if len(parts) != 3 {
				return ""
			}
			header, claims := map[string]any{}, decoded(parts[1])
			if claims == nil {
				return ""
			}
			edit(header, claims, answer)
			other, err := env.Sign(header, claims)
			if err != nil {
				return ""
			}
			return other
		})(next, env)
	}
}

// decoded is a part of a JWT, nil when it is no JSON object.
func decoded(part string) (object map[string]any) {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil || json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object
}

// seconds is a number of a token or of its answer, 0 for anything else.
func seconds(value any) float64 {
	switch n := value.(type) {
	case float64:
		return n
	case json.Number:
		f, _ := n.Float64() // a number that was read is one
		return f
	}
	return 0
}

// listed is a value as a list: it may be one already.
func listed(value any) []any {
	if list, is := value.([]any); is {
		return list
	}
	if value == nil {
		return nil
	}
	return []any{value}
}

// metadataHabits are unusual ways to publish what the authorization server is, and its keys.
func metadataHabits() []Deviation {
	return []Deviation{
		{
			Name: "metadata-absent",
			Why:  "There is no metadata and no key set: both are optional, and gateways that introspect have none.",
			Wrap: outside(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				if !strings.Contains(r.URL.Path, "/.well-known/") && r.URL.Path != env.Places.Certs() {
					next.ServeHTTP(w, r)
					return
				}
				a := &editableAnswer{}
				notFound(a)
				a.send(w, r)
			}),
		},
		{
			Name: "metadata-of-a-large-server",
			Why:  "The metadata has dozens of members that no client credentials client needs, as Keycloak's has.",
			Wrap: metadata(func(document map[string]any) {
				origin, _ := document["issuer"].(string)
				document["authorization_endpoint"] = origin + "/protocol/openid-connect/auth"
				document["introspection_endpoint"] = origin + "/protocol/openid-connect/token/introspect"
				document["mtls_endpoint_aliases"] = map[string]any{"token_endpoint": "https://mtls.node.example/token"}
				document["tls_client_certificate_bound_access_tokens"] = true
				grants, _ := document["grant_types_supported"].([]any)
				document["grant_types_supported"] = append([]any{"authorization_code", "urn:ietf:params:oauth:grant-type:device_code"}, grants...)
				document["code_challenge_methods_supported"] = []any{"plain", "S256"}
			}),
		},
		{
			Name: "metadata-without-grant-types",
			Why:  "The metadata does not list grant types, which RFC 8414 leaves out at will.",
			Wrap: metadata(drop("grant_types_supported")),
		},
		{
			Name: "keys-in-rotation",
			Why:  "The key set has the keys of yesterday and tomorrow beside the one in use, and one for encryption, with certificates: Keycloak rotates so.",
			Wrap: outside(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if r.URL.Path == env.Places.Certs() && a.ok() {
					a.editObject(func(set map[string]any) {
						keys, _ := set["keys"].([]any)
						set["keys"] = append([]any{
							map[string]any{"kty": "RSA", "use": "enc", "alg": "RSA-OAEP", "kid": "encryption", "e": "AQAB", "n": rotatedModulus, "x5t": "dGhlIHRodW1i"},
							map[string]any{"kty": "OKP", "crv": "Ed448", "kid": "of a curve that few know", "x": "AAAA"},
							map[string]any{"kty": "RSA", "use": "sig", "kid": "yesterday", "e": "AQAB", "n": rotatedModulus},
						}, keys...)
					})
				}
				a.send(w, r)
			}),
		},
	}
}

// rotatedModulus is that of a key that signs nothing.
const rotatedModulus = "u1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gunVTLw7onLRnrq0_IzW7yWR7QkrmBL7jTKEn5u" +
	"-qKhbwKfBstIs-bMY2Zkp18gnTxKLxoS2tFczGkPLPgizskuemMghRniWaoLcyehkd3qqGElvW_VDL5AaWTg0nLVkjRo9z-40RQzuVaE8AkAFmxZzow3x" +
	"-VJYKdjykkJ0iT9wCS0DRTXu269V264Vf_3jvredZiKRkgwlL9xNAwxXFg0x_XFw005UWVRIkdgcKWTjpBP2dPwVZ4WWC-9aGVd-Gyn1o0CLelf4rEjGoXbAAEgAqeGUxrcIlbjXfbcmw"

// metadata makes a Wrap that edits the metadata of the authorization server.
func metadata(edit func(document map[string]any)) wrap {
	return outside(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/.well-known/") {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if a.ok() {
			a.editObject(edit)
		}
		a.send(w, r)
	})
}
