package fault

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// infoHabits are unusual contents of the info resource.
func infoHabits() []Deviation {
	return []Deviation{
		{Name: "info-with-empty-families",
			Why: "Families without endpoints are listed as empty, as by nodes that share one configuration.",
			Wrap: editInfo(func(info map[string]any, _ Env) {
				endpoints := member(info, "endpoints")
				endpoints["project"], endpoints["orgUnit"] = []any{}, []any{}
			})},
		{Name: "info-with-templates",
			Why: "Endpoints of single records are listed with a template in their URL, under names outside the vocabulary, as by a node of the network.",
			Wrap: editInfo(func(info map[string]any, _ Env) {
				endpoints := member(info, "endpoints")
				funding, _ := endpoints["funding"].([]any)
				for _, name := range []string{"FUNDING_BY_KEY", "CALLS"} {
					funding = append(funding, map[string]any{
						"name": name, "majorVersion": 3, "minorVersion": 12, "url": strings.TrimSuffix(endpointURL(info), "/") + "/{fundingId}",
					})
				}
				endpoints["funding"] = funding
			})},
		{Name: "info-with-more-members",
			Why: "The info resource has name, contact, build and links of the node beside its endpoints, like health pages.",
			Wrap: editInfo(func(info map[string]any, _ Env) {
				info["name"], info["build"], info["contact"] = "Universität Musterstadt", map[string]any{"commit": "1f2e3d4"}, nil
				for _, endpoint := range objects(member(info, "endpoints"), "funding") {
					endpoint["description"], endpoint["deprecated"] = "Ausschreibungen", false
				}
			})},
		{Name: "info-names-caller",
			Why: "Info names the client that calls, its affiliation and the time of the answer.",
			Wrap: rewriteSuccess(func(a *answer) {
				client, _ := a.env.Caller(a.request)
				a.editObject(func(info map[string]any) {
					info["client"] = map[string]any{"id": client, "affiliation": "affiliation of " + client}
					info["time"] = a.env.Now().Format(time.RFC3339)
				})
			}, Info)},
		{Name: "info-versions-with-fraction",
			Why: "The versions are 3.0 and 0.0, as languages with one type for all numbers write them.",
			Wrap: editInfo(func(info map[string]any, _ Env) {
				for _, endpoint := range objects(member(info, "endpoints"), "funding") {
					for _, name := range []string{"majorVersion", "minorVersion"} {
						update(name, func(n json.Number) json.Number { return n + ".0" })(endpoint)
					}
				}
			})},
		{Name: "info-members-in-capitals-besides",
			Why:  "The info answer has members that differ from its own by case only, kept for a client in another language.",
			Wrap: rewriteSuccess(appendMembers(`"ENDPOINTS":{"FUNDING":[{"NAME":"OLD","URL":"https://old.node.example/"}]}`), Info)},
	}
}

// documentHabits are unusual OpenAPI documents that describe the node correctly.
func documentHabits() []Deviation {
	return []Deviation{
		{Name: "document-with-relative-server",
			Why:  "The document names its server by a path only, so that it can be moved between environments.",
			Wrap: editDocument(setServer(func(env Env) string { return env.Places.API() }))},
		{Name: "document-with-several-servers",
			Why: "The document lists two servers: the node itself, and a test environment whose URL has variables.",
			Wrap: editDocument(func(d apiDocument) {
				servers, _ := d.object["servers"].([]any)
				d.object["servers"] = append(servers, map[string]any{
					"url": "https://{environment}.node.example/ris", "description": "Test",
					"variables": map[string]any{"environment": map[string]any{"default": "test", "enum": []any{"test", "stage"}}},
				})
			})},
		{Name: "document-of-springdoc",
			Why:  "The success of each operation is described for the media type */*, as springdoc writes it unless produces is set.",
			Wrap: editDocument(func(d apiDocument) { d.relabelSuccess("*/*") })},
		{Name: "document-with-ranges",
			Why: "Answers are described for 2XX and for default, not for each status.",
			Wrap: editDocument(func(d apiDocument) {
				for _, operation := range []map[string]any{d.list(), d.detail()} {
					operation["responses"] = map[string]any{"2XX": member(operation, "responses", "200"), "default": problemResponse()}
				}
			})},
		{Name: "document-with-foreign-patterns",
			Why: "The patterns of ids and codes use lookahead and back-references, which ECMAScript supports and Go does not.",
			Wrap: editDocument(func(d apiDocument) {
				for _, name := range []string{"Call", "Programme", "OtherFunding"} {
					member(d.schemas(), name, "properties", "id")["pattern"] = `^(?!\s)(?=.{1,200}$).+(?<!\s)$`
				}
				member(d.schemas(), "Text", "properties", "lang")["pattern"] = `^([a-z])(?!\1)[a-z]$`
			})},
		{Name: "document-with-recursion",
			Why: "Schemas refer to themselves and to each other, in arrays and maps, like trees of organisations.",
			Wrap: editDocument(func(d apiDocument) {
				d.schemas()["Tree"] = schema{"type": "object", "properties": map[string]any{
					"children": schema{"type": "array", "items": schemaRef("Branch")},
					"index":    schema{"type": "object", "additionalProperties": schemaRef("Tree")},
				}}
				d.schemas()["Branch"] = schema{"allOf": []any{schemaRef("Tree"), schema{"type": "object", "properties": map[string]any{"of": schemaRef("Branch")}}}}
				member(d.schemas(), "OrgUnit", "properties")["tree"] = schemaRef("Tree")
			})},
		{Name: "document-with-part-of-a-discriminator",
			Why: "One schema applies to all fundings, and a discriminator maps two of its values to other schemas, as in the network's published document.",
			Wrap: editDocument(func(d apiDocument) {
				base := maps.Clone(member(d.schemas(), "OtherFunding"))
				properties := maps.Clone(member(base, "properties"))
				properties["type"] = schemaRef("FundingType")
				base["properties"] = properties
				base["discriminator"] = map[string]any{"propertyName": "type", "mapping": map[string]any{
					"CALL": "#/components/schemas/Call", "PROGRAMME": "#/components/schemas/Programme",
				}}
				d.schemas()["Funding"] = base
			})},
		{Name: "document-with-much-besides",
			Why:  "The document has extensions, links, callbacks, external documentation, operations that no suite can call, and references inside its examples.",
			Wrap: editDocument(addExtras)},
		{Name: "document-media-type",
			Why: "The document has the media type that is registered for OpenAPI documents, as from newer servers, and names this media type itself.",
			Wrap: both(
				rewriteSuccess(setHeader("Content-Type", "application/vnd.oai.openapi+json;version=3.0"), Document),
				editDocument(func(d apiDocument) {
					relabel(member(d.get(d.env.Places.Spec()), "responses", "200"), "application/vnd.oai.openapi+json")
				}))},
		{Name: "document-behind-the-token", Warns: []string{"SPC-02"},
			Why: "The document needs a token like everything else, and says so: springdoc behind a filter chain that denies by default.",
			Wrap: both(
				intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
					if a := capture(next, withPath(r, env.Places.Info())); !a.ok() {
						a.send(w, r)
						return
					}
					next.ServeHTTP(w, r)
				}, Document),
				editDocument(func(d apiDocument) {
					operation := d.get(d.env.Places.Spec())
					delete(operation, "security")
					responses := member(operation, "responses")
					responses["400"], responses["401"] = problemResponse(), problemResponse()
				}))},
		{Name: "document-with-public-operation",
			Why: "A vocabulary is served to everybody, and the document says so with security: [].",
			Wrap: both(
				editDocument(func(d apiDocument) {
					d.at("paths")[vocabularyPath] = map[string]any{"get": map[string]any{
						"operationId": "vocabulary", "security": []any{},
						"responses": map[string]any{"200": map[string]any{"description": "The kinds of funding.", "content": map[string]any{
							"application/json": map[string]any{"schema": schema{"type": "array", "items": schema{
								"type": "object", "required": []any{"id", "label"},
								"properties": map[string]any{"id": schema{"type": "string"}, "label": schema{"type": "string"}},
							}}}}}, "default": problemResponse()},
					}}
				}),
				interceptPath(vocabularyPath, serveVocabulary))},
		{Name: "administration-forbidden",
			Why: "An operation for administrators answers 403 to an API client, and the document describes that.",
			Wrap: both(
				describeClosed("403"),
				serveClosed(inOrder(problem(http.StatusForbidden, "for administrators only"),
					challenge(`Bearer realm="ris", error="insufficient_scope", error_description="for administrators only"`))))},
		{Name: "list-needs-caller",
			Why:  "The list and the detail need a query parameter that says who calls; any text will do, as the document says.",
			Wrap: requireCaller("query", schema{"type": "string", "minLength": 1, "maxLength": 80}, func(r *http.Request) string { return r.URL.Query().Get("caller") })},
		{Name: "list-needs-caller-in-header",
			Why:  "The list and the detail need a header field that says who calls, and the document describes its value with an empty schema.",
			Wrap: requireCaller("header", schema{}, func(r *http.Request) string { return r.Header.Get("Caller") })},
		{Name: "stages-of-a-call",
			Why:  "An operation below the detail lists the stages of a call; for an unknown call it answers 404 as the detail does.",
			Wrap: serveStages(func(*answer) {})},
		{Name: "last-year-gone",
			Why: "The operation for the calls of last year answers 410, and the document describes that.",
			Wrap: both(
				describeClosed("410"),
				serveClosed(problem(http.StatusGone, "the calls of last year are not kept")))},
	}
}

// closedPath is the path, below the base of the API, of an operation that refuses every API client.
const closedPath = "/funding/v3/closed"

// describeClosed makes a wrap that describes the closed operation with the responses 200 and default, and with the response status if that is not "".
func describeClosed(status string) wrap {
	return editDocument(func(d apiDocument) {
		responses := map[string]any{"200": map[string]any{"description": "The data.", "content": jsonContent()}, "default": problemResponse()}
		if status != "" {
			responses[status] = problemResponse()
		}
		d.at("paths")[closedPath] = map[string]any{"get": map[string]any{"operationId": "closed", "responses": responses}}
	})
}

// serveClosed makes a wrap that serves the closed operation. It requires a token like the info resource, and then refuses the request.
func serveClosed(refuse change) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != env.Places.API()+closedPath {
				next.ServeHTTP(w, r)
				return
			}
			a := capture(next, withPath(r, env.Places.Info()))
			if a.ok() {
				refuse(a)
			}
			a.send(w, r)
		})
	}
}

// vocabularyPath is the path, below the base of the API, of a public operation.
const vocabularyPath = "/funding/v3/vocabulary"

// serveVocabulary serves the kinds of funding to everybody.
func serveVocabulary(_ http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
	a := newAnswer(r)
	a.become(http.StatusOK, "application/json", `[{"id":"CALL","label":"Call"},{"id":"PROGRAMME","label":"Programme"}]`)
	a.send(w, r)
}

func schemaRef(name string) schema { return schema{"$ref": "#/components/schemas/" + name} }

// relabel describes the same body of a response under another media type.
func relabel(response map[string]any, mediaType string) {
	for _, described := range member(response, "content") {
		response["content"] = map[string]any{mediaType: described}
	}
}

// relabelSuccess describes good answers of list and detail under another media type.
func (d apiDocument) relabelSuccess(mediaType string) {
	relabel(member(d.list(), "responses", "200"), mediaType)
	relabel(member(d.detail(), "responses", "200"), mediaType)
}

// addExtras adds parts of OpenAPI that a client can ignore.
func addExtras(d apiDocument) {
	d.object["x-generator"] = map[string]any{"$ref": "not-a-reference.json", "deep": []any{[]any{map[string]any{}}}}
	d.object["externalDocs"] = map[string]any{"url": "https://node.example/docs", "description": "Handbuch"}
	list := d.list()
	list["x-rate-limit"], list["deprecated"] = 50, true
	list["callbacks"] = map[string]any{"onChange": map[string]any{"{$request.query.callback}": map[string]any{
		"post": map[string]any{"responses": map[string]any{"200": map[string]any{"description": "Taken."}}},
	}}}
	member(list, "responses", "200")["links"] = map[string]any{
		"one": map[string]any{"operationId": "findByKey", "parameters": map[string]any{"id": "$response.body#/0/id"}},
	}
	d.schemas()["Anything"] = schema{
		"example": map[string]any{"$ref": "#/components/schemas/Missing"}, "enum": []any{map[string]any{"$ref": "nowhere"}, "x"}, "x-order": 1,
	}
	refused := map[string]any{"description": "No.", "content": jsonContent()}
	d.at("paths")["/funding/v3/fundings/{id}/attachments/{file}"] = map[string]any{
		"parameters": []any{pathParameter("id"), pathParameter("file")},
		"get": map[string]any{"operationId": "attachment", "responses": map[string]any{
			"200": map[string]any{"description": "A file.", "content": map[string]any{"application/pdf": map[string]any{"schema": schema{"type": "string", "format": "binary"}}}},
			"404": refused, "default": problemResponse(),
		}},
	}
	d.at("paths")["/funding/v3/subscriptions"] = map[string]any{"post": map[string]any{
		"operationId": "subscribe",
		"requestBody": map[string]any{"required": true, "content": jsonContent()},
		"responses":   map[string]any{"202": map[string]any{"description": "Taken."}, "4XX": refused},
	}}
	tags, _ := d.object["tags"].([]any)
	d.object["tags"] = append(tags, map[string]any{"name": strings.Repeat("a long name ", 10), "externalDocs": map[string]any{"url": "/docs"}})
}

// requireCaller makes a wrap that describes a required parameter caller of the list and the detail, and refuses good calls without it.
func requireCaller(in string, valueSchema schema, callerOf func(r *http.Request) string) wrap {
	return both(
		editDocument(func(d apiDocument) {
			for _, operation := range []map[string]any{d.list(), d.detail()} {
				parameters, _ := operation["parameters"].([]any)
				operation["parameters"] = append(slices.Clone(parameters), map[string]any{"name": "caller", "in": in, "required": true,
					"description": "The name of the calling application.", "schema": valueSchema})
				responses := maps.Clone(member(operation, "responses"))
				responses["400"] = problemResponse()
				operation["responses"] = responses
			}
		}),
		rewriteSuccess(whenRequest(func(r *http.Request) bool { return callerOf(r) == "" }, problem(http.StatusBadRequest, "the parameter caller is missing")), List, Detail))
}
