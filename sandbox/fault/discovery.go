package fault

import (
	"bytes"
	"maps"
	"net/http"
	"strings"

	"github.com/rin-network/rin/sandbox/funding"
)

// infoDeviations break the info resource. An answer of another shape also breaks requirements of the group API, because the document describes info as an
// operation.
func infoDeviations() []Deviation {
	return []Deviation{
		{Name: "info-parses-empty-body", Breaks: []string{"INF-01"},
			Why:  "A Content-Type on a GET without a body is answered 400, as by Flask with request.json and Spring with a required @RequestBody.",
			Wrap: refuseTypedGet(http.StatusBadRequest)},
		{Name: "info-media-type-refused", Breaks: []string{"INF-01"},
			Why:  "A Content-Type on a GET is answered 415, because the route accepts no body.",
			Wrap: refuseTypedGet(http.StatusUnsupportedMediaType)},
		{Name: "info-page", Breaks: []string{"INF-02", "API-02", "API-03"}, May: []string{"BRR-15"},
			Why:  "The info resource answers with a web page, the home page of the application.",
			Wrap: rewriteSuccess(become(http.StatusOK, "text/html", loginPage), Info)},
		{Name: "info-byte-order-mark", Breaks: []string{"INF-02", "API-03"},
			Why:  "The info answer begins with a byte order mark, like files that were saved on Windows.",
			Wrap: rewriteSuccess(prepend("\uFEFF"), Info)},
		{Name: "info-member-twice-for-later-clients", Breaks: []string{"INF-02", "API-03"},
			Why: "Info has endpoints twice for every client but the first: the part for later clients is appended to the text that was written already.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				later := func(r *http.Request) bool {
					token, ok := parseJWT(bearer(r))
					return ok && !isFirst(text(token.claims["client_id"]), env)
				}
				return rewriteSuccess(whenRequest(later, replaceText(`"endpoints":`, `"endpoints":{},"endpoints":`)), Info)(next, env)
			}},
		{Name: "info-flat-list", Breaks: []string{"INF-03", "API-05"},
			Why:  "The endpoints are one list, not grouped by family.",
			Wrap: editInfo(func(info map[string]any, _ Env) { info["endpoints"] = member(info, "endpoints")["funding"] })},
		{Name: "info-greeting", Breaks: []string{"INF-03", "API-04"},
			Why: "The info answer is a greeting, as in the first lesson of a framework.",
			Wrap: editInfo(func(info map[string]any, _ Env) {
				clear(info)
				info["message"] = "Hello, world"
			})},
		{Name: "info-name-missing", Breaks: []string{"INF-03", "API-04"},
			Why:  "One listed endpoint has no name, so clients cannot look it up.",
			Wrap: editEndpoint(func(endpoint map[string]any, _ Env) { delete(endpoint, "name") })},
		{Name: "info-redirects-elsewhere", Breaks: []string{"INF-01", "INF-04"},
			Why: "The info URL is redirected to another host name, to which clients do not send the token.",
			Wrap: intercept(func(_ http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://www.node.invalid"+env.Places.Info(), http.StatusMovedPermanently)
			}, Info)},
		{Name: "info-redirects-to-other-slash", Breaks: []string{"INF-04"},
			Why: "The info URL with a trailing slash is redirected to the one without, as by web frameworks.",
			Wrap: intercept(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				to := *r.URL
				to.Path, to.RawPath = strings.TrimSuffix(r.URL.Path, "/"), ""
				if to.Path == r.URL.Path || r.Method == http.MethodPost {
					next.ServeHTTP(w, r)
					return
				}
				http.Redirect(w, r, to.RequestURI(), http.StatusPermanentRedirect)
			}, Info)},
		{Name: "info-lists-dead-url", Breaks: []string{"INF-05"},
			Why: "The info resource lists an API that is no longer served.",
			Wrap: editInfo(func(info map[string]any, env Env) {
				origin := strings.TrimSuffix(endpointURL(info), env.Places.Fundings())
				member(info, "endpoints")["project"] = []any{map[string]any{
					"name": "PROJECTS", "majorVersion": 1, "minorVersion": 0, "url": origin + env.Places.API() + "/project/v1/projects",
				}}
			})},
		{Name: "info-lists-nothing", Breaks: []string{"INF-05"}, Opens: []string{"INF-05"},
			Why:  "The info resource lists no endpoints: the configuration of the new release is empty.",
			Wrap: editInfo(func(info map[string]any, _ Env) { info["endpoints"] = map[string]any{} })},
		{Name: "info-lists-relative-url", Breaks: []string{"INF-05"},
			Why:  "The info resource lists a path instead of a URL.",
			Wrap: editEndpoint(func(endpoint map[string]any, env Env) { endpoint["url"] = env.Places.Fundings() })},
		{Name: "info-lists-url-with-query", Breaks: []string{"INF-05"},
			Why:  "A listed URL already has a query, and clients append theirs with another question mark.",
			Wrap: editEndpoint(func(endpoint map[string]any, _ Env) { endpoint["url"] = text(endpoint["url"]) + "?format=json" })},
		{Name: "info-version-disagrees", Breaks: []string{"INF-06"},
			Why:  "The listed majorVersion is that of the previous release, and the path is new.",
			Wrap: editEndpoint(func(endpoint map[string]any, _ Env) { endpoint["majorVersion"] = 2 })},
		{Name: "info-post-without-allow", Breaks: []string{"INF-07"},
			Why:  "A POST is answered 405 without the Allow header.",
			Wrap: rewrite(when(isMethodNotAllowed, setHeader("Allow", "")), Info)},
		{Name: "detail-405-without-allow", Breaks: []string{"INF-07"},
			Why:  "The detail refuses other methods in code of its own, which sets no Allow header.",
			Wrap: rewrite(when(isMethodNotAllowed, setHeader("Allow", "")), Detail)},
		{Name: "detail-writable", Breaks: []string{"INF-07"},
			Why: "The document says that the API is read only, and the detail is served by a view set that also changes and deletes records, as Allow shows.",
			Wrap: both(
				editDocument(func(d apiDocument) {
					info := d.at("info")
					info["description"] = text(info["description"]) + " The API is read only."
				}),
				rewrite(setHeader("Allow", "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"), Detail))},
		{Name: "info-post-accepted", Breaks: []string{"INF-07"},
			Why: "A POST is answered like a GET: the route was registered for all methods.",
			Wrap: replaceRequest(func(r *http.Request, _ Env) *http.Request {
				if r.Method != http.MethodPost {
					return r
				}
				return withMethod(r, http.MethodGet)
			}, Info)},
		{Name: "info-lists-internal-host", Breaks: []string{"INF-05"},
			Why: "The listed URL names the host inside the cluster: it was taken from the request behind the gateway.",
			Wrap: editEndpoint(func(endpoint map[string]any, _ Env) {
				endpoint["url"] = "http://funding-service:8080/funding/v3/fundings"
			})},
		{Name: "info-lists-cleartext-host", Breaks: []string{"INF-05"},
			Why: "The listed URL names the public host by http: the configuration is older than its certificate.",
			Wrap: editEndpoint(func(endpoint map[string]any, _ Env) {
				endpoint["url"] = "http://funding.university.example/funding/v3/fundings"
			})},
		{Name: "good-tokens-refused", Breaks: []string{"INF-01"},
			Why: "The API trusts another issuer than the one that issues its tokens, so it refuses every good token, everywhere.",
			Wrap: rewriteSuccess(when(func(a *answer) bool { return hasToken(a.request) },
				inOrder(problem(http.StatusUnauthorized, "a valid access token is needed"),
					challenge(`Bearer realm="ris", error="invalid_token", error_description="the issuer is not trusted"`))), protectedKinds()...)},
	}
}

// refuseTypedGet makes a wrap in which info answers a GET with an error if the request has a Content-Type.
func refuseTypedGet(code int) wrap {
	return rewrite(when(func(a *answer) bool {
		return a.ok() && a.request.Method == http.MethodGet && a.request.Header.Get("Content-Type") != ""
	}, become(code, "application/json", `{"error":"empty JSON body"}`)), Info)
}

// editInfo makes a wrap that edits good answers of the info resource.
func editInfo(edit func(info map[string]any, env Env)) wrap { return editObjects(edit, Info) }

// editObjects makes a wrap that edits good answers that are a JSON object.
func editObjects(edit func(object map[string]any, env Env), kinds ...Kind) wrap {
	return rewriteSuccess(func(a *answer) {
		a.editObject(func(object map[string]any) { edit(object, a.env) })
	}, kinds...)
}

// editEndpoint makes a wrap that edits the first listed endpoint of the funding family.
func editEndpoint(edit func(endpoint map[string]any, env Env)) wrap {
	return editInfo(func(info map[string]any, env Env) {
		if endpoints := objects(member(info, "endpoints"), "funding"); len(endpoints) > 0 {
			edit(endpoints[0], env)
		}
	})
}

// endpointURL returns the URL of the first listed endpoint of the funding family.
func endpointURL(info map[string]any) string {
	for _, endpoint := range objects(member(info, "endpoints"), "funding") {
		return text(endpoint["url"])
	}
	return ""
}

// registryDeviations break the node's registry entry.
func registryDeviations() []Deviation {
	return []Deviation{
		{Name: "registry-info-missing", Breaks: []string{"REG-01"},
			Why:  "The registry entry has a token URL and no info URL.",
			Wrap: editEntry(func(entry map[string]any, _ Env) { delete(entry, "info") })},
		{Name: "registry-token-url-in-object", Breaks: []string{"REG-01"},
			Why:  "The token URL of the registry entry is inside an object, beside the realm.",
			Wrap: editEntry(func(entry map[string]any, _ Env) { entry["oauth2"] = map[string]any{"url": entry["oauth2"]} })},
		{Name: "registry-url-in-cleartext", Breaks: []string{"REG-02"},
			Why:  "The token URL of the registry entry begins with http, from the time before the node had a certificate.",
			Wrap: editEntryURL("oauth2", func(u string) string { return strings.Replace(u, "https://", "http://", 1) })},
		{Name: "registry-url-with-fragment", Breaks: []string{"REG-02"},
			Why:  "The info URL of the registry entry was copied from a browser, with a fragment.",
			Wrap: editEntryURL("info", func(u string) string { return u + "#/authorization" })},
		{Name: "registry-url-with-password", Breaks: []string{"REG-02"},
			Why:  "The token URL of the registry entry contains a user name and a password for the test system.",
			Wrap: editEntryURL("oauth2", func(u string) string { return strings.Replace(u, "://", "://guest:guest@", 1) })},
		{Name: "registry-info-dead", Breaks: []string{"REG-03"},
			Why:  "The info URL of the registry entry differs from the real one in one segment and answers 404.",
			Wrap: editEntryURL("info", func(u string) string { return strings.Replace(u, "/info/v1/", "/info/v2/", 1) })},
		{Name: "registry-token-endpoint-dead", Breaks: []string{"REG-03"},
			Why:  "The token URL of the registry entry is that of an earlier identity provider and answers 404.",
			Wrap: editEntryURL("oauth2", func(u string) string { return strings.Replace(u, "/oauth/token", "/auth/oauth/token", 1) })},
		{Name: "registry-contact-unknown", Breaks: []string{"REG-04"},
			Why:  "The contact of the registry entry is n/a.",
			Wrap: setInEntry("contact", "n/a")},
		{Name: "registry-acronym-empty", Breaks: []string{"REG-04"},
			Why:  "The acronym of the registry entry consists of blanks.",
			Wrap: setInEntry("acronym", "  ")},
		{Name: "registry-entry-twice", Breaks: []string{"REG-05"},
			Why: "The registry has two entries with the node's id and different token URLs.",
			Wrap: editObjects(func(document map[string]any, env Env) {
				for _, entry := range objects(document, "member") {
					if entry["id"] == funding.NodeID {
						twin := maps.Clone(entry)
						update("oauth2", func(u string) string { return strings.Replace(u, env.Places.Token(), env.Places.RealmToken(), 1) })(twin)
						document["member"] = append(document["member"].([]any), twin)
						return
					}
				}
			}, Registry)},
		{Name: "registry-url-with-blank", Breaks: []string{"REG-05"},
			Why:  "The info URL of the registry entry ends with a line feed that was copied with it.",
			Wrap: editEntryURL("info", func(u string) string { return u + "\n" })},
		{Name: "registry-member-twice", Breaks: []string{"REG-05"},
			Why: "The registry entry has the member contact twice, from two people who edited the file.",
			Wrap: rewriteSuccess(func(a *answer) {
				a.Body = bytes.Replace(a.Body, []byte(`"contact":`), []byte(`"contact":"old@must.example","contact":`), 1)
			}, Registry)},
		{Name: "registry-secret-member", Breaks: []string{"REG-06"},
			Why:  "The registry entry contains a client secret for trying out the node.",
			Wrap: setInEntry("client_secret", "demo")},
		{Name: "registry-secret-in-remark", Breaks: []string{"REG-06", "SEC-04"},
			Why: "A remark in the registry entry contains the secret of a client.",
			Wrap: editEntry(func(entry map[string]any, env Env) {
				if client, ok := env.clientWithSecret(); ok {
					entry["remark"] = "until June use " + client.Secret
				}
			})},
		{Name: "registry-client-id", Breaks: []string{"REG-06"},
			Why: "The registry entry contains the client id of a consumer.",
			Wrap: editEntry(func(entry map[string]any, env Env) {
				if clients := env.Clients(); len(clients) > 0 {
					entry["consumer"] = clients[0].ID
				}
			})},
	}
}

// editEntry makes a wrap that edits the node's registry entry.
func editEntry(edit func(entry map[string]any, env Env)) wrap {
	return editObjects(func(document map[string]any, env Env) {
		for _, entry := range objects(document, "member") {
			if entry["id"] == funding.NodeID {
				edit(entry, env)
			}
		}
	}, Registry)
}

// editEntryURL makes a wrap that changes one URL of the node's registry entry.
func editEntryURL(name string, replace func(url string) string) wrap {
	return editEntry(func(entry map[string]any, _ Env) { update(name, replace)(entry) })
}

// setInEntry makes a wrap that sets a member of the node's registry entry.
func setInEntry(name, value string) wrap {
	return editEntry(func(entry map[string]any, _ Env) { entry[name] = value })
}
