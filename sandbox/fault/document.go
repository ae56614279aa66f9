package fault

import (
	"maps"
	"net/http"
	"strings"
)

// documentDeviations break the OpenAPI document.
func documentDeviations() []Deviation {
	return []Deviation{
		{Name: "spec-page", Breaks: []string{"SPC-01"},
			Why: "The URL of the document serves the Swagger UI page that loads it.",
			Wrap: rewriteSuccess(become(http.StatusOK, "text/html",
				`<!DOCTYPE html><html><head><title>Swagger UI</title></head><body><div id="swagger-ui"></div></body></html>`), Document)},
		{Name: "spec-yaml", Breaks: []string{"SPC-01"},
			Why: "The document is served as YAML, as by springdoc at /v3/api-docs.yaml.",
			Wrap: rewriteSuccess(become(http.StatusOK, "application/yaml",
				"openapi: 3.0.3\ninfo:\n  title: Funding API\n  version: '3.0'\npaths: {}\n"), Document)},
		{Name: "spec-gone", Breaks: []string{"SPC-01"},
			Why:  "The document is switched off in production, as security guides for springdoc advise.",
			Wrap: rewrite(become(http.StatusNotFound, "application/json", `{"error":"not found"}`), Document)},
		{Name: "spec-needs-token", Breaks: []string{"SPC-02"},
			Why:  "The document is served only to callers with a token: springdoc is behind the rule that refuses everything else.",
			Wrap: guardDocument(unauthorized)},
		{Name: "spec-behind-login", Breaks: []string{"SPC-02"},
			Why:  "Without a token, the document is the login page of the developers' portal.",
			Wrap: guardDocument(become(http.StatusOK, "text/html", loginPage))},
		{Name: "spec-version-missing", Breaks: []string{"SPC-03"},
			Why:  "The document lacks info.version: the build did not fill in the placeholder.",
			Wrap: editDocument(func(d apiDocument) { delete(d.at("info"), "version") })},
		{Name: "spec-title-empty", Breaks: []string{"SPC-03"},
			Why:  "The title of the document is empty.",
			Wrap: editDocument(func(d apiDocument) { d.at("info")["title"] = "" })},
		{Name: "spec-dangling-ref", Breaks: []string{"SPC-04"},
			Why: "The document refers to a schema that it lacks, as merged documents do.",
			Wrap: editDocument(func(d apiDocument) {
				d.schemas()["Dangling"] = map[string]any{"$ref": "#/components/schemas/Missing"}
			})},
		{Name: "spec-foreign-ref", Breaks: []string{"SPC-04"},
			Why: "The document refers to another file, which clients must find and fetch.",
			Wrap: editDocument(func(d apiDocument) {
				d.schemas()["Foreign"] = map[string]any{"$ref": "common.json#/components/schemas/Address"}
			})},
		{Name: "spec-path-parameter-undeclared", Breaks: []string{"SPC-05"},
			Why:  "The path of the detail contains {id}, and no parameter declares it.",
			Wrap: editDocument(func(d apiDocument) { delete(d.detail(), "parameters") })},
		{Name: "spec-path-parameter-renamed", Breaks: []string{"SPC-05"},
			Why:  "The path says {id} and the parameter fundingId: one of them was renamed.",
			Wrap: editDocument(setInParameters("name", "fundingId"))},
		{Name: "spec-path-parameter-optional", Breaks: []string{"SPC-05", "SPC-07"},
			Why:  "A path parameter is declared optional, which is impossible.",
			Wrap: editDocument(setInParameters("required", false))},
		{Name: "spec-operation-id-shared", Breaks: []string{"SPC-06"},
			Why:  "Two operations share one operationId, copied with the rest of the method.",
			Wrap: editDocument(func(d apiDocument) { d.detail()["operationId"] = d.list()["operationId"] })},
		{Name: "spec-parameters-object", Breaks: []string{"SPC-07"},
			Why: "parameters of an operation is an object by name instead of a list, as in hand-written documents.",
			Wrap: editDocument(func(d apiDocument) {
				d.info()["parameters"] = map[string]any{"verbose": map[string]any{"in": "query"}}
			})},
		{Name: "spec-description-missing", Breaks: []string{"SPC-07"},
			Why:  "A response of one operation lacks its description, which OpenAPI requires and most generators forgive.",
			Wrap: editDocument(func(d apiDocument) { delete(member(d.info(), "responses", "200"), "description") })},
		{Name: "spec-member-misspelt", Breaks: []string{"SPC-07"},
			Why: "A member of an operation is misspelt (operationID): tools silently ignore it.",
			Wrap: editDocument(func(d apiDocument) {
				operation := d.info()
				operation["operationID"] = operation["operationId"]
				delete(operation, "operationId")
			})},
		{Name: "spec-member-twice", Breaks: []string{"SPC-07", "API-03"},
			Why:  "The document has openapi twice: a script puts the version in front of what the generator wrote.",
			Wrap: rewriteSuccess(replaceText(`"openapi":`, `"openapi":"3.1.0","openapi":`), Document)},
		{Name: "spec-without-fundings", Breaks: []string{"SPC-08"},
			Why: "The funding operations are hidden from the document, as with @Hidden or a wrong package scan.",
			Wrap: editDocument(func(d apiDocument) {
				maps.DeleteFunc(d.at("paths"), func(path string, _ any) bool {
					return strings.HasPrefix(path, d.relative(d.env.Places.Fundings()))
				})
			})},
		{Name: "spec-security-undefined", Breaks: []string{"SPC-09"},
			Why:  "security names a scheme that the document does not declare: it was renamed in one place only.",
			Wrap: editDocument(func(d apiDocument) { d.object["security"] = []any{map[string]any{"bearerAuth": []any{}}} })},
		{Name: "spec-security-missing", Breaks: []string{"SPC-09"},
			Why: "The document says nothing about tokens, like all published documents of the network.",
			Wrap: editDocument(func(d apiDocument) {
				delete(d.object, "security")
				delete(d.at("components"), "securitySchemes")
			})},
		{Name: "spec-security-not-asked-for", Breaks: []string{"SPC-09"},
			Why:  "Schemes are declared, but no operation requires one, so generated clients send no token.",
			Wrap: editDocument(func(d apiDocument) { delete(d.object, "security") })},
		{Name: "spec-token-url-elsewhere", Breaks: []string{"SPC-09"},
			Why: "The document sends clients to the token endpoint of another environment.",
			Wrap: editDocument(func(d apiDocument) {
				for _, s := range d.at("components", "securitySchemes") {
					if scheme, ok := s.(map[string]any); ok && scheme["flows"] != nil {
						member(scheme, "flows", "clientCredentials")["tokenUrl"] = "https://staging.node.example/oauth/token"
					}
				}
			})},
		{Name: "spec-token-url-of-staging", Breaks: []string{"SPC-09"},
			Why: "The document of production names the token endpoint of the test environment: it was copied from there.",
			Wrap: editDocument(func(d apiDocument) {
				for _, s := range d.at("components", "securitySchemes") {
					if scheme, ok := s.(map[string]any); ok && scheme["flows"] != nil {
						member(scheme, "flows", "clientCredentials")["tokenUrl"] = d.env.Places.Elsewhere().Token()
					}
				}
			})},
		{Name: "spec-server-of-developer", Breaks: []string{"SPC-10"},
			Why:  "servers names http://localhost:8080, the developer's own machine.",
			Wrap: editDocument(setServer(func(Env) string { return "http://localhost:8080" }))},
		{Name: "spec-server-behind-proxy", Breaks: []string{"SPC-10"},
			Why:  "servers names the host inside the cluster: springdoc does not know the proxy in front.",
			Wrap: editDocument(setServer(func(env Env) string { return "http://funding-service:8080" + env.Places.API() }))},
		{Name: "spec-server-missing", Breaks: []string{"SPC-10"},
			Why:  "The document names no server, so that clients look for the operations at the root of its host, where they are not.",
			Wrap: editDocument(func(d apiDocument) { delete(d.object, "servers") })},
		{Name: "spec-paths-alike", Breaks: []string{"SPC-05"},
			Why: "The document describes the detail twice, with different names of its id: two controllers for one path.",
			Wrap: editDocument(func(d apiDocument) {
				detail := maps.Clone(d.detail())
				detail["operationId"] = "theSameDetail"
				detail["parameters"] = []any{pathParameter("key")}
				d.at("paths")[d.relative(d.env.Places.Fundings()+"/{key}")] = map[string]any{"get": detail}
			})},
		{Name: "spec-security-optional", Breaks: []string{"SPC-09"},
			Why:  "The list has an empty alternative among its security requirements, so generated clients send no token.",
			Wrap: editDocument(func(d apiDocument) { d.list()["security"] = []any{map[string]any{}} })},
		{Name: "spec-ref-to-file", Breaks: []string{"SPC-04"},
			Why: "The document refers to a file on the disk of the build server.",
			Wrap: editDocument(func(d apiDocument) {
				d.schemas()["Foreign"] = map[string]any{"$ref": "file:///srv/build/common.json#/Address"}
			})},
		{Name: "spec-ref-inside-cluster", Breaks: []string{"SPC-04"},
			Why: "The document refers to a host inside the cluster, which no client can reach.",
			Wrap: editDocument(func(d apiDocument) {
				d.schemas()["Foreign"] = map[string]any{"$ref": "http://schema-registry.svc.cluster.local/common.json#/Address"}
			})},
		{Name: "spec-detail-alone", Breaks: []string{"SPC-08"},
			Why:  "Only the detail is described: the controller of the list is in a package that is not scanned.",
			Wrap: editDocument(func(d apiDocument) { delete(d.at("paths"), d.relative(d.env.Places.Fundings())) })},
		{Name: "spec-path-server-nowhere", Breaks: []string{"SPC-10"},
			Why: "The paths of the fundings name a server of their own whose base path is not served any more.",
			Wrap: editDocument(func(d apiDocument) {
				for _, path := range []string{d.env.Places.Fundings(), d.env.Places.Funding()} {
					d.at("paths", d.relative(path))["servers"] = servers("/archive/v2")
				}
			})},
	}
}

// apiDocument is the node's OpenAPI document as it is sent.
type apiDocument struct {
	object map[string]any
	env    Env
}

// at returns the [member] of the document at a path.
func (d apiDocument) at(path ...string) map[string]any { return member(d.object, path...) }

func (d apiDocument) schemas() map[string]any { return d.at("components", "schemas") }

// relative returns a path of the node as the document writes it, without the base path of its server.
func (d apiDocument) relative(path string) string {
	return strings.TrimPrefix(path, d.env.Places.API())
}

// get returns the GET operation of a path of the node.
func (d apiDocument) get(path string) map[string]any { return d.at("paths", d.relative(path), "get") }

func (d apiDocument) info() map[string]any { return d.get(d.env.Places.Info()) }

func (d apiDocument) list() map[string]any { return d.get(d.env.Places.Fundings()) }

func (d apiDocument) detail() map[string]any { return d.get(d.env.Places.Funding()) }

// editDocument makes a wrap that edits the OpenAPI document.
// Like [intercept], it is not inlined.
//
//go:noinline
func editDocument(edit func(d apiDocument)) wrap {
	return editObjects(func(object map[string]any, env Env) { edit(apiDocument{object, env}) }, Document)
}

// setInParameters sets a member of each parameter of the detail.
func setInParameters(name string, value any) func(d apiDocument) {
	return func(d apiDocument) {
		for _, parameter := range objects(d.detail(), "parameters") {
			parameter[name] = value
		}
	}
}

// setServer replaces the servers of the document by one.
func setServer(url func(env Env) string) func(d apiDocument) {
	return func(d apiDocument) { d.object["servers"] = []any{map[string]any{"url": url(d.env)}} }
}

// guardDocument makes a wrap that refuses the document to callers without credentials, and adds this refusal to the document.
func guardDocument(refuse change) wrap {
	return both(
		editDocument(func(d apiDocument) {
			member(d.get(d.env.Places.Spec()), "responses")["401"] = map[string]any{"description": "There is no access token."}
		}),
		rewrite(whenRequest(isAnonymous, refuse), Document))
}

// pathParameter describes a parameter in a path, of type string.
func pathParameter(name string) map[string]any {
	return map[string]any{"name": name, "in": "path", "required": true, "schema": map[string]any{"type": "string"}}
}
