package deviation

import (
	"bytes"
	"maps"
	"net/http"
	"strings"

	"github.com/rin-network/rin/sandbox/registry"
)

// registryDeviations break the node's registry entry. What the entry says of URLs matters to a run that was given them besides.
func registryDeviations() []Deviation {
	return []Deviation{
		{
			Name: "registry-info-missing", Breaks: []string{"REG-01"},
			Why:  "The registry entry has a token URL and no info URL.",
			Wrap: entered(func(entry map[string]any, _ Env) { delete(entry, "info") }),
		},
		{
			Name: "registry-token-url-in-object", Breaks: []string{"REG-01"},
			Why:  "The registry entry holds the token URL inside an object, beside the realm.",
			Wrap: entered(func(entry map[string]any, _ Env) { entry["oauth2"] = map[string]any{"url": entry["oauth2"]} }),
		},
		{
			Name: "registry-url-in-cleartext", Breaks: []string{"REG-02"},
			Why:  "The registry entry records the token URL with http, as it was before the node had a certificate.",
			Wrap: entered(recorded("oauth2", func(u string) string { return strings.Replace(u, "https://", "http://", 1) })),
		},
		{
			Name: "registry-url-with-fragment", Breaks: []string{"REG-02"},
			Why:  "The recorded info URL was copied from a browser, with a fragment.",
			Wrap: entered(recorded("info", func(u string) string { return u + "#/authorization" })),
		},
		{
			Name: "registry-url-with-password", Breaks: []string{"REG-02"},
			Why:  "The recorded token URL holds a user name and a password for the staging area.",
			Wrap: entered(recorded("oauth2", func(u string) string { return strings.Replace(u, "://", "://guest:guest@", 1) })),
		},
		{
			Name: "registry-info-dead", Breaks: []string{"REG-03"},
			Why:  "The recorded info URL differs from the real one by a segment and answers 404.",
			Wrap: entered(recorded("info", func(u string) string { return strings.Replace(u, "/info/v1/", "/info/v2/", 1) })),
		},
		{
			Name: "registry-token-endpoint-dead", Breaks: []string{"REG-03"},
			Why:  "The recorded token URL is that of an earlier identity provider and answers 404.",
			Wrap: entered(recorded("oauth2", func(u string) string { return strings.Replace(u, "/oauth/token", "/auth/oauth/token", 1) })),
		},
		{
			Name: "registry-contact-unknown", Breaks: []string{"REG-04"},
			Why:  "The contact of the registry entry is n/a.",
			Wrap: entered(noted("contact", "n/a")),
		},
		{
			Name: "registry-acronym-empty", Breaks: []string{"REG-04"},
			Why:  "The registry entry has an acronym of blanks.",
			Wrap: entered(noted("acronym", "  ")),
		},
		{
			Name: "registry-entry-twice", Breaks: []string{"REG-05"},
			Why: "The registry holds two entries with the node's id and different token URLs.",
			Wrap: documents(func(document map[string]any, env Env) {
				for _, entry := range objects(document, "member") {
					if entry["id"] == registry.NodeID {
						twin := maps.Clone(entry)
						recorded("oauth2", func(u string) string { return strings.Replace(u, env.Places.Token(), env.Places.RealmToken(), 1) })(twin, env)
						document["member"] = append(document["member"].([]any), twin)
						return
					}
				}
			}, Registry),
		},
		{
			Name: "registry-url-with-blank", Breaks: []string{"REG-05"},
			Why:  "The recorded info URL ends with a line feed that was copied with it.",
			Wrap: entered(recorded("info", func(u string) string { return u + "\n" })),
		},
		{
			Name: "registry-member-twice", Breaks: []string{"REG-05"},
			Why: "The registry entry holds the member contact twice, from two people who edited the file.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
				a.Body = bytes.Replace(a.Body, []byte(`"contact":`), []byte(`"contact":"old@must.example","contact":`), 1)
			}), Registry),
		},
		{
			Name: "registry-secret-member", Breaks: []string{"REG-06"},
			Why:  "The registry entry has a client secret for trying the node.",
			Wrap: entered(noted("client_secret", "demo")),
		},
		{
			Name: "registry-secret-in-remark", Breaks: []string{"REG-06", "SEC-04"},
			Why: "A remark in the registry entry tells the secret of a client.",
			Wrap: entered(func(entry map[string]any, env Env) {
				if client, ok := env.exposed(); ok {
					entry["remark"] = "until June use " + client.Secret
				}
			}),
		},
		{
			Name: "registry-client-id", Breaks: []string{"REG-06"},
			Why: "The registry entry tells the client id of a consumer.",
			Wrap: entered(func(entry map[string]any, env Env) {
				if client, ok := env.first(); ok {
					entry["consumer"] = client.ID
				}
			}),
		},
	}
}

// entered makes a Wrap that edits the node's entry.
func entered(edit func(entry map[string]any, env Env)) wrap {
	return documents(func(document map[string]any, env Env) {
		for _, entry := range objects(document, "member") {
			if entry["id"] == registry.NodeID {
				edit(entry, env)
			}
		}
	}, Registry)
}

// recorded edits one URL of an entry.
func recorded(name string, edit func(url string) string) func(map[string]any, Env) {
	return func(entry map[string]any, _ Env) {
		if url, ok := entry[name].(string); ok {
			entry[name] = edit(url)
		}
	}
}

// noted sets a member of an entry.
func noted(name, value string) func(map[string]any, Env) {
	return func(entry map[string]any, _ Env) { entry[name] = value }
}
