package vendors_test

import (
	"compress/gzip"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
)

// gateway returns a service behind an API gateway: it routes before it looks at tokens, limits the rate now and then, compresses,
// sends chunks, redirects to the path with a slash, and knows neither HEAD nor upper-case letters in token_type.
func gateway() product {
	const calls = "/api/v2/funding-calls/"
	paths := map[string]bool{"/oauth/token": true, "/api/v2/info/": true, "/api/v2/spec.json": true, calls: true}
	return product{
		tokenPath: "/oauth/token", infoPath: "/api/v2/info", specPath: "/api/v2/spec.json", basePath: "/api",
		serve: func(origin string, b *accounts) http.Handler {
			var count atomic.Int64
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := count.Add(1)
				_, _, basic := r.BasicAuth()
				detail, below := strings.CutPrefix(r.URL.Path, calls)
				detail = strings.TrimSuffix(detail, "/")
				switch {
				case !paths[r.URL.Path] && paths[r.URL.Path+"/"]:
					query := r.URL.RawQuery
					if query != "" {
						query = "?" + query
					}
					w.Header().Set("Location", r.URL.Path+"/"+query)
					w.WriteHeader(http.StatusPermanentRedirect)
				case !paths[r.URL.Path] && !(below && !strings.Contains(detail, "/")):
					answer(w, http.StatusNotFound, "application/json", map[string]string{"message": "no Route matched with those values"})
				case n%29 == 0 && !basic && r.URL.Path != "/oauth/token": // rin does not repeat a request that must fail to authenticate, so it gets no 429
					w.Header().Set("Retry-After", []string{"0", "1"}[n/29%2])
					answer(w, http.StatusTooManyRequests, "application/json", map[string]string{"message": "API rate limit exceeded"})
				case r.URL.Path == "/oauth/token":
					gatewayToken(w, r, b)
				case r.Method != http.MethodGet:
					w.Header().Set("Allow", "GET")
					answer(w, http.StatusMethodNotAllowed, "application/json", map[string]string{"message": "method not allowed"})
				default:
					gatewayCall(w, r, origin, detail, b)
				}
			})
		},
	}
}

func gatewayToken(w http.ResponseWriter, r *http.Request, b *accounts) {
	w.Header().Set("Cache-Control", "no-store")
	f := form(r)
	id, secret, basic := basicClient(r)
	if !basic {
		id, secret = f.Get("client_id"), f.Get("client_secret")
	}
	refuse := func(status int, code, text string) {
		answer(w, status, "application/json; charset=utf-8", map[string]string{"error": code, "error_description": text})
	}
	switch {
	case r.Method != http.MethodPost:
		refuse(http.StatusMethodNotAllowed, "invalid_method", "The HTTP method "+r.Method+" is invalid for the token endpoint")
	case f.Get("grant_type") == "":
		refuse(http.StatusBadRequest, "unsupported_grant_type", "Invalid grant_type")
	case f.Get("grant_type") != "client_credentials":
		refuse(http.StatusBadRequest, "unsupported_grant_type", "Invalid grant_type")
	case !b.authenticates(id, secret):
		status := http.StatusBadRequest
		if basic {
			w.Header().Set("WWW-Authenticate", `Basic realm="OAuth2.0"`)
			status = http.StatusUnauthorized
		}
		refuse(status, "invalid_client", "Invalid client authentication")
	default:
		answer(w, http.StatusOK, "application/json; charset=utf-8", map[string]any{"token_type": "bearer", "access_token": b.issueOpaque(id), "expires_in": 7200})
	}
}

func gatewayCall(w http.ResponseWriter, r *http.Request, origin, detail string, b *accounts) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	id, ok := b.client(strings.TrimLeft(token, " "))
	switch {
	case r.URL.Path == "/api/v2/spec.json":
	case scheme == "":
		w.Header().Set("WWW-Authenticate", `Bearer realm="service"`)
		answer(w, http.StatusUnauthorized, "application/json", map[string]string{"error": "invalid_request", "error_description": "The access token is missing"})
		return
	case !strings.EqualFold(scheme, "bearer") || !ok:
		w.Header().Set("WWW-Authenticate", `Bearer realm="service" error="invalid_token" error_description="The access token is invalid or has expired"`)
		answer(w, http.StatusUnauthorized, "application/json", map[string]string{"error": "invalid_token"})
		return
	case id != firstClient && r.URL.Path != "/api/v2/info/":
		answer(w, http.StatusForbidden, "application/json", map[string]string{"message": "You cannot consume this service"})
		return
	}
	all := []map[string]any{
		{"id": "a1", "title": "Quiet Cities", "region": "VIENNA"}, {"id": "b2", "title": "Digital Heritage", "region": "TYROL"}, {"id": "c3", "title": "Open Methods", "region": "VIENNA"},
	}
	var body any = all
	switch {
	case r.URL.Path == "/api/v2/spec.json":
		body = json.RawMessage(gatewayDocument)
	case r.URL.Path == "/api/v2/info/":
		body = map[string]any{"endpoints": map[string]any{"funding": []any{map[string]any{"name": "CALLS", "majorVersion": 2, "minorVersion": 0, "url": origin + "/api/v2/funding-calls/"}}}}
	case detail != "":
		body = nil
		for _, c := range all {
			if c["id"] == detail {
				body = c
			}
		}
		if body == nil {
			answer(w, http.StatusNotFound, "application/json", map[string]string{"message": "not found"})
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Vary", "Accept-Encoding")
	if !regexp.MustCompile(`gzip($|,|;\s*q=[01]?\.?0*[1-9])`).MatchString(r.Header.Get("Accept-Encoding")) {
		_ = json.NewEncoder(w).Encode(body)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	packed := gzip.NewWriter(w)
	_ = json.NewEncoder(packed).Encode(body)
	_ = packed.Flush()
	w.(http.Flusher).Flush()
	_ = packed.Close()
}

const gatewayDocument = `{"swagger": "2.0", "info": {"title": "Funding calls", "version": "2"}, "basePath": "/api", "produces": ["application/json"],
 "paths": {
  "/v2/funding-calls/": {"get": {"operationId": "listCalls", "responses": {"200": {"description": "ok", "schema": {"type": "array", "items": {"$ref": "#/definitions/Call"}}}, "401": {"description": "who are you"}}}},
  "/v2/funding-calls/{id}": {"get": {"operationId": "getCall", "parameters": [{"name": "id", "in": "path", "required": true, "type": "string"}],
   "responses": {"200": {"description": "ok", "schema": {"$ref": "#/definitions/Call"}}, "401": {"description": "who are you"}, "404": {"description": "gone"}}}}},
 "definitions": {"Call": {"type": "object", "required": ["id", "title"], "properties": {"id": {"type": "string"}, "title": {"type": "string"}, "region": {"type": "string", "enum": ["VIENNA", "TYROL"]}}}}}`
