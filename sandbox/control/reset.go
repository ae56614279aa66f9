package control

import (
	"net/http"
	"net/url"

	"github.com/rin-network/rin/sandbox"
)

func resetRoutes(network *sandbox.Network) []route {
	return []route{
		{"POST /reset", func(*http.Request) (any, error) {
			network.Reset()
			return Health{"ok"}, nil
		}},
		{"POST /nodes/{node}/reset", func(r *http.Request) (any, error) {
			node, err := nodeOf(network, r)
			if err != nil {
				return nil, err
			}
			node.Reset()
			return describe(node), nil
		}},
	}
}

// Reset puts the network back to its start, the time too.
func (c Client) Reset() error {
	_, err := call[Health](c, http.MethodPost, "/reset", nil)
	return err
}

// ResetNode puts one node back to its start; the time, which is that of all, stays.
func (c Client) ResetNode(node string) (Node, error) {
	return call[Node](c, http.MethodPost, "/nodes/"+url.PathEscape(node)+"/reset", nil)
}
