package deviation

import (
	"net/http"
	"strings"
)

// specDeviations break the OpenAPI document.
func specDeviations() []Deviation {
	return []Deviation{
		{
			Name: "spec-page", Breaks: []string{"SPC-01"},
			Why:  "The URL of the document serves the Swagger UI page that loads it.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *Answer) { a.become(http.StatusOK, "text/html", swaggerPage) }), Spec),
		},
		{
			Name: "spec-yaml", Breaks: []string{"SPC-01"},
			Why: "The document is served as YAML, as springdoc does at /v3/api-docs.yaml.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
				a.become(http.StatusOK, "application/yaml", "openapi: 3.0.3\ninfo:\n  title: Funding API\n  version: '3.0'\npaths: {}\n")
			}), Spec),
		},
		{
			Name: "spec-gone", Breaks: []string{"SPC-01"},
			Why: "The document is switched off in production, as security guides for springdoc advise.",
			Wrap: rewrite(func(_ *http.Request, a *Answer) {
				a.become(http.StatusNotFound, "application/json", `{"error":"not found"}`)
			}, Spec),
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
			Name: "spec-path-parameter-optional", Breaks: []string{"SPC-05"},
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
	}
}

const swaggerPage = `<!DOCTYPE html><html><head><title>Swagger UI</title></head><body><div id="swagger-ui"></div></body></html>`

// specs makes a Wrap that edits the OpenAPI document.
func specs(edit func(document map[string]any, env Env)) wrap { return documents(edit, Spec) }

// relative is a path as the document names it, below the address of its server.
func relative(env Env, path string) string { return strings.TrimPrefix(path, env.Places.API()) }

// listOperation and detailOperation are the GET operations of the fundings.
func listOperation(document map[string]any, env Env) map[string]any {
	return member(document, "paths", relative(env, env.Places.Fundings()), "get")
}

func detailOperation(document map[string]any, env Env) map[string]any {
	return member(document, "paths", relative(env, env.Places.Funding()), "get")
}
