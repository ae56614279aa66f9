package conduct

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

func requestRules() []Rule {
	return []Rule{
		{
			ID: "CLT-19", Level: Fault, Title: "Values of parameters are those of the document",
			Sources: []Source{network(15), rfc(9110, "15.5.1")},
			Why:     "The node refuses the call, or, worse, another node ignores the value and answers something else.",
			Fix:     "take names and values of parameters from the node's OpenAPI document, and percent-encode them",
			check: each(func(e *journal.Entry) bool {
				return e.Status == 400 && !token(e) && e.Refusal != nil && !e.Refusal.Unreadable
			}, func(e *journal.Entry) string { return call(e) + ": " + detail(e) }),
		},
		{
			ID: "CLT-20", Level: Note, Title: "Parameters are those of the document",
			Sources: []Source{network(15)},
			Why:     "A node ignores what it does not know: a filter with a typing error in its name filters nothing, and nobody notices.",
			Fix:     "compare the names with the node's OpenAPI document; upper and lower case count",
			check: each(func(e *journal.Entry) bool { return len(e.Ignored) > 0 && e.Status < 300 }, func(e *journal.Entry) string {
				return call(e) + ": ignored " + strings.Join(e.Ignored, ", ")
			}),
		},
		{
			ID: "CLT-21", Level: Fault, Title: "The APIs of the network are read with GET",
			Sources: []Source{network(13), network(15), rfc(9110, "15.5.6")},
			Why:     "The APIs are read-only: another method is refused, and shows that the client takes them for something else.",
			Fix:     "use GET, or HEAD for the header alone",
			check: each(func(e *journal.Entry) bool {
				return !token(e) && e.Status == http.StatusMethodNotAllowed && e.Operation != journal.Other
			},
				func(e *journal.Entry) string { return fmt.Sprintf("%s was answered 405", call(e)) }),
		},
		{
			ID: "CLT-22", Level: Note, Title: "Addresses come from the registry and the info resource",
			Sources: []Source{network(6), network(13)},
			Why:     "Prefixes and paths differ from node to node: an address put together in the client works at one node only.",
			Fix:     "start at the registry, read the info URL of the node, and take the addresses of its APIs from the info resource",
			check: each(func(e *journal.Entry) bool {
				person := strings.Contains(e.Accept, "text/html") || strings.HasPrefix(e.Path, "/favicon") || e.Path == "/robots.txt"
				tokens := strings.Contains(e.Path, "/realms/") || strings.HasSuffix(strings.TrimSuffix(e.Path, "/"), "/token")
				return e.Operation == journal.Other && e.Status == 404 && !person && !tokens
			}, func(e *journal.Entry) string { return call(e) + " does not exist" }),
		},
	}
}
