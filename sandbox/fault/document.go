package fault

import (
	"maps"
	"net/http"
	"strings"
)

// specDeviations break the OpenAPI document.
func specDeviations() []Deviation {
	return []Deviation{
		{
			Name: "spec-page", Breaks: []string{"SPC-01"},
			Why:  "The URL of the document serves the Swagger UI page that loads it.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) { a.become(http.StatusOK, "text/html", swaggerPage) }), Spec),
		},
		{
			Name: "spec-yaml", Breaks: []string{"SPC-01"},
			Why: "The document is served as YAML, as springdoc does at /v3/api-docs.yaml.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusOK, "application/yaml", "openapi: 3.0.3\ninfo:\n  title: Funding API\n  version: '3.0'\npaths: {}\n")
			}), Spec),
		},
		{
			Name: "spec-gone", Breaks: []string{"SPC-01"},
			Why: "The document is switched off in production, as security guides for springdoc advise.",
			Wrap: rewrite(func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusNotFound, "application/json", `{"error":"not found"}`)
			}, Spec),
		},
		{
			Name: "spec-needs-token", Breaks: []string{"SPC-02"},
			Why: "The document is served to callers with a token only: springdoc stands behind the rule that refuses everything else.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				refusing := rewrite(when(func(r *http.Request, _ *editableAnswer) bool { return anonymous(r) }, refuseAnonymous), Spec)
				return guardedDocument(refusing(next, env), env)
			},
		},
		{
			Name: "spec-behind-login", Breaks: []string{"SPC-02"},
			Why: "Who asks for the document without a token gets the login page of the developers' portal.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				login := rewrite(when(func(r *http.Request, _ *editableAnswer) bool { return anonymous(r) }, func(_ *http.Request, a *editableAnswer) {
					a.become(http.StatusOK, "text/html", page)
				}), Spec)
				return guardedDocument(login(next, env), env)
			},
		},
		{
			Name: "spec-version-missing", Breaks: []string{"SPC-03"},
			Why: "The document lacks info.version: the build did not fill the placeholder in.",
			Wrap: specs(func(document map[string]any, _ Env) {
				delete(member(document, "info"), "version")
			}),
		},
		{
			Name: "spec-title-empty", Breaks: []string{"SPC-03"},
			Why:  "The title of the document is empty.",
			Wrap: specs(func(document map[string]any, _ Env) { member(document, "info")["title"] = "" }),
		},
		{
			Name: "spec-dangling-ref", Breaks: []string{"SPC-04"},
			Why: "The document refers to a schema that it does not hold, as merged documents do.",
			Wrap: specs(func(document map[string]any, _ Env) {
				member(document, "components", "schemas")["Dangling"] = map[string]any{"$ref": "#/components/schemas/Missing"}
			}),
		},
		{
			Name: "spec-foreign-ref", Breaks: []string{"SPC-04"},
			Why: "The document refers to another file, which clients have to find and fetch.",
			Wrap: specs(func(document map[string]any, _ Env) {
				member(document, "components", "schemas")["Foreign"] = map[string]any{"$ref": "common.json#/components/schemas/Address"}
			}),
		},
		{
			Name: "spec-path-parameter-undeclared", Breaks: []string{"SPC-05"},
			Why: "The path of the detail has {id}, and no parameter declares it.",
			Wrap: specs(func(document map[string]any, env Env) {
				delete(detailOperation(document, env), "parameters")
			}),
		},
		{
			Name: "spec-path-parameter-renamed", Breaks: []string{"SPC-05"},
			Why: "The path says {id} and the parameter fundingId: one of them was renamed.",
			Wrap: specs(func(document map[string]any, env Env) {
				for _, parameter := range objects(detailOperation(document, env), "parameters") {
					parameter["name"] = "fundingId"
				}
			}),
		},
		{
			Name: "spec-path-parameter-optional", Breaks: []string{"SPC-05", "SPC-07"},
			Why: "A path parameter is declared optional, which no path can honour.",
			Wrap: specs(func(document map[string]any, env Env) {
				for _, parameter := range objects(detailOperation(document, env), "parameters") {
					parameter["required"] = false
				}
			}),
		},
		{
			Name: "spec-operation-id-shared", Breaks: []string{"SPC-06"},
			Why: "Two operations share one operationId, copied with the rest of the method.",
			Wrap: specs(func(document map[string]any, env Env) {
				detailOperation(document, env)["operationId"] = listOperation(document, env)["operationId"]
			}),
		},
		{
			Name: "spec-parameters-object", Breaks: []string{"SPC-07"},
			Why: "parameters of an operation is an object by name, as hand-written documents have it, in place of a list.",
			Wrap: specs(func(document map[string]any, env Env) {
				operationAt(document, env, env.Places.Info())["parameters"] = map[string]any{"verbose": map[string]any{"in": "query"}}
			}),
		},
		{
			Name: "spec-description-missing", Breaks: []string{"SPC-07"},
			Why: "An answer of one operation lacks its description, which OpenAPI requires and most generators forgive.",
			Wrap: specs(func(document map[string]any, env Env) {
				delete(member(operationAt(document, env, env.Places.Info()), "responses", "200"), "description")
			}),
		},
		{
			Name: "spec-member-misspelt", Breaks: []string{"SPC-07"},
			Why: "A member of an operation is misspelt (operationID): tools pass over it in silence.",
			Wrap: specs(func(document map[string]any, env Env) {
				o := operationAt(document, env, env.Places.Info())
				o["operationID"] = o["operationId"]
				delete(o, "operationId")
			}),
		},
		{
			Name: "spec-without-fundings", Breaks: []string{"SPC-08"},
			Why: "The funding operations are hidden from the document, as @Hidden or a wrong package scan does.",
			Wrap: specs(func(document map[string]any, env Env) {
				list := relative(env, env.Places.Fundings())
				for path := range member(document, "paths") {
					if strings.HasPrefix(path, list) {
						delete(member(document, "paths"), path)
					}
				}
			}),
		},
		{
			Name: "spec-security-undefined", Breaks: []string{"SPC-09"},
			Why: "security names a scheme that the document does not declare: it was renamed in one place.",
			Wrap: specs(func(document map[string]any, _ Env) {
				document["security"] = []any{map[string]any{"bearerAuth": []any{}}}
			}),
		},
		{
			Name: "spec-security-missing", Breaks: []string{"SPC-09"},
			Why: "The document says nothing about tokens, like all published documents of the network.",
			Wrap: specs(func(document map[string]any, _ Env) {
				delete(document, "security")
				delete(member(document, "components"), "securitySchemes")
			}),
		},
		{
			Name: "spec-security-not-asked-for", Breaks: []string{"SPC-09"},
			Why:  "Schemes are declared and no operation asks for one, so that generated clients send no token.",
			Wrap: specs(func(document map[string]any, _ Env) { delete(document, "security") }),
		},
		{
			Name: "spec-token-url-elsewhere", Breaks: []string{"SPC-09"},
			Why: "The document sends clients to the token endpoint of another environment.",
			Wrap: specs(func(document map[string]any, _ Env) {
				for _, s := range member(document, "components", "securitySchemes") {
					if scheme, ok := s.(map[string]any); ok && scheme["flows"] != nil {
						member(scheme, "flows", "clientCredentials")["tokenUrl"] = "https://staging.node.example/oauth/token"
					}
				}
			}),
		},
		{
			Name: "spec-server-of-developer", Breaks: []string{"SPC-10"},
			Why: "servers names http://localhost:8080, the address on the machine of the one who wrote it.",
			Wrap: specs(func(document map[string]any, _ Env) {
				document["servers"] = []any{map[string]any{"url": "http://localhost:8080"}}
			}),
		},
		{
			Name: "spec-server-behind-proxy", Breaks: []string{"SPC-10"},
			Why: "servers names the host inside the cluster: springdoc does not know of the proxy in front.",
			Wrap: specs(func(document map[string]any, env Env) {
				document["servers"] = []any{map[string]any{"url": "http://funding-service:8080" + env.Places.API()}}
			}),
		},
		{
			Name: "spec-server-missing", Breaks: []string{"SPC-10"},
			Why:  "The document names no server, and the operations are not at the root of its host.",
			Wrap: specs(func(document map[string]any, _ Env) { delete(document, "servers") }),
		},
		{
			Name: "spec-paths-alike", Breaks: []string{"SPC-05"},
			Why: "The detail stands twice in the document, with another name of its id: two controllers for one path.",
			Wrap: specs(func(document map[string]any, env Env) {
				paths := member(document, "paths")
				detail := maps.Clone(detailOperation(document, env))
				detail["operationId"] = "theSameDetail"
				detail["parameters"] = []any{map[string]any{"name": "key", "in": "path", "required": true, "schema": map[string]any{"type": "string"}}}
				paths[relative(env, env.Places.Fundings()+"/{key}")] = map[string]any{"get": detail}
			}),
		},
		{
			Name: "spec-security-optional", Breaks: []string{"SPC-09"},
			Why: "The list has an empty alternative among its security requirements, so that generated clients send no token.",
			Wrap: specs(func(document map[string]any, env Env) {
				listOperation(document, env)["security"] = []any{map[string]any{}}
			}),
		},
	}
}

const swaggerPage = `<!DOCTYPE html><html><head><title>Swagger UI</title></head><body><div id="swagger-ui"></div></body></html>`

// specs makes a Wrap that edits the OpenAPI document.
func specs(edit func(document map[string]any, env Env)) wrap { return documents(edit, Spec) }

// relative is a path as the document names it, below the address of its server.
func relative(env Env, path string) string { return strings.TrimPrefix(path, env.Places.API()) }

// operationAt is the GET operation of a path of the node.
func operationAt(document map[string]any, env Env, path string) map[string]any {
	return member(document, "paths", relative(env, path), "get")
}

// guardedDocument describes the refusal that the document's own operation gives.
func guardedDocument(next http.Handler, env Env) http.Handler {
	return specs(func(document map[string]any, env Env) {
		member(operationAt(document, env, env.Places.Spec()), "responses")["401"] = map[string]any{"description": "There is no access token."}
	})(next, env)
}

// refuseAnonymous makes the answer the refusal of a call without a token.
func refuseAnonymous(_ *http.Request, a *editableAnswer) {
	a.become(http.StatusUnauthorized, "", "")
	a.challenge(`Bearer realm="ris"`)
}

// listOperation and detailOperation are the GET operations of the fundings.
func listOperation(document map[string]any, env Env) map[string]any {
	return member(document, "paths", relative(env, env.Places.Fundings()), "get")
}

func detailOperation(document map[string]any, env Env) map[string]any {
	return member(document, "paths", relative(env, env.Places.Funding()), "get")
}
