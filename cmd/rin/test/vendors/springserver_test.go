package vendors_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// springServer returns Spring Authorization Server before a service with two calls, whose document is OpenAPI 3.1 and whose ids are
// DOIs.
func springServer() product {
	return product{
		tokenPath: "/oauth2/token", infoPath: "/v1/info/", specPath: "/v1/openapi.json", basePath: "/",
		serve: func(origin string, b *accounts) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/oauth2/token" {
					springToken(w, r, b)
					return
				}
				doiService(w, r, origin, b)
			})
		},
	}
}

func springToken(w http.ResponseWriter, r *http.Request, b *accounts) {
	for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-cache, no-store, max-age=0, must-revalidate", "Pragma": "no-cache", "Expires": "0"} {
		w.Header().Set(name, value)
	}
	refuse := func(status int, code string) {
		answer(w, status, "application/json;charset=UTF-8", map[string]string{"error": code, "error_uri": "https://datatracker.ietf.org/doc/html/rfc6749#section-5.2"})
	}
	f := form(r)
	id, secret, basic := basicClient(r)
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch {
	case basic:
	case len(f["client_id"]) > 1 || len(f["client_secret"]) > 1:
		refuse(http.StatusBadRequest, "invalid_request")
		return
	case f.Get("client_id") == "" || f.Get("client_secret") == "":
		w.WriteHeader(http.StatusUnauthorized) // no converter found credentials: HttpStatusEntryPoint
		return
	default:
		id, secret = f.Get("client_id"), f.Get("client_secret")
	}
	switch grant := f["grant_type"]; {
	case basic || !b.authenticates(id, secret): // this client is registered for client_secret_post alone
		refuse(http.StatusUnauthorized, "invalid_client")
	case len(grant) != 1:
		refuse(http.StatusBadRequest, "invalid_request")
	case grant[0] != "client_credentials":
		refuse(http.StatusBadRequest, "unsupported_grant_type")
	case f.Get("scope") != "":
		refuse(http.StatusBadRequest, "invalid_scope")
	default:
		answer(w, http.StatusOK, "application/json;charset=UTF-8", map[string]any{"access_token": b.issueOpaque(id), "token_type": "Bearer", "expires_in": 299})
	}
}

func doiService(w http.ResponseWriter, r *http.Request, origin string, b *accounts) {
	if r.URL.Path == "/v1/openapi.json" {
		w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1")
		_, _ = w.Write([]byte(doiDocument))
		return
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	id, ok := b.client(strings.TrimSpace(token))
	if !strings.EqualFold(scheme, "Bearer") || !ok {
		challenge := `Bearer realm="calls"`
		if scheme != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		answer(w, http.StatusUnauthorized, "application/problem+json", map[string]any{"title": "Unauthorized", "status": 401})
		return
	}
	const calls = "/v1/calls"
	doi, detail := strings.CutPrefix(r.URL.Path, calls+"/")
	var all []map[string]any
	if err := json.Unmarshal([]byte(doiData), &all); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	answerMissing := func() {
		answer(w, http.StatusNotFound, "application/problem+json", map[string]any{"title": "Not Found", "status": 404})
	}
	switch {
	case strings.HasPrefix(r.URL.Path, calls) && id != firstClient:
		w.Header().Set("WWW-Authenticate", `Bearer realm="calls", error="insufficient_scope"`)
		answer(w, http.StatusForbidden, "application/problem+json", map[string]any{"title": "Forbidden", "status": 403})
	case r.URL.Path == "/v1/info/" && r.Method == http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.URL.Path == "/v1/info/":
		answer(w, http.StatusOK, "application/json", map[string]any{"endpoints": map[string]any{"funding": []any{
			map[string]any{"name": "CALLS", "majorVersion": 1, "minorVersion": 0, "url": origin + calls},
		}}})
	case r.URL.Path == calls:
		answer(w, http.StatusOK, "application/json", all)
	case detail:
		i := slices.IndexFunc(all, func(c map[string]any) bool { return c["id"] == doi })
		if i < 0 {
			answerMissing()
			return
		}
		answer(w, http.StatusOK, "application/json", all[i])
	default:
		answerMissing()
	}
}

const doiData = `[
 {"id": "10.55776/ESP1", "type": "CALL", "title": {"de": "Gemeinsame Labore", "en": null}, "ends": null, "budget": null, "subjects": [101018, 207106]},
 {"id": "10.55776/ESP2", "type": "CALL", "title": {"de": "Junge Köpfe", "en": "Young Minds"}, "ends": "2026-12-31", "budget": 500000, "subjects": []}
]`

const doiDocument = `{"openapi": "3.1.0", "info": {"title": "Calls", "version": "1.0.0", "summary": "Two calls"}, "jsonSchemaDialect": "https://spec.openapis.org/oas/3.1/dialect/base",
 "servers": [{"url": "/"}], "security": [{"bearer": []}],
 "paths": {
  "/v1/calls": {"get": {"operationId": "calls", "responses": {"200": {"description": "All calls", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Call"}}}}}, "4XX": {"$ref": "#/components/responses/Problem"}}}},
  "/v1/calls/{doi}": {"parameters": [{"name": "doi", "in": "path", "required": true, "schema": {"type": "string"}}],
   "get": {"operationId": "call", "responses": {"200": {"description": "One call", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Call"}}}}, "4XX": {"$ref": "#/components/responses/Problem"}}}}},
 "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
  "responses": {"Problem": {"description": "A problem", "content": {"application/problem+json": {"schema": {"type": "object"}}}}},
  "schemas": {"Call": {"type": "object", "required": ["id", "type", "title", "ends"], "properties": {
    "id": {"type": "string"}, "type": {"const": "CALL"}, "title": {"type": "object", "properties": {"de": {"type": "string"}, "en": {"type": ["string", "null"]}}},
    "ends": {"type": ["string", "null"], "format": "date"}, "budget": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}]},
    "subjects": {"type": "array", "items": {"type": "integer", "minimum": 1}}}}}}}`
