package described

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/rin-network/rin/sandbox/described/document"
)

// Published is the document as it holds where the API is served: with the addresses of this place, and with the security that it has there.
// Everything else is as it was written.
func (a *API) Published(s Space, origin, tokenURL string) ([]byte, error) {
	tree := maps.Clone(a.document.Tree())
	tree["servers"] = []any{map[string]any{"url": origin + s.Base + seam(a.prefix, a.document.Server)}}
	a.resettle(tree, s, origin)
	if s.Guard == nil {
		tree["security"] = []any{}
	} else {
		tree["security"] = []any{map[string]any{scheme: []any{}}, map[string]any{scheme + "ClientCredentials": []any{}}}
		secure(tree, tokenURL)
	}
	return json.MarshalIndent(tree, "", "  ")
}

// scheme is the name of the security scheme that is added.
const scheme = "rinBearer"

func secure(tree map[string]any, tokenURL string) {
	components := clone(tree["components"])
	schemes := clone(components["securitySchemes"])
	schemes[scheme] = map[string]any{"type": "http", "scheme": "bearer", "description": "An access token of the node's authorization server."}
	schemes[scheme+"ClientCredentials"] = map[string]any{"type": "oauth2", "description": "An access token of the node's authorization server.",
		"flows": map[string]any{"clientCredentials": map[string]any{"tokenUrl": tokenURL, "scopes": map[string]any{}}}}
	components["securitySchemes"] = schemes
	tree["components"] = components
}

func clone(value any) map[string]any {
	object, _ := value.(map[string]any)
	if object == nil {
		return map[string]any{}
	}
	return maps.Clone(object)
}

// resettle replaces servers of paths and operations, and security of operations.
func (a *API) resettle(tree map[string]any, s Space, origin string) {
	paths := clone(tree["paths"])
	for name, value := range paths {
		item, ok := value.(map[string]any)
		if !ok || strings.HasPrefix(name, "x-") {
			continue
		}
		item = maps.Clone(item)
		a.moveServers(item, s, origin)
		for member, inner := range item {
			operation, ok := inner.(map[string]any)
			if !ok || !isMethod(member) {
				continue
			}
			operation = maps.Clone(operation)
			a.moveServers(operation, s, origin)
			if _, declared := operation["security"]; declared && !(s.Guard != nil && a.open(name, member)) {
				delete(operation, "security")
			}
			item[member] = operation
		}
		paths[name] = item
	}
	tree["paths"] = paths
}

func (a *API) moveServers(holder map[string]any, s Space, origin string) {
	if servers, ok := holder["servers"].([]any); ok && len(servers) > 0 {
		holder["servers"] = []any{map[string]any{"url": origin + s.Base + seam(a.prefix, document.ServerPath(holder))}}
	}
}

// open tells whether an operation needs no token wherever it is served.
func (a *API) open(path, method string) bool {
	for _, o := range a.document.Operations {
		if o.Path == path && strings.EqualFold(o.Method, method) {
			return o.Open
		}
	}
	return false
}

func isMethod(member string) bool {
	for _, method := range document.Methods() {
		if strings.EqualFold(method, member) {
			return true
		}
	}
	return false
}
