package vendors_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// keycloakAndSpring returns Keycloak as authorization server, and a resource server of Spring Boot whose document springdoc
// writes.
func keycloakAndSpring() product {
	const realm = "/realms/research/protocol/openid-connect/token"
	return product{
		tokenPath: realm, infoPath: "/ris/info/v1/info", specPath: "/ris/funding/v3/api-docs", basePath: "/ris/funding",
		serve: func(origin string, b *accounts) http.Handler {
			mux := http.NewServeMux()
			mux.HandleFunc(realm, func(w http.ResponseWriter, r *http.Request) { keycloakToken(w, r, origin, b) })
			mux.HandleFunc("/ris/", func(w http.ResponseWriter, r *http.Request) { springResource(w, r, origin, b) })
			return mux
		},
	}
}

func keycloakToken(w http.ResponseWriter, r *http.Request, origin string, b *accounts) {
	refuse := func(status int, code, text string) {
		answer(w, status, "application/json", map[string]string{"error": code, "error_description": text})
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Frame-Options", "SAMEORIGIN")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	if r.Method != http.MethodPost {
		w.Header().Del("Cache-Control")
		answer(w, http.StatusMethodNotAllowed, "application/json", map[string]string{"error": "HTTP 405 Method Not Allowed"})
		return
	}
	f := form(r)
	for _, values := range f {
		if len(values) > 1 {
			refuse(http.StatusBadRequest, "invalid_request", "duplicated parameter")
			return
		}
	}
	id, secret, basic := basicClient(r)
	if !basic {
		id, secret = f.Get("client_id"), f.Get("client_secret")
	}
	grant := f.Get("grant_type")
	switch {
	case grant == "":
		refuse(http.StatusBadRequest, "invalid_request", "Missing form parameter: grant_type")
	case !b.knows(id):
		refuse(http.StatusUnauthorized, "invalid_client", "Invalid client or Invalid client credentials")
	case !b.authenticates(id, secret):
		refuse(http.StatusUnauthorized, "unauthorized_client", "Invalid client or Invalid client credentials")
	case grant != "client_credentials":
		refuse(http.StatusBadRequest, "unsupported_grant_type", "Unsupported grant_type")
	case f.Has("scope"): // an empty one, too
		refuse(http.StatusBadRequest, "invalid_scope", "Invalid scopes: "+f.Get("scope"))
	default:
		now := time.Now().Unix()
		answer(w, http.StatusOK, "application/json", map[string]any{
			"access_token": b.issueJWT(id, map[string]any{"exp": now + 300, "iat": now, "iss": origin + "/realms/research", "typ": "Bearer", "azp": id, "sub": "c0ffee00-0000-4000-8000-00000000c0de"}),
			"expires_in":   300, "refresh_expires_in": 0, "token_type": "Bearer", "not-before-policy": 0, "scope": "profile email",
		})
	}
}

// springResource answers like a filter chain of Spring Security with oauth2ResourceServer(), and
// the handlers behind it.
func springResource(w http.ResponseWriter, r *http.Request, origin string, b *accounts) {
	for name, value := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-XSS-Protection": "0", "X-Frame-Options": "DENY", "Pragma": "no-cache", "Expires": "0",
		"Cache-Control": "no-cache, no-store, max-age=0, must-revalidate",
	} {
		w.Header().Set(name, value)
	}
	if strings.ContainsAny(r.URL.EscapedPath(), ";\\") || strings.Contains(r.URL.EscapedPath(), "//") || strings.Contains(r.URL.EscapedPath(), "%2F") {
		w.WriteHeader(http.StatusBadRequest) // StrictHttpFirewall
		return
	}
	if r.URL.Path == "/ris/funding/v3/api-docs" {
		answer(w, http.StatusOK, "application/json", springdoc())
		return
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch id, ok := b.client(token); {
	case !strings.EqualFold(scheme, "Bearer"):
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
		return
	case token == "" || strings.ContainsAny(token, " "):
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", error_description="Bearer token is malformed", error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	case !ok:
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", error_description="An error occurred while attempting to decode the Jwt: Malformed token", error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	case id != firstClient && strings.HasPrefix(r.URL.Path, "/ris/funding/"):
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", error_description="The request requires higher privileges than provided by the access token.", error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"`)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	problem := func(status int) {
		answer(w, status, "application/json", map[string]any{"timestamp": "2026-03-02T09:00:00.000+00:00", "status": status, "error": http.StatusText(status), "path": r.URL.Path})
	}
	detail, isDetail := strings.CutPrefix(r.URL.Path, "/ris/funding/v1/calls/")
	switch {
	case r.URL.Path != "/ris/info/v1/info" && r.URL.Path != "/ris/funding/v1/calls" && !isDetail:
		problem(http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET,HEAD,OPTIONS")
		problem(http.StatusMethodNotAllowed)
	case r.URL.Path == "/ris/info/v1/info":
		answer(w, http.StatusOK, "application/json", map[string]any{"endpoints": map[string]any{"funding": []any{
			map[string]any{"name": "CALLS", "majorVersion": 1, "minorVersion": 4, "url": origin + "/ris/funding/v1/calls"},
			map[string]any{"name": "CALL", "majorVersion": 1, "minorVersion": 4, "url": origin + "/ris/funding/v1/calls/{id}"},
		}}})
	case isDetail:
		i := slices.IndexFunc(springCalls(), func(c map[string]any) bool { return formatID(c["id"]) == detail })
		if i < 0 {
			problem(http.StatusNotFound)
			return
		}
		answer(w, http.StatusOK, "application/json", springCalls()[i])
	default:
		springPage(w, r)
	}
}

func formatID(v any) string { return strconv.Itoa(v.(int)) }

// springPage answers with a page as Spring Data does, which ignores page numbers that are not
// numbers.
func springPage(w http.ResponseWriter, r *http.Request) {
	all := springCalls()
	if kind := r.URL.Query().Get("type"); kind != "" {
		all = slices.DeleteFunc(all, func(c map[string]any) bool { return c["type"] != kind })
	}
	number := func(name string) (int, error) {
		n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 32) // an int of Java
		return int(n), err
	}
	size, err := number("size")
	if err != nil || size < 1 {
		size = 20
	}
	page, err := number("page")
	if err != nil || page < 0 {
		page = 0
	}
	from := min(page*size, len(all))
	content := all[from:min(from+size, len(all))]
	answer(w, http.StatusOK, "application/json", map[string]any{
		"content": content, "pageable": map[string]any{"pageNumber": page, "pageSize": size, "sort": map[string]any{"sorted": false}, "offset": from},
		"totalElements": len(all), "totalPages": (len(all) + size - 1) / size, "last": from+size >= len(all), "first": page == 0,
		"size": size, "number": page, "numberOfElements": len(content), "empty": len(content) == 0,
		"sort": map[string]any{"empty": true, "sorted": false, "unsorted": true},
	})
}

func springCalls() []map[string]any {
	var out []map[string]any
	for i, title := range []string{"Alpine Klimadaten", "Brücke in die Praxis", "Offene Methoden", "Leise Städte"} {
		out = append(out, map[string]any{
			"id": 4711 + i, "type": []string{"CALL", "PROGRAMME"}[i%2], "title": title, "budget": 1_250_000.5, "fullyFunded": i%2 == 0,
			"deadline": "2026-09-30T12:00:00.123+02:00", "start": "2026-01-01", "link": nil,
		})
	}
	return out
}

// springdoc returns a document as springdoc-openapi writes it: with the media type */*, without security, and with the server
// URL of an application behind a proxy.
func springdoc() map[string]any {
	type object = map[string]any
	ref := func(name string) object { return object{"$ref": "#/components/schemas/" + name} }
	ok := func(schema object) object {
		return object{"200": object{"description": "OK", "content": object{"*/*": object{"schema": schema}}}}
	}
	int32Schema := object{"type": "integer", "format": "int32"}
	return object{
		"openapi": "3.0.1", "info": object{"title": "OpenAPI definition", "version": "v0"},
		"servers": []any{object{"url": "http://backend:8080/ris/funding", "description": "Generated server url"}},
		"paths": object{
			"/v1/calls": object{"get": object{"tags": []string{"call-controller"}, "operationId": "findAll", "responses": ok(ref("PageCall")), "parameters": []any{
				object{"name": "type", "in": "query", "required": false, "schema": object{"type": "string", "enum": []string{"CALL", "PROGRAMME"}}},
				object{"name": "page", "in": "query", "description": "Zero-based page index (0..N)", "required": false, "schema": object{"minimum": 0, "type": "integer", "default": 0}},
				object{"name": "size", "in": "query", "description": "The size of the page to be returned", "required": false, "schema": object{"minimum": 1, "type": "integer", "default": 20}},
				object{"name": "sort", "in": "query", "description": "Sorting criteria in the format: property,(asc|desc).", "required": false, "schema": object{"type": "array", "items": object{"type": "string"}}},
			}}},
			"/v1/calls/{id}": object{"get": object{"tags": []string{"call-controller"}, "operationId": "findOne", "responses": ok(ref("Call")), "parameters": []any{
				object{"name": "id", "in": "path", "required": true, "schema": object{"type": "integer", "format": "int64"}},
			}}},
		},
		"components": object{"schemas": object{
			"Call": object{"required": []string{"id", "title", "type"}, "type": "object", "properties": object{
				"id": object{"type": "integer", "format": "int64"}, "type": object{"type": "string", "enum": []string{"CALL", "PROGRAMME"}},
				"title": object{"type": "string"}, "budget": object{"type": "number", "format": "double"}, "fullyFunded": object{"type": "boolean"},
				"deadline": object{"type": "string", "format": "date-time"}, "start": object{"type": "string", "format": "date"}, "link": object{"type": "string", "nullable": true},
			}},
			"PageCall": object{"type": "object", "properties": object{
				"totalPages": int32Schema, "totalElements": object{"type": "integer", "format": "int64"}, "size": int32Schema, "number": int32Schema, "numberOfElements": int32Schema,
				"content": object{"type": "array", "items": ref("Call")}, "sort": ref("SortObject"), "pageable": ref("PageableObject"),
				"first": object{"type": "boolean"}, "last": object{"type": "boolean"}, "empty": object{"type": "boolean"},
			}},
			"PageableObject": object{"type": "object", "properties": object{"offset": object{"type": "integer", "format": "int64"}, "sort": ref("SortObject"), "pageSize": int32Schema, "pageNumber": int32Schema}},
			"SortObject":     object{"type": "object", "properties": object{"empty": object{"type": "boolean"}, "sorted": object{"type": "boolean"}, "unsorted": object{"type": "boolean"}}},
		}},
	}
}
