package requirement

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
)

// This file judges who issued a token, for whom, and that it has no secret in it.

// judgeIssuerAndClient judges the claims that name the issuer and the client of the first token.
func judgeIssuerAndClient(e Evidence) Judgement {
	x, t, j, ok := jwtOf(e)
	if !ok {
		return j
	}
	var missing []string
	for _, claims := range [][]string{{"iss"}, {"client_id", "azp"}} {
		if !slices.ContainsFunc(claims, func(name string) bool { text, _ := t.Claims[name].(string); return text != "" }) {
			missing = append(missing, strings.Join(claims, " or "))
		}
	}
	if len(missing) > 1 {
		return expect(x, "iss, and client_id or azp").warned("the token does not name its issuer or its client: the claims "+strings.Join(missing, ", and ")+" are missing", "no "+strings.Join(missing, ", no ")).
			Hinting(addClaims(missing...))
	}
	return gather(judgeIssuer(e, x, t), judgeClient(e, x, t))
}

// judgeIssuer judges the claim iss.
func judgeIssuer(e Evidence, x evidence.Exchange, t evidence.JWTFacts) Judgement {
	iss, _ := t.Claims["iss"].(string)
	got, expected := "iss "+quote(iss), "iss: the https URL of the authorization server at "+clip(e.Run.TokenURL)
	m, _, published := metadataOf(e)
	hasMetadata := published && m.issuer == iss && sameURL(m.tokenEndpoint, e.Run.TokenURL)
	switch {
	case iss == "":
		return expect(x, expected).warned("the token does not name its issuer: the claim iss is missing", "no iss").Hinting(addClaims("iss"))
	case evidence.OriginOf(iss) == "":
		return expect(x, expected).warned("iss is not a URL, so the issuer's metadata and keys cannot be found by it", got)
	case evidence.OriginOf(iss) != evidence.OriginOf(e.Run.TokenURL) && !hasMetadata:
		return expect(x, expected).warned("iss is on another host than the token endpoint, and no metadata ties them together", got)
	case !strings.HasPrefix(strings.ToLower(iss), "https://") && !e.Run.Loopback:
		return expect(x, expected).warned("iss is an http URL", got)
	}
	return Passed(x.Label)
}

// addClaims returns the fix for missing claims.
func addClaims(names ...string) string {
	return "add " + strings.Join(names, ", and ") + " to the access token: Keycloak sends them with the client scopes basic and service_account; " +
		"in Spring Authorization Server add them by an OAuth2TokenCustomizer"
}

// judgeClient judges the claims client_id and azp.
func judgeClient(e Evidence, x evidence.Exchange, t evidence.JWTFacts) Judgement {
	id, _ := t.Claims["client_id"].(string)
	party, _ := t.Claims["azp"].(string)
	want := expect(x, "client_id or azp: the client id")
	switch {
	case id == e.Run.ClientID || party == e.Run.ClientID:
		return Passed()
	case id == "" && party == "":
		return want.warned("the token does not name the client it was issued to: the claim client_id (or azp) is missing", "neither client_id nor azp").
			Hinting(addClaims("client_id or azp"))
	}
	got := "client_id " + quote(id) + ", azp " + quote(party)
	return want.warned("the token names another client than the one that requested it", clip(got))
}

// judgeOtherClients finds a token of one client that names another client of the run: the resource server takes one client for the other.
func judgeOtherClients(e Evidence) Judgement {
	ids := otherClientIDs(e)
	ids[evidence.TokenEndpoint] = e.Run.ClientID
	for _, x := range e.sweep().tokens {
		own := ids[x.Label.Resource()]
		if own == "" || isTokenOf(x, own) || x.Label == twoClients() {
			continue
		}
		for _, r := range slices.Sorted(maps.Keys(ids)) {
			if other := ids[r]; other != own && isTokenOf(x, other) {
				return expect(x, "client_id or azp: "+quote(own)).failed("the token of one client names another one, which requested its own tokens", quote(other)).
					Hinting("take the client of a token from its own token request, and cache no token or claim for all clients")
			}
		}
	}
	return Judgement{Outcome: Pass}
}

// judgeAudience judges whether aud restricts the token to an API.
func judgeAudience(x evidence.Exchange, t evidence.JWTFacts) Judgement {
	want := expect(x, "aud: the API that the token is meant for")
	names := audiences(t)
	switch {
	case len(names) == 0:
		return want.warned("the token is not restricted to an audience", "no aud").Habit(keycloak)
	case slices.Contains(names, "*"):
		return want.warned("aud names any audience, which does not restrict the token", "aud \"*\"")
	case len(names) == 1 && names[0] == "account":
		return want.warned("aud names only Keycloak's own account service, which does not restrict the token", "aud \"account\"").Habit(keycloak).
			Hinting("add an Audience mapper for the API to a client scope of the client")
	}
	return Passed(x.Label)
}

// audiences returns the claim aud, which is one text or a list (RFC 7519 §4.1.3).
func audiences(t evidence.JWTFacts) []string {
	switch aud := t.Claims["aud"].(type) {
	case string:
		if aud != "" {
			return []string{aud}
		}
	case []any:
		var out []string
		for _, a := range aud {
			if s, isText := a.(string); isText && s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// judgeSecretsInTokens is the check of JWT-06.
func judgeSecretsInTokens(e Evidence) Judgement {
	first, t, j, ok := jwtOf(e)
	if !ok {
		return j
	}
	found := []Judgement{Passed(first.Label)}
	for _, x := range e.sweep().tokens {
		facts, known := tokenFacts(x)
		if !known || facts.JWT == nil {
			continue
		}
		for _, part := range []struct { // of the token
			name   string
			values map[string]any
		}{{"header", facts.JWT.Header}, {"claim", facts.JWT.Claims}} {
			found = append(found, findSecrets(x, part.name, part.values)...)
		}
	}
	out := gather(found...)
	for _, name := range []string{"clientHost", "clientAddress"} {
		if _, has := t.Claims[name]; has {
			out = out.Noting("the claim " + name + " reveals the address of the caller, as Keycloak does by default")
		}
	}
	return out
}

// findSecrets searches decoded members for secrets. The recorded facts have a marker in place of each secret, in whatever form the token held it.
func findSecrets(x evidence.Exchange, part string, members map[string]any) []Judgement {
	want := expect(x, "no secret: everybody who sees a JWT can read it")
	var out []Judgement
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case string:
			if name := markedSecret(v); name != "" {
				got := "the " + name + " in " + part + " " + quote(path)
				out = append(out, want.failed("the token contains a client's secret", got))
			}
		case []any:
			for _, each := range v {
				walk(path, each)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				inner := strings.TrimPrefix(path+"."+name, ".")
				if markedSecret(name) != "" {
					out = append(out, want.failed("the token contains a client's secret", "a secret as a name in the "+part))
				}
				if text, isText := v[name].(string); isText && text != "" && markedSecret(text) == "" && secretName().MatchString(name) {
					got := part + " " + quote(inner)
					out = append(out, want.failed("the token contains something that is named like a secret", got))
				}
				walk(inner, v[name])
			}
		case json.Number, bool, nil:
		}
	}
	walk("", members)
	return out
}

// secretName matches names of members that are named like a secret.
func secretName() *regexp.Regexp { return regexp.MustCompile(`(?i)secret|passw(or)?d`) }

// markedSecret returns the name of a client's secret whose marker is in a text, or "". It ignores the markers of tokens and cookies.
func markedSecret(text string) string {
	for _, name := range redact.Names(text) {
		if strings.Contains(name, "secret") {
			return name
		}
	}
	return ""
}
