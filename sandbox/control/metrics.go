package control

import (
	"net/http"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/metrics"
)

// metricsRoutes are for Prometheus, or for whoever reads its text format; that is not JSON, so the [Client] has no call for it.
func metricsRoutes(network *sandbox.Network) []route {
	return []route{{"GET /metrics", func(*http.Request) (any, error) {
		var p metrics.Page
		network.Figures(&p)
		p.Process()
		return &p, nil
	}}}
}
