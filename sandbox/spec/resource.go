package spec

import (
	"net/http"

	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/representation"
)

// bodyBudget bounds the documents kept, in bytes: one for each origin that callers use.
const bodyBudget = 512 << 10

// Resource serves the document to anybody, with the addresses as the caller sees them. describe gives the description
// for a caller that sees the node at an origin.
func Resource(origin func(*http.Request) string, describe func(origin string) (Description, error)) http.Handler {
	kept := representation.NewCache[string, *representation.Body](bodyBudget)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seenAt := origin(r)
		body, err := kept.Get(seenAt, func() (*representation.Body, error) {
			description, err := describe(seenAt)
			if err != nil {
				return nil, err
			}
			document, err := Document(description)
			if err != nil {
				return nil, err
			}
			return representation.New("application/json", document), nil
		})
		if err != nil {
			problem.Internal().Write(w, r)
			return
		}
		body.Serve(w, r, representation.Open())
	})
}
