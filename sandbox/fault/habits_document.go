package fault

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

// infoHabits are unusual things that the info resource lists.
func infoHabits() []Deviation {
	return []Deviation{
		{
			Name: "info-with-empty-families",
			Why:  "Families without endpoints are listed as empty, as nodes do that share one configuration.",
			Wrap: infos(func(info map[string]any, _ Env) {
				endpoints := member(info, "endpoints")
				endpoints["project"], endpoints["orgUnit"] = []any{}, []any{}
			}),
		},
		{
			Name: "info-with-templates",
			Why:  "Endpoints of single records are listed with a template in their URL, under names that no vocabulary has, as a node of the network does.",
			Wrap: infos(func(info map[string]any, env Env) {
				endpoints := member(info, "endpoints")
				funding, _ := endpoints["funding"].([]any)
				for _, name := range []string{"FUNDING_BY_KEY", "CALLS"} {
					funding = append(funding, map[string]any{
						"name": name, "majorVersion": 3, "minorVersion": 12, "url": strings.TrimSuffix(firstURL(info), "/") + "/{fundingId}",
					})
				}
				endpoints["funding"] = funding
			}),
		},
		{
			Name: "info-with-more-members",
			Why:  "The info resource tells name, contact, build and links of the node beside its endpoints, as health pages do.",
			Wrap: infos(func(info map[string]any, _ Env) {
				info["name"], info["build"], info["contact"] = "Universität Musterstadt", map[string]any{"commit": "1f2e3d4"}, nil
				for _, endpoint := range objects(member(info, "endpoints"), "funding") {
					endpoint["description"], endpoint["deprecated"] = "Ausschreibungen", false
				}
			}),
		},
		{
			Name: "info-versions-with-fraction",
			Why:  "The versions are 3.0 and 0.0, as languages write whole numbers that know one kind of number.",
			Wrap: infos(func(info map[string]any, _ Env) {
				for _, endpoint := range objects(member(info, "endpoints"), "funding") {
					for _, name := range []string{"majorVersion", "minorVersion"} {
						if version, ok := endpoint[name].(json.Number); ok {
							endpoint[name] = json.Number(version.String() + ".0")
						}
					}
				}
			}),
		},
	}
}

// documentHabits are unusual documents of what is served as described.
func documentHabits() []Deviation {
	return []Deviation{
		{
			Name: "document-with-relative-server",
			Why:  "The document names its server by a path alone, as it can be moved between environments.",
			Wrap: specs(func(document map[string]any, env Env) {
				document["servers"] = []any{map[string]any{"url": env.Places.API()}}
			}),
		},
		{
			Name: "document-with-several-servers",
			Why:  "The document lists servers of test and production, one of them with variables, and its own among them.",
			Wrap: specs(func(document map[string]any, _ Env) {
				servers, _ := document["servers"].([]any)
				document["servers"] = append(servers, map[string]any{
					"url": "https://{environment}.node.example/ris", "description": "Test",
					"variables": map[string]any{"environment": map[string]any{"default": "test", "enum": []any{"test", "stage"}}},
				})
			}),
		},
		{
			Name: "document-of-springdoc",
			Why:  "The success of each operation is described for the media type */*, as springdoc writes it where produces is not set.",
			Wrap: specs(func(document map[string]any, env Env) {
				for _, operation := range []map[string]any{listOperation(document, env), detailOperation(document, env)} {
					relabel(member(operation, "responses", "200"), "*/*")
				}
			}),
		},
		{
			Name: "document-with-ranges",
			Why:  "Answers are described for 2XX and for default, not status by status.",
			Wrap: specs(func(document map[string]any, env Env) {
				for _, operation := range []map[string]any{listOperation(document, env), detailOperation(document, env)} {
					operation["responses"] = map[string]any{"2XX": member(operation, "responses", "200"), "default": problemResponse()}
				}
			}),
		},
		{
			Name: "document-with-foreign-patterns",
			Why:  "The patterns of ids and codes look ahead and refer back, which ECMAScript knows and Go's expressions do not.",
			Wrap: specs(func(document map[string]any, env Env) {
				for _, name := range []string{"Call", "Programme", "OtherFunding"} {
					member(document, "components", "schemas", name, "properties", "id")["pattern"] = `^(?!\s)(?=.{1,200}$).+(?<!\s)$`
				}
				member(document, "components", "schemas", "Text", "properties", "lang")["pattern"] = `^([a-z])(?!\1)[a-z]$`
			}),
		},
		{
			Name: "document-with-recursion",
			Why:  "Schemas refer to themselves and to each other, in arrays and maps, as trees of organisations do.",
			Wrap: specs(func(document map[string]any, _ Env) {
				schemas := member(document, "components", "schemas")
				refer := func(name string) map[string]any { return map[string]any{"$ref": "#/components/schemas/" + name} }
				schemas["Tree"] = map[string]any{"type": "object", "properties": map[string]any{
					"children": map[string]any{"type": "array", "items": refer("Branch")}, "index": map[string]any{"type": "object", "additionalProperties": refer("Tree")},
				}}
				schemas["Branch"] = map[string]any{"allOf": []any{refer("Tree"), map[string]any{"type": "object", "properties": map[string]any{"of": refer("Branch")}}}}
				member(schemas, "OrgUnit", "properties")["tree"] = refer("Tree")
			}),
		},
		{
			Name: "document-with-part-of-a-discriminator",
			Why:  "One schema holds for all fundings, and a discriminator maps two of its values to others, as the network's published document does.",
			Wrap: specs(func(document map[string]any, _ Env) {
				schemas := member(document, "components", "schemas")
				base := map[string]any{}
				maps.Copy(base, member(schemas, "OtherFunding"))
				properties := map[string]any{}
				maps.Copy(properties, member(base, "properties"))
				properties["type"] = map[string]any{"$ref": "#/components/schemas/FundingType"}
				base["properties"] = properties
				base["discriminator"] = map[string]any{"propertyName": "type", "mapping": map[string]any{
					"CALL": "#/components/schemas/Call", "PROGRAMME": "#/components/schemas/Programme",
				}}
				schemas["Funding"] = base
			}),
		},
		{
			Name: "document-with-much-besides",
			Why:  "The document has extensions, links, callbacks, external documentation, operations that no suite can call, and references inside its examples.",
			Wrap: specs(decorated),
		},
		{
			Name: "document-media-type",
			Why:  "The document is sent with the media type that is registered for OpenAPI documents, as newer servers do, and describes that.",
			Wrap: both(rewrite(when(succeeded, field("Content-Type", "application/vnd.oai.openapi+json;version=3.0")), Spec),
				specs(func(document map[string]any, env Env) {
					relabel(member(document, "paths", relative(env, env.Places.Spec()), "get", "responses", "200"), "application/vnd.oai.openapi+json")
				})),
		},
		{
			Name: "document-behind-the-token", Warns: []string{"SPC-02"},
			Why: "The document needs a token like everything else: springdoc behind a chain that denies by default. It says so itself.",
			Wrap: both(
				around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
					asInfo := r.Clone(r.Context())
					asInfo.URL.Path, asInfo.URL.RawPath = env.Places.Info(), ""
					if a := capture(next, asInfo); !a.ok() {
						a.send(w, r)
						return
					}
					next.ServeHTTP(w, r)
				}, Spec),
				specs(func(document map[string]any, env Env) {
					operation := member(document, "paths", relative(env, env.Places.Spec()), "get")
					delete(operation, "security")
					responses := member(operation, "responses")
					responses["400"], responses["401"] = problemResponse(), problemResponse()
				}),
			),
		},
	}
}

// relabel describes a body under another media type.
func relabel(answer map[string]any, mediaType string) {
	for _, described := range member(answer, "content") {
		answer["content"] = map[string]any{mediaType: described}
	}
}

// decorated adds what a document may hold and a client need not know.
func decorated(document map[string]any, env Env) {
	document["x-generator"] = map[string]any{"$ref": "not-a-reference.json", "deep": []any{[]any{map[string]any{}}}}
	document["externalDocs"] = map[string]any{"url": "https://node.example/docs", "description": "Handbuch"}
	list := listOperation(document, env)
	list["x-rate-limit"], list["deprecated"] = 50, true
	list["callbacks"] = map[string]any{"onChange": map[string]any{"{$request.query.callback}": map[string]any{
		"post": map[string]any{"responses": map[string]any{"200": map[string]any{"description": "Taken."}}},
	}}}
	answer := member(list, "responses", "200")
	answer["links"] = map[string]any{"one": map[string]any{"operationId": "findByKey", "parameters": map[string]any{"id": "$response.body#/0/id"}}}
	schemas := member(document, "components", "schemas")
	schemas["Anything"] = map[string]any{
		"example": map[string]any{"$ref": "#/components/schemas/Missing"}, "enum": []any{map[string]any{"$ref": "nowhere"}, "x"}, "x-order": 1,
	}
	paths := member(document, "paths")
	refused := map[string]any{"description": "No.", "content": jsonContent()}
	paths["/funding/v3/fundings/{id}/attachments/{file}"] = map[string]any{
		"parameters": []any{pathParameter("id"), pathParameter("file")},
		"get": map[string]any{"operationId": "attachment", "responses": map[string]any{
			"200": map[string]any{"description": "A file.", "content": map[string]any{"application/pdf": map[string]any{"schema": map[string]any{"type": "string", "format": "binary"}}}},
			"404": refused, "default": problemResponse(),
		}},
	}
	paths["/funding/v3/subscriptions"] = map[string]any{"post": map[string]any{
		"operationId": "subscribe",
		"requestBody": map[string]any{"required": true, "content": jsonContent()},
		"responses":   map[string]any{"202": map[string]any{"description": "Taken."}, "4XX": refused},
	}}
	tags, _ := document["tags"].([]any)
	document["tags"] = append(tags, map[string]any{"name": strings.Repeat("a long name ", 10), "externalDocs": map[string]any{"url": "/docs"}})
}

func pathParameter(name string) map[string]any {
	return map[string]any{"name": name, "in": "path", "required": true, "schema": map[string]any{"type": "string"}}
}
