package control

import (
	"net/http"
	"net/url"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/conduct"
)

func conductRoutes(network *sandbox.Network) []route {
	return []route{{"GET /conduct", func(r *http.Request) (any, error) {
		if network.Journal() == nil {
			return nil, noJournal()
		}
		report := conduct.Judge(network.Journal().Record(0))
		query := r.URL.Query()
		if !query.Has("client") {
			return report, nil
		}
		one, ok := report.Of(query.Get("client"))
		if !ok {
			return nil, notFound("the journal has no request of this client", "GET /conduct lists the clients that it knows")
		}
		return one, nil
	}}}
}

// Conduct returns the report on all clients.
func (c Client) Conduct() (conduct.Report, error) {
	return call[conduct.Report](c, http.MethodGet, "/conduct", nil)
}

// ConductOf returns the report on one client.
func (c Client) ConductOf(client string) (conduct.Report, error) {
	return call[conduct.Report](c, http.MethodGet, "/conduct?"+url.Values{"client": {client}}.Encode(), nil)
}
