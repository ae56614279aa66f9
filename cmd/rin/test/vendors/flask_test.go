package vendors_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// flask returns a small Python service with introspected tokens. Its info is public, its data is not. Its document is a copy of
// the network's: it declares a list as one object, and says nothing of paging or security.
func flask() product {
	return product{
		tokenPath: "/token", infoPath: "/info/v1/info", specPath: "/funding/v1/openapi.json", basePath: "/funding",
		serve: func(origin string, b *accounts) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Server", "Werkzeug/3.0.1 Python/3.12.1")
				switch {
				case r.URL.Path == "/token":
					flaskToken(w, r, b)
				case strings.HasPrefix(r.URL.Path, "/funding/v1/fundings"):
					flaskFundings(w, r, b)
				case r.Method != http.MethodGet && r.Method != http.MethodHead:
					w.Header().Set("Allow", "HEAD, GET, OPTIONS")
					flaskError(w, http.StatusMethodNotAllowed)
				case r.URL.Path == "/info/v1/info":
					answer(w, http.StatusOK, "application/json", map[string]any{"endpoints": map[string]any{
						"funding": []any{map[string]any{"name": "FUNDINGS", "majorVersion": 1, "minorVersion": 0, "url": origin + "/funding/v1/fundings"}},
					}})
				case r.URL.Path == "/funding/v1/openapi.json":
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(flaskDocument))
				default:
					flaskError(w, http.StatusNotFound)
				}
			})
		},
	}
}

func flaskError(w http.ResponseWriter, status int) {
	answer(w, status, "application/json", map[string]string{"error": http.StatusText(status)})
}

func flaskToken(w http.ResponseWriter, r *http.Request, b *accounts) {
	w.Header().Set("Cache-Control", "no-store")
	refuse := func(status int, code string) {
		answer(w, status, "application/json", map[string]string{"error": code})
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST, OPTIONS")
		flaskError(w, http.StatusMethodNotAllowed)
		return
	}
	f := form(r) // Authlib: the authentication comes first, and the form wins over the header
	id, secret, basic := basicClient(r)
	if !basic {
		id, secret = f.Get("client_id"), f.Get("client_secret")
	}
	switch {
	case f.Get("grant_type") != "client_credentials":
		refuse(http.StatusBadRequest, "unsupported_grant_type")
	case !b.authenticates(id, secret):
		if basic {
			w.Header().Set("WWW-Authenticate", `Basic realm="token"`)
		}
		refuse(http.StatusUnauthorized, "invalid_client")
	default:
		answer(w, http.StatusOK, "application/json", map[string]any{"access_token": b.issueOpaque(id), "token_type": "Bearer", "expires_in": 3600})
	}
}

func flaskFundings(w http.ResponseWriter, r *http.Request, b *accounts) {
	// This service accepts only the exact scheme and one blank.
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	id, ok := b.client(token)
	switch {
	case !bearer:
		w.Header().Set("WWW-Authenticate", `Bearer realm="ris"`)
		answer(w, http.StatusUnauthorized, "application/json", map[string]string{"error": "401 Error: Unauthorized"})
		return
	case !ok:
		w.Header().Set("WWW-Authenticate", `Bearer realm="ris", error="invalid_token"`)
		answer(w, http.StatusUnauthorized, "application/json", map[string]string{"error": "401 Error: Unauthorized"})
		return
	case id != firstClient:
		answer(w, http.StatusForbidden, "application/json", map[string]string{"error": "403 Error: Forbidden"})
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "HEAD, GET, OPTIONS")
		flaskError(w, http.StatusMethodNotAllowed)
		return
	}
	var all []map[string]any
	if err := json.Unmarshal([]byte(flaskData), &all); err != nil {
		flaskError(w, http.StatusInternalServerError)
		return
	}
	switch rest := strings.TrimPrefix(r.URL.Path, "/funding/v1/fundings"); {
	case rest == "":
		if kind := r.URL.Query().Get("fundingType"); kind != "" {
			all = slices.DeleteFunc(all, func(f map[string]any) bool { return f["type"] != kind })
		}
		answer(w, http.StatusOK, "application/json", all)
	default:
		i := slices.IndexFunc(all, func(f map[string]any) bool { return "/"+f["id"].(string) == rest })
		if i < 0 {
			flaskError(w, http.StatusNotFound)
			return
		}
		answer(w, http.StatusOK, "application/json", all[i])
	}
}

const flaskData = `[
 {"id": "fwf-esprit", "type": "PROGRAMME", "name": [{"value": "ESPRIT", "lang": "de", "trans": "O"}], "startDate": "2021-01-01T00:00:00Z"},
 {"id": "fwf-esprit-2026", "type": "CALL", "name": [{"value": "ESPRIT 2026", "lang": "de", "trans": "O"}, {"value": "ESPRIT 2026", "lang": "en", "trans": "H"}], "fullyFunded": true},
 {"id": "matching", "type": "MATCHING_FUNDS", "name": [{"value": "Matching Funds", "lang": "en", "trans": "O"}]}
]`

const flaskDocument = `{"openapi": "3.0.1", "info": {"title": "Funding API", "version": "1.0"},
 "servers": [{"url": "https://staging.partner.example/funding"}],
 "paths": {
  "/v1/fundings": {"get": {"tags": ["funding"], "operationId": "findAll", "parameters": [
    {"name": "fundingType", "in": "query", "schema": {"type": "string", "enum": ["CALL", "PROGRAMME", "MATCHING_FUNDS", "AWARD"]}}],
   "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Funding"}}}}}}},
  "/v1/fundings/{id}": {"get": {"tags": ["funding"], "operationId": "findById", "parameters": [
    {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
   "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Funding"}}}}}}}},
 "components": {"schemas": {
  "Text": {"type": "object", "required": ["value", "lang", "trans"], "properties": {"value": {"type": "string"}, "lang": {"type": "string"}, "trans": {"type": "string", "enum": ["O", "H", "M"]}}},
  "Call": {"allOf": [{"$ref": "#/components/schemas/Funding"}, {"type": "object", "properties": {"fullyFunded": {"type": "boolean"}}}]},
  "Funding": {"type": "object", "required": ["id", "type", "name"], "discriminator": {"propertyName": "type", "mapping": {"CALL": "#/components/schemas/Call"}},
   "properties": {"id": {"type": "string"}, "type": {"type": "string", "enum": ["CALL", "PROGRAMME", "MATCHING_FUNDS", "AWARD"]},
    "name": {"type": "array", "items": {"$ref": "#/components/schemas/Text"}}, "startDate": {"type": "string", "format": "date-time"}}}}}}`
