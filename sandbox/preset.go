package sandbox

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
)

// Preset makes a node resemble a well-known product; users choose it with --flavour. With the zero value the node resembles no product, and the
// registry lists it under both its token endpoints.
type Preset struct {
	// Name is the value of --flavour.
	Name string
	// Why says in one sentence which product such nodes resemble, and what differs for clients.
	Why string
	// Grants selects the token endpoints: /oauth/token, the identity provider's realm, or both (NET-R10).
	Grants address.Grants
	// Provider is the path of the identity provider, as in address.Map.
	Provider string
	// Tokens is the format of access tokens, unless the node's configuration has another.
	Tokens auth.Format
	// Dialect describes how the product writes JWTs.
	Dialect auth.Dialect
	// Errors is the shape of the API's errors, unless the node's configuration has another.
	Errors content.ErrorShape
	// Warns lists the ids of the requirements for which such a node gets a warning. It meets all others.
	Warns []string
	// Habits lists the names of the benign deviations that such a node always has, the outermost first.
	Habits []string
}

// Presets lists the presets in the order in which the nodes of a network take them.
func Presets() []Preset {
	keycloak := Preset{
		Name: "keycloak", Warns: []string{"JWT-07", "TER-02"}, Grants: address.AtRealm, Tokens: auth.RS256, Dialect: auth.Dialect{Type: "JWT", EditClaims: addKeycloakClaims},
		Why:    "Keycloak with an audience mapper: tokens from its realm, RS256, its token members and claims, unauthorized_client for a wrong secret.",
		Habits: []string{"token-with-members-of-keycloak", "token-errors-of-keycloak", "metadata-of-a-large-server"},
	}
	olderKeycloak := keycloak
	olderKeycloak.Name, olderKeycloak.Provider = "keycloak-16", "/auth"
	olderKeycloak.Why = "Keycloak before version 17: the same below /auth/realms."
	return []Preset{
		{
			Name: "plain", Grants: address.AtPlain,
			Why: "A node as the interface document describes it: tokens from /oauth/token, and what the RFCs say.",
		},
		keycloak,
		{
			Name: "spring", Warns: []string{"BRR-05"}, Grants: address.AtPlain, Tokens: auth.Opaque,
			Why:    "Spring Security: opaque tokens of type bearer in lower case, a bare Bearer for anonymous calls, and refusals without a body.",
			Habits: []string{"token-type-in-lower-case", "token-cache-control-of-spring", "refusals-of-spring"},
		},
		{
			Name: "flask", Grants: address.AtPlain, Tokens: auth.EdDSA, Errors: content.ShapeText,
			Why:    "A university's own service in Flask: EdDSA tokens, errors as one text, redirects for the other slash, and URL templates in its info.",
			Habits: []string{"other-slash-redirected", "info-with-templates"},
		},
		olderKeycloak,
	}
}

// PresetNames lists the names of the presets.
func PresetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// FindPreset returns the preset with the name. Its error lists the known names.
func FindPreset(name string) (Preset, error) {
	for _, p := range Presets() {
		if p.Name == name {
			return p, nil
		}
	}
	return Preset{}, fmt.Errorf("flavour %q is unknown: want one of %s", name, strings.Join(PresetNames(), ", "))
}

// addKeycloakClaims adds the claims that Keycloak puts into the token of a service account, and its own audience, account.
func addKeycloakClaims(claims map[string]any) {
	claims["aud"] = append(audienceList(claims["aud"]), "account")
	claims["azp"], claims["typ"], claims["acr"], claims["scope"] = claims["client_id"], "Bearer", "1", "email profile"
	claims["realm_access"] = map[string]any{"roles": []any{"offline_access", "default-roles-ris", "uma_authorization"}}
	claims["resource_access"] = map[string]any{"account": map[string]any{"roles": []any{"view-profile"}}}
	claims["clientHost"], claims["clientAddress"], claims["email_verified"] = "192.0.2.7", "192.0.2.7", false
	if id, ok := claims["client_id"].(string); ok {
		claims["preferred_username"] = "service-account-" + id
	}
}

// audienceList returns an audience as a list; a single audience may be a string (RFC 7519 §4.1.3).
func audienceList(audience any) []any {
	if list, isList := audience.([]any); isList {
		return list
	}
	return []any{audience}
}
