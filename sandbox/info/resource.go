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

// Further are endpoints of APIs besides the node's own, which may change while it serves. Equal versions have equal endpoints.
type Further func() (endpoints []Endpoint, version any)

// Endpoint is an endpoint of an API.
type Endpoint struct {
	// Family is the key that it is listed under: funding, project, orgUnit, or another one.
	Family, Name string
	Major        int
	// Path is below the node's service prefix.
	Path string
}

// None are no endpoints besides the node's own.
func None() ([]Endpoint, any) { return nil, nil }

// Resource serves the endpoints of the node at places, with their absolute URLs as the caller sees the node. open
// tells that no token is needed, which decides on the caching headers.
func Resource(places address.Map, open bool, further Further) http.Handler {
	headers := representation.Guarded()
	if open {
		headers = representation.Open()
	}
	type key struct {
		origin  string
		version any
	}
	kept := representation.NewCache[key, *representation.Body](bodyBudget)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := places.Origin(r)
		more, version := further()
		body, err := kept.Get(key{origin, version}, func() (*representation.Body, error) {
			encoded, err := json.Marshal(Endpoints(places, origin, more))
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
func Endpoints(places address.Map, origin string, further []Endpoint) model.Info {
	own := []model.Endpoint{
		{Name: "FUNDINGS", MajorVersion: 3, MinorVersion: 0, URL: origin + places.Fundings()},
		{Name: "FUNDING", MajorVersion: 3, MinorVersion: 0, URL: origin + places.Funding()},
	}
	all := model.Info{Endpoints: map[string][]model.Endpoint{"funding": own}}
	for _, e := range further {
		endpoint := model.Endpoint{Name: e.Name, MajorVersion: int32(e.Major), URL: origin + places.API() + e.Path}
		if e.Family == "funding" && (endpoint.URL == own[0].URL || endpoint.URL == own[1].URL) {
			continue // it is served in place of the node's own
		}
		all.Endpoints[e.Family] = append(all.Endpoints[e.Family], endpoint)
	}
	return all
}
