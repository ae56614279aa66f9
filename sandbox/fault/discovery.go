package fault

import (
	"bytes"
	"maps"
	"net/http"
	"strings"

	"github.com/rin-network/rin/sandbox/funding"
)

// infoDeviations break the info resource. The sandbox's document describes it as an operation, so that answers of another shape
// break rows of API as well.
func infoDeviations() []Deviation {
	return []Deviation{
		{
			Name: "info-parses-empty-body", Breaks: []string{"INF-01"},
			Why:  "A Content-Type on a GET without a body is answered 400, as Flask with request.json and Spring with a required @RequestBody do.",
			Wrap: rewrite(whenTyped(http.StatusBadRequest), Info),
		},
		{
			Name: "info-media-type-refused", Breaks: []string{"INF-01"},
			Why:  "A Content-Type on a GET is answered 415, because the route consumes nothing.",
			Wrap: rewrite(whenTyped(http.StatusUnsupportedMediaType), Info),
		},
		{
			Name: "info-page", Breaks: []string{"INF-02", "API-02", "API-03"},
			Why: "The info resource answers with a web page, the home page of the application.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusOK, "text/html", page)
			}), Info),
		},
		{
			Name: "info-byte-order-mark", Breaks: []string{"INF-02", "API-03"},
			Why: "The info answer begins with a byte order mark, as files that were saved on Windows do.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				a.Body = append([]byte("\uFEFF"), a.Body...)
			}), Info),
		},
		{
			Name: "info-flat-list", Breaks: []string{"INF-03", "API-05"},
			Why: "The endpoints are one list, not grouped by family.",
			Wrap: infos(func(info map[string]any, env Env) {
				info["endpoints"] = member(info, "endpoints")["funding"]
			}),
		},
		{
			Name: "info-greeting", Breaks: []string{"INF-03", "API-04"},
			Why: "The info answer is a greeting, as in the first lesson of a framework.",
			Wrap: infos(func(info map[string]any, env Env) {
				clear(info)
				info["message"] = "Hello, world"
			}),
		},
		{
			Name: "info-name-missing", Breaks: []string{"INF-03", "API-04"},
			Why:  "One listed endpoint has no name, so that clients that look it up do not find it.",
			Wrap: infos(listedFirst(drop("name"))),
		},
		{
			Name: "info-redirects-elsewhere", Breaks: []string{"INF-01", "INF-04", "API-01"},
			Why: "The info URL is redirected to another host name, where clients do not send the token.",
			Wrap: around(func(_ http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://www.node.invalid"+env.Places.Info(), http.StatusMovedPermanently)
			}, Info),
		},
		{
			Name: "info-redirects-to-other-slash", Breaks: []string{"INF-04"},
			Why: "The info URL with a slash at its end is redirected to the one without, as web frameworks do.",
			Wrap: around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				without := strings.TrimSuffix(r.URL.Path, "/")
				if without == r.URL.Path || r.Method == http.MethodPost {
					next.ServeHTTP(w, r)
					return
				}
				if r.URL.RawQuery != "" {
					without += "?" + r.URL.RawQuery
				}
				http.Redirect(w, r, without, http.StatusPermanentRedirect)
			}, Info),
		},
		{
			Name: "info-lists-dead-url", Breaks: []string{"INF-05"},
			Why: "The info resource lists an API that is not served any more.",
			Wrap: infos(func(info map[string]any, env Env) {
				origin := strings.TrimSuffix(firstURL(info), env.Places.Fundings())
				member(info, "endpoints")["project"] = []any{map[string]any{
					"name": "PROJECTS", "majorVersion": 1, "minorVersion": 0, "url": origin + env.Places.API() + "/project/v1/projects",
				}}
			}),
		},
		{
			Name: "info-lists-relative-url", Breaks: []string{"INF-05"},
			Why: "The info resource lists a path in place of a URL.",
			Wrap: infos(func(info map[string]any, env Env) {
				listedFirst(put("url", env.Places.Fundings()))(info, env)
			}),
		},
		{
			Name: "info-lists-url-with-query", Breaks: []string{"INF-05"},
			Why: "A listed URL has a query already, and clients append theirs with another question mark.",
			Wrap: infos(func(info map[string]any, env Env) {
				listedFirst(put("url", firstURL(info)+"?format=json"))(info, env)
			}),
		},
		{
			Name: "info-version-disagrees", Breaks: []string{"INF-06"},
			Why:  "The listed majorVersion is that of the release before, the path is new.",
			Wrap: infos(listedFirst(put("majorVersion", 2))),
		},
		{
			Name: "info-post-without-allow", Breaks: []string{"INF-07"},
			Why:  "A POST is answered 405 without saying what is allowed.",
			Wrap: rewrite(when(notAllowed, field("Allow", "")), Info),
		},
		{
			Name: "info-post-accepted", Breaks: []string{"INF-07"},
			Why: "A POST is answered like a GET: the route was registered for all methods.",
			Wrap: readmit(func(r *http.Request, _ Env) *http.Request {
				if r.Method != http.MethodPost {
					return r
				}
				other := r.Clone(r.Context())
				other.Method = http.MethodGet
				return other
			}, Info),
		},
	}
}

// whenTyped turns the good answer to a GET with a Content-Type into an error.
func whenTyped(code int) change {
	return when(func(r *http.Request, a *editableAnswer) bool {
		return a.ok() && r.Method == http.MethodGet && r.Header.Get("Content-Type") != ""
	}, func(_ *http.Request, a *editableAnswer) {
		a.become(code, "application/json", `{"error":"empty JSON body"}`)
	})
}

func notAllowed(_ *http.Request, a *editableAnswer) bool {
	return a.Status == http.StatusMethodNotAllowed
}

// infos makes a Wrap that edits good answers of the info resource.
func infos(edit func(info map[string]any, env Env)) wrap {
	return documents(edit, Info)
}

// documents makes a Wrap that edits good answers that are a JSON object.
func documents(edit func(document map[string]any, env Env), kinds ...Kind) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return rewrite(when(succeeded, object(func(document map[string]any) { edit(document, env) })), kinds...)(next, env)
	}
}

// listedFirst edits the first endpoint of the funding family.
func listedFirst(edit func(endpoint map[string]any)) func(map[string]any, Env) {
	return func(info map[string]any, _ Env) {
		if listed := objects(member(info, "endpoints"), "funding"); len(listed) > 0 {
			edit(listed[0])
		}
	}
}

// firstURL is the URL of the first endpoint of the funding family.
func firstURL(info map[string]any) (found string) {
	listedFirst(func(endpoint map[string]any) { found, _ = endpoint["url"].(string) })(info, Env{})
	return found
}

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
					if entry["id"] == funding.NodeID {
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
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
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
			if entry["id"] == funding.NodeID {
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
