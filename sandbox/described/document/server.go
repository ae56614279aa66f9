package document

import (
	"net/url"
	"strings"
)

// ServerPath is the path of the first server of the first holder that has any, without a slash at its end; variables have their defaults.
// Holders are an operation, its path item, and the document.
func ServerPath(holders ...map[string]any) string {
	for _, holder := range holders {
		servers, _ := holder["servers"].([]any)
		if len(servers) == 0 {
			continue
		}
		server, _ := servers[0].(map[string]any)
		address, _ := server["url"].(string)
		variables, _ := server["variables"].(map[string]any)
		for _, name := range sortedKeys(variables) {
			variable, _ := variables[name].(map[string]any)
			value, _ := variable["default"].(string)
			address = strings.ReplaceAll(address, "{"+name+"}", value)
		}
		if u, err := url.Parse(address); err == nil && strings.Trim(u.Path, "/") != "" {
			return "/" + strings.Trim(u.Path, "/")
		}
		return ""
	}
	return ""
}
