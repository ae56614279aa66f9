package deviation

import (
	"net/http"
	"strings"
)

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
				a := &Answer{}
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
