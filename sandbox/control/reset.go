package control

import (
	"net/http"

	"github.com/rin-network/rin/sandbox"
)

func resetRoutes(network *sandbox.Network) []route {
	return []route{{"POST /reset", func(*http.Request) (any, error) {
		network.Reset()
		return Health{"ok"}, nil
	}}}
}

// Reset puts the network back to its start.
func (c Client) Reset() error {
	_, err := call[Health](c, http.MethodPost, "/reset", nil)
	return err
}
