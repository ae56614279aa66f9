package info

import (
	"encoding/json"
	"net/http"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/representation"
)

// bodyBudget bounds the bodies kept, in bytes: one for each origin that callers use.
const bodyBudget = 16 << 10

// Resource serves the endpoints of the node at places, with their absolute URLs as the caller sees the node. open
// tells that no token is needed, which decides on the caching headers.
func Resource(places address.Map, open bool) http.Handler {
	headers := representation.Guarded()
	if open {
		headers = representation.Open()
	}
	kept := representation.NewCache[string, *representation.Body](bodyBudget)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := places.Origin(r)
		body, err := kept.Get(origin, func() (*representation.Body, error) {
			encoded, err := json.Marshal(Endpoints(places, origin))
			if err != nil {
				return nil, err
			}
			return representation.New("application/json", encoded), nil
		})
		if err != nil {
			problem.Internal().Write(w, r)
			return
		}
		body.Serve(w, r, headers)
	})
}

// Endpoints is the content of the info resource for a caller that sees the node at origin.
func Endpoints(places address.Map, origin string) model.Info {
	return model.Info{Endpoints: map[string][]model.Endpoint{
		"funding": {
			{Name: "FUNDINGS", MajorVersion: 3, MinorVersion: 0, URL: origin + places.Fundings()},
			{Name: "FUNDING", MajorVersion: 3, MinorVersion: 0, URL: origin + places.Funding()},
		},
	}}
}
