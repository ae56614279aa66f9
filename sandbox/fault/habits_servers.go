package fault

import (
	"maps"
	"net/url"
	"strings"
)

// serverHabits are documents that split the URLs of their operations into servers and paths in other ways, which OAS 3.0.3 allows. They wrap the other
// habits, because these expect the document as the node writes it.
func serverHabits() []Deviation {
	return []Deviation{
		{Name: "document-of-one-application",
			Why: "The document describes a whole application: it names no server, its paths hold the service prefix, and it has a health check beside the API.",
			Wrap: editServers(func(d apiDocument, _, base string) {
				delete(d.object, "servers")
				d.renamePaths(func(path string) string { return base + path })
				d.addHealth()
			})},
		{Name: "document-with-root-server",
			Why: "The only server of the document is /, as some generators write it, and its paths hold the service prefix.",
			Wrap: editServers(func(d apiDocument, _, base string) {
				d.object["servers"] = servers("/")
				d.renamePaths(func(path string) string { return base + path })
				d.addHealth()
			})},
		{Name: "document-with-path-servers",
			Why: "The paths of the fundings have a server of their own, with the version in it; the others use that of the document.",
			Wrap: editServers(func(d apiDocument, origin, base string) {
				d.serveBelow(origin, base, "/funding/v3", "/fundings")
			})},
		{Name: "document-with-operation-servers",
			Why: "Each operation names its server, which overrides the servers of its path and of the document; these name another environment.",
			Wrap: editServers(func(d apiDocument, origin, base string) {
				d.object["servers"] = servers("https://test.node.example/ris")
				for _, item := range d.pathItems() {
					item["servers"] = servers("https://stage.node.example/ris")
					member(item, "get")["servers"] = servers(origin + base)
				}
			})},
		{Name: "document-with-several-bases",
			Why: "The document joins the APIs of several services: each path has the base path of its service in a relative server, and the document names none.",
			Wrap: editServers(func(d apiDocument, _, base string) {
				d.serveBelow("", base, "/info/v1", "/oauth")
				d.serveBelow("", base, "/funding/v3", "/")
				delete(d.object, "servers")
			})},
		{Name: "document-with-server-variables",
			Why: "Host and base path of the server are variables with defaults.",
			Wrap: editServers(func(d apiDocument, origin, base string) {
				scheme, host, _ := strings.Cut(origin, "://")
				d.object["servers"] = []any{map[string]any{
					"url": scheme + "://{host}/{basePath}",
					"variables": map[string]any{
						"host":     map[string]any{"default": host, "description": "The host of the node."},
						"basePath": map[string]any{"default": strings.Trim(base, "/"), "enum": []any{strings.Trim(base, "/"), "test"}},
					},
				}}
			})},
		{Name: "document-with-server-relative-to-itself",
			Why:  "The server is relative to the address of the document, so that the node can move as a whole.",
			Wrap: editServers(func(d apiDocument, _, _ string) { d.object["servers"] = servers("../../") })},
		{Name: "document-with-test-server-first",
			Why: "The test environment is the first server of the document, on another host, and the node itself the second.",
			Wrap: editServers(func(d apiDocument, origin, base string) {
				d.object["servers"] = append(servers("https://test.node.example/test"), servers(origin+base)...)
			})},
	}
}

// servers lists servers without variables.
func servers(urls ...string) []any {
	var out []any
	for _, address := range urls {
		out = append(out, map[string]any{"url": address})
	}
	return out
}

// editServers makes a wrap that edits a document with one server, whose origin and base path it passes to edit. It leaves other documents alone:
// another habit has changed their servers, and two such changes would describe addresses that the node does not serve.
func editServers(edit func(d apiDocument, origin, base string)) wrap {
	return editDocument(func(d apiDocument) {
		listed := objects(d.object, "servers")
		if len(listed) != 1 {
			return
		}
		server, _ := listed[0]["url"].(string)
		u, err := url.Parse(server)
		if err != nil || u.Host == "" || u.Path != d.env.Places.API() {
			return
		}
		edit(d, u.Scheme+"://"+u.Host, u.Path)
	})
}

// pathItems returns the path items by path.
func (d apiDocument) pathItems() map[string]map[string]any {
	items := map[string]map[string]any{}
	for path := range d.at("paths") {
		items[path] = d.at("paths", path)
	}
	return items
}

// renamePaths replaces each path of the document.
func (d apiDocument) renamePaths(rename func(path string) string) {
	renamed := map[string]any{}
	for path, item := range d.at("paths") {
		renamed[rename(path)] = item
	}
	d.object["paths"] = renamed
}

// serveBelow removes prefix from the paths that begin with prefix and next, and gives each of these paths a server whose URL ends with prefix.
func (d apiDocument) serveBelow(origin, base, prefix, next string) {
	for path, item := range d.pathItems() {
		if rest, ok := strings.CutPrefix(path, prefix); ok && strings.HasPrefix(rest, next) {
			item = maps.Clone(item)
			item["servers"] = servers(origin + base + prefix)
			delete(d.at("paths"), path)
			d.at("paths")[rest] = item
		}
	}
}

// addHealth describes the health check, which is public and outside the API.
func (d apiDocument) addHealth() {
	d.at("paths")[d.env.Places.Health()] = map[string]any{"get": map[string]any{
		"operationId": "health", "security": []any{},
		"responses": map[string]any{"200": map[string]any{"description": "The node serves.", "content": jsonContent()}},
	}}
}
