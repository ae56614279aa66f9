package sandbox_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/fault"
)

// presetNode serves a node with a preset.
func presetNode(name string) runningNode {
	GinkgoHelper()
	preset, err := sandbox.FindPreset(name)
	Expect(err).NotTo(HaveOccurred())
	return newNode(sandbox.Config{Preset: preset})
}

func tokenForm(id, secret string) string {
	return url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}.Encode()
}

var _ = Describe("A node with a preset", func() {
	It("is listed once, under the token endpoint that it has", func() {
		for name, path := range map[string]string{"plain": "/oauth/token", "keycloak": realmToken, "keycloak-16": "/auth" + realmToken} {
			node := presetNode(name)
			var got struct{ Member []map[string]string }
			Expect(json.Unmarshal([]byte(get(node, "/registry/registry.json", nil).body), &got)).To(Succeed())
			Expect(got.Member).To(ConsistOf(SatisfyAll(HaveKeyWithValue("id", "XA"), HaveKeyWithValue("oauth2", node.URL+path))), name)
			Expect(node.Addresses(node.URL).ListedToken).To(Equal(node.URL + path))
		}
	})

	It("grants tokens only there, and names the endpoint in its refusals", func() {
		for name, elsewhere := range map[string][]string{
			"plain": {realmToken, "/auth" + realmToken}, "keycloak": {stagingToken, "/auth" + realmToken}, "keycloak-16": {stagingToken, realmToken},
		} {
			node := presetNode(name)
			listed := strings.TrimPrefix(node.Addresses(node.URL).ListedToken, node.URL)
			for _, path := range elsewhere {
				client := node.Credentials()[0]
				got := postForm(node, path, tokenForm(client.ClientID, client.Secret), nil)
				Expect(got.status).To(Equal(404), name+" "+path)
				Expect(got.body).To(ContainSubstring(listed), name+" "+path)
			}
			document := get(node, "/ris-synergy/funding/v3/api-docs", nil).body
			Expect(strings.Count(document, "/token\"")).To(Equal(1), name)
			Expect(document).To(ContainSubstring(node.URL + listed + "\""))
			metadata := strings.TrimSuffix(strings.TrimSuffix(listed, "/oauth/token"), "/protocol/openid-connect/token")
			Expect(get(node, "/.well-known/oauth-authorization-server"+metadata, nil).body).To(ContainSubstring(`"issuer":"` + node.URL + metadata + `"`))
			Expect(get(node, infoPath, nil).body).To(ContainSubstring(listed))
		}
	})

	It("describes the security schemes that its operations name", func() {
		for _, name := range append(sandbox.PresetNames(), "") {
			node := newNode(sandbox.Config{})
			if name != "" {
				node = presetNode(name)
			}
			var document struct {
				Security   []map[string]any
				Components struct{ SecuritySchemes map[string]any }
			}
			decode(get(node, "/ris-synergy/funding/v3/api-docs", nil), &document)
			var named []string
			for _, alternative := range document.Security {
				named = append(named, slices.Collect(maps.Keys(alternative))...)
			}
			Expect(named).To(ConsistOf(slices.Collect(maps.Keys(document.Components.SecuritySchemes))), name)
		}
	})

	It("accepts its own tokens with each preset, and has the same habits after a reset", func() {
		for _, preset := range sandbox.Presets() {
			node := presetNode(preset.Name)
			token := fetchToken(node, node.Addresses(node.URL).ListedToken, node.Credentials()[0])
			for _, path := range []string{infoPath, fundingsPath} {
				Expect(get(node, path, bearer(token)).status).To(Equal(200), preset.Name)
			}
			Expect(get(node, infoPath, bearer(token+"x")).status).To(Equal(401), preset.Name)
			Expect(node.Deviations()).To(BeEmpty(), "habits do not count as deviations")
			node.Reset()
			Expect(get(node, infoPath, nil).body).To(Equal(get(presetNode(preset.Name), infoPath, nil).body), preset.Name)
		}
	})

	It("writes tokens, errors and keys as Keycloak does", func() {
		node := presetNode("keycloak")
		client := node.Credentials()[0]
		var answer map[string]any
		Expect(json.Unmarshal([]byte(postForm(node, realmToken, tokenForm(client.ClientID, client.Secret), nil).body), &answer)).To(Succeed())
		Expect(answer).To(SatisfyAll(HaveKeyWithValue("refresh_expires_in", 0.0), HaveKeyWithValue("not-before-policy", 0.0), HaveKeyWithValue("scope", "email profile")))
		header, claims := decodeJWT(answer["access_token"].(string))
		Expect(header).To(SatisfyAll(HaveKeyWithValue("typ", "JWT"), HaveKeyWithValue("alg", "RS256")))
		Expect(claims).To(SatisfyAll(HaveKeyWithValue("azp", client.ClientID), HaveKeyWithValue("typ", "Bearer"),
			HaveKeyWithValue("aud", ConsistOf(node.URL+"/ris-synergy", "account")), HaveKeyWithValue("iss", node.URL+"/realms/ris"),
			HaveKeyWithValue("preferred_username", "service-account-demo-client")))
		Expect(postForm(node, realmToken, tokenForm(client.ClientID, "wrong"), nil).body).To(ContainSubstring("unauthorized_client"))
		Expect(postForm(node, realmToken, tokenForm("nobody", "wrong"), nil).body).To(ContainSubstring("invalid_client"))
	})

	It("makes tokens of another time in its own dialect", func() {
		node := presetNode("keycloak")
		token, err := node.TokenAt(time.Now().Add(-time.Hour), node.URL, "demo-client")
		Expect(err).NotTo(HaveOccurred())
		Expect(get(node, infoPath, bearer(token)).body).To(ContainSubstring("expired"))
	})

	It("changes only refusals: other answers keep their entity tags", func() {
		node := presetNode("spring")
		token := fetchToken(node, stagingToken, node.Credentials()[0])
		header := bearer(token).Clone()
		tag := get(node, infoPath, header).header.Get("ETag")
		Expect(tag).NotTo(BeEmpty())
		header["If-None-Match"] = []string{tag}
		Expect(get(node, infoPath, header).status).To(Equal(304))
		refused := get(node, infoPath, nil)
		Expect(refused.header.Get("WWW-Authenticate")).To(Equal("Bearer"))
		Expect(refused.body).To(BeEmpty())
	})
})

var _ = Describe("the presets", func() {
	It("have only benign habits, and list all warnings of those habits", func() {
		benign := map[string]fault.Deviation{}
		for _, d := range fault.Habits() {
			benign[d.Name] = d
		}
		for _, f := range sandbox.Presets() {
			Expect(f.Why).NotTo(BeEmpty(), f.Name)
			for _, name := range f.Habits {
				Expect(benign).To(HaveKey(name), f.Name)
				for _, id := range benign[name].Warns {
					Expect(f.Warns).To(ContainElement(id), f.Name)
				}
			}
		}
	})

	It("are found by their names; the error for another name lists them", func() {
		for _, name := range sandbox.PresetNames() {
			Expect(sandbox.FindPreset(name)).To(HaveField("Name", name))
		}
		_, err := sandbox.FindPreset("keycloack")
		Expect(err).To(MatchError(ContainSubstring("plain, keycloak, spring")))
	})

	It("have the token endpoint of their product", func() {
		for name, want := range map[string]string{
			"plain": "/xb/oauth/token", "keycloak": "/xb/realms/r/protocol/openid-connect/token",
			"keycloak-16": "/xb/auth/realms/r/protocol/openid-connect/token", "spring": "/xb/oauth/token",
		} {
			f, err := sandbox.FindPreset(name)
			Expect(err).NotTo(HaveOccurred())
			places := address.Map{Root: "/xb", Grants: f.Grants, Provider: f.Provider, Prefix: "p", Realm: "r"}
			Expect(places.Endpoints()).To(HaveExactElements(HaveField("Token", want)))
		}
	})
})
