package control

import "github.com/rin-network/rin/sandbox"

// Patterns lists the patterns of all routes, for the comparison with the document.
func Patterns(network *sandbox.Network) []string {
	patterns := []string{"GET /", "GET /openapi.json"}
	for _, r := range routes(network) {
		patterns = append(patterns, r.pattern)
	}
	return patterns
}
