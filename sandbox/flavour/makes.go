package flavour

import (
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/problem"
)

func plain() Flavour {
	return Flavour{
		Name: "plain", Grants: address.AtPlain,
		Why: "A node as the interface document describes it: tokens from /oauth/token, and what the RFCs say.",
	}
}

func keycloak() Flavour {
	return Flavour{
		Name: "keycloak", Warns: []string{"JWT-07", "TER-02"}, Grants: address.AtRealm, Tokens: auth.RS256, Dialect: auth.Dialect{Type: "JWT", Add: keycloakClaims},
		Why:    "Keycloak with an audience mapper: tokens from its realm, RS256, its token members and claims, unauthorized_client for a wrong secret.",
		Habits: []string{"token-with-members-of-keycloak", "token-errors-of-keycloak", "metadata-of-a-large-server"},
	}
}

func olderKeycloak() Flavour {
	older := keycloak()
	older.Name, older.Provider = "keycloak-16", "/auth"
	older.Why = "Keycloak before version 17: the same below /auth/realms."
	return older
}

func spring() Flavour {
	return Flavour{
		Name: "spring", Warns: []string{"BRR-05"}, Grants: address.AtPlain, Tokens: auth.Opaque,
		Why:    "Spring Security: opaque tokens of type bearer in lower case, a bare Bearer for anonymous calls, and refusals without a body.",
		Habits: []string{"token-type-in-lower-case", "token-cache-control-of-spring", "refusals-of-spring"},
	}
}

func flask() Flavour {
	return Flavour{
		Name: "flask", Grants: address.AtPlain, Tokens: auth.EdDSA, Errors: problem.ShapeText,
		Why:    "A service of a university's own in Flask: EdDSA tokens, errors as one text, redirects for the other slash, and URL templates in its info.",
		Habits: []string{"other-slash-redirected", "info-with-templates"},
	}
}

// keycloakClaims are what Keycloak puts into the token of a service account, with the API as audience beside its own.
func keycloakClaims(claims map[string]any) {
	claims["aud"] = append(listed(claims["aud"]), "account")
	claims["azp"], claims["typ"], claims["acr"], claims["scope"] = claims["client_id"], "Bearer", "1", "email profile"
	claims["realm_access"] = map[string]any{"roles": []any{"offline_access", "default-roles-ris", "uma_authorization"}}
	claims["resource_access"] = map[string]any{"account": map[string]any{"roles": []any{"view-profile"}}}
	claims["clientHost"], claims["clientAddress"], claims["email_verified"] = "192.0.2.7", "192.0.2.7", false
	if id, ok := claims["client_id"].(string); ok {
		claims["preferred_username"] = "service-account-" + id
	}
}

// listed is an audience as a list: a single one is a text (RFC 7519 §4.1.3).
func listed(audience any) []any {
	if list, is := audience.([]any); is {
		return list
	}
	return []any{audience}
}
