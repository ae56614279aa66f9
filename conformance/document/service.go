package document

import (
	"slices"
	"strings"
)

// AboutService recognises, by its path, an operation that tells of the service itself and not of what the service is for: health,
// version, documentation. "/funding/v3/api-docs" has funding in its path and lists no funding call.
func (o Operation) AboutService() bool {
	segments := strings.Split(strings.Trim(strings.ToLower(o.Path), "/"), "/")
	return slices.ContainsFunc(segments, ofTooling) || ofService(segments[len(segments)-1])
}

// ofTooling are segments that frameworks put in front of whole families of such paths.
func ofTooling(segment string) bool {
	switch segment {
	case "api-docs", "actuator", "swagger", "swagger-ui", "swagger-resources":
		return true
	}
	return false
}

// ofService are last segments; elsewhere in a path the words may mean something else.
func ofService(segment string) bool {
	for _, form := range []string{".json", ".yaml", ".yml", ".html"} {
		segment = strings.TrimSuffix(segment, form)
	}
	switch segment {
	case "info", "health", "healthz", "livez", "readyz", "live", "ready", "status", "version", "ping", "metrics",
		"doc", "docs", "documentation", "openapi", "spec", "specification", "redoc", "schema":
		return true
	}
	return ofTooling(segment)
}
